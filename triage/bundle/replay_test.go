package bundle

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// TestUndecided replays cases on which both sides agree now: that decides nothing where they depend on
// what a replay does not repeat.
func TestUndecided(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*corpus.Mismatch)
		want   bool
	}{
		{"a difference that is no more", func(*corpus.Mismatch) {}, false},
		{"in its tile", func(m *corpus.Mismatch) { m.Bucket, m.B.Result = string(triage.Layout), m.A.Result }, true},
		{"after other questions", func(m *corpus.Mismatch) { m.Past = &corpus.Defect{} }, true},
		{"after a known question", func(m *corpus.Mismatch) { m.Past, m.Before = &corpus.Defect{}, "3c00 3c00 00000000" }, false},
		{"in its tile, and still there", func(m *corpus.Mismatch) { m.Bucket, m.B.Target = string(triage.Layout), "sim:hopper" }, false},
	} {
		m := ampereHopper(t)
		m.B.Target = "sim:ampere"
		tc.change(m)
		r, err := Replay(t.Context(), &corpus.Bundle{Mismatch: *m}, "")
		if err != nil {
			t.Fatal(err)
		}
		if r.Undecided != tc.want || r.Undecided && r.Reproduced {
			t.Errorf("%s: undecided %v, want %v", tc.name, r.Undecided, tc.want)
		}
	}
}

// TestTile replays cases that depend on their place in the tile that their bundle has: a difference there
// is one, agreement is one where the tile showed the mismatch, and else it decides nothing.
func TestTile(t *testing.T) {
	const shown, other = 0x3f7fffff, 0x3f800000
	for _, tc := range []struct {
		name                  string
		b                     string // target
		first                 uint64 // of the recorded outputs; the case is number 5
		recorded              uint64 // B's result in the tile
		inTile                bool
		undecided, reproduced bool
	}{
		{"it still differs", "sim:hopper", 4, shown, true, false, true},
		{"it is mended", "sim:ampere", 4, shown, true, false, false},
		{"the tile did not show it", "sim:ampere", 4, other, true, true, false},
		{"the case is not in the tile", "sim:ampere", 3, shown, false, true, false},
		{"the case is beyond the tile", "sim:ampere", 1, shown, false, true, false},
	} {
		m := ampereHopper(t)
		m.Bucket, m.Origin, m.B.Target = string(triage.Layout), corpus.Origin{Source: "bits", Index: 5}, tc.b
		d, err := mma.ParseDot(m.Formats, m.K, false, strings.Fields(m.Case))
		if err != nil {
			t.Fatal(err)
		}
		m.Case = mma.FormatDot(m.Formats, d)
		in := mma.NewBatch(m.Formats, mma.Shape{M: 1, N: 4, K: m.K, Tiles: 1})
		in.Set(1, d)
		files := map[string][]byte{}
		for name, code := range map[string]uint64{"tile-a.rec": other, "tile-b.rec": tc.recorded} {
			var file bytes.Buffer
			w, err := corpus.NewRecordingWriter(&file, corpus.Header{Target: "sim:any"})
			if err != nil {
				t.Fatal(err)
			}
			out := make([]byte, 16)
			mma.Store(out, 4, 1, code)
			if err := errors.Join(w.Add(corpus.Section{Arch: "any", Instruction: half8, K: m.K, Generator: "bits", First: tc.first}, in, out), w.Close()); err != nil {
				t.Fatal(err)
			}
			files[name] = file.Bytes()
		}
		r, err := Replay(t.Context(), &corpus.Bundle{Mismatch: *m, Files: files}, "")
		if err != nil {
			t.Fatal(err)
		}
		if inTile := r.Tile == "row 0, column 1 of 1 x 4"; inTile != tc.inTile || r.Undecided != tc.undecided || r.Reproduced != tc.reproduced {
			t.Errorf("%s: asked in %q, undecided %v, reproduced %v; want %+v", tc.name, r.Tile, r.Undecided, r.Reproduced, tc)
		}
	}
}
