package triage

import (
	"context"
	"math"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
)

// ask asks the unit, and counts.
func (s *explainer) ask(ctx context.Context, dots []*mma.Dot) ([]uint64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answers, err := s.pr.Ask(ctx, dots)
	if err == nil {
		s.asked += len(dots)
	}
	return answers, err
}

// separate asks the unit about inputs on which programs differ, until no input is found
// on which those that are left differ, and returns these. Every answer becomes evidence.
func (s *explainer) separate(ctx context.Context, ps []mma.Params) ([]mma.Params, error) {
	return s.separateWithin(ctx, ps, math.MaxInt)
}

// separateWithin is separate with a limit on the rounds of inputs.
func (s *explainer) separateWithin(ctx context.Context, ps []mma.Params, rounds int) ([]mma.Params, error) {
	if s.pr.Ask == nil {
		return ps, nil
	}
	for round := 0; len(ps) > 1 && round < rounds; round++ {
		if err := ctx.Err(); err != nil {
			return ps, err
		}
		dots := s.pr.inputs(round, pointers(ps)...)
		if len(dots) == 0 {
			return ps, nil
		}
		asked := s.dividing(ps, dots)
		if len(asked) == 0 {
			continue
		}
		answers, err := s.ask(ctx, asked)
		if err != nil {
			return ps, err
		}
		fresh := make([]Case, len(asked))
		for i := range asked {
			fresh[i] = Case{asked[i], answers[i]}
		}
		s.learn(fresh...)
		ps = search.Explaining(s.ev, ps)
	}
	return ps, nil
}

// confirmRounds is how many rounds of new inputs a program must pass, longConfirmRounds how
// many if the long search found it. Then it must pass farInputs of gen.Far and cornerInputs
// extremes. completeRounds is how many rounds are searched for an input that shows the rest of
// the listed program that it is a part of. The unit is asked about askedAtOnce at a time,
// which is what is asked again after a kill; of those that a program fails, at most
// failuresLearned become evidence.
const (
	confirmRounds     = 5
	longConfirmRounds = 9
	farInputs         = 1024
	cornerInputs      = 4096
	askedAtOnce       = 512
	failuresLearned   = 64
	completeRounds    = 5
)

// confirm reports whether a program passes the test on new inputs. Cases in which it fails
// become evidence.
func (s *explainer) confirm(ctx context.Context, p mma.Params) (bool, error) {
	if s.pr.Ask == nil {
		return true, nil
	}
	rounds := confirmRounds
	if s.budget.Limited() {
		rounds = longConfirmRounds
	}
	for round := range rounds {
		dots := s.pr.inputs(round, &s.pr.Base, &p)
		if len(dots) == 0 {
			break
		}
		if ok, err := s.passes(ctx, &p, dots); !ok || err != nil {
			return false, err
		}
	}
	var more []*mma.Dot
	if s.pr.Rounds >= 0 {
		more = s.pr.turned()
	}
	if s.pr.Rounds == 0 {
		more = slices.Concat(more, gen.Far(s.pr.spec(), s.pr.Seed, farInputs), gen.CornerCases(s.pr.spec(), cornerInputs))
	}
	if s.budget.Limited() {
		more = append(more, s.questions(1)...)
	}
	if ok, err := s.passes(ctx, &p, more); !ok || err != nil {
		return false, err
	}
	complete, reduced := s.complete[p]
	if !reduced {
		return true, nil
	}
	left, err := s.separateWithin(ctx, []mma.Params{p, complete}, completeRounds)
	return slices.Contains(left, p), err
}

// passes reports whether a program gives the unit's results on new inputs, of which it asks
// about a part at a time, up to the first part in which it does not. Some cases of that
// become evidence.
func (s *explainer) passes(ctx context.Context, p *mma.Params, dots []*mma.Dot) (bool, error) {
	for part := range slices.Chunk(dots, askedAtOnce) {
		answers, err := s.ask(ctx, part)
		if err != nil {
			return false, err
		}
		var wrong []Case
		for i, right := range s.ev.Hits(p, s.ev.Pack(part, answers)) {
			if !right {
				wrong = append(wrong, Case{part[i], answers[i]})
			}
		}
		if len(wrong) > 0 {
			s.learn(wrong[:min(len(wrong), failuresLearned)]...)
			return false, nil
		}
	}
	return true, nil
}

func pointers(ps []mma.Params) []*mma.Params {
	out := make([]*mma.Params, len(ps))
	for i := range ps {
		out[i] = &ps[i]
	}
	return out
}

// maxDividing is the number of inputs about which the unit is asked at once, at most.
const maxDividing = 16

// dividing returns inputs on which the programs do not all agree, one for each
// way in which they divide.
func (s *explainer) dividing(ps []mma.Params, dots []*mma.Dot) []*mma.Dot {
	c, w := s.ev.Pack(dots, nil), s.pr.Formats.D.Width()
	outs := make([][]byte, len(ps))
	for i := range ps {
		outs[i] = s.ev.Results(&ps[i], c)
	}
	seen := map[string]bool{}
	var found []*mma.Dot
	for n, d := range dots {
		key := s.division(outs, w, n)
		if key == "" || seen[key] {
			continue
		}
		seen[key] = true
		if found = append(found, d); len(found) == maxDividing {
			break
		}
	}
	return found
}

// division describes which programs give the same result: for each program the number of
// the first one with the same result; "" if all agree.
func (s *explainer) division(outs [][]byte, width, n int) string {
	key := make([]rune, len(outs))
	differ := false
	for i := range outs {
		key[i] = rune(i)
		for j := range i {
			x, y := mma.Load(outs[i], width, n), mma.Load(outs[j], width, n)
			if oracle.Compare(s.pr.Formats.D, s.pr.Policy, x, y) == oracle.Same {
				key[i] = rune(j)
				break
			}
		}
		differ = differ || key[i] != 0
	}
	if !differ {
		return ""
	}
	return string(key)
}
