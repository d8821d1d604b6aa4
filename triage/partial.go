package triage

import (
	"cmp"
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
)

// A unit may differ for two reasons, one of which no program has: a rounding of its own, and a
// defect beside it. A change of the base that explains a share of the differing cases and breaks
// none is a cause then, and the other cases remain unexplained. It is claimed only if new inputs
// that are aimed at it confirm it and none contradicts it.

// The limits of looking for such a change.
const (
	partialTried   = 16  // programs that new inputs decide between
	partialBriefly = 4   // the same of a brief search
	partialRounds  = 9   // of new inputs
	partialAsked   = 256 // inputs on which the programs differ, in each round
	partialSupport = 16  // new inputs at least that show what the program gives and the base does not
	partialLeast   = 8   // cases at least that it explains
	partialPart    = 16  // the differing cases are at most so many times as many
	partialSeldom  = 16  // times as many cases and inputs support what is contradicted seldom
	partialBeside  = 3   // such programs beside which a defect is looked for
	partialHidden  = 8   // inputs on which a defect may have the last word, for each that supports such a program
	partialShare   = 0.9 // of the differing cases, if the unit cannot be asked
)

// explainPart makes the verdict on a unit that no program explains that of one of some programs which
// explains a part of the cases and breaks none, if there is one. One that new inputs seldom
// contradict is remembered.
func (s *explainer) explainPart(ctx context.Context, v *Verdict, tried []mma.Params) error {
	all := s.partialPrograms(tried, false)
	var seldom []*Nearest
	if s.pr.Ask != nil {
		all = append(all, s.partialPrograms(tried, true)...)
		var err error
		if all, seldom, err = s.uncontradicted(ctx, all); err != nil {
			return err
		}
	}
	all = slices.DeleteFunc(all, func(n *Nearest) bool {
		s.keepPayloads(n)
		return n.Program == s.pr.Base
	})
	for _, n := range seldom {
		w := *v
		s.makePartial(&w, n)
		v.Seldom = append(v.Seldom, &w)
	}
	if len(all) > 0 && (s.pr.Ask != nil || float64(all[0].Explained) >= partialShare*float64(all[0].Differ)) {
		s.makePartial(v, all[0])
	}
	return nil
}

// keepPayloads takes another rounding of operands out of a program that explains by it only what
// becomes of NaNs, whose payload it cuts off: units that know no NaNs do as much.
func (s *explainer) keepPayloads(n *Nearest) {
	without := n.Program
	without.In.A, without.In.B = s.pr.Base.In.A, s.pr.Base.In.B
	if without == n.Program || without.Validate(s.pr.Formats, s.pr.K) != nil {
		return
	}
	dots, want := operands(s.pr.Differ)
	cases := s.ev.Pack(dots, want)
	rest := s.ev.Hits(&without, cases)
	for i, hit := range s.ev.Hits(&n.Program, cases) {
		if hit && !rest[i] && !hasNaN(s.pr.Formats, dots[i]) {
			return
		}
	}
	n.Program = without
}

func hasNaN(f mma.Formats, d *mma.Dot) bool {
	isNaN := func(id fp.ID) func(uint64) bool {
		return func(code uint64) bool { return id.Get().Decode(code).Class == fp.NaN }
	}
	return slices.ContainsFunc(d.A, isNaN(f.A)) || slices.ContainsFunc(d.B, isNaN(f.B))
}

// makePartial makes a program that explains a part of the cases that of a verdict.
func (s *explainer) makePartial(v *Verdict, n *Nearest) {
	v.Program, v.Changes, v.Labels = n.Program, mma.Diff(&s.pr.Base, &n.Program), LabelsOf(&s.pr.Base, &n.Program)
	v.Explained, v.Kept, v.Partial = s.right(&n.Program, s.pr.Differ), v.Agree, true
	n.Changes, v.Nearest = v.Changes, n
	n.Differ, n.Explained, n.Agree, n.Kept = v.Differ, v.Explained, v.Agree, v.Kept
}

// right counts the cases in which a program is right.
func (s *explainer) right(p *mma.Params, cases []Case) int {
	dots, want := operands(cases)
	return evidence.Total(s.ev.Hits(p, s.ev.Pack(dots, want)))
}

// mayExplainPart are the programs of which one may explain a part of the cases.
func (s *explainer) mayExplainPart() []mma.Params {
	return s.tried(programs(s.pr.listedPrograms()), s.mutants(change.Refinements, change.Mistakes), s.before())
}

// partialPrograms returns those of some programs that explain a part of the differing cases and break none, or
// some but seldom, the one that explains the most first, each with as few changes as that takes.
// Those of a single change are among them, even if many others explain a few more cases by chance.
func (s *explainer) partialPrograms(tried []mma.Params, seldom bool) []*Nearest {
	cases := s.ev.First(1).All()
	base := s.ev.Hits(&s.pr.Base, cases)
	var all []*Nearest
	for _, p := range tried {
		if s.pr.Formats.B.RandomBits() != 0 && p.Acc.Mode != s.pr.Base.Acc.Mode {
			continue // other roundings are right in many a case by chance
		}
		if n := count(p, s.ev.Hits(&p, cases), base); n.Explained >= partialLeast && partialPart*n.Explained >= n.Differ && (n.Kept < n.Agree) == seldom && partialSeldom*(n.Agree-n.Kept) <= n.Explained {
			all = append(all, n)
		}
	}
	s.sortPartial(all)
	single := slices.DeleteFunc(slices.Clone(all), func(n *Nearest) bool { return len(changedParts(&s.pr.Base, &n.Program)) > 1 })
	var some []*Nearest
	agree, differ := s.ev.First(1).Split(base)
	t := &tallies{ev: s.ev, counts: map[mma.Params][]int{}}
	most := partialTried
	if s.pr.Brief {
		most = partialBriefly
	}
	for _, n := range slices.Concat(all[:min(len(all), most)], single[:min(len(single), most)]) {
		n.Program = s.fewest(t, n, agree, differ)
		if !slices.ContainsFunc(some, func(x *Nearest) bool { return x.Program == n.Program }) {
			some = append(some, n)
		}
	}
	s.sortPartial(some)
	return some
}

// sortPartial puts first the programs that explain the most, and of those the smaller changes.
func (s *explainer) sortPartial(all []*Nearest) {
	slices.SortStableFunc(all, func(x, y *Nearest) int {
		return cmp.Or(y.Explained-x.Explained, s.parts(x)-s.parts(y))
	})
}

// parts is the number of parts of the base that a program changes.
func (s *explainer) parts(n *Nearest) int { return len(changedParts(&s.pr.Base, &n.Program)) }

// before returns the program of the verdict before, if there was one.
func (s *explainer) before() []mma.Params {
	if s.pr.Before == nil {
		return nil
	}
	return []mma.Params{*s.pr.Before}
}

// fewest returns the program between the base and another with the fewest changed parts that is
// right on as many of the cases in which the base is, and on as many of the others.
func (s *explainer) fewest(t *tallies, n *Nearest, agree, differ []*evidence.Cases) mma.Params {
	x := s.pr.between(n.Program)
	set := search.Fewest(len(x.parts), func(set uint32) bool {
		p, ok := x.program(set)
		if !ok || p.Params.Validate(s.pr.Formats, s.pr.K) != nil {
			return false
		}
		return t.atMost(&p.Params, agree, 0, n.Agree-n.Kept) && t.atMost(&p.Params, differ, len(agree), n.Differ-n.Explained)
	})
	p, _ := x.program(set)
	return p.Params
}

// uncontradicted asks the unit about new inputs on which programs, or one of them and the base,
// differ. Where a program changes the base's result, it is contradicted by a result that the base
// gives, or another program that nothing contradicts, and it does not; a result that none of them
// gives is one of those that remain unexplained. It returns the programs that are not contradicted
// and that enough inputs support, and a few that are contradicted so seldom that a defect beside them
// may be why, or that have results which only another program explains.
func (s *explainer) uncontradicted(ctx context.Context, all []*Nearest) (left, seldom []*Nearest, err error) {
	support, open, refuted := map[*Nearest]int{}, map[*Nearest]int{}, map[*Nearest]int{}
	for _, n := range all {
		refuted[n] = n.Agree - n.Kept
	}
	better := map[[2]*Nearest]bool{} // the first is right where the second is not
	apart := map[[2]*Nearest]bool{}  // there is an input on which they differ
	comparer := oracle.NewComparer(s.pr.Formats.D, s.pr.Policy)
	count := func(given []uint64, got uint64) { // results of the base and of all programs, and the unit's
		equal := func(x, y uint64) bool { return comparer.Explains(x, y, given[0]) }
		for j, n := range all {
			for m, other := range all {
				if !equal(given[j+1], given[m+1]) {
					apart[[2]*Nearest{n, other}] = true
				}
			}
			switch {
			case equal(given[j+1], given[0]): // it says nothing else than the base
			case equal(given[j+1], got):
				support[n]++
			case equal(given[0], got):
				refuted[n]++
			default:
				open[n]++
				for m, other := range all {
					if equal(given[m+1], got) {
						better[[2]*Nearest{other, n}] = true
					}
				}
			}
		}
	}
	for round := 0; round < partialRounds && len(all) > 0; round++ {
		ps := []mma.Params{s.pr.Base}
		for _, n := range all {
			ps = append(ps, n.Program)
		}
		dots := s.pr.inputs(round, pointers(ps)...)
		if len(dots) == 0 {
			break
		}
		dots, results := s.differing(ps, dots)
		for from := 0; from < len(dots); from += askedAtOnce {
			part := dots[from:min(from+askedAtOnce, len(dots))]
			answers, err := s.ask(ctx, part)
			if err != nil {
				return nil, nil, err
			}
			for i, got := range answers {
				count(results[from+i], got)
			}
		}
		all = slices.DeleteFunc(all, func(n *Nearest) bool { return partialSeldom*refuted[n] > n.Explained+support[n] })
	}
	all = slices.DeleteFunc(all, func(n *Nearest) bool { return support[n] < max(partialSupport, open[n]/partialHidden) })
	for _, n := range all {
		if refuted[n] == 0 && support[n] >= open[n] && !slices.ContainsFunc(all, func(m *Nearest) bool { return refuted[m] == 0 && better[[2]*Nearest{m, n}] }) {
			left = append(left, n)
		} else {
			seldom = append(seldom, n)
		}
	}
	right := func(n *Nearest) int { return support[n] - open[n] - refuted[n] }
	slices.SortStableFunc(seldom, func(x, y *Nearest) int { return cmp.Or(right(y)-right(x), s.parts(x)-s.parts(y)) })
	var some []*Nearest // of those that give the same, one
	for _, n := range seldom {
		if len(some) < partialBeside && !slices.ContainsFunc(some, func(m *Nearest) bool { return !apart[[2]*Nearest{n, m}] }) {
			some = append(some, n)
		}
	}
	return left, some, nil
}

// differing returns up to partialAsked inputs on which programs do not all give the same, and
// what each gives.
func (s *explainer) differing(ps []mma.Params, dots []*mma.Dot) (some []*mma.Dot, results [][]uint64) {
	w := s.pr.Formats.D.Width()
	outs := make([][]byte, len(ps))
	for part := range slices.Chunk(dots, partialAsked) {
		c := s.ev.Pack(part, nil)
		for i := range ps {
			outs[i] = s.ev.Results(&ps[i], c)
		}
		for n, d := range part {
			if s.division(outs, w, n) == "" {
				continue
			}
			given := make([]uint64, len(ps))
			for i := range outs {
				given[i] = mma.Load(outs[i], w, n)
			}
			if some, results = append(some, d), append(results, given); len(some) == partialAsked {
				return some, results
			}
		}
	}
	return some, results
}
