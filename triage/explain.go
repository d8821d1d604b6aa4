package triage

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/defect"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
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
	// Effort limits the long search, which begins if no decision of a designer and no listed
	// program explains the unit: it is the number of dot products that models may compute then,
	// in millions (proportionally fewer if they have more than 16 products).
	// 0: DefaultEffort; negative: there is no such search.
	Effort int
	// Brief: where nothing explains all cases, fewer programs that explain a part of them are looked
	// into, which takes seconds whatever Effort is.
	Brief bool
	// Time limits the processor time that models may run in the search. What is found then
	// depends on the machine. 0: no limit.
	Time time.Duration
	// Progress, if not nil, is called in the long search with how far it is.
	Progress func(Progress)
	// Before, if not nil, is the program of an earlier verdict on the unit, with less evidence.
	Before *mma.Params
}

// Progress is how far a search is: what it tries, and the dot products that models have
// computed of the most that Effort allows.
type Progress = search.Progress

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
	// Partial: Program explains most cases and breaks none, but others have another cause, which
	// was not found.
	Partial bool `json:",omitempty"`
	Asked   int  // inputs on which the unit was asked during the search
	// Equivalent are other changes of the same size that no case told apart. The first Same of them no
	// input does, whatever the unit.
	Equivalent [][]mma.Change
	Same       int `json:",omitempty"`
	// Known: the unit's program was known, nothing was searched for. Changes may then be
	// empty, if only the number of products of an execution differs.
	Known bool `json:",omitempty"`
	// Idle are, if Known, labels that made no difference on any input tried.
	Idle []Label `json:",omitempty"`

	// Alike names targets whose programs explain all cases as well, and that no
	// input distinguished from Program: sim:ARCH/INSTRUCTION, ref:NAME.
	Alike []string `json:",omitempty"`
	// Nearest is the program that comes nearest, if nothing was found that explains all cases.
	Nearest *Nearest `json:",omitempty"`
	// Spent is the Effort, in millions, if the long search ran out of it; 0 if there was no
	// such search, or it had nothing left to try.
	Spent int `json:",omitempty"`
	// Quick: only what takes seconds was tried. Sought is about how much all searches for defects and
	// quick changes have taken so far, in millions of dot products of models. Ended: the search for a
	// defect has ended at its budget.
	Quick  bool `json:",omitempty"`
	Sought int  `json:",omitempty"`
	Ended  bool `json:",omitempty"`
	// Defect says of a verdict that does not explain all cases what is wrong with the unit beside
	// Program.
	Defect *defect.Claim `json:",omitempty"`
	// Sums is how both sides add the products of an element, where no program says it.
	Sums *Sums `json:",omitempty"`
	// Refuted is the rule of a defect that new inputs confirmed and that a case contradicts all the same.
	Refuted string `json:",omitempty"`
	// Seldom are the verdicts with programs that explain a part of the cases and that new inputs seldom
	// contradict: what holds if a defect beside one explains these, too, and all others.
	Seldom []*Verdict `json:"-"`
	// BaseFails: the base does not give the results of the unit whose program it is said to
	// be, so that nothing can be said about the other unit.
	BaseFails bool `json:",omitempty"`
}

// Found reports whether the differences are explained, or most of them.
func (v *Verdict) Found() bool { return len(v.Changes) > 0 || v.Known }

// Base returns the program that Changes change.
func (v *Verdict) Base() (mma.Params, error) {
	base := v.Program
	err := base.Apply(readable.Reversed(v.Changes))
	return base, err
}

// Complete reports whether the differences in all cases are explained.
func (v *Verdict) Complete() bool { return v.Found() && !v.Partial }

// Settled reports whether the differences in all cases are explained, by a program alone or with a
// defect beside it, or by two schedules.
func (v *Verdict) Settled() bool { return v.Complete() || v.Defect != nil || v.Sums != nil }

// Sums is the schedules of two units that multiply matrices: go doc ./sim/schedule Kernel.
type Sums struct {
	Kernels [2]*schedule.Kernel // of A and of B; they have the results of their unit in all cases looked into
	Label   string              // the parts in which they differ: package triage/kernel
	Checked int                 // new elements on which they have them, too
}

// leastRecorded is how many differing cases of a unit that cannot be asked a change needs for each
// part of it, unless it makes a known program.
const leastRecorded = 3

// maxRounds is the number of rounds of looking for candidates and asking about them.
const maxRounds = 24

// Explain looks for the smallest change of the base that explains the unit.
//
//  1. candidates are tried until some explain all cases (candidates.go);
//  2. what explains all cases is reduced to as few changed parts as possible;
//  3. while several different programs are left, the unit is asked about inputs
//     on which they differ;
//  4. the first that is left is put to the test on new inputs and, if it has only a part of
//     the changes of a listed program, on inputs that would show the rest;
//  5. if none is left, a change that explains most of the cases is looked for (partial.go).
func Explain(ctx context.Context, pr *Unknown) (*Verdict, error) {
	if len(pr.Differ) == 0 {
		return nil, errors.New("triage: no differing cases")
	}
	s := newExplainer(pr)
	found, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	v := s.verdict(found)
	if v.Found() {
		v.Alike = s.alike(&v.Program)
	}
	few := pr.Ask == nil && v.Alike == nil && len(pr.Differ) < leastRecorded*len(changedParts(&pr.Base, &v.Program))
	switch {
	case few:
		v = s.verdict(nil) // something explains so few cases always
	case !v.Found():
		if err := s.withNearest(ctx, v); err != nil {
			return nil, err
		}
	}
	if v.Asked = s.asked; !v.Complete() && s.budget.Limited() && s.budget.Spent() {
		v.Spent = s.effort()
	}
	return v, ctx.Err()
}

// explainer is the state of a search for an explanation.
type explainer struct {
	pr       *Unknown
	ev       *evidence.Evidence
	budget   *search.Budget // limited once the long search has begun
	asked    int
	complete map[mma.Params]mma.Params // by a reduced program: the listed one that it was reduced from
	leaders  []mma.Params              // programs that explained the most on some level of a search
	near     []mma.Params              // of those that differ from the base in one field, the ones right on the most cases
}

func newExplainer(pr *Unknown) *explainer {
	s := &explainer{pr: pr, ev: newEvidence(pr), complete: map[mma.Params]mma.Params{}}
	s.budget = search.NewBudget(s.ev)
	if s.budget.Show = pr.Progress; pr.Time > 0 {
		s.budget.AllowTime(pr.Time)
	}
	return s
}

// newEvidence returns the cases of a unit as evidence.
func newEvidence(pr *Unknown) *evidence.Evidence {
	ev := evidence.New(change.Space{Formats: pr.Formats, K: pr.K}, pr.Policy)
	ev.Base, _ = sim.New(pr.Formats, pr.K, pr.Base)
	dots, want := operands(interleave(pr.Differ, pr.Agree))
	ev.Add("cases", dots, want)
	return ev
}

// learn puts new cases before the others: they decide between the programs that are left.
func (s *explainer) learn(cases ...Case) {
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
func (s *explainer) find(ctx context.Context) ([]mma.Params, error) {
	for n := 0; n < maxRounds && ctx.Err() == nil; n++ {
		found, err := s.candidates(ctx)
		if len(found) == 0 || err != nil {
			return nil, cmp.Or(err, ctx.Err())
		}
		if found, err = s.separate(ctx, found); err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue // every candidate was refuted: search with the new cases
		}
		s.codesFirst(found)
		s.oddLast(found)
		confirmed, err := s.confirm(ctx, found[0])
		if err != nil {
			return found, err
		}
		if !confirmed {
			continue
		}
		pinned, err := s.pin(ctx, found[0])
		if len(pinned) > 0 || err != nil {
			return append(pinned, found[1:]...), err
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

func (s *explainer) verdict(programs []mma.Params) *Verdict {
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
	s.sameFirst(v)
	return v
}
