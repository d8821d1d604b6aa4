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
	integer := f.D.Get().Integer()
	c, products := "", "products"
	if f.C != fp.None && p.Late == (mma.Round{}) {
		c = " and c"
	}
	if p.Prod.Xor {
		products = "exclusive ors"
	}
	sum := fmt.Sprintf("one sum of %d %s%s", k, products, c)
	switch {
	case f.Conversion():
		sum = "a conversion"
	case k == 1 && p.Prod.Round.Frac == 0:
		sum = "a fused multiply-add"
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
	} else if step > 1 && !integer {
		sum += ", no term cut"
	}
	if integer && p.Stage0.Round.Over == mma.OverSat {
		sum += ", which saturate"
	}
	switch words := modeWords[p.Acc.Mode]; {
	case integer && p.Acc.Over == mma.OverWrap:
		sum += "; the result wraps around"
	case integer && !f.Conversion():
		sum += "; the result saturates"
	case words != "":
		sum += "; result rounded " + words
		if frac := int(p.Acc.Frac); frac != 0 && frac < int(f.D.Get().FracBits) && !f.Conversion() {
			sum += fmt.Sprintf(", to %d fraction bits", frac)
		}
	}
	if f.C != fp.None && p.Lanes < 2 && p.Late != (mma.Round{}) {
		sum += "; then c is added, rounded " + modeWords[p.Late.Mode]
	}
	return sum
}
