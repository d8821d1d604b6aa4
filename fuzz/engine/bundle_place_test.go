package engine

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// renamed is a unit whose instruction has another name.
type renamed struct {
	devices.Unit
	name string
}

func (r *renamed) Instruction() *mma.Instruction {
	i := *r.Unit.Instruction()
	i.Name = r.name
	return &i
}

// TestSharedDirectory gives a campaign instructions whose names are different and whose
// directories would not be.
func TestSharedDirectory(t *testing.T) {
	p := pairsOf(t, "sim:ampere", "sim:hopper", "mma.m16n8k8.f32.f16.f16.f32", "")[0]
	for _, tc := range []struct{ first, second, want string }{
		{"a.b", "a-b", ""},
		{"a:b", "a-b", "a:b and a-b would share the directory "},
	} {
		var pairs []devices.Pair
		for _, name := range []string{tc.first, tc.second} {
			p := p
			p.A, p.B = &renamed{p.A, name}, &renamed{p.B, name}
			pairs = append(pairs, p)
		}
		dir := t.TempDir()
		c, err := New(Config{Pairs: pairs, Seed: 1, Count: 1, Bundles: dir, Journal: filepath.Join(dir, JournalFile)})
		got := ""
		if err != nil {
			got = err.Error()
		} else if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s and %s: %q, want %q", tc.first, tc.second, got, tc.want)
		}
	}
}
