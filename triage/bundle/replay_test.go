package bundle

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
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
