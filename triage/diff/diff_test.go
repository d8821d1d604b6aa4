package diff

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestShownBy says what shows a part, or why nothing does.
func TestShownBy(t *testing.T) {
	width := mma.Change{Path: "join.align.f", From: "24", To: "25"}
	step := mma.Change{Path: "l", From: "8", To: "0"}
	for _, c := range []struct {
		p    Part
		want string
	}{
		{Part{Changes: []mma.Change{width}, Witness: "3c00 3c00 0", Before: "1", After: "2"}, "shown by 3c00 3c00 0: A gives 1, A with kept bits (F) 25 gives 2"},
		{Part{Changes: []mma.Change{width, step}, Witness: "0 0 0", Before: "1", After: "2"}, "shown by 0 0 0: A gives 1, A with kept bits (F) 25 and products in a step (L) all gives 2"},
		{Part{Changes: []mma.Change{width, step, width}, Witness: "0 0 0", Before: "1", After: "2"}, "shown by 0 0 0: A gives 1, A with these changes gives 2"},
		{Part{Idle: true, IdleBy: "ranges", Alone: true}, "alone it makes no difference: proved by the ranges of all values"},
		{Part{Idle: true, IdleBy: "solver", Alone: true}, "alone it makes no difference: proved by a SAT solver, for all inputs"},
		{Part{Alone: true}, "no input was found that shows it alone"},
		{Part{}, "makes sense only with other changes"},
	} {
		if got := c.p.shownBy(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestHead holds that names which are too long for a line have one each.
func TestHead(t *testing.T) {
	d := Difference{A: "sim:ampere/mma.m16n8k8.f32.f16.f16.f32", B: "sim:hopper/mma.m16n8k8.f32.f16.f16.f32"}
	for width, want := range map[int]string{80: d.A + "  " + d.B + "\n", 60: d.A + "\n  " + d.B + "\n"} {
		var b strings.Builder
		d.Write(&b, width, nil)
		if !strings.HasPrefix(b.String(), want) {
			t.Errorf("width %d: %q", width, &b)
		}
	}
}
