package readable_test

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestChanges writes the first changes of a program in words, and all of them with their
// parameters.
func TestChanges(t *testing.T) {
	changes := []mma.Change{{Path: "l", From: "8", To: "16"}, {Path: "join.align.f", From: "24", To: "25"}, {Path: "acc.mode", From: "rz", To: "rne"}}
	if got, want := readable.Changes(changes, 2), "products in a step (L) 8→16, kept bits (F) 24→25, and 1 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := readable.NamedChanges(changes[1:]), "kept bits (F) 24→25, rounding of the result toward zero→to nearest even (join.align.f, acc.mode)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
