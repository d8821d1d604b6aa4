package fuzz

import (
	"context"
	"errors"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Case is a differing case on its way from the batch that showed it to its bundle. It gains
// its parts in the order of the fields; a case that has them all is a finding.
type Case struct {
	// Where it was found: the seed and the origin give its operands, Start. A and B are
	// what both sides gave, and after minimization what they give on Dot.
	Pair   int          `json:"pair"`
	Seed   uint64       `json:"seed"`
	Origin CaseRef      `json:"origin"`
	Start  *mma.Dot     `json:"start"`
	A      uint64       `json:"a"`
	B      uint64       `json:"b"`
	Class  oracle.Class `json:"class"`
	// Rechecked: Stable of Of repetitions gave the same results; 0 of 0: a failure, which
	// is not run again.
	Stable int `json:"stable"`
	Of     int `json:"of"`
	// Of TriageCase: the repetitions in which the sides differed in any way.
	Differed int `json:"-"`
	// Extracted: where in its tile the case shows, if the dot product alone does not show
	// it. See minimize.Place.
	Place string `json:"place,omitempty"`
	// In a bucket, and of one of its details.
	Bucket string `json:"bucket"`
	Detail string `json:"detail"`
	// Chosen to be a finding: its number within its bucket.
	Number int `json:"number"`
	// Minimized: the smallest dot product that shows the same, and what does not matter
	// about it. Through: minimized on a model, because the target cannot answer new inputs.
	Dot     *mma.Dot       `json:"dot"`
	Mask    *minimize.Mask `json:"mask,omitempty"`
	Minimal bool           `json:"minimal"`
	Queries int            `json:"queries"`
	Batches int            `json:"batches"`
	Through bool           `json:"through_model,omitempty"`
	// Explained: the verdict on the pair changes A's arithmetic to explain B (BaseA), or
	// the other way round, and runs it with ProgramK products an execution. Changes are
	// what this case needs, from A to B: with them A gives B's result. Back: that it does
	// not, but with them taken back B gives A's result.
	Verdict  *triage.Verdict `json:"verdict"`
	BaseA    bool            `json:"base_a"`
	ProgramK int             `json:"program_k,omitempty"`
	Changes  []mma.Change    `json:"changes,omitempty"`
	Back     bool            `json:"back,omitempty"`
	// Bundled: mismatch.json, and the directory of the bundle if there is one. Both are
	// made for Config.Bundles and Config.Observe alone.
	Mismatch *corpus.Mismatch `json:"-"`
	Dir      string           `json:"-"`
}

// newCase begins the way of a case.
func (x *pairTriage) newCase(s Sample) *Case {
	dot := x.c.dot(x.p, s.CaseRef)
	return &Case{Pair: x.index, Seed: x.c.cfg.Seed, Origin: s.CaseRef, Start: dot, Dot: dot, A: s.A, B: s.B, Class: s.Class}
}

func (x *pairTriage) newCases(samples []Sample) []*Case {
	cases := make([]*Case, len(samples))
	for i, s := range samples {
		cases[i] = x.newCase(s)
	}
	return cases
}

// sample returns where a case was found, with its results.
func (f *Case) sample() Sample { return Sample{f.Origin, f.A, f.B, f.Class} }

// asFound reports whether a case stays as it was found: what depends on its place, does not
// repeat itself or makes its target fail is not minimized.
func (f *Case) asFound() bool {
	return f.Class == oracle.Fault || f.Bucket == Unstable || f.Bucket == string(triage.Layout)
}

// pairTriage is the triage of one pair in one epoch. Cases are minimized by several
// goroutines, everything else is for one.
type pairTriage struct {
	c     *Campaign
	index int
	p     *pairRun
	st    *PairState
	d     *gathered

	batchMatters bool // a case repeats itself in its batch and not in its tile
	unnamed      unnamed
	thought      bool // the wide search for a verdict has been made in this epoch

	k int // of the instruction, for hypotheses

	verdict    *triage.Verdict
	attributor *triage.Attributor
	candidates []*Case // findings may be made of them
}

// explain takes the differing cases of an epoch to their causes: those of each pair are
// rechecked, extracted from their tiles, explained and put into buckets.
func (c *Campaign) explain(ctx context.Context, e *epoch) ([]*pairTriage, error) {
	c.triaging.Store(true)
	defer c.triaging.Store(false)
	for _, u := range c.slow {
		u.begin()
	}
	xs := make([]*pairTriage, len(c.pairs))
	return xs, c.parallel(ctx, len(c.pairs), func(i int) (err error) {
		p := e.pairs[i]
		if len(p.differ) > 0 {
			xs[i] = &pairTriage{c: c, index: i, p: c.pairs[i], st: p.st, d: p.gathered, verdict: p.st.Verdict}
			err = xs[i].triage(ctx)
		}
		p.triaged = err == nil
		return err
	})
}

// findings chooses a few cases over all pairs and minimizes them. Bundles are written when the
// epoch is committed.
func (c *Campaign) findings(ctx context.Context, xs []*pairTriage) error {
	c.triaging.Store(true)
	defer c.triaging.Store(false)
	return c.minimize(ctx, xs, c.choose(xs))
}

// triage does the steps that need no other pair.
func (x *pairTriage) triage(ctx context.Context) error {
	cases := x.newCases(x.d.differ)
	if err := x.recheck(ctx, cases); err != nil { // and extract
		return err
	}
	if err := x.recheckAgreeing(ctx); err != nil {
		return err
	}
	x.keepEvidence(cases, evidenceKept)
	if err := x.explain(ctx); err != nil {
		return err
	}
	cases, err := x.refute(ctx, cases)
	if err != nil {
		return err
	}
	return x.bucket(ctx, cases)
}

// minimize makes findings of the chosen cases. If a case does not show its difference any
// more when its input is run again, its pair becomes odd.
func (c *Campaign) minimize(ctx context.Context, xs []*pairTriage, chosen []*Case) error {
	findings := make([]*Case, len(chosen))
	err := c.parallel(ctx, len(chosen), func(i int) error {
		f := chosen[i]
		if findings[i] = c.saving.finding(f); findings[i] != nil {
			return nil
		}
		err := xs[f.Pair].finding(ctx, f)
		if errors.Is(err, minimize.ErrStart) {
			return nil
		}
		if err == nil {
			findings[i] = f
			c.saving.addFinding(f)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, f := range findings {
		if d := xs[chosen[i].Pair].d; f == nil {
			d.Odd = true
		} else {
			d.Findings = append(d.Findings, f)
			c.resumed[f] = f != chosen[i]
		}
	}
	return nil
}

// report bundles findings and tells the observer of them.
func (c *Campaign) report(findings []*Case) error {
	if c.cfg.Bundles == "" && c.cfg.Observe == nil {
		return nil
	}
	for _, f := range findings {
		kept, err := c.bundle(f)
		if err == nil && c.cfg.Observe != nil {
			err = c.cfg.Observe.Finding(f, kept)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reportAll reports the findings of an epoch.
func (c *Campaign) reportAll(d *delta) error {
	for i := range d.Pairs {
		if err := c.report(d.Pairs[i].Findings); err != nil {
			return err
		}
	}
	return nil
}
