package defect

import (
	"context"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A unit with two defects has cases that differ because of the one, of the other, and of both. So
// one rule is looked for that explains a part of them and contradicts no case that agrees. Then the
// other one has to predict all cases, as what the program does behind the first.

// two looks for two defects: first for one of the operands.
func (s *search) two(ctx context.Context) (*Claim, error) {
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
		s.restart(&first.Rule, x.then)
		then, err := s.find(ctx)
		if err != nil {
			return nil, err
		}
		if then != nil {
			then.Before = &first.Rule
			return then, nil
		}
	}
	return nil, nil
}

// restart forgets what was found: the search is for one of two defects with certain effects, or for
// the other one if the first is not nil.
func (s *search) restart(first *Rule, allowed func(e *Effect) bool) {
	s.partial, s.allowed, s.viewer.before = first == nil, allowed, nil
	s.against, s.proposed, s.left = map[string][]*sample{}, map[string]*proposal{}, nil
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

// mostParts is how many parts a condition has at most: the search for the first of two is short,
// since most units of which no rule predicts all cases have none.
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

// mostOdd is how many cases may contradict the first of two rules, of all: where both defects
// happen, the result may be right. What is wrong with the first rule refutes the second.
func (s *search) mostOdd() int {
	if s.partial {
		return len(s.samples) / 256
	}
	return 0
}

// contradicts reports whether a case contradicts a rule that predicts a result: where another
// defect may be the cause, no case that differs does.
func (s *search) contradicts(c *sample, predicted uint64) bool {
	return !s.same(predicted, c.want) && !c.unknown && !(s.partial && c.differs)
}
