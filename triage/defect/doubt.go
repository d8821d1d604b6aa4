package defect

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The bounds of a rule are between two values: the last one at which an input shows the effect, and
// the first one at which an input shows that it does not happen. Where no input lies between the
// two, a rule predicts nothing. The same holds for the bits of a code.

// doubts reports whether a value may or may not meet the condition.
func (c *Condition) doubts(v int64) bool {
	switch {
	case c.Doubt == 0 || v == absent || c.holds(v):
		return false
	case c.Is == AtLeast:
		return c.Doubt < 0 || c.Value-v <= c.Doubt
	case c.Is == AtMost:
		return c.Doubt < 0 || v-c.Value <= c.Doubt
	}
	return (v^c.Value)&c.bits()&^c.Doubt == 0
}

// bits are those of a code that the condition is about.
func (c *Condition) bits() int64 {
	if c.Is == HasBits {
		return c.Mask
	}
	return -1
}

// without returns a rule that lacks a condition, or has others instead.
func (h *hypothesis) without(i int, others ...Condition) *hypothesis {
	r := h.rule
	r.When = slices.Concat(r.When[:i], others, r.When[i+1:])
	return &hypothesis{p: h.p, rule: r}
}

// doubt returns a rule whose conditions say where no case has shown whether they are true; nil if
// nothing shows them.
func (s *search) doubt(h *hypothesis) *hypothesis {
	for i := 0; i < len(h.rule.When); i++ {
		c := h.rule.When[i]
		f := featureOf(c.Feature)
		switch {
		case f.kind == number && (c.Is == AtLeast || c.Is == AtMost):
			bound, ok := s.bound(h, i)
			if !ok {
				return nil
			}
			if !s.idle(h, i, bound) {
				h = h.without(i, bound)
			}
		case f.kind == number && c.Is == Equal:
			low, ok := s.bound(h.without(i, Condition{Feature: c.Feature, Is: AtMost, Value: c.Value}, Condition{Feature: c.Feature, Is: AtLeast, Value: c.Value}), i+1)
			high, also := s.bound(h.without(i, Condition{Feature: c.Feature, Is: AtLeast, Value: c.Value}, Condition{Feature: c.Feature, Is: AtMost, Value: c.Value}), i+1)
			if !ok || !also {
				return nil
			}
			// Where nothing shows one of both bounds, the other one alone is the condition.
			oneSided := func(is Is) *hypothesis {
				r := h.without(i, Condition{Feature: c.Feature, Is: is, Value: c.Value})
				if !s.isBeyond(h, c, is) || s.refuted(r, h) {
					return nil
				}
				return r
			}
			if r := cmp.Or(oneSided(AtLeast), oneSided(AtMost)); r != nil {
				h = r
			} else if !s.idle(h, i, low) || !s.idle(h, i, high) {
				h = h.without(i, low, high)
				i++
			}
		case c.Is == HasBits || f.kind == code && c.Is == Equal:
			for _, step := range c.steps(s.widthOf(c.Feature)) {
				if !s.refuted(h.without(i, step), h) {
					bit := step.bits() ^ c.bits()
					if c.Is == Equal {
						bit = int64(uint64(1)<<s.widthOf(c.Feature)-1) &^ step.Mask
					} else if c.Mask |= bit; step.Mask&bit != 0 {
						c.Value |= step.Value & bit
					}
					c.Doubt |= bit
				}
			}
			if !s.idle(h, i, c) {
				h = h.without(i, c)
			}
		}
	}
	return h
}

// bound returns a bound as far in as a case shows it, with the values beyond it that none excludes.
// It reports whether any case shows it.
func (s *search) bound(h *hypothesis, i int) (Condition, bool) {
	c := h.rule.When[i]
	sign := int64(1) // outwards is down
	if c.Is == AtMost {
		sign = -1
	}
	refuted := func(v int64) bool {
		return s.refuted(h.without(i, Condition{Feature: c.Feature, Is: c.Is, Value: v}), h)
	}
	var within, beyond []int64 // from the bound on
	for _, v := range s.values(h, i) {
		if c.holds(v) {
			within = append(within, sign*v)
		} else {
			beyond = append(beyond, -sign*v)
		}
	}
	slices.Sort(within)
	slices.Sort(beyond)
	n := slices.IndexFunc(within, func(v int64) bool { return refuted(sign * (v + 1)) })
	if n < 0 {
		return c, false
	}
	c.Value, c.Doubt = sign*within[n], -1
	if n = slices.IndexFunc(beyond, func(v int64) bool { return refuted(-sign * v) }); n >= 0 {
		c.Doubt = sign*c.Value + beyond[n] - 1
	}
	return c, true
}

// isBeyond reports whether a case has a value above that of an equality (is: AtLeast) or below it (AtMost).
func (s *search) isBeyond(h *hypothesis, c Condition, is Is) bool {
	at := column(h.rule.Scope, c.Feature)
	side := Condition{Feature: c.Feature, Is: is, Value: c.Value}
	return slices.ContainsFunc(s.samples, func(x *sample) bool {
		s.add(x.view, h.rule.Scope)
		for k := range x.of[h.rule.Scope] {
			if v := x.value(h.rule.Scope, k, at); v != c.Value && side.holds(v) {
				return true
			}
		}
		return false
	})
}

// idle reports whether the doubt of a condition, which replaces another one, changes nothing: the
// effect is not seen in any of many inputs of which it is not known whether they meet it.
func (s *search) idle(h *hypothesis, i int, c Condition) bool {
	const many = 16
	if c.Doubt == 0 {
		return true
	}
	doubtful, n, some := h.without(i, c), 0, false
	at := column(h.rule.Scope, c.Feature)
	for _, x := range s.samples {
		s.add(x.view, h.rule.Scope)
		for k := range x.of[h.rule.Scope] {
			some = some || c.doubts(x.value(h.rule.Scope, k, at))
		}
	}
	if !some { // there are no such values
		return true
	}
	for _, v := range s.tried {
		met := s.meeting(&doubtful.rule, v)
		if !s.known(doubtful, v, met) {
			return false
		}
		if len(s.perhaps(&doubtful.rule, v)) > 0 {
			n++
		}
	}
	return n >= many
}

// values returns the different values of a condition's feature where the others hold.
func (s *search) values(h *hypothesis, i int) []int64 {
	seen := map[int64]bool{}
	others := h.without(i)
	n := column(h.rule.Scope, h.rule.When[i].Feature)
	for _, c := range s.samples {
		for _, at := range s.meeting(&others.rule, c.view) {
			if v := c.value(h.rule.Scope, at, n); v != absent {
				seen[v] = true
			}
		}
	}
	return slices.Collect(maps.Keys(seen))
}

// perhaps returns the instances of which a rule does not say whether they meet it.
func (w *viewer) perhaps(r *Rule, v *view) (places []int) {
	if !slices.ContainsFunc(r.When, func(c Condition) bool { return c.Doubt != 0 }) {
		return nil
	}
	w.add(v, r.Scope)
	for i := range v.of[r.Scope] {
		meets := true
		if !slices.ContainsFunc(r.When, func(c Condition) bool {
			x := v.value(r.Scope, i, column(r.Scope, c.Feature))
			meets = meets && c.holds(x)
			return !c.holds(x) && !c.doubts(x)
		}) && !meets {
			places = append(places, i)
		}
	}
	return places
}

// known reports whether a rule predicts the result of a case, of which some instances meet it: it
// does not where it is in doubt whether others do, and that would be seen.
func (w *viewer) known(h *hypothesis, v *view, met []int) bool {
	if v.unknown {
		return false
	}
	perhaps := w.perhaps(&h.rule, v)
	if len(perhaps) == 0 || len(met) > 0 && !h.p.effect.ofProducts() {
		return true
	}
	right, _ := w.predict(h, v)
	differs := func(more ...int) bool {
		got, ok := h.p.run(v, slices.Concat(met, more))
		return ok && got != right
	}
	return !differs(perhaps...) && !slices.ContainsFunc(perhaps, func(i int) bool { return differs(i) })
}

// climb returns an input on which two rules disagree that differ in the bound of condition i: it
// changes the case that is nearest to the bound until it is there. It returns nil if it gets
// nowhere.
func (s *search) climb(h, rival *hypothesis, i int) *mma.Dot {
	const tries = 160
	others, n := h.without(i), column(h.rule.Scope, h.rule.When[i].Feature)
	goal := h.rule.When[i].Value
	away := func(v *view) int64 {
		least := int64(math.MaxInt64)
		for _, at := range s.meeting(&others.rule, v) {
			if x := v.value(h.rule.Scope, at, n); x != absent {
				least = min(least, max(x-goal, goal-x))
			}
		}
		return least
	}
	var at *mma.Dot
	best := int64(math.MaxInt64)
	for _, c := range s.samples {
		if x := away(c.view); x < best {
			at, best = c.dot, x
		}
	}
	for n := 0; n < tries && at != nil; n++ {
		d := s.maker.near(at, s.samples[s.maker.r.IntN(len(s.samples))].dot)
		v := s.view(d)
		if s.apart(h, rival, v) && !s.asked[mma.FormatDot(s.f, d)] {
			return d
		}
		if x := away(v); x <= best {
			at, best = d, x
		}
	}
	return nil
}
