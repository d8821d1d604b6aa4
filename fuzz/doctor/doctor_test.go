package doctor

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestLook has the lines that every machine has.
func TestLook(t *testing.T) {
	lines := Look()
	for _, what := range []string{"processors", "simulators", "programs"} {
		n := slices.IndexFunc(lines, func(l Line) bool { return l.What == what })
		if n < 0 || lines[n].State != OK || lines[n].Detail == "" || lines[n].Remedy != "" {
			t.Errorf("%s: %v", what, lines)
		}
	}
}

// TestUnable groups refused instructions by the reason, in its order.
func TestUnable(t *testing.T) {
	rows := []mma.Instruction{{Name: "a", Refuse: "y"}, {Name: "b"}, {Name: "c", Refuse: "x"}, {Name: "d", Refuse: "y"}, {Name: "e", Refuse: "y"}}
	want := []Line{{"cuda:0", Absent, "c: x", ""}, {"cuda:0", Absent, "a and 2 more: y", ""}}
	if d := cmp.Diff(want, unable("cuda:0", rows)); d != "" {
		t.Error(d)
	}
}
