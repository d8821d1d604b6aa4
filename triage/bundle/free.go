package bundle

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// freedom is what does not matter about each of several operands while all else stays.
type freedom struct {
	format   fp.ID
	free     minimize.Free
	a, b     []int // numbers of the products whose factor is one of the operands
	c        bool  // c is one of them
	sa, sb   []int // numbers of the blocks whose scale is one of them
	operands int   // how many they are
}

// freeMost is the number of freedoms that are listed, at most.
const freeMost = 4

// Free describes what does not matter about a minimized case: one line for all operands with
// the same freedom. Of more than freeMost freedoms, those of the most operands are listed.
func Free(f mma.Formats, m *minimize.Mask) []string {
	all := freedoms(f, m)
	if len(all) > freeMost {
		slices.SortStableFunc(all, func(x, y *freedom) int { return y.operands - x.operands })
	}
	var lines []string
	rest := 0
	for i, fr := range all {
		if i < freeMost {
			lines = append(lines, fr.String())
		} else {
			rest += fr.operands
		}
	}
	if rest > 0 {
		lines = append(lines, fmt.Sprintf("and likewise for bits of %s", readable.Plural(rest, "more operand")))
	}
	return lines
}

// freedoms groups the operands of a mask by what does not matter about them.
func freedoms(f mma.Formats, m *minimize.Mask) []*freedom {
	if m == nil {
		return nil
	}
	var all []*freedom
	add := func(id fp.ID, free minimize.Free, to func(*freedom)) {
		if id == fp.None || free.Bits == 0 {
			return
		}
		n := slices.IndexFunc(all, func(fr *freedom) bool { return fr.format == id && fr.free == free })
		if n < 0 {
			n = len(all)
			all = append(all, &freedom{format: id, free: free})
		}
		all[n].operands++
		to(all[n])
	}
	for k := range m.A {
		add(f.A, m.A[k], func(fr *freedom) { fr.a = append(fr.a, k) })
		add(f.B, m.B[k], func(fr *freedom) { fr.b = append(fr.b, k) })
	}
	add(f.C, m.C, func(fr *freedom) { fr.c = true })
	for i := range m.SA {
		add(f.Scale, m.SA[i], func(fr *freedom) { fr.sa = append(fr.sa, i) })
		add(f.Scale, m.SB[i], func(fr *freedom) { fr.sb = append(fr.sb, i) })
	}
	return all
}

// String says what can be done to one of the operands while all else stays.
func (fr *freedom) String() string {
	set, single := mma.FormatCode(fr.format, fr.free.Set), mma.FormatCode(fr.format, fr.free.Bits)
	of := fr.where()
	var what string
	switch {
	case fr.free.Set == fr.format.Get().CodeMask():
		what = fmt.Sprintf("whatever %s is%s", of, fr.alone())
	case bits.OnesCount64(fr.free.Bits) == 1:
		what = fmt.Sprintf("if the bit %s of %s is flipped%s", single, of, fr.alone())
	case fr.setSaysMore():
		what = fmt.Sprintf("whatever the bits %s of %s are%s", set, of, fr.alone())
	default:
		what = fmt.Sprintf("if any one of the bits %s of %s is flipped", single, of)
	}
	return "A and B still differ " + what + ", all else equal"
}

// setSaysMore reports whether the bits that can be anything are to be told, not the more that
// can be flipped one at a time: they are if they are at least half of those.
func (fr *freedom) setSaysMore() bool {
	n := bits.OnesCount64(fr.free.Set)
	return n > 1 && 2*n >= bits.OnesCount64(fr.free.Bits)
}

// alone says that what is free of each operand is not free of several at once.
func (fr *freedom) alone() string {
	switch fr.operands {
	case 1:
		return ""
	case 2:
		return " (not both)"
	}
	return " (in one operand only)"
}

// where lists the operands: one of them at a time is free.
func (fr *freedom) where() string {
	var parts []string
	add := func(both, a, b, of string, inA, inB []int) {
		switch {
		case slices.Equal(inA, inB) && inA != nil:
			parts = append(parts, both+ranges(of, inA))
			return
		case inA != nil:
			parts = append(parts, a+ranges(of, inA))
		}
		if inB != nil {
			parts = append(parts, b+ranges(of, inB))
		}
	}
	add("a or b of ", "a of ", "b of ", "p", fr.a, fr.b)
	if fr.c {
		parts = append(parts, "c")
	}
	add("a's or b's scale of block ", "a's scale of block ", "b's scale of block ", "", fr.sa, fr.sb)
	return strings.Join(parts, ", or ")
}

func ranges(prefix string, ns []int) string { return strings.Join(report.Ranges(prefix, ns), " ") }
