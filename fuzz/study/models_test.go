package study

import "testing"

// TestFewRaw checks that fewer raw dot products than an operation has arithmetics are
// rounded up to a run of them for each, not down to none.
func TestFewRaw(t *testing.T) {
	insts := Arithmetics()[:2]
	for raw, want := range map[uint64]uint64{0: 0, 1: 2 * modelChunk, 3: 2 * modelChunk} {
		c, err := checkModels(t.Context(), "some", insts, raw, 0)
		if err != nil {
			t.Fatal(err)
		}
		if c.Raw != want || c.Mismatches != 0 {
			t.Errorf("--raw %d: %d raw dot products, want %d; %d mismatches", raw, c.Raw, want, c.Mismatches)
		}
	}
}
