package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// differing returns a pair whose arithmetics differ in a number of parameters, by one in their
// values.
func differing(name string, paths ...string) *Difference {
	d := &Difference{name: name}
	for _, path := range paths {
		d.Parts = append(d.Parts, Part{Labels: []triage.Label{triage.FusionWidth}, Changes: []mma.Change{{Path: path, From: "1", To: "2"}}})
	}
	return d
}

// TestGroups holds that pairs with the same changes are one entry, the most different first.
func TestGroups(t *testing.T) {
	one, more := differing("x", "l"), differing("y", "l", "join.align.f")
	shown := differing("z", "l")
	shown.Parts[0] = Part{Labels: shown.Parts[0].Labels, Changes: shown.Parts[0].Changes, Alone: true, Witness: "00 00 -", Before: "00", After: "01"}
	var b strings.Builder
	WriteGroups(&b, 100, nil, "sim:a", "sim:b", []*Difference{one, more, differing("same"), shown, differing("w", "l")})
	want := `sim:a and sim:b: 4 of 5 pairs of instructions differ, in 2 ways

y
  fusion-width  products in a step (L) 1→2
  fusion-width  kept bits (F) 1→2

x, z, w
  fusion-width    products in a step (L) 1→2
  smallest input  00 00 -: A gives 00, A with products in a step (L) 2 gives 01, on z

the same arithmetic: same

with -v: every pair with the input that shows each change, and what the models rest on
`
	if got := b.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestScreen holds that many differences take one screen: the first entries are whole, of the
// others there is a line each.
func TestScreen(t *testing.T) {
	paths := []string{"l", "lanes", "join.align.f", "join.cf", "acc.frac", "acc.emin", "late.frac", "out.frac"}
	var all []*Difference
	for i := range paths {
		all = append(all, differing(fmt.Sprint("inst", i), paths[i:]...))
	}
	var b strings.Builder
	WriteGroups(&b, 100, nil, "sim:a", "sim:b", all)
	if n := strings.Count(b.String(), "\n"); n > screen || n < screen-4 {
		t.Errorf("%d lines, want all %d at most\n%s", n, screen, &b)
	}
	for i := range paths {
		if !strings.Contains(b.String(), fmt.Sprint("\ninst", i)) {
			t.Errorf("inst%d is not shown", i)
		}
	}
}
