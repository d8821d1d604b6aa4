package triage

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
)

// DefaultEffort is the usual Unknown.Effort, in millions of dot products. It is meant to
// take two idle processors at most half a minute.
const DefaultEffort = 48

// An effort counts millions of dot products of usualK products: the time that one takes grows
// with K, from a constant part that is as large as the rest is with usualK.
const (
	million = 1_000_000
	usualK  = 16
)

// The limits of the long search.
const (
	askedEach    = 800 // dot products of each family of inference's questions
	maxLevels    = 3   // changes made one after the other by changing the best programs of each level
	exploreSteps = 24  // programs whose changes are tried after that
	exploreFrom  = 6   // best programs so far that are starting points, beside the base
	exploreKinds = 12  // changes of different kinds that a step takes in
	exploreNear  = 6   // changes of the base that are followed whatever others explain
	nearCases    = 24  // cases on which single changes are ranked
	nearMost     = 48  // single changes right on most of these, which may be the nearest program
)

// candidates returns the programs of smallest change that explain all evidence: those of the
// first step in which there are any. Where the unit can be asked, its answers will tell whether
// it is one of several; where not, a listed program that explains everything is a better guess
// than one that nobody knows.
func (s *explainer) candidates(ctx context.Context) ([]mma.Params, error) {
	base := []mma.Params{s.pr.Base}
	near := s.aboutNumbers(search.Explaining(s.ev, s.mutants(change.Decisions)))
	if len(near) > 0 && s.pr.Ask != nil {
		return near, nil
	}
	listed := programs(s.pr.listedPrograms())
	right := search.Explaining(s.ev, listed)
	if leading := s.leading(near, right); len(near) > 0 && (len(right) == 0 || len(leading) > 0) {
		return append(leading, slices.DeleteFunc(near, func(p mma.Params) bool { return slices.Contains(leading, p) })...), nil
	}
	// The base alone comes first: its changes are few, but next to a crowd of listed programs
	// they may explain too little to stay among the best.
	for _, step := range []struct {
		doing string
		try   func() ([]mma.Params, error)
	}{
		{"listed programs", func() ([]mma.Params, error) { return s.reduceListed(right), nil }},
		{"plain arithmetic", func() ([]mma.Params, error) {
			return s.aboutNumbers(s.reduceAll(search.Explaining(s.ev, s.pr.plainPrograms()))), nil
		}},
		{"changes that no listed program has", func() ([]mma.Params, error) {
			return s.aboutNumbers(search.Explaining(s.ev, s.mutants(change.Refinements, change.Mistakes))), nil
		}},
		{"every value of every parameter", func() ([]mma.Params, error) { return s.anyValue(ctx) }},
		{"several changes", func() ([]mma.Params, error) { return s.levels(ctx, base), nil }},
		{"several changes of listed programs", func() ([]mma.Params, error) { return s.levels(ctx, listed), nil }},
		{"any values together", func() ([]mma.Params, error) { return s.explore(ctx), nil }},
	} {
		s.budget.Doing = step.doing
		if found, err := step.try(); len(found) > 0 || err != nil {
			return s.smallest(found), err
		}
	}
	return nil, nil
}

// mutants returns the programs that one change makes of the base.
func (s *explainer) mutants(steps ...change.Breadth) []mma.Params {
	return change.Programs(s.ev.Mutants(&s.pr.Base, steps...))
}

// leading returns the mutants that lie between the base and a listed program.
func (s *explainer) leading(mutants, listed []mma.Params) []mma.Params {
	return slices.DeleteFunc(slices.Clone(mutants), func(p mma.Params) bool {
		return !slices.ContainsFunc(listed, func(q mma.Params) bool {
			return len(mma.Diff(&s.pr.Base, &p))+len(mma.Diff(&p, &q)) == len(mma.Diff(&s.pr.Base, &q))
		})
	})
}

// reduce returns a program between the base and one that explains everything that takes as
// few changed parts as possible.
func (s *explainer) reduce(full mma.Params) mma.Params {
	x := s.pr.between(full)
	set := search.Fewest(len(x.parts), func(set uint32) bool {
		p, ok := x.program(set)
		return ok && s.ev.Explains(&p.Params)
	})
	if set == x.all() {
		return full
	}
	p, _ := x.program(set)
	return p.Params
}

func (s *explainer) reduceAll(ps []mma.Params) []mma.Params {
	reduced := make([]mma.Params, len(ps))
	for i, p := range ps {
		reduced[i] = s.reduce(p)
	}
	return reduced
}

// reduceListed reduces listed programs and remembers what they were reduced from.
func (s *explainer) reduceListed(listed []mma.Params) []mma.Params {
	reduced := s.reduceAll(listed)
	for i, q := range reduced {
		if q != listed[i] {
			s.complete[q] = listed[i]
		}
	}
	return reduced
}

// smallest returns the programs with the fewest changed parts, without duplicates.
func (s *explainer) smallest(ps []mma.Params) []mma.Params {
	fewest := 1 << 30
	var out []mma.Params
	for _, p := range ps {
		n := len(changedParts(&s.pr.Base, &p))
		if n < fewest {
			fewest, out = n, nil
		}
		if n == fewest && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// levels makes several decisions of the programs otherwise.
func (s *explainer) levels(ctx context.Context, from []mma.Params) []mma.Params {
	found, leaders := search.Levels(ctx, s.ev, s.budget, from, maxLevels, change.Decisions)
	s.leaders = append(s.leaders, leaders...)
	return s.aboutNumbers(s.reduceAll(found))
}

// effort is the limit of the long search in millions of dot products; negative: there is no
// long search.
func (s *explainer) effort() int { return cmp.Or(s.pr.Effort, DefaultEffort) }

// mayContinue reports whether the long search may begin or go on.
func (s *explainer) mayContinue(ctx context.Context) bool {
	if s.effort() < 0 || ctx.Err() != nil {
		return false
	}
	if !s.budget.Limited() {
		s.budget.Allow(int64(s.effort()) * million * 2 * usualK / int64(usualK+s.pr.K))
	}
	return !s.budget.Spent()
}

// anyValue returns the programs that explain all evidence among those that give one field
// of the base any value in its range. Before it does so for the first time the unit is asked
// Unknown.Questions, because the cases so far lie near the base.
func (s *explainer) anyValue(ctx context.Context) ([]mma.Params, error) {
	begun := s.budget.Limited()
	if !s.mayContinue(ctx) {
		return nil, nil
	}
	if !begun {
		for part := range slices.Chunk(s.questions(0), askedAtOnce) {
			answers, err := s.ask(ctx, part)
			if err != nil {
				return nil, err
			}
			s.ev.Add("asked", part, answers)
		}
	}
	mutants := s.mutants(change.Exhaustive)
	s.near = append(s.near, search.MostRight(s.ev, mutants, s.ev.FirstCases(nearCases), nearMost)...)
	return s.aboutNumbers(search.Explaining(s.ev, mutants)), nil
}

// questions returns Unknown.Questions with a seed of their own for each n; none if there are
// none or the unit cannot be asked.
func (s *explainer) questions(n uint64) []*mma.Dot {
	if s.pr.Ask == nil || s.pr.Questions == nil || s.pr.Rounds < 0 {
		return nil
	}
	return s.pr.Questions(s.pr.spec(), s.pr.Seed+n, askedEach)
}

// explore searches as inference does, with every value of every field in its reach: from the
// base, with half of the effort that is left, then also from the best programs that came up
// before. These explain more than the base does, but most of them by chance.
func (s *explainer) explore(ctx context.Context) []mma.Params {
	if !s.mayContinue(ctx) {
		return nil
	}
	from := []mma.Params{s.pr.Base}
	found := s.exploreFrom(ctx, s.budget.Part(s.budget.Left()/2), from)
	if len(found) == 0 && s.mayContinue(ctx) {
		from = append(from, search.MostRight(s.ev, s.leaders, s.ev.FirstCases(search.BeamSample), exploreFrom)...)
		found = s.exploreFrom(ctx, s.budget, from)
	}
	return found
}

// exploreFrom searches from some programs until a budget is spent.
func (s *explainer) exploreFrom(ctx context.Context, b *search.Budget, from []mma.Params) []mma.Params {
	h := search.New(s.ev, b, rand.New(rand.NewPCG(s.pr.Seed, 1)), append([]change.Breadth{change.Exhaustive}, search.AllSteps...), from...)
	h.Kinds = exploreKinds
	h.Near(ctx, exploreNear)
	h.Explore(ctx, exploreSteps)
	s.leaders = append(s.leaders, h.Leaders()...)
	return s.aboutNumbers(s.reduceAll(search.Explaining(s.ev, h.Leaders())))
}
