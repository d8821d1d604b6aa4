package change

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// This file is the breadth Exhaustive.

// anyValue proposes all values that a field can have: those of its range or enumeration, or
// every format. The present one may be among them.
func anyValue(o *original, f mma.Field) []int {
	switch {
	case f.Numeric():
		return allInRangeOrAbsent(o, f)
	case f.Values() != nil:
		return others(o, f)
	case f.Path == "merge":
		var vals []int
		for _, m := range mergesOf(o.p.Merged()) {
			vals = append(vals, int(m))
		}
		return vals
	case f.Path == "passes":
		vals := []int{0}
		for _, list := range mma.PassLists {
			vals = append(vals, int(list))
		}
		return vals
	}
	return formats(fp.All()...)(o, f)
}

// Range returns the values that a field can have in a program: those of its enumeration or
// of its range, 0 or None included, as mma.Field.Int returns them; nil if the program has no
// use for it. Not all need be valid without a change of other fields.
func (s Space) Range(p *mma.Params, f mma.Field) []int { return s.valuesOf(p, f, anyValue) }

// Others returns programs, valid or not, in which a parameter has each other value of Range, all
// else being equal, without the exponents that no term and no sum has: a bound beyond these does
// what the last of them does.
func (s Space) Others(p *mma.Params, f mma.Field) []mma.Params {
	numbers := s.valuesOf(p, f, reachable)
	slices.Sort(numbers)
	var all []mma.Params
	for _, n := range slices.Compact(numbers) {
		q := *p
		if f.SetInt(&q, n); q != *p {
			all = append(all, q)
		}
	}
	return all
}

func (s Space) valuesOf(p *mma.Params, f mma.Field, values func(*original, mma.Field) []int) []int {
	o := &original{s, *p}
	if _, _, ok := f.Range(p, s.Formats, s.K); f.Numeric() && !ok {
		return nil
	}
	return append(values(o, f), f.Int(p))
}

// anyValues gives every field every value that it can have.
func anyValues(c *changer) {
	for _, f := range mma.Fields() {
		c.next()
		for _, v := range reachable(&c.original, f) {
			c.set(f, v)
		}
	}
}

// reachable is anyValue without the exponents that no term and no sum has: a bound beyond
// these does what the last of them does.
func reachable(o *original, f mma.Field) []int {
	vals := anyValue(o, f)
	if !strings.HasSuffix(f.Path, ".emin") && !strings.HasSuffix(f.Path, ".emax") {
		return vals
	}
	lo, hi := o.reach()
	return slices.DeleteFunc(vals, func(v int) bool { return v != 0 && (v < lo || v > hi) })
}

// reach returns the exponents of the last bit of the smallest term and of the largest sum.
func (o *original) reach() (lo, hi int) {
	last := func(id fp.ID) int { return int(id.Get().Emin()) - int(id.Get().FracBits) }
	weight := o.p.Weight(o.Formats)
	lo = last(o.A) + last(o.B) + weight
	hi = int(o.A.Get().Emax()+o.B.Get().Emax()) + max(0, weight) + 2
	if o.Scale != fp.None {
		lo, hi = lo+2*last(o.Scale), hi+2*int(o.Scale.Get().Emax()+1)
	}
	for _, id := range []fp.ID{o.C, o.D} {
		if id != fp.None {
			lo, hi = min(lo, last(id)), max(hi, int(id.Get().Emax())+1)
		}
	}
	return lo - 1, hi + bits.Len(uint(o.K))
}

// places returns the roundings that a program reaches or could have.
func (c *changer) places() []*rounding {
	var all []*rounding
	for i := range roundings {
		r := &roundings[i]
		if r.used(&c.original) || r.path == "out" || r.path == "scaleround" && c.Scale != fp.None {
			all = append(all, r)
		}
	}
	return all
}

// anyRounding rounds, at every place, to every width and in every direction with the
// range of each format.
func anyRounding(c *changer) {
	for _, r := range c.places() {
		c.next()
		for _, id := range fp.All() {
			f := id.Get()
			if f.Specials != fp.IEEE || f.Low != 0 {
				continue
			}
			for frac := mma.Frac(1); frac <= r.most(&c.original); frac++ {
				for _, m := range modes {
					c.to(func(p *mma.Params) {
						*r.at(p) = mma.To(id, m)
						r.at(p).Frac = frac
					})
				}
			}
		}
	}
}

// anyFlush flushes, at every place, what is below any exponent, and rounds otherwise as
// before.
func anyFlush(c *changer) {
	for _, r := range c.used(roundings) {
		c.next()
		emin, _ := mma.FindField(r.path + ".emin")
		bounds := slices.DeleteFunc(reachable(&c.original, emin), func(e int) bool { return e == 0 })
		if now := r.at(&c.p).Emin; now != 0 {
			bounds = slices.Insert(bounds, 0, int(now))
		}
		for _, e := range bounds {
			for f := mma.FlushBefore; f <= mma.FlushResult; f++ {
				c.to(func(p *mma.Params) { r.at(p).Emin, r.at(p).Flush = mma.Exp(e), f })
			}
		}
	}
}

// anyOverflow rounds, at every place, to so many bits that only the range matters, with every
// upper end of the range and every rule for what lies above. A rounding that is there keeps
// its width, mode and lower end.
func anyOverflow(c *changer) {
	lowest, highest := c.reach()
	for _, r := range c.places() {
		c.next()
		now := *r.at(&c.p)
		if now.Frac == 0 {
			now = mma.Round{Frac: r.most(&c.original), Mode: fp.RNE}
			if r.path == "prod.round" { // it needs one
				now.Emin = mma.Exp(lowest)
			}
		}
		for e := lowest; e <= highest; e++ {
			for over := mma.OverInf; over <= mma.OverSat; over++ {
				c.to(func(p *mma.Params) {
					*r.at(p) = now
					r.at(p).Emax, r.at(p).Over = mma.Exp(e), over
				})
			}
		}
	}
}

// anyStage gives stages every shape with every rule for its sums, and adds such stages: exact
// ones or nearly so, and ones that cut or round like what follows them.
func anyStage(c *changer) {
	cuts := []mma.Stage{{}, {Align: mma.Align{F: mma.MaxF, Mode: fp.RZ}}, {Align: c.p.Join.Align}, {Round: mma.To(c.wide(), fp.RNE)}}
	for _, rule := range []mma.Stage{{}, {Fixed: true}, {Plus: true}, {Deep: true}, {Sort: mma.Rising}, {Sort: mma.Falling}} {
		c.next()
		for _, s := range c.shapesOf() {
			s.Fixed, s.Plus, s.Deep, s.Sort = rule.Fixed, rule.Plus, rule.Deep, rule.Sort
			for _, x := range cuts {
				s.Align, s.Round = x.Align, x.Round
				c.add(s)
			}
			for i := range alignments[:2] {
				if !alignments[i].used(&c.original) {
					continue
				}
				c.to(func(p *mma.Params) {
					to := stages[i](p)
					s.Align, s.Round = to.Align, to.Round
					*to = s
				})
			}
		}
	}
}

// anyRoundedStage adds stages of the usual shapes that round to every width.
func anyRoundedStage(c *changer) {
	c.next()
	for _, s := range c.shapesOf() {
		if s.Group&(s.Group-1) != 0 {
			continue
		}
		for f := mma.Frac(1); f <= mma.Frac(c.D.Get().FracBits)+2; f++ {
			for _, m := range usual(0) {
				s.Round = mma.To(c.wide(), m)
				s.Round.Frac = f
				c.add(s)
			}
		}
	}
}

// anyAdder gives alignments every width with every mode and sticky bit, and every width with
// several sizes of the adder: some fixed ones, those near the width, and the one as far from
// the width as now. Both need a width, so they are set with it.
func anyAdder(c *changer) {
	for _, a := range c.aligned() {
		now := *a.at(&c.p)
		set := func(f, n int, x mma.Align) {
			if f < 1 || f > mma.MaxF || n < 0 || n > mma.MaxBits {
				return
			}
			x.F, x.Bits, x.Floor, x.Drop = mma.Frac(f), uint8(n), now.Floor, now.Drop
			c.to(func(p *mma.Params) { *a.at(p) = x })
		}
		c.next()
		for f := 1; f <= mma.MaxF; f++ {
			for _, m := range modes {
				for s := mma.StickyOff; s <= mma.StickyLast; s++ {
					set(f, 0, mma.Align{Mode: m, Sticky: s})
				}
			}
		}
		c.next()
		for f := 1; f <= mma.MaxF; f++ {
			sizes := []int{1, 4, 8, 16, 24, 32, 48, 64, 96}
			if now.Bits != 0 {
				sizes = append(sizes, f+int(now.Bits)-int(now.F))
			}
			for d := -2; d <= 2+bits.Len(uint(c.K)); d++ {
				sizes = append(sizes, max(f+d, 1))
			}
			for _, n := range sizes {
				for _, m := range usual(now.Mode) {
					set(f, n, mma.Align{Mode: m})
					set(f, n, mma.Align{Mode: m, Saturate: true})
				}
			}
		}
	}
}

// anyNarrow rounds one operand to every width, in its own range and in those of FP16 and FP32.
func anyNarrow(c *changer) {
	for _, o := range c.operands() {
		c.next()
		for _, to := range []fp.ID{fp.None, fp.FP16, fp.FP32} {
			for frac := 0; frac < int(o.as.FracBits); frac++ {
				for _, m := range modes {
					for over := mma.OverInf; over <= mma.OverSat; over++ {
						c.to(func(p *mma.Params) { *o.at(p) = mma.Narrow{Frac: mma.Frac(frac), Mode: m, To: to, Over: over} })
					}
				}
			}
		}
	}
}
