package finding

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Options are what a Finder needs of a campaign's configuration.
type Options struct {
	Pairs       []devices.Pair
	Seed        uint64
	PerBucket   int
	MaxFindings int
	Keep        func(pair int, bucket *Bucket, v *triage.Verdict) bool
	Bundles     string
	BundleDir   func(f *Case) string
	Test        string              // the Go test that runs the comparison; "": none does
	Turned      func(pair int) bool // bundles have B as their first side; nil: none has
	Found       func(f *Case, kept bool) error
	Searching   func(pair int, doing string)
	Effort      int           // of all searches of a pair, in millions of dot products of models, to which comes what comparing takes; 0: freeEffort; -1: there are none
	Infer       bool          // sides of which nothing is known are inferred
	Time        time.Duration // limit of the campaign; 0: none
	SearchTime  time.Duration // limit of searches, from the first one on; 0: none
	Planned     bool          // they are not, because a plan divides the campaign
	Workers     int
}

// Memory is what an earlier run has done of the epoch in progress: nothing of it is done twice.
type Memory interface {
	// Verdict returns the verdict on the cases of so many units of a pair; nil: none.
	Verdict(pair int, units uint64, differ int) *triage.Verdict
	KeepVerdict(pair int, units uint64, v *triage.Verdict)
	// Inferred returns what inference has found of a side with an effort; nil: nothing yet.
	Inferred(pair int, units uint64, side string, effort int) *Inferred
	KeepInferred(pair int, units uint64, r *Inferred)
	// Finding returns what was made of a chosen case; nil: nothing.
	Finding(f *Case) *Case
	KeepFinding(f *Case)
}

// Finder takes the differing cases of a campaign to findings, epoch by epoch.
type Finder struct {
	Options
	Epoch  int // in progress
	Memory Memory

	pairs        []*Pair
	resumed      map[*Case]bool               // findings of earlier runs
	environments map[string]map[string]string // of targets
	searching    sync.Mutex
	firstSearch  func() time.Time
}

// NewFinder returns a finder for the pairs of a campaign.
func NewFinder(o Options, pairs []*Pair) *Finder {
	return &Finder{Options: o, pairs: pairs, resumed: map[*Case]bool{}, firstSearch: sync.OnceValue(time.Now)}
}

// Resume notes that an earlier run has made a finding.
func (t *Finder) Resume(f *Case) { t.resumed[f] = true }

// Gathered is what the units of an epoch have found for one pair. Explain and Find add to it.
type Gathered struct {
	Pair      int
	Before    *PairState
	Sum                // what the epoch adds
	Differing []Sample // a few differing cases of each kind: to be rechecked, and then evidence
	Unnamed   []Sample // differing cases to which no verdict before the epoch assigns a cause
	Kinds     []Kind   // that are new to the epoch, in the order in which they came up
	Chunks    []Chunk  // that have shown these cases
	Explained bool     // all cases have been explained

	x *pairTriage
}

// Explain takes the differing cases of an epoch to their causes: those of each pair are
// rechecked, extracted from their tiles, explained and put into buckets.
func (t *Finder) Explain(ctx context.Context, all []*Gathered) error {
	return t.parallel(ctx, len(all), func(i int) (err error) {
		if g := all[i]; len(g.Differing) > 0 {
			g.x = &pairTriage{t: t, index: i, p: t.pairs[i], st: g.Before, d: g, verdict: g.Before.Verdict, defect: t.pairs[i].defectOf(g.Before.Verdict)}
			err = g.x.triage(ctx)
		}
		all[i].Explained = err == nil
		return err
	})
}

// Find makes findings of a few of the cases of all pairs: it chooses and minimizes them. If a
// case does not show its difference any more when it is rechecked, its pair becomes an unstable
// pair.
func (t *Finder) Find(ctx context.Context, all []*Gathered) error {
	chosen := t.choose(all)
	findings := make([]*Case, len(chosen))
	err := t.parallel(ctx, len(chosen), func(i int) error {
		f := chosen[i]
		if findings[i] = t.Memory.Finding(f); findings[i] != nil {
			return nil
		}
		err := all[f.Pair].x.minimize(ctx, f)
		if errors.Is(err, minimize.ErrStart) {
			return nil
		}
		if err == nil {
			findings[i] = f
			t.Memory.KeepFinding(f)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, f := range findings {
		if g := all[chosen[i].Pair]; f == nil {
			g.UnstablePair = true
		} else {
			g.Findings = append(g.Findings, f)
			t.resumed[f] = f != chosen[i]
		}
	}
	return nil
}

// Report bundles findings and tells of them.
func (t *Finder) Report(findings []*Case) error {
	if t.Bundles == "" && t.Found == nil {
		return nil
	}
	for _, f := range findings {
		kept, err := t.bundle(f)
		if err == nil && t.Found != nil {
			err = t.Found(f, kept)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parallel calls do for 0..n-1 on several goroutines and returns the errors.
func (t *Finder) parallel(ctx context.Context, n int, do func(i int) error) error {
	errs := make([]error, n)
	parallel.For(t.Workers, n, func(i int) {
		if ctx.Err() == nil {
			errs[i] = do(i)
		}
	})
	return errors.Join(append(errs, ctx.Err())...)
}
