package triage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// Unknown is a unit whose differences from a known program are to be explained, with the
// evidence.
type Unknown struct {
	Formats mma.Formats
	K       int        // of the unit's instruction; dot products may be longer
	Base    mma.Params // the known program
	Policy  oracle.Policy
	Differ  []Case // cases in which the unit differs from Base
	Agree   []Case // cases in which it does not

	// Ask returns the unit's results on new inputs. nil: the unit cannot answer
	// any (a recording).
	Ask func(ctx context.Context, dots []*mma.Dot) ([]uint64, error)
	// New inputs are those of gen.Probe with Seed, of Length products (0: K), in at most
	// Rounds rounds; 0: any number, negative: none.
	Seed   uint64
	Length int
	Rounds int

	// Questions, such as infer.Questions, returns n dot products of each of several kinds. The
	// unit is asked about them before and after the search that Effort limits. nil: none.
	Questions func(sp gen.Spec, seed uint64, n int) []*mma.Dot
	// Effort limits the wide search, which begins if nothing near the base or a listed program
	// explains the unit: it is the number of dot products that models may compute then, in
	// millions (proportionally fewer if they have more than 16 products).
	// 0: DefaultEffort; negative: there is no such search.
	Effort int
	// Thinking, if not nil, is called with the dot products computed in the wide search so
	// far, and with the most that Effort allows.
	Thinking func(computed, most int64)
}

// inputs returns a round of new inputs aimed at the decisions of programs, none after the
// last round.
func (pr *Unknown) inputs(round int, ps ...*mma.Params) []*mma.Dot {
	if pr.Rounds != 0 && round >= pr.Rounds {
		return nil
	}
	return gen.Probe(pr.spec(), pr.Seed, round, ps...)
}

// spec is what new inputs are made for.
func (pr *Unknown) spec() gen.Spec { return gen.Spec{Formats: pr.Formats, K: cmp.Or(pr.Length, pr.K)} }

// Verdict is the outcome of triage.
type Verdict struct {
	// Changes make the base compute what the unit does; empty if nothing was
	// found that does.
	Changes []mma.Change
	Program mma.Params // the base with the changes
	K       int        // with which it runs: Unknown.K
	Labels  []Label
	// Program gives the unit's results in Explained of the Differ cases in which the base
	// does not, and in Kept of the Agree cases in which it does.
	Differ, Explained int
	Agree, Kept       int
	Asked             int // inputs on which the unit was asked during the search
	// Equivalent are other changes of the same size that no input told apart.
	Equivalent [][]mma.Change
	// Given: the unit's program was known, nothing was searched for. Changes may then be
	// empty, if only the number of products of an execution differs.
	Given bool `json:",omitempty"`
	// Idle are, if Given, labels that made no difference on any input tried.
	Idle []Label `json:",omitempty"`

	// Alike names targets whose programs explain all cases as well, and that no
	// input distinguished from Program: sim:ARCH/INSTRUCTION, ref:NAME.
	Alike []string `json:",omitempty"`
	// Nearest is the program that comes nearest, if nothing was found.
	Nearest *Nearest `json:",omitempty"`
	// Spent is the Effort, in millions, if the wide search ran out of it; 0 if there was no
	// such search, or it had nothing left to try.
	Spent int `json:",omitempty"`
	// BaseFails: the base does not give the results of the unit whose program it is said to
	// be, so that nothing can be said about the other unit.
	BaseFails bool `json:",omitempty"`
}

// Found reports whether the differences are explained.
func (v *Verdict) Found() bool { return len(v.Changes) > 0 || v.Given }

// The limits of a search.
const (
	beamWidth  = 12  // programs kept at each level
	maxLevels  = 3   // changes made one after the other
	sampleSize = 320 // cases on which partial explanations are scored
	maxRounds  = 24  // rounds of separating inputs
	maxDiff    = 14  // fields of which every subset is tried
)

// Explain looks for the smallest change of the base that explains the unit.
//
//  1. candidates are tried until some explain all cases: every mutant of the base; every
//     listed program that is valid for these formats; every refinement of the base; every
//     value of every field; several changes of the base, level by level, then of the best
//     listed programs; and at last the search that inference makes, from the base and the
//     best that came up;
//  2. what explains all cases is reduced to as few changed parts as possible;
//  3. while several different programs are left, the unit is asked about inputs
//     on which they differ;
//  4. the first that is left is put to the test on new inputs and, if it has only a part of
//     the changes of a listed program, on inputs that would show the rest.
func Explain(ctx context.Context, pr *Unknown) (*Verdict, error) {
	if len(pr.Differ) == 0 {
		return nil, errors.New("triage: no differing cases")
	}
	s := newSearch(ctx, pr)
	found, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	v := s.verdict(found)
	if v.Found() {
		v.Alike = s.alike(&v.Program)
	} else if v.Nearest, err = s.nearest(ctx); err != nil {
		return nil, err
	}
	if v.Asked = s.asked; !v.Found() && s.spent() {
		v.Spent = s.effort()
	}
	return v, ctx.Err()
}

func newSearch(ctx context.Context, pr *Unknown) *search {
	return &search{ctx: ctx, pr: pr, ev: newEvidence(pr), whole: map[mma.Params]mma.Params{}}
}

// newEvidence returns the cases of a unit as evidence.
func newEvidence(pr *Unknown) *evidence.Evidence {
	ev := evidence.New(change.Space{Formats: pr.Formats, K: pr.K}, pr.Policy)
	dots, want := operands(interleave(pr.Differ, pr.Agree))
	ev.Add("cases", dots, want)
	return ev
}

// learn puts new cases before the others: they decide between the programs that are left.
func (s *search) learn(cases ...Case) {
	dots, want := operands(cases)
	s.ev.AddFirst("cases", dots, want)
}

func operands(cases []Case) (dots []*mma.Dot, want []uint64) {
	for _, c := range cases {
		dots, want = append(dots, c.Dot), append(want, c.Want)
	}
	return dots, want
}

// Case is a dot product and the result of the unit that is to be explained.
type Case struct {
	Dot  *mma.Dot
	Want uint64
}

// find returns the programs that explain the unit and that no input distinguishes.
func (s *search) find(ctx context.Context) ([]mma.Params, error) {
	for n := 0; n < maxRounds && ctx.Err() == nil; n++ {
		found := s.candidates()
		if s.err != nil {
			return nil, s.err
		}
		if len(found) == 0 {
			break
		}
		found, err := s.separate(ctx, found)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue // every candidate was refuted: look again, knowing more
		}
		if confirmed, err := s.confirm(ctx, found[0]); confirmed || err != nil {
			return found, err
		}
	}
	return nil, ctx.Err()
}

// interleave mixes the two kinds of cases, so that early ones are of both.
func interleave(a, b []Case) []Case {
	var mixed []Case
	for i := range max(len(a), len(b)) {
		if i < len(a) {
			mixed = append(mixed, a[i])
		}
		if i < len(b) {
			mixed = append(mixed, b[i])
		}
	}
	return mixed
}

type search struct {
	ctx   context.Context // when it is done, the search ends
	pr    *Unknown
	ev    *evidence.Evidence
	asked int
	whole map[mma.Params]mma.Params // by a reduced program: the listed one that it was reduced from
	tried []mma.Params              // programs that explained the most on some level of a search
	near  []mma.Params              // of those that differ from the base in one field, the ones right on the most cases
	cases *evidence.Cases           // for nearest
	err   error                     // of the unit, in the wide search
	until int64                     // the wide search gives up when ev.Computed reaches it; 0: it has not begun
}

// candidates returns the programs of smallest change that explain all evidence.
func (s *search) candidates() []mma.Params {
	base := s.pr.Base
	mutants := s.explaining(s.mutants(&base))
	if len(mutants) > 0 && s.pr.Ask != nil {
		return mutants // answers tell whether it is one of them
	}
	listed := programs(s.listedPrograms())
	right := slices.DeleteFunc(slices.Clone(listed), func(p mma.Params) bool { return !s.ev.Explains(&p) })
	if leading := s.leading(mutants, right); len(mutants) > 0 && (len(right) == 0 || len(leading) > 0) {
		return append(leading, slices.DeleteFunc(mutants, func(p mma.Params) bool { return slices.Contains(leading, p) })...)
	}
	var found []mma.Params
	for _, p := range right {
		q := s.reduce(p)
		if q != p {
			s.whole[q] = p
		}
		found = append(found, q)
	}
	if len(found) == 0 {
		found = s.explaining(change.Programs(s.ev.Mutants(&base, change.Refinements, change.Mistakes)))
	}
	if len(found) == 0 {
		found = s.anyValue()
	}
	if len(found) == 0 {
		// The base alone first: its changes are few, but next to a crowd of listed
		// programs they may explain too little to stay in the beam.
		found = s.beam([]mma.Params{base})
	}
	if len(found) == 0 {
		found = s.beam(listed)
	}
	if len(found) == 0 {
		found = s.wide()
	}
	return s.smallest(found)
}

// leading returns the mutants that lie between the base and a listed program. Where the
// unit cannot be asked, a listed program that explains everything is a better guess than
// one that nobody knows.
func (s *search) leading(mutants, listed []mma.Params) []mma.Params {
	return slices.DeleteFunc(slices.Clone(mutants), func(p mma.Params) bool {
		return !slices.ContainsFunc(listed, func(q mma.Params) bool {
			return len(mma.Diff(&s.pr.Base, &p))+len(mma.Diff(&p, &q)) == len(mma.Diff(&s.pr.Base, &q))
		})
	})
}

// mutants returns the programs that differ from p in one decision (change.Decisions).
func (s *search) mutants(p *mma.Params) []mma.Params {
	return change.Programs(s.ev.Mutants(p, change.Decisions))
}

// explaining returns the programs, of those given, that explain all evidence.
func (s *search) explaining(ps []mma.Params) []mma.Params {
	return slices.DeleteFunc(ps, func(p mma.Params) bool { return !s.ev.Explains(&p) })
}

// beam changes the programs that explain most, level by level, and returns those of the
// first level on which any explains all, reduced.
func (s *search) beam(from []mma.Params) []mma.Params {
	level := s.best(from)
	seen := map[mma.Params]bool{}
	for range maxLevels {
		var next []mma.Params
		var found []mma.Params
		for _, b := range level {
			for _, q := range s.mutants(&b) {
				if s.ctx.Err() != nil {
					return nil
				}
				if seen[q] {
					continue
				}
				seen[q] = true
				next = append(next, q)
				if s.ev.Explains(&q) {
					found = append(found, s.reduce(q))
				}
			}
		}
		if len(found) > 0 {
			return found
		}
		level = s.best(next)
	}
	return nil
}

// best returns the beam: the programs that explain most cases of the sample. Of
// several that explain the same cases, the first.
func (s *search) best(ps []mma.Params) []mma.Params {
	var best []mma.Params
	seen := map[string]bool{}
	hits := map[mma.Params]int{}
	all := s.ev.Whole()
	sample := all.Part(0, min(sampleSize, len(all.Want)))
	for i := range ps {
		h := s.ev.Hits(&ps[i], sample)
		if key := fmt.Sprint(h); !seen[key] {
			seen[key] = true
			hits[ps[i]] = evidence.Total(h)
			best = append(best, ps[i])
		}
	}
	slices.SortStableFunc(best, func(x, y mma.Params) int { return hits[y] - hits[x] })
	best = best[:min(len(best), beamWidth)]
	s.tried = append(s.tried, best...)
	return best
}

// reduce returns a program between the base and one that explains everything
// that takes as few changed parts as possible: of the smallest sets that
// explain, the first.
func (s *search) reduce(full mma.Params) mma.Params {
	parts := changedParts(&s.pr.Base, &full)
	if len(parts) > maxDiff {
		return s.reduceGreedily(full, parts)
	}
	for size := 1; size < len(parts); size++ {
		for set := range subsets(len(parts), size) {
			if q, ok := s.apply(parts, set); ok && s.ev.Explains(&q) {
				return q
			}
		}
	}
	return full
}

// reduceGreedily takes back one part at a time as long as that is possible.
func (s *search) reduceGreedily(full mma.Params, parts [][]mma.Change) mma.Params {
	set := uint32(1)<<len(parts) - 1
	best := full
	for again := true; again; {
		again = false
		for i := range parts {
			if set>>i&1 == 0 {
				continue
			}
			if q, ok := s.apply(parts, set&^(1<<i)); ok && s.ev.Explains(&q) {
				set &^= 1 << i
				best, again = q, true
			}
		}
	}
	return best
}

// apply returns the base with a set of parts changed, if that is valid.
func (s *search) apply(parts [][]mma.Change, set uint32) (mma.Params, bool) {
	q := s.pr.Base
	for i, part := range parts {
		if set>>i&1 != 0 && q.Apply(part) != nil {
			return q, false
		}
	}
	return q, q.Validate(s.pr.Formats, s.pr.K) == nil
}

// subsets yields the sets of a given size of n elements, as bit masks in
// ascending order.
func subsets(n, size int) func(func(uint32) bool) {
	return func(yield func(uint32) bool) {
		for set := uint32(1)<<size - 1; set < 1<<n; {
			if !yield(set) {
				return
			}
			low := set & -set
			ripple := set + low
			set = (set^ripple)>>2/low | ripple
		}
	}
}

// smallest returns the programs with the fewest changed parts, without
// duplicates.
func (s *search) smallest(ps []mma.Params) []mma.Params {
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

func (s *search) verdict(programs []mma.Params) *Verdict {
	v := &Verdict{Program: s.pr.Base, K: s.pr.K, Differ: len(s.pr.Differ), Agree: len(s.pr.Agree)}
	if len(programs) == 0 {
		v.Kept = v.Agree
		v.Labels = []Label{Unexplained}
		return v
	}
	v.Program = programs[0]
	v.Changes = mma.Diff(&s.pr.Base, &v.Program)
	v.Labels = LabelsOf(&s.pr.Base, &v.Program)
	v.Explained, v.Kept = v.Differ, v.Agree
	for _, q := range programs[1:] {
		v.Equivalent = append(v.Equivalent, mma.Diff(&s.pr.Base, &q))
	}
	return v
}
