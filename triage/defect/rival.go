package defect

import (
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// borderTries is the number of inputs of which those are asked that tell a rule from its rivals.
const borderTries = 4 * candidates

// border returns inputs that tell a rule from rivals that no case has contradicted: one of both is
// refuted by each. Others meet the condition with an operand that is else any.
func (s *search) border(h *hypothesis) (dots []*mma.Dot) {
	const each = 3 // inputs for a rival
	var bases []*sample
	for _, c := range s.differing(mostDiffer) {
		if len(s.meeting(&h.rule, c.view)) > 0 {
			bases = append(bases, c)
		}
	}
	if len(bases) == 0 {
		return nil
	}
	rivals := slices.DeleteFunc(s.rivals(h, bases), func(x *hypothesis) bool {
		return slices.ContainsFunc(s.samples, func(c *sample) bool { return s.apart(h, x, c.view) })
	})
	// A condition that excludes what was seen may still be another one's companion: each is violated alone
	// by as many inputs as confirm a rule.
	for i := range h.rule.When {
		rivals = append(rivals, h.without(i))
	}
	most := func(i int) int {
		if len(rivals[i].rule.When) < len(h.rule.When) {
			return enough
		}
		return each
	}
	s.tried = nil
	found, within := make([]int, len(rivals)), 0
	for n := range borderTries {
		d := s.step(&h.rule, bases[n%len(bases)])
		key := mma.FormatDot(s.f, d)
		if s.asked[key] {
			continue
		}
		v, ask := s.view(d), false
		if s.tried = append(s.tried, v); len(s.tried) > candidates {
			s.tried = s.tried[1:]
		}
		for i, x := range rivals {
			if found[i] < most(i) && s.apart(h, x, v) {
				found[i]++
				ask = true
			}
		}
		if got, _ := s.predict(h, v); !ask && within < perRound && !s.same(got, v.right) {
			within++
			ask = true
		}
		if ask {
			s.asked[key] = true
			dots = append(dots, d)
		}
	}
	for i, x := range rivals {
		if x.moved > 0 && found[i] == 0 {
			if d := s.climb(h, x, x.moved-1); d != nil {
				s.asked[mma.FormatDot(s.f, d)] = true
				dots = append(dots, d)
			}
		}
	}
	return append(dots, s.exceptions(h, bases)...)
}

// exceptions returns inputs with special values of each operand in which the effect of a rule would
// be seen: where it happens, and where it does not.
func (s *search) exceptions(h *hypothesis, bases []*sample) (dots []*mma.Dot) {
	const tries = 4
	for _, x := range []struct {
		id fp.ID
		of func(d *mma.Dot, k int) *uint64
	}{
		{s.f.A, func(d *mma.Dot, k int) *uint64 { return &d.A[k] }},
		{s.f.B, func(d *mma.Dot, k int) *uint64 { return &d.B[k] }},
		{s.f.C, func(d *mma.Dot, _ int) *uint64 { return &d.C }},
	} {
		codes := specials(x.id)
		if len(codes) > 0 && x.id.Get().HasInf() && x.id.Get().HasNaN() { // a NaN that is next to an infinity
			codes = append(codes, x.id.Get().InfCode(false)+uint64(step(x.id.Get())))
		}
		for n, code := range codes {
			for range tries * 2 {
				d, k := s.somewhere(h, bases)
				*x.of(d, k) = code ^ x.id.Get().SignBit()*uint64(s.maker.r.IntN(2))
				if n == 0 && s.maker.r.IntN(2) == 0 { // a square
					d.B[k] = d.A[k] & s.f.B.Get().CodeMask()
				}
				v := s.view(d)
				got, met := s.predict(h, v)
				if key := mma.FormatDot(s.f, d); !s.asked[key] && (!s.same(got, v.right) || s.visible(h, v, met)) {
					s.asked[key] = true
					if dots = append(dots, d); len(dots)%2 == 0 {
						break
					}
				}
			}
		}
	}
	return dots
}

// somewhere returns a copy of a case that meets a rule, perhaps of one product of it alone, and the
// number of a product that does, or of any.
func (s *search) somewhere(h *hypothesis, bases []*sample) (*mma.Dot, int) {
	r := s.maker.r
	base := bases[r.IntN(len(bases))]
	d, k := base.dot.Clone(), r.IntN(len(base.dot.A))
	met := s.meeting(&h.rule, base.view)
	switch i := met[r.IntN(len(met))]; h.rule.Scope {
	case OfProduct:
		k = i
	case OfOperand:
		k = i / 2
	}
	if r.IntN(2) == 0 {
		s.maker.only(d, k)
	}
	return d, k
}

// apart reports whether two rules predict different results.
func (s *search) apart(x, y *hypothesis, v *view) bool {
	if x.p == y.p && slices.Equal(s.meeting(&x.rule, v), s.meeting(&y.rule, v)) {
		return false
	}
	p, _ := s.predict(x, v)
	q, _ := s.predict(y, v)
	return !s.same(p, q)
}

// rivals are the rules that differ from one by a step: they have a condition less or more, or with
// another bound or another bit, or another effect, or hold only within what some cases show.
func (s *search) rivals(h *hypothesis, shown []*sample) (all []*hypothesis) {
	with := func(p *proposal, when []Condition) {
		all = append(all, &hypothesis{p: p, rule: Rule{Scope: h.rule.Scope, Effect: p.effect, When: when}})
	}
	for i := range h.rule.When {
		all = append(all, h.without(i))
		for _, c := range h.rule.When[i].steps(s.widthOf(h.rule.When[i].Feature)) {
			x := h.without(i, c)
			if featureOf(c.Feature).kind == number {
				x.moved = i + 1
			}
			all = append(all, x)
		}
	}
	for n, f := range scopes[h.rule.Scope] {
		facts := f.facts()
		if f.kind == number {
			facts = s.bounds(h, shown, n)
		}
		for _, c := range facts {
			with(h.p, append(slices.Clone(h.rule.When), c))
		}
	}
	for _, p := range s.left {
		if p != h.p && p.effect.ofProducts() == h.p.effect.ofProducts() && (!p.effect.ofProducts() || p.effect.scope() == h.rule.Scope) {
			with(p, h.rule.When)
		}
	}
	return all
}

// steps are the conditions that ask for a little more or less than one; width is that of a code.
func (c *Condition) steps(width int) (all []Condition) {
	is := func(is Is, v, mask int64) {
		all = append(all, Condition{Feature: c.Feature, Is: is, Value: v, Mask: mask})
	}
	kind := featureOf(c.Feature).kind
	switch {
	case kind == lanes:
	case c.Is == HasBits || kind == code && c.Is == Equal:
		mask := c.Mask
		if c.Is == Equal {
			mask = int64(uint64(1)<<width - 1)
		}
		for b := int64(1); width > 0; b, width = b<<1, width-1 {
			if mask&b == 0 {
				is(HasBits, c.Value, mask|b)
				is(HasBits, c.Value|b, mask|b)
			} else if mask != b {
				is(HasBits, c.Value&^b, mask&^b)
			}
		}
	case c.Is == AtLeast || c.Is == AtMost:
		is(c.Is, c.Value-1, 0)
		is(c.Is, c.Value+1, 0)
	case c.Is == Equal && (kind == number || kind == class):
		is(AtLeast, c.Value, 0)
		is(AtMost, c.Value, 0)
	}
	return all
}

// facts are the plain conditions on a feature.
func (f *feature) facts() (all []Condition) {
	switch f.kind {
	case flag:
		return []Condition{{Feature: f.name, Is: Equal}, {Feature: f.name, Is: Equal, Value: 1}}
	case class:
		for k := isZero; k <= isNaN; k++ {
			all = append(all, Condition{Feature: f.name, Is: Unequal, Value: k})
		}
	}
	return all
}

// bounds are the conditions that a feature is within the range that some cases show.
func (s *search) bounds(h *hypothesis, shown []*sample, column int) []Condition {
	var values []int64
	for _, c := range shown {
		for _, i := range s.meeting(&h.rule, c.view) {
			if v := c.value(h.rule.Scope, i, column); v != absent {
				values = append(values, v)
			}
		}
	}
	if len(values) == 0 {
		return nil
	}
	name := scopes[h.rule.Scope][column].name
	return []Condition{{Feature: name, Is: AtLeast, Value: slices.Min(values)}, {Feature: name, Is: AtMost, Value: slices.Max(values)}}
}

// step returns an input that differs by little from a case that meets a rule: in what a condition
// is about, or in the factors of a product that meets it, which may be left alone.
func (s *search) step(r *Rule, c *sample) *mma.Dot {
	g := s.maker
	d := c.dot.Clone()
	met := s.meeting(r, c.view)
	i := met[g.r.IntN(len(met))]
	k := i
	switch r.Scope {
	case OfProduct:
	case OfOperand:
		k = i / 2
	default:
		k = g.r.IntN(len(d.A))
	}
	switch g.r.IntN(9) {
	case 6:
		g.opposed(d, k)
		return d
	case 7:
		g.extreme(d, c.right)
	case 8:
		g.extreme(d, c.right)
		g.opposed(d, k)
		return d
	case 0, 1:
		if d = s.beyond(r, c); d == nil {
			return g.near(c.dot, s.samples[g.r.IntN(len(s.samples))].dot)
		}
	case 2:
		s.free(r, d, i)
	case 3:
		if g.r.IntN(2) == 0 {
			d.A[k] = g.corner(s.f.A)
		} else {
			d.B[k] = g.corner(s.f.B)
		}
	case 4: // a result of nearly the same bits
		if s.f.C == s.f.D {
			clear(d.A)
			clear(d.B)
			d.C = g.flip(s.f.C, c.right)
			return d
		}
	default:
		return g.near(c.dot, s.samples[g.r.IntN(len(s.samples))].dot)
	}
	if g.r.IntN(2) == 0 {
		g.only(d, k)
	}
	if g.r.IntN(2) == 0 {
		d.C = g.corner(s.f.C)
	}
	return d
}

// free gives the operand of a condition any code that has the bits it asks for.
func (s *search) free(r *Rule, d *mma.Dot, i int) {
	for n := range r.When {
		c := &r.When[n]
		of, _, _ := strings.Cut(c.Feature, ".")
		x, id := operand(s.f, d, r.Scope, i, of)
		if x == nil {
			continue
		}
		mask := uint64(c.Mask)
		switch {
		case c.Is == Equal && featureOf(c.Feature).kind == code:
			mask = 1<<s.widthOf(c.Feature) - 1
		case c.Is != HasBits:
			mask = 0
		}
		*x = s.maker.r.Uint64()&id.Get().CodeMask()&^mask | uint64(c.Value)&mask
	}
}
