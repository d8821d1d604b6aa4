package triage

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/hypothesis"
)

// DefaultEffort is meant to take two idle processors at most half a minute.
const DefaultEffort = 24

// million is the unit of the effort: dot products of at most usualK products.
const (
	million = 1_000_000
	usualK  = 16
)

// The limits of the wide search.
const (
	wideAsked = 800 // dot products of each family of inference's questions
	wideSteps = 24  // hypotheses whose changes are tried
	wideFrom  = 6   // programs that came up before, beside the base
	wideFew   = 24  // cases on which every change is tried first
)

// effort is the limit of the wide search in millions of dot products; negative: there is
// none.
func (s *search) effort() int { return cmp.Or(s.pr.Effort, DefaultEffort) }

// spent reports whether the wide search has to give up.
func (s *search) spent() bool { return s.until > 0 && s.ev.Computed.Load() >= s.until }

// think begins the wide search, or goes on with it, if there is to be one.
func (s *search) think() bool {
	if s.effort() < 0 {
		return false
	}
	most := int64(s.effort()) * million * usualK / int64(max(usualK, s.pr.K))
	if s.until == 0 {
		s.until = s.ev.Computed.Load() + most
	}
	if s.pr.Thinking != nil {
		s.pr.Thinking(min(s.ev.Computed.Load()-(s.until-most), most), most)
	}
	return !s.spent() && s.ctx.Err() == nil
}

// widen asks Unknown.Questions: once before the wide search, which makes it evidence, since
// the cases are near the base and what is next to it; and other questions of a program that
// was found. It reports whether that gives the same answers.
func (s *search) widen(ctx context.Context, part uint64, p *mma.Params) (bool, error) {
	if s.pr.Ask == nil || s.pr.Questions == nil || s.pr.Rounds < 0 {
		return true, nil
	}
	sp := gen.Spec{Formats: s.pr.Formats, K: cmp.Or(s.pr.Length, s.pr.K)}
	dots := s.pr.Questions(sp, s.pr.Seed+part, wideAsked)
	answers, err := s.pr.Ask(ctx, dots)
	if err != nil {
		return false, err
	}
	s.asked += len(dots)
	if part == 0 {
		s.ev.Add("asked", dots, answers)
		return true, nil
	}
	m, err := sim.New(s.pr.Formats, s.pr.K, *p)
	if err != nil {
		return false, err
	}
	var wrong []Case
	for i, d := range dots {
		if !s.ev.Same(m.Dot(d, nil), answers[i]) {
			wrong = append(wrong, Case{d, answers[i]})
		}
	}
	s.learn(wrong...)
	return len(wrong) == 0, nil
}

// anyValue returns the programs that one change of the whole range of some field makes of
// the base and that explain all evidence.
func (s *search) anyValue() []mma.Params {
	begun := s.until > 0
	if !s.think() {
		return nil
	}
	if !begun {
		if _, s.err = s.widen(s.ctx, 0, &s.pr.Base); s.err != nil {
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
	return s.explaining(likely)
}

// likeliest returns the programs that explain most of a sample, of those that were the best
// at some time.
func (s *search) likeliest() []mma.Params {
	all := s.ev.Whole()
	n := s.ev.Counts(s.tried, all.Part(0, min(sampleSize, len(all.Want))))
	order := make([]int, len(s.tried))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return n[j] - n[i] })
	var best []mma.Params
	for _, i := range order[:min(len(order), wideFrom)] {
		best = append(best, s.tried[i])
	}
	return best
}

// wide searches as inference does, with every value of every field in its reach, from the
// base and from the best programs that came up before.
func (s *search) wide() []mma.Params {
	if !s.think() {
		return nil
	}
	from := append([]mma.Params{s.pr.Base}, s.likeliest()...)
	steps := append([]change.Breadth{change.Whole}, hypothesis.AllSteps...)
	h := hypothesis.New(s.ev, rand.New(rand.NewPCG(s.pr.Seed, 1)), steps, func() bool { return !s.think() }, nil, from...)
	h.Explore(s.ctx, wideSteps)
	var found []mma.Params
	for _, p := range s.explaining(h.Leaders()) {
		found = append(found, s.reduce(p))
	}
	s.tried = append(s.tried, h.Leaders()...)
	return found
}
