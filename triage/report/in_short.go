package report

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// InShort says in a line how a program adds k products: how many at a time, what is cut off, and
// how the result is rounded.
func InShort(f mma.Formats, k int, p *mma.Params) string {
	step := p.Step(k)
	c := ""
	if f.C != fp.None {
		c = " and c"
	}
	sum := fmt.Sprintf("one sum of %d products%s", k, c)
	switch {
	case step == 1:
		sum = fmt.Sprintf("a chain of %d additions", k)
		if p.Prod.Round.Frac == 0 {
			sum = fmt.Sprintf("a chain of %d fused multiply-adds", k)
		}
	case step < k:
		sum = fmt.Sprintf("%d sums of %d products, one after the other", (k+step-1)/step, step)
	}
	if p.Lanes > 1 {
		sum += fmt.Sprintf(", in %d interleaved parts", p.Lanes)
	}
	cut := &p.Join.Align
	if s := &p.Stage0; s.Sum != mma.Off {
		sum += ": partial sums of products first"
		if s.Group == 0 && s.Sum == mma.Fused {
			sum = fmt.Sprintf("%d products first, then c", step)
			if step < k {
				sum = fmt.Sprintf("%d times %s", (k+step-1)/step, sum)
			}
		}
		if cut.F == 0 {
			cut = &s.Align
		}
	}
	if cut.F != 0 {
		how := "rounded " + modeWords[cut.Mode]
		if cut.Mode == fp.RZ {
			how = "truncated"
		}
		sum += fmt.Sprintf(", terms %s to %d bits below the largest", how, cut.F)
	} else if step > 1 {
		sum += ", no term cut"
	}
	if words := modeWords[p.Acc.Mode]; words != "" {
		sum += "; result rounded " + words
	}
	return sum
}
