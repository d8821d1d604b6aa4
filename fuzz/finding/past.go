package finding

import (
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/defect"
)

// A unit may keep something of a question for good: a mode that is never left again. Then it repeats
// its results, and only a new worker shows that they depend on what was asked before.

const (
	pastCases   = 8   // one of each cause, that a new worker is asked
	pastWorkers = 24  // at most, each until its results change
	pastAsked   = 256 // questions that may change them
)

// askPast asks new workers about the first case of each cause, unless an earlier epoch has asked about
// some: of the first whose result is another then it is said what changes it.
func (x *pairTriage) askPast(ctx context.Context) error {
	for _, f := range x.st.Findings {
		if !f.asFound() {
			return nil
		}
	}
	x.sortCandidates()
	var first []*Case
	seen := map[string]bool{}
	for _, f := range x.candidates {
		if !f.asFound() && !seen[f.Bucket] && len(f.Start.A) == x.p.K && len(first) < pastCases {
			seen[f.Bucket] = true
			first = append(first, f)
		}
	}
	for side := range sideNames {
		for _, f := range first {
			p := &past{x: x, side: side, of: f, then: [2]uint64{f.A, f.B}[side]}
			d, err := p.defect(ctx)
			if err != nil {
				return harmlessFault(err)
			}
			if d != nil {
				d.Target, f.Past, f.Before = x.p.targets()[side], d, p.before
				return nil
			}
			if p.none {
				break
			}
		}
	}
	return nil
}

// past is a side whose result for a case may depend on what was asked before.
type past struct {
	x    *pairTriage
	side int
	of   *Case
	then uint64 // its result where it was found
	none bool   // it has no worker that can be replaced

	before *mma.Dot // a question after which it gives this result; nil: no single one is known
}

// defect says how the result depends on what was asked before; nil: it does not.
func (p *past) defect(ctx context.Context) (*corpus.Defect, error) {
	first, err := p.asked(ctx, []*mma.Dot{p.of.Start})
	if err != nil || p.none || p.x.p.Equal(first[0], p.then) {
		return nil, err
	}
	again, err := p.asked(ctx, []*mma.Dot{p.of.Start})
	if err != nil || !p.x.p.Equal(first[0], again[0]) {
		return nil, err
	}
	f := p.x.p.Spec.Formats
	d := &corpus.Defect{Confirmed: 2, Tested: 2,
		Rule: fmt.Sprintf("its results depend on what was asked before: for %s a new process, which has been asked nothing else, gives %s, not %s",
			mma.FormatDot(f, p.of.Start), mma.FormatCode(f.D, first[0]), mma.FormatCode(f.D, p.then))}
	found, test := p.questions()
	yes, no, err := p.changed(ctx, found, first[0])
	if err != nil || len(yes) == 0 {
		return d, err
	}
	d.Confirmed += len(yes)
	d.Tested += len(yes) + len(no)
	after, err := p.asked(ctx, []*mma.Dot{yes[0], p.of.Start})
	if err != nil {
		return d, err
	}
	if p.x.p.Equal(after[1], p.then) {
		p.before = yes[0]
	}
	words, meets, err := defect.Separate(f, p.x.p.A.Instruction().K, p.x.p.base, yes, no)
	if err != nil || words == "" {
		return d, err
	}
	yes, no, err = p.changed(ctx, test, first[0])
	if err != nil {
		return d, err
	}
	for _, q := range yes {
		if !meets(q) {
			return d, nil
		}
	}
	for _, q := range no {
		if meets(q) {
			return d, nil
		}
	}
	d.Confirmed += len(yes)
	d.Tested += len(yes) + len(no)
	d.Beside = d.Tested - d.Confirmed
	d.Rule += fmt.Sprintf("; it changes its results for good after a question in which %s", words)
	return d, nil
}

// questions returns those that may change the results, and others to test what they have shown.
func (p *past) questions() (found, test []*mma.Dot) {
	all := p.x.predecessors(p.of)
	for round := 0; len(all) < 2*pastAsked && round < 4; round++ {
		all = append(all, gen.Probe(p.x.p.Spec, p.x.t.Seed, round, &p.x.p.base)...)
	}
	for i, d := range all[:min(len(all), 2*pastAsked)] {
		if i%2 == 0 {
			found = append(found, d)
		} else {
			test = append(test, d)
		}
	}
	return found, test
}

// changed asks the questions one after the other, and after each about the case: yes are those after
// which its result is no longer that of the beginning. Then another worker goes on.
func (p *past) changed(ctx context.Context, questions []*mma.Dot, beginning uint64) (yes, no []*mma.Dot, err error) {
	for range pastWorkers {
		var dots []*mma.Dot
		for _, q := range questions {
			dots = append(dots, q, p.of.Start)
		}
		if len(dots) == 0 {
			return yes, no, nil
		}
		codes, err := p.asked(ctx, dots)
		if err != nil {
			return nil, nil, err
		}
		i := 0
		for i < len(questions) && p.x.p.Equal(codes[2*i+1], beginning) {
			i++
		}
		no = append(no, questions[:i]...)
		if i == len(questions) {
			return yes, no, nil
		}
		yes, questions = append(yes, questions[i]), questions[i+1:]
	}
	return yes, no, nil
}

// asked returns the results of a new worker.
func (p *past) asked(ctx context.Context, dots []*mma.Dot) ([]uint64, error) {
	u, end, err := devices.Renew(ctx, p.x.p.side(p.side))
	if u == nil || err != nil {
		p.none = true
		return nil, err
	}
	defer end()
	return runDots(ctx, u, p.x.p.Spec.Formats, dots)
}
