package triage

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/hypothesis"
)

// The wide search is the last resort of an explanation: where the changes near the base
// explain nothing, it tries every value of every field, limited by an effort.

// DefaultEffort is the usual Unknown.Effort, in millions of dot products. It is meant to
// take two idle processors at most half a minute.
const DefaultEffort = 48

// An effort counts millions of dot products of usualK products: the time that one takes grows
// with K, from a constant part that is as large as the rest is with usualK.
const (
	million = 1_000_000
	usualK  = 16
)

// The limits of the wide search.
const (
	wideAsked = 800 // dot products of each family of inference's questions
	wideSteps = 24  // hypotheses whose changes are tried
	wideFrom  = 6   // best programs so far that are starting points, beside the base
	wideKinds = 12  // changes of different kinds that a step takes in
	wideNear  = 6   // changes of the base that are followed whatever others explain
	wideFew   = 24  // cases on which every change is tried first
	wideBest  = 48  // single changes right on most of these, which may be the nearest program
)

// effort is the limit of the wide search in millions of dot products; negative: there is no
// wide search.
func (s *search) effort() int { return cmp.Or(s.pr.Effort, DefaultEffort) }

// spent reports whether the wide search has to give up.
func (s *search) spent() bool { return s.until > 0 && s.ev.Computed.Load() >= s.until }

// mayContinue reports whether the wide search may begin or go on. The first call starts
// counting its effort, and every call reports what is spent of it.
func (s *search) mayContinue() bool {
	if s.effort() < 0 {
		return false
	}
	most := int64(s.effort()) * million * 2 * usualK / int64(usualK+s.pr.K)
	if s.until == 0 {
		s.until = s.ev.Computed.Load() + most
	}
	if s.pr.Thinking != nil {
		s.pr.Thinking(min(s.ev.Computed.Load()-(s.until-most), most), most)
	}
	return !s.spent() && s.ctx.Err() == nil
}

// questions returns Unknown.Questions with a seed of their own for each n; none if there are
// none or the unit cannot be asked.
func (s *search) questions(n uint64) []*mma.Dot {
	if s.pr.Ask == nil || s.pr.Questions == nil || s.pr.Rounds < 0 {
		return nil
	}
	return s.pr.Questions(s.pr.spec(), s.pr.Seed+n, wideAsked)
}

// widen adds the answers to Unknown.Questions to the evidence, because the cases so far lie
// near the base.
func (s *search) widen(ctx context.Context) error {
	for part := range slices.Chunk(s.questions(0), askedAtOnce) {
		if err := ctx.Err(); err != nil {
			return err
		}
		answers, err := s.pr.Ask(ctx, part)
		if err != nil {
			return err
		}
		s.asked += len(part)
		s.ev.Add("asked", part, answers)
	}
	return nil
}

// anyValue returns the programs that explain all evidence among those that give one field
// of the base any value in its range.
func (s *search) anyValue() []mma.Params {
	begun := s.until > 0
	if !s.mayContinue() {
		return nil
	}
	if !begun {
		if s.err = s.widen(s.ctx); s.err != nil {
			return nil
		}
	}
	mutants := change.Programs(s.ev.Mutants(&s.pr.Base, change.Whole))
	all := s.ev.Whole()
	few := all.Part(0, min(wideFew, len(all.Want)))
	right := s.ev.Counts(mutants, few)
	var likely []mma.Params
	for i, n := range right {
		if n == len(few.Want) {
			likely = append(likely, mutants[i])
		}
	}
	s.near = append(s.near, mostRight(mutants, right, wideBest)...)
	return s.explaining(likely)
}

// mostRight returns the programs, at most a given number, that are right in the most cases.
// right has the number of cases of each.
func mostRight(ps []mma.Params, right []int, most int) []mma.Params {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return right[j] - right[i] })
	var best []mma.Params
	for _, i := range order[:min(len(order), most)] {
		best = append(best, ps[i])
	}
	return best
}

// likeliest returns the programs, of those that led earlier searches, that explain most of
// a sample.
func (s *search) likeliest() []mma.Params {
	all := s.ev.Whole()
	return mostRight(s.tried, s.ev.Counts(s.tried, all.Part(0, min(sampleSize, len(all.Want)))), wideFrom)
}

// wide searches as inference does, with every value of every field in its reach: from the
// base, with half of the effort that is left, then also from the best programs that came up
// before. These explain more than the base does, but most of them by chance.
func (s *search) wide() []mma.Params {
	if !s.mayContinue() {
		return nil
	}
	half := s.ev.Computed.Load()/2 + s.until/2
	found := s.explore(func() bool { return s.ev.Computed.Load() >= half || !s.mayContinue() }, s.pr.Base)
	if len(found) == 0 && s.mayContinue() {
		found = s.explore(func() bool { return !s.mayContinue() }, append([]mma.Params{s.pr.Base}, s.likeliest()...)...)
	}
	return found
}

// explore searches from some programs until it has to give up.
func (s *search) explore(spent func() bool, from ...mma.Params) []mma.Params {
	steps := append([]change.Breadth{change.Whole}, hypothesis.AllSteps...)
	h := hypothesis.New(s.ev, rand.New(rand.NewPCG(s.pr.Seed, 1)), steps, spent, nil, from...)
	h.Kinds = wideKinds
	h.Near(s.ctx, wideNear)
	h.Explore(s.ctx, wideSteps)
	var found []mma.Params
	for _, p := range s.explaining(h.Leaders()) {
		found = append(found, s.reduce(p))
	}
	s.tried = append(s.tried, h.Leaders()...)
	return found
}
