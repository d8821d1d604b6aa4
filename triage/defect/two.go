package defect

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A unit with two defects has cases that differ because of the one, of the other, and of both. So
// one rule is looked for that explains a part of them and contradicts no case that agrees, or hardly
// any if it has no condition. Then a second rule is looked for: applied to what the first defect leaves,
// it has to predict all cases.

// two looks for two defects. The first is one of the operands, as a plain rule or as one with conditions,
// or else both are of the result.
func (s *search) two(ctx context.Context) (*Claim, error) {
	for _, first := range s.plain() {
		if s.budget.Over() {
			return nil, nil
		}
		s.guessed = true
		if c, err := s.behind(ctx, first, nil); c != nil || err != nil {
			return c, err
		}
	}
	s.guessed = false
	for _, x := range []struct{ first, then func(e *Effect) bool }{
		{(*Effect).onInputs, nil},
		{func(e *Effect) bool { return e.On == OnResult }, func(e *Effect) bool { return e.On == OnResult }},
	} {
		s.restart(nil, x.first)
		first, err := s.find(ctx)
		if err != nil {
			return nil, err
		}
		if first == nil {
			continue
		}
		if c, err := s.behind(ctx, &first.Rule, x.then); c != nil || err != nil {
			return c, err
		}
	}
	return nil, nil
}

// behind looks for the second of two defects: for the one behind the first.
func (s *search) behind(ctx context.Context, first *Rule, allowed func(e *Effect) bool) (*Claim, error) {
	s.restart(first, allowed)
	then, err := s.find(ctx)
	if then != nil {
		then.Before = first
	}
	return then, err
}

// The limits of looking for plain rules.
const (
	plainDiffer = 96 // differing cases on which they are tried
	plainAgree  = 160
	plainTried  = 3
	plainWrong  = 4 // they explain at least so many times as many cases as they contradict
)

// plain returns the rules about operands that explain the most cases, without a condition or with a
// simple one: see plainConditions. Another defect, such as another rounding of all results, hides the
// effect of a rule in some cases. Conditions that are learned would except all of these.
func (s *search) plain() []*Rule {
	s.restart(nil, (*Effect).onInputs)
	var some []*sample
	n := map[bool]int{}
	for _, c := range s.samples {
		if n[c.differs] < map[bool]int{true: plainDiffer, false: plainAgree}[c.differs] {
			n[c.differs]++
			some = append(some, c)
		}
	}
	type scored struct {
		rule *Rule
		gain int
	}
	var all []scored
	for _, p := range s.proposals() {
		for _, when := range s.plainConditions(&p.effect) {
			h := &hypothesis{p: p, rule: Rule{Effect: p.effect, When: when}}
			if p.effect.ofProducts() {
				h.rule.Scope = p.effect.scope()
			}
			right, wrong := 0, 0
			for _, c := range some {
				switch got, _ := s.predict(h, c.view); {
				case c.differs && s.same(got, c.want):
					right++
				case !c.differs && !s.same(got, c.want):
					wrong++
				}
			}
			if s.share()*right >= n[true] && right >= plainWrong*wrong {
				all = append(all, scored{&h.rule, right - wrong})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y scored) int { return y.gain - x.gain })
	var rules []*Rule
	for _, x := range all[:min(len(all), plainTried)] {
		rules = append(rules, x.rule)
	}
	return rules
}

// plainConditions are the conditions of plain rules: none; those that say in which products an effect
// happens; and that the operand is not a NaN, since a NaN whose significand is cut may become an infinity.
func (s *search) plainConditions(e *Effect) [][]Condition {
	all := [][]Condition{nil}
	if of := map[Place]string{OnA: "a.class", OnB: "b.class", OnOperand: "x.class"}[e.On]; of != "" && !e.reads() {
		all = append(all, []Condition{{Feature: of, Is: AtMost, Value: isInf}})
	}
	if !e.ofProducts() || s.u.K == 1 {
		return all
	}
	k := int64(len(s.samples[0].dot.A))
	for bit := int64(1); bit < k; bit *= 2 {
		for _, v := range []int64{0, bit} {
			all = append(all, []Condition{{Feature: "k.bits", Is: HasBits, Value: v, Mask: bit}})
		}
	}
	for n := range min(k, mostLanes) {
		all = append(all, []Condition{{Feature: "k", Is: Equal, Value: n}})
	}
	return all
}

// restart forgets what was found: the search is for one of two defects with certain effects, or for
// the other one if the first is not nil.
func (s *search) restart(first *Rule, allowed func(e *Effect) bool) {
	s.partial, s.allowed, s.viewer.before = first == nil, allowed, nil
	s.held, s.tried, s.lenient = 0, nil, false
	s.against, s.proposed, s.left, s.proposedOn, s.few = map[string][]*sample{}, map[string]*proposal{}, nil, 0, nil
	dots := make([]*mma.Dot, len(s.samples))
	for i, c := range s.samples {
		dots[i] = c.asked
	}
	if first != nil {
		s.viewer.before = &hypothesis{p: &proposal{runner: newRunner(s.viewer, s.u.K, &s.u.Program, first.Effect)}, rule: *first}
	}
	for i, c := range s.samples {
		x := &sample{view: s.view(dots[i]), asked: dots[i], want: c.want}
		x.differs = !s.same(x.want, x.right)
		s.samples[i] = x
	}
}

// mostParts is how many parts a condition has at most. The search for the first of two defects is
// short: most units of which no single rule predicts all cases do not have two defects either.
func (s *search) mostParts() int {
	if s.partial {
		return maxParts - 1
	}
	return maxParts
}

// refuted reports whether cases contradict a rival of a rule.
func (s *search) refuted(rival, h *hypothesis) bool {
	return s.contradiction(rival) != nil || rival.odd > h.odd
}

// mostOdd is how many cases may contradict a rule: none, but for a small part of all cases if it is the
// first of two, because where both defects happen, the result may be right. If the first rule is
// wrong, the cases refute the second.
func (s *search) mostOdd() int {
	if s.partial {
		return len(s.samples) / 256
	}
	return 0
}

// contradicts reports whether a case contradicts a rule that predicts a result. While the first of two
// defects is looked for, a case that differs contradicts no rule: the other defect may be its cause.
func (s *search) contradicts(c *sample, predicted uint64) bool {
	return !s.same(predicted, c.want) && !c.unknown && !(s.partial && c.differs)
}
