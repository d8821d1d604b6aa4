package finding

import (
	"context"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/defect"
)

// A unit may keep something of one question for the next. Then the results of a case depend on what
// was asked just before.

// questions is the number of questions after which a case is asked, and then again to test what they
// have shown.
const questions = 256

// askHistory asks for the history of the first candidate whose place in its tile is not what matters.
func (x *pairTriage) askHistory(ctx context.Context) (err error) {
	f := x.firstLayout(func(f *Case) bool { return f.Spots == nil })
	if f == nil {
		return nil
	}
	var side int
	f.Spots, f.Before, side, err = x.history(ctx, f)
	if kept := x.keptIn(); kept != nil {
		f.Spots = kept
		return err
	}
	if f.Spots == nil || err != nil || x.t.Effort < 0 {
		return err
	}
	wrong, err := x.wrongThere(ctx, "after a question", side, func(ctx context.Context, dots []*mma.Dot) ([]uint64, error) {
		return x.rightAfter(ctx, side, f.Before, dots)
	})
	wrong.addTo(f.Spots, "; right after such a question ")
	return err
}

// beforeMatters labels those of some cases that show no difference whenever they are asked right after
// zeros, or whenever right after themselves: where they repeat themselves, other questions come before.
func (x *pairTriage) beforeMatters(ctx context.Context, ss []Sample, labels map[CaseRef]string) error {
	if x.p.Recorder != nil {
		return nil // it answers what was recorded
	}
	const times = 4
	zeros := mma.NewDot(x.p.Spec.Formats, x.p.K)
	for some := range slices.Chunk(ss, tilesDots/(3*times)) {
		var dots []*mma.Dot
		for _, d := range x.p.dots(x.t.Seed, some) {
			for range times {
				dots = append(dots, zeros, d, d)
			}
		}
		got, err := x.bothOf(ctx, mma.BatchOf(x.p.Spec.Formats, x.p.K, dots))
		if err != nil {
			return harmlessFault(err)
		}
		for i := range some {
			var differs [2]bool
			for n := range times {
				for after := range differs {
					r := got(3*(times*i+n) + 1 + after)
					differs[after] = differs[after] || !x.p.Equal(r[0], r[1])
				}
			}
			if !differs[0] || !differs[1] {
				labels[some[i].CaseRef] = string(triage.Layout)
			}
		}
	}
	return nil
}

// rightAfter asks a side about dot products, each right after the same question.
func (x *pairTriage) rightAfter(ctx context.Context, side int, question *mma.Dot, dots []*mma.Dot) ([]uint64, error) {
	var all []*mma.Dot
	for _, d := range dots {
		all = append(all, question, d)
	}
	codes, err := runDots(ctx, x.p.side(side), x.p.Spec.Formats, all)
	if err != nil {
		return nil, err
	}
	for i := range dots {
		codes[i] = codes[2*i+1]
	}
	return codes[:len(dots)], nil
}

// firstLayout returns the first such candidate that depends on what is around it; nil: there is none, or
// the pair has a finding of that cause.
func (x *pairTriage) firstLayout(which func(*Case) bool) *Case {
	has := func(f *Case) bool { return f.Bucket == string(triage.Layout) }
	if slices.ContainsFunc(x.st.Findings, has) {
		return nil
	}
	x.sortCandidates() // the first one becomes a finding
	if i := slices.IndexFunc(x.candidates, func(f *Case) bool { return has(f) && which(f) }); i >= 0 {
		return x.candidates[i]
	}
	return nil
}

// history says after which questions a case gives another result, as a defect of the one side whose
// results depend on them, with one of these questions; nil: there is no such side.
func (x *pairTriage) history(ctx context.Context, f *Case) (d *corpus.Defect, question *mma.Dot, side int, err error) {
	if x.p.baseUnit == nil || len(f.Start.A) != x.p.K {
		return nil, nil, 0, nil
	}
	before := x.predecessors(f)
	var probes []*mma.Dot
	for round := 0; len(probes) < 2*questions && round < 4; round++ {
		probes = append(probes, gen.Probe(x.p.Spec, x.t.Seed, round, &x.p.base)...)
	}
	probes = probes[:min(len(probes), 2*questions)]
	found := slices.Concat(before[:(len(before)+1)/2], probes[:len(probes)/2])
	test := slices.Concat(before[(len(before)+1)/2:], probes[len(probes)/2:])
	after, chosen, side, err := x.after(ctx, f, found)
	if after == nil || err != nil {
		return nil, nil, 0, err
	}
	alone, err := x.bothOf(ctx, mma.BatchOf(x.p.Spec.Formats, x.p.K, []*mma.Dot{found[chosen], f.Start}))
	if err != nil {
		return nil, nil, 0, harmlessFault(err)
	}
	if r := alone(1); x.p.Equal(r[0], r[1]) { // its place in the sequence matters, or more than one question
		return nil, nil, 0, nil
	}
	var yes, no []*mma.Dot
	for i, differs := range after {
		if differs {
			yes = append(yes, found[i])
		} else {
			no = append(no, found[i])
		}
	}
	d = &corpus.Defect{Target: x.p.targets()[side], Confirmed: len(yes), Beside: len(no), Tested: len(found),
		Rule: fmt.Sprintf("its result depends on the question before it: this input gives another result right after %s than right after %s", mma.FormatDot(x.p.Spec.Formats, found[chosen]), mma.FormatDot(x.p.Spec.Formats, no[0]))}
	words, meets, err := defect.Separate(x.p.Spec.Formats, x.p.baseUnit.Instruction().K, x.p.base, yes, no)
	if err != nil || words == "" {
		return d, found[chosen], side, err
	}
	again, _, other, err := x.after(ctx, f, test)
	if again == nil || other != side || err != nil {
		return d, found[chosen], side, err
	}
	for i := range test {
		if again[i] != meets(test[i]) {
			return d, found[chosen], side, nil
		}
		if again[i] {
			d.Confirmed++
		} else {
			d.Beside++
		}
	}
	d.Tested += len(test)
	d.Rule = "its result depends on the question before it: it is another if in that question " + words
	d.Identity = d.Target + ": " + d.Rule
	return d, found[chosen], side, nil
}

// predecessors returns what was asked before a case and others that differ, where it is known: conditions
// that probes seldom meet.
func (x *pairTriage) predecessors(f *Case) (dots []*mma.Dot) {
	for _, s := range append([]Sample{{CaseRef: f.Origin}}, x.d.Unnamed...) {
		if s.Source != Recorded && s.Index > 0 && len(dots) < questions {
			dots = append(dots, x.p.Dot(x.t.Seed, CaseRef{s.Source, s.Index - 1}))
		}
	}
	return dots
}

// after asks about a case right after each of some questions, twice. It reports after which the two
// sides differ, chooses of these the first that gives the results of the case, or else the first, and
// reports the one side whose results are not always the same; nil: none, or both, or a side that changes
// its answers.
func (x *pairTriage) after(ctx context.Context, f *Case, before []*mma.Dot) (differs []bool, chosen, side int, err error) {
	var dots []*mma.Dot
	for _, d := range before {
		dots = append(dots, d, f.Start)
	}
	b := mma.BatchOf(x.p.Spec.Formats, x.p.K, dots)
	first, err := x.bothOf(ctx, b)
	if err != nil {
		return nil, 0, 0, harmlessFault(err)
	}
	second, err := x.bothOf(ctx, b)
	if err != nil {
		return nil, 0, 0, harmlessFault(err)
	}
	var varies [2]bool
	var asFound []bool
	for i := range before {
		r := first(2*i + 1)
		if !x.p.alike(r, second(2*i+1)) {
			return nil, 0, 0, nil
		}
		for s := range varies {
			varies[s] = varies[s] || !x.p.Equal(r[s], first(1)[s])
		}
		differs = append(differs, !x.p.Equal(r[0], r[1]))
		asFound = append(asFound, differs[i] && r == [2]uint64{f.A, f.B})
	}
	if varies[0] == varies[1] || !slices.Contains(differs, true) || !slices.Contains(differs, false) {
		return nil, 0, 0, nil
	}
	if chosen = slices.Index(asFound, true); chosen < 0 {
		chosen = slices.Index(differs, true)
	}
	return differs, chosen, slices.Index(varies[:], true), nil
}

// harmlessFault is nil for a fault of a unit, after which nothing is concluded.
func harmlessFault(err error) error {
	if devices.IsFault(err) {
		return nil
	}
	return err
}
