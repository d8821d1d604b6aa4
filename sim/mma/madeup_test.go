package mma

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestMadeUp draws many units: each is valid, two draws of a seed are one unit,
// and every value of every field is reached, but for the fields that are listed.
func TestMadeUp(t *testing.T) {
	reached := map[string]map[int]bool{}
	for _, f := range Fields() {
		reached[f.Path] = map[int]bool{}
	}
	for seed := range uint64(20_000) {
		i := MadeUp(seed)
		if err := i.Params.Validate(i.Formats, i.K); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if i != MadeUp(seed) {
			t.Fatalf("seed %d: two different units", seed)
		}
		for _, f := range Fields() {
			reached[f.Path][f.Int(&i.Params)] = true
		}
	}
	for _, f := range Fields() {
		if n := len(reached[f.Path]); (n < 2) != neverDrawn[f.Path] {
			t.Errorf("%s has %d values in all units", f.Path, n)
		}
		for _, v := range f.Values() {
			if f.Path == "acc.mode" && v == 0 || f.Path == "out.mode" {
				continue // every step ends in a rounding; a last conversion is to nearest
			}
			if !reached[f.Path][v] && !neverDrawn[f.Path] {
				var p Params
				f.SetInt(&p, v)
				t.Errorf("%s is never %q", f.Path, f.Text(&p))
			}
		}
	}
}

// neverDrawn are the fields that made-up units leave absent.
var neverDrawn = map[string]bool{
	"stage1.fixed":   true,
	"join.post.emax": true, "join.post.flush": true, "join.post.over": true,
	"late.flush": true, "late.over": true, "out.flush": true, "out.over": true,
}

// TestMadeUpGolden pins the meaning of seeds: found units are named by them.
func TestMadeUpGolden(t *testing.T) {
	var s strings.Builder
	sum := sha256.New()
	for seed := range uint64(1000) {
		i := MadeUp(seed)
		params, err := json.Marshal(i.Params)
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%d: %s K=%d %s\n", seed, i.Formats, i.K, params)
		sum.Write([]byte(line))
		if seed < 10 {
			s.WriteString(line)
		}
	}
	fmt.Fprintf(&s, "first 1000: %x\n", sum.Sum(nil))
	golden(t, "madeup.golden", s.String())
}
