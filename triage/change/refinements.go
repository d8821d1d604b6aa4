package change

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// narrowest rounds operands to one bit less than they have.
func narrowest(c *changer) {
	for _, m := range modes[:2] {
		c.to(func(p *mma.Params) { p.In.A, p.In.B = c.narrow(c.A, -1, m), c.narrow(c.B, -1, m) })
	}
}

// convertedTwice converts to another format first, as software does that has no direct conversion.
func convertedTwice(c *changer) {
	if !c.Formats.Conversion() || c.K != 1 {
		return
	}
	for _, id := range []fp.ID{fp.FP32, fp.FP16, fp.BF16} {
		for _, m := range []fp.Mode{fp.RNE, fp.RZ} {
			if f := id.Get().FracBits; f < c.A.Get().FracBits && f > c.D.Get().FracBits {
				c.to(func(p *mma.Params) { p.In.A = mma.Narrow{Frac: mma.Frac(f), Mode: m, To: id} })
			}
		}
	}
}

// shortIntegers keeps sums of pairs of integers, or all of them, in 16 bits.
func shortIntegers(c *changer) {
	if !c.D.Integer() || c.p.Acc.Frac != 31 {
		return
	}
	for _, over := range []mma.Over{mma.OverSat, mma.OverWrap} {
		short := mma.Round{Frac: 15, Mode: fp.RZ, Emin: 15, Emax: 14, Over: over}
		c.to(func(p *mma.Params) { p.Stage0 = mma.Stage{Sum: mma.Fused, Group: 2, Round: short} })
		c.to(func(p *mma.Params) { p.Acc = short })
	}
}

// usualZeros makes one of the codes in the middle the zero of a, of b or of both.
func usualZeros(c *changer) {
	if !c.D.Integer() {
		return
	}
	zeros := func(id fp.ID) []int {
		middle := 1 << (id.Get().CodeBits() - 1)
		return []int{0, middle, middle - 1, -middle}
	}
	c.zeros(zeros(c.A), zeros(c.B))
}

// anyZeros makes any pair of bytes or smaller codes the zeros of a and b.
func anyZeros(c *changer) {
	if !c.D.Integer() || c.A.Width() > 1 || c.B.Width() > 1 {
		return
	}
	zeros := func(id fp.ID) (all []int) {
		n := 1 << id.Get().CodeBits()
		for v := range n {
			if id.Get().Signed {
				v -= n / 2
			}
			all = append(all, v)
		}
		return all
	}
	c.zeros(zeros(c.A), zeros(c.B))
}

// zeros gives a and b each pair of zero points.
func (c *changer) zeros(a, b []int) {
	for _, x := range a {
		for _, y := range b {
			c.to(func(p *mma.Params) { p.In.ZeroA, p.In.ZeroB = int32(x), int32(y) })
		}
	}
}

// upperExponents takes products for twice as large, or no longer, also with widths that
// leave the last bit of products, of the accumulator or of both nearly where it is: then few
// inputs show the difference.
func upperExponents(c *changer) {
	up := func(p *mma.Params) { p.Prod.Up = !p.Prod.Up }
	c.to(up)
	beside := func(f mma.Frac, d int) mma.Frac {
		if f == 0 {
			return 0
		}
		return mma.Frac(int(f) + d)
	}
	for df := -1; df <= 1; df++ {
		for dc := -1; dc <= 1; dc++ {
			c.to(func(p *mma.Params) {
				up(p)
				p.Join.Align.F, p.Join.CF = beside(p.Join.Align.F, df), beside(p.Join.CF, dc)
			})
		}
	}
}

// narrowers are the modes of narrowing that are tried with every width: the usual ones and
// none, with which the lower bits are not read at all (see mma.Narrow).
func narrowers(now fp.Mode) []fp.Mode { return append([]fp.Mode{0}, usual(now)...) }

// narrow returns the rounding of operands to n fraction bits or, if n is negative, to -n
// fewer than the format has; the zero Narrow if that leaves none or all.
func (o *original) narrow(id fp.ID, n int, m fp.Mode) mma.Narrow {
	most := int(o.read(id).FracBits)
	if n < 0 {
		n += most
	}
	if n <= 0 || n >= most {
		return mma.Narrow{}
	}
	return mma.Narrow{Frac: mma.Frac(n), Mode: m}
}

// read returns the format that operands of a format have when they are narrowed.
func (o *original) read(id fp.ID) *fp.Format {
	return id.As(o.p.In.Widen).Get()
}

// narrows rounds both operands alike, or one of them.
func narrows(c *changer) {
	in := c.p.In
	most := int(max(c.read(c.A).FracBits, c.read(c.B).FracBits))
	for n := 1; n < most; n++ {
		ms := narrowers(in.A.Mode)
		if n == int(in.A.Frac) || n == int(in.B.Frac) {
			ms = modes
		}
		for _, m := range ms {
			a, b := c.narrow(c.A, n, m), c.narrow(c.B, n, m)
			c.to(func(p *mma.Params) { p.In.A, p.In.B = a, b })
			c.to(func(p *mma.Params) { p.In.A = a })
			c.to(func(p *mma.Params) { p.In.B = b })
		}
	}
}

// narrowsOfC rounds c.
func narrowsOfC(c *changer) {
	if c.C == fp.None {
		return
	}
	now := c.p.In.NarrowC
	for n := 1; n < int(c.C.Get().FracBits); n++ {
		ms := narrowers(now.Mode)
		if n == int(now.Frac) {
			ms = modes
		}
		for _, m := range ms {
			c.to(func(p *mma.Params) { p.In.NarrowC = mma.Narrow{Frac: mma.Frac(n), Mode: m} })
		}
	}
}

// cutting returns the alignments that cut something.
func (o *original) cutting() []*alignment {
	var all []*alignment
	for _, a := range o.aligned() {
		if a.at(&o.p).F != 0 {
			all = append(all, a)
		}
	}
	return all
}

// stickyCuts gives alignments each kind of sticky bit with the modes that units combine
// with one, and widths near the present one. An exact sum gets all widths of an adder,
// because a cut sum with a sticky bit gives nearly the results of an exact one, and without
// it does not.
func stickyCuts(c *changer) {
	for _, a := range c.aligned() {
		c.next()
		now := *a.at(&c.p)
		lo, hi := now.F-2, now.F+1
		if now.F == 0 {
			lo, hi = mma.Frac(c.D.Get().FracBits), mma.Frac(c.D.Get().FracBits)+12
		}
		for f := max(lo, 1); f <= min(hi, mma.MaxF); f++ {
			for s := mma.StickyRound; s <= mma.StickyLast; s++ {
				for _, m := range []fp.Mode{fp.RZ, fp.RD} {
					c.to(func(p *mma.Params) { a.at(p).F, a.at(p).Mode, a.at(p).Sticky = f, m, s })
				}
			}
		}
	}
}

// negationCuts gives exact sums the widths of an adder with a negation: if a sum looks exact,
// only its negations show the width.
func negationCuts(c *changer) {
	for _, a := range c.aligned() {
		if a.at(&c.p).F != 0 {
			continue
		}
		c.next()
		hi := mma.Frac(c.D.Get().FracBits) + 12
		for f := mma.Frac(5); f <= hi; f++ {
			for _, n := range []mma.Negate{mma.NegateFlip, mma.NegateFrameNumbers} {
				c.to(func(p *mma.Params) { a.at(p).F, a.at(p).Mode, a.at(p).Negate = f, fp.RZ, n })
			}
		}
	}
}

// roundedScales rounds the product of two scales to their own format, or to what software
// multiplies them in.
func roundedScales(c *changer) {
	if c.Scale == fp.None {
		return
	}
	c.to(func(p *mma.Params) { p.ScaleRound = mma.Round{} })
	for _, id := range []fp.ID{c.Scale, fp.FP32, fp.BF16, fp.FP16} {
		for _, m := range modes {
			for o := mma.OverInf; o <= mma.OverMax; o++ {
				c.to(func(p *mma.Params) { p.ScaleRound = mma.To(id, m); p.ScaleRound.Over = o })
			}
		}
	}
}

// gridsOfC aligns all terms with the accumulator, at the present width and at those near that
// of its format.
func gridsOfC(c *changer) {
	if c.p.Join.CGrid {
		c.to(func(p *mma.Params) { p.Join.CGrid = false })
		for _, f := range c.fracs("join.cf") { // c that is never cut looks like a grid
			for _, m := range modes {
				c.to(func(p *mma.Params) { p.Join.CGrid, p.Join.CF, p.Join.CMode = false, f, m })
			}
		}
		return
	}
	c.to(func(p *mma.Params) { p.Join.CGrid = true })
	digits := c.p.Acc.Frac
	for f := max(digits, 3) - 2; f <= digits+3; f++ {
		for _, m := range modes {
			c.to(func(p *mma.Params) { p.Join.Align, p.Join.CGrid = mma.Align{F: f, Mode: m}, true })
		}
	}
}

// shortSums takes the top bit from sums.
func shortSums(c *changer) {
	for _, a := range c.cutting() {
		n := uint8(int(a.at(&c.p).F) + 1 + bits.Len(uint(c.K)))
		c.to(func(p *mma.Params) { a.at(p).Bits = n })
		c.to(func(p *mma.Params) { a.at(p).Bits, a.at(p).Saturate = n, true })
	}
}

// sumSizes limits sums to every size that a sum could exceed: to all sizes where the
// alignment has a lower bound.
func sumSizes(c *changer) {
	for _, a := range c.cutting() {
		c.next()
		now := a.at(&c.p)
		lo, hi := int(now.F)-2, int(now.F)+4+bits.Len(uint(c.K))
		if now.Floor != 0 {
			lo = 1
		}
		for n := max(lo, 1); n <= min(hi, mma.MaxBits); n++ {
			c.to(func(p *mma.Params) { a.at(p).Bits, a.at(p).Saturate = uint8(n), false })
			c.to(func(p *mma.Params) { a.at(p).Bits, a.at(p).Saturate = uint8(n), true })
		}
		c.to(func(p *mma.Params) { a.at(p).Saturate = !a.at(p).Saturate })
	}
}

// shortExactSums makes exact sums cut, in windows that few results show, and limits their
// size: only the width and the size together have an effect.
func shortExactSums(c *changer) {
	const step = 4 // the width is found later
	for _, a := range c.aligned() {
		if a.at(&c.p).F != 0 {
			continue
		}
		c.next()
		for f := mma.Frac(5); f <= mma.MaxF; f += step {
			for n := int(f) + 1; n <= int(f)+2+bits.Len(uint(c.K)) && n <= mma.MaxBits; n++ {
				for _, saturate := range []bool{false, true} {
					c.to(func(p *mma.Params) {
						a.at(p).F, a.at(p).Mode, a.at(p).Bits, a.at(p).Saturate = f, fp.RZ, uint8(n), saturate
					})
				}
			}
		}
	}
}

// wideWindows tries alignments wider than any rounding.
func wideWindows(c *changer) {
	for _, a := range c.aligned() {
		c.next()
		m := a.at(&c.p).Mode
		if m == 0 {
			m = fp.RZ
		}
		for f := mma.Frac(mma.MaxFrac + 1); f <= mma.MaxF; f++ {
			c.to(func(p *mma.Params) { a.at(p).F, a.at(p).Mode = f, m })
		}
	}
}

// lastSaturation makes the rounding of the result turn infinities into the largest number.
func lastSaturation(c *changer) {
	rounds := c.rounds()
	if len(rounds) == 0 { // to powers of two
		return
	}
	r := rounds[len(rounds)-1]
	c.to(func(p *mma.Params) { r.at(p).Over = mma.OverSat })
}

// lostInfinities drops infinite and NaN accumulators beside any finite products, and beside
// products so large that an accumulator of exponent 0 would be at the end of their window.
func lostInfinities(c *changer) {
	lowest, _ := c.exponents()
	c.to(func(p *mma.Params) { p.Join.CLost = mma.Exp(lowest) })
	for _, f := range []mma.Frac{c.p.Join.CDrop, c.p.Join.CF, c.p.Join.Align.F} {
		for e := max(1, int(f)-1); f != 0 && e <= int(f)+1; e++ {
			c.to(func(p *mma.Params) { p.Join.CLost = mma.Exp(e) })
		}
	}
}
