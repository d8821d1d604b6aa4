package change

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// modes of rounding, in the order of how common they are in hardware.
var modes = []fp.Mode{fp.RZ, fp.RNE, fp.RD, fp.RU, fp.RNA, fp.RTO}

// usual returns the modes that are tried with every width: the present one and the two
// most common. The others are tried with the widths that seem best (OtherModes).
func usual(now fp.Mode) []fp.Mode {
	if now == 0 || now == fp.RZ || now == fp.RNE {
		return modes[:2]
	}
	return []fp.Mode{fp.RZ, fp.RNE, now}
}

// OtherModes returns what q becomes with another mode at a place where its width differs
// from p's: one program for each such place and mode.
func (s Space) OtherModes(p, q *mma.Params) []mma.Params {
	o := &original{s, *q}
	var all []mma.Params
	for _, x := range o.cuts() {
		was, _ := x.get(p)
		f, now := x.get(q)
		if f == was || f == 0 {
			continue
		}
		for _, m := range modes {
			other := *q
			if x.set(&other, f, m); m != now && s.Valid(&other) {
				all = append(all, other)
			}
		}
	}
	return all
}

// widths tries roundings and alignments of every width, with the usual modes.
func widths(c *changer) {
	for _, r := range c.used(roundings) {
		c.next()
		now := *r.at(&c.p)
		base := now
		if base.Frac == 0 {
			base = mma.To(c.wide(), fp.RZ)
			base.Flush, base.Over = now.Flush, now.Over // those of a bare range
		}
		for _, f := range c.fracs(r.path + ".frac") {
			ms := usual(now.Mode)
			if f == now.Frac || r.path == "out" {
				ms = modes
			}
			for _, m := range ms {
				c.to(func(p *mma.Params) {
					*r.at(p) = base
					r.at(p).Frac, r.at(p).Mode = f, m
				})
			}
		}
	}
	for _, a := range c.aligned() {
		c.next()
		now := *a.at(&c.p)
		c.to(func(p *mma.Params) { a.at(p).F, a.at(p).Mode = 0, 0 })
		for _, f := range c.fracs(a.path + ".f") {
			ms := usual(now.Mode)
			if f == now.F {
				ms = modes
			}
			for _, m := range ms {
				c.to(func(p *mma.Params) { a.at(p).F, a.at(p).Mode = f, m })
			}
		}
	}
}

// floors tries other lower bounds of alignments, alone and with a width that keeps the
// last bit where it is.
func floors(c *changer) {
	for _, a := range c.aligned() {
		c.next()
		now := *a.at(&c.p)
		c.to(func(p *mma.Params) { a.at(p).Floor = 0 })
		for _, floor := range c.floorsNear(now.Floor) {
			c.to(func(p *mma.Params) { a.at(p).Floor = floor })
		}
		if now.Floor == 0 {
			continue
		}
		for d := -30; d <= 30; d++ {
			if f := int(now.F) + d; f > 0 && f <= mma.MaxFrac {
				c.to(func(p *mma.Params) { a.at(p).F, a.at(p).Floor = mma.Frac(f), now.Floor+mma.Exp(d) })
			}
		}
	}
}

// fixedPoints makes lower bounds above most exponents, so that all terms are cut at the same
// bit: only such a bound and the width together have an effect.
func fixedPoints(c *changer) {
	for _, a := range c.aligned() {
		if a.at(&c.p).Floor != 0 {
			continue
		}
		for _, bit := range c.floorsNear(0) {
			for _, m := range usual(0) {
				c.to(func(p *mma.Params) { *a.at(p) = fixedPoint(bit, m) })
			}
		}
	}
}

// fixedPoint cuts below a bit, whatever the exponents of most terms are.
func fixedPoint(bit mma.Exp, m fp.Mode) mma.Align {
	const width = 30
	return mma.Align{F: width, Mode: m, Floor: min(bit, 10) + width}
}

// floorsNear returns lower bounds of an alignment: those near the present one, if there
// is one, and every third of the whole range; of a range as wide as FP64's only those
// near its ends and its middle.
func (o *original) floorsNear(now mma.Exp) []mma.Exp {
	const near = 6
	var all []mma.Exp
	grid := func(lo, hi, step int) {
		for f := lo; f <= hi; f += step {
			all = append(all, mma.Exp(f))
		}
	}
	if now != 0 {
		grid(int(now)-near, int(now)+near, 1)
	}
	lo, hi := o.floorSpan()
	if hi-lo < 400 {
		grid(lo, hi, 3)
		return all
	}
	products, results := o.exponents()
	for _, e := range []int{products, results, 0} {
		grid(e-42, e+39, 3)
	}
	return all
}

// newFloor gives an alignment that has no lower bound those of known units.
func newFloor(c *changer) {
	for _, a := range c.aligned() {
		cuts := a.at(&c.p).F != 0 || a.path == "join.align" && c.p.Join.CF != 0
		if a.at(&c.p).Floor != 0 || !cuts {
			continue
		}
		for _, floor := range []mma.Exp{-126, -131, -132, -133, -139, -19, -20, -21} {
			c.to(func(p *mma.Params) { a.at(p).Floor = floor })
		}
	}
}

// drop turns the dropping of small accumulators on and off.
func drop(c *changer) {
	j := c.p.Join
	if j.CDrop != 0 {
		c.to(func(p *mma.Params) { p.Join.CDrop = 0 })
		return
	}
	f := j.CF
	if f == 0 {
		f = j.Align.F
	}
	if f == 0 {
		f = 24
	}
	for _, f := range []mma.Frac{f, f + 1} {
		c.to(func(p *mma.Params) { p.Join.CDrop = f })
	}
}

// cCut cuts the accumulator by another mode or width than the terms, or like them.
func cCut(c *changer) {
	j := c.p.Join
	if j.CMode != 0 || j.CF != 0 {
		c.to(func(p *mma.Params) { p.Join.CF, p.Join.CMode = 0, 0 })
		return
	}
	if j.Align.F == 0 {
		return
	}
	for _, m := range fp.Modes() {
		if m != j.Align.Mode {
			c.to(func(p *mma.Params) { p.Join.CMode = m })
		}
	}
	for _, f := range []mma.Frac{j.Align.F - 1, j.Align.F + 1} {
		c.to(func(p *mma.Params) { p.Join.CF = f })
	}
}

// movedWidths moves, copies and exchanges widths between the places that cut.
func movedWidths(c *changer) {
	all := c.cuts()
	for i, s := range all {
		f, m := s.get(&c.p)
		if f == 0 {
			continue
		}
		for j, t := range all {
			if i == j {
				continue
			}
			g, n := t.get(&c.p)
			c.to(func(p *mma.Params) { t.set(p, f, m) })
			c.to(func(p *mma.Params) { t.set(p, f, m); s.set(p, 0, 0) })
			c.to(func(p *mma.Params) { t.set(p, f, m); s.set(p, g, n) })
		}
	}
}

// movedAlignments moves, copies and exchanges alignments between places.
func movedAlignments(c *changer) {
	for i := range alignments {
		s := &alignments[i]
		a := *s.at(&c.p)
		for _, t := range c.aligned() {
			if s == t {
				continue
			}
			c.to(func(p *mma.Params) { *t.at(p) = a })
			c.to(func(p *mma.Params) { *s.at(p), *t.at(p) = *t.at(p), a })
			c.to(func(p *mma.Params) { *s.at(p), *t.at(p) = mma.Align{}, a })
		}
	}
}
