package engine

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Config says what a campaign does.
type Config struct {
	Pairs []devices.Pair
	Seed  uint64
	// Generators are the sources of inputs by name, or by NAME@VERSION where an
	// earlier version is wanted; empty: all, in their current versions.
	Generators []string
	// Count is the number of dot products for each pair, 0: no limit. With a
	// count, the findings depend on Config alone. Time is a limit, too, 0: none. When
	// it is over, the current epoch is cut so that all pairs have had the same number of
	// dot products, and its triage may take another 2 s or 3 % of Time, whichever is
	// longer; State.Counts has the counts that reproduce the findings. The limit that is
	// reached first ends the campaign.
	Count uint64
	Time  time.Duration
	// Workers run in parallel; 0: devices.Workers. They do not change what is
	// found.
	Workers int
	// PerBucket is the number of findings of one bucket of an instruction that are
	// minimized and kept if there is room; 0: 1.
	PerBucket int
	// MaxFindings limits the findings of all instructions of two targets; 0:
	// DefaultFindings. One of each primary cause comes first. Other cases are counted
	// only.
	MaxFindings int
	// NaN and Zero override the policy that the catalogue suggests, if not nil.
	NaN, Zero *oracle.Strictness
	// Keep, if not nil, reports whether a finding of a bucket is wanted: cases of others
	// are counted only. It may be called from several goroutines.
	Keep func(pair int, bucket *finding.Bucket, v *triage.Verdict) bool
	// Journal, if not "", is the file that makes the campaign resumable. While the campaign is
	// not complete, Journal.epoch and Journal.incomplete lie beside it.
	Journal string
	// Plan is the digest of the plan if the campaign is driven by MergeUnits, and "" if it
	// is driven by Run. A journal belongs to one plan.
	Plan string
	// Partial says, if not "", why the inputs are not all that they should be, such as that a
	// recording was cut short: the campaign ends unfinished, for this reason.
	Partial string
	// Bundles, if not "", is the directory below which every finding gets a bundle
	// (package bundle). Its path there is BundleDir(f); if BundleDir is nil,
	// INSTRUCTION/CAUSE-NUMBER, prefixed by the targets if the pairs differ in them
	// (SeveralTargets).
	Bundles   string
	BundleDir func(f *finding.Case) string
	// Test is the Go test that runs this comparison, "" if none does: bundles say how it is run again.
	Test string
	// Turned, if not nil, reports whether the bundles of a pair have B as their first side.
	Turned func(pair int) bool
	// Observe is told of progress; it may be nil. It is called from one
	// goroutine.
	Observe Observer
	// Effort is what the searches for what explains a pair may take together, in millions of dot
	// products of models: about a second of one processor each. As much as comparing takes comes to
	// this. 0: ten seconds of two processors. -1: there are no searches; only the programs of two sides
	// that are known explain.
	Effort int
	// SearchTime limits what these searches take by the clock, from the first one on; 0: no limit. What a busy
	// machine does not find in it is unexplained, so that findings depend on the machine.
	SearchTime time.Duration
	// NoInfer: the arithmetic of a side of which nothing is known is not looked for. Otherwise
	// it is if nothing is known of the other side either, or no change of the other one's
	// arithmetic explains it. It is never looked for where there is a Plan.
	NoInfer bool
	// Examine: the cause of every mismatch is found, or it is unexplained, up to the epoch in which it
	// was that of so many of a pair; see examine for later ones. 0: of all. There is no Journal with it.
	Examine uint64
	// Traced is of how many of the first dot products of a source one in 32 is traced, to find inputs
	// that are worth mutating; of later ones it is one in 16384. 0: 32768. With fewer a comparison
	// of many is faster. There is no Journal with it.
	Traced uint64
	// Searching is called often with what is being done, in plain words, while the search for an
	// explanation of a pair takes long; it may be nil. It is called from one goroutine at a time.
	Searching func(pair int, doing string)
	// Slow is told, before the first epoch, of a pair whose dot products take long; it may be nil.
	Slow func(pair int, look FirstLook)

	tailMost int64 // instead of the constant; 0: that
}

// JournalFile is the name of a campaign's journal in the campaign's directory.
const JournalFile = "journal"

// DefaultFindings is the number of findings of two targets that are kept unless told
// otherwise.
const DefaultFindings = 30

// Observer is told of a campaign's progress.
type Observer interface {
	// Finding reports a new finding. Its bundle is written, and it is not in the journal
	// yet: a campaign that ends here reports it again. kept reports that an earlier
	// run has written its bundle or, without Config.Bundles, has found it.
	Finding(f *finding.Case, kept bool) error
	// Progress reports the state after an epoch.
	Progress(s *State)
}

// Policy returns how the results of a pair are compared.
func (cfg *Config) Policy(p *devices.Pair) oracle.Policy {
	return finding.PolicyOf(p, cfg.NaN, cfg.Zero)
}

// SeveralTargets reports whether the pairs differ in their targets.
func (cfg *Config) SeveralTargets() bool {
	return finding.SeveralTargets(cfg.Pairs)
}

// finderOptions is what the finder needs of a configuration.
func (cfg *Config) finderOptions() finding.Options {
	o := finding.Options{
		Pairs: cfg.Pairs, Seed: cfg.Seed, PerBucket: cfg.PerBucket, MaxFindings: cfg.MaxFindings, Keep: cfg.Keep, Bundles: cfg.Bundles,
		BundleDir: cfg.BundleDir, Test: cfg.Test, Turned: cfg.Turned, Searching: cfg.Searching, Effort: cfg.Effort, Infer: !cfg.NoInfer && cfg.Plan == "", Planned: cfg.Plan != "", Workers: cfg.Workers, Time: cfg.Time,
		SearchTime: cfg.SearchTime,
	}
	if cfg.Observe != nil {
		o.Found = cfg.Observe.Finding
	}
	return o
}

// Campaign is a campaign in progress.
type Campaign struct {
	cfg   Config
	state *State
	pairs []*pair
	speed gen.Speed // of the slowest pair
	asked journalOptions
	began time.Time
	jour  *journal.Journal[record]

	workers []*worker
	results []Result // memory for the units of an epoch
	saving  *checkpoint
	slow    []*slowUnit // of the pairs

	finder   *finding.Finder
	triaging atomic.Bool // the units of the epoch are done
	complete bool
	marked   bool // as incomplete, beside the journal
}

// New prepares a campaign. If its journal has an earlier part of it, the campaign continues
// from there.
func New(cfg Config) (*Campaign, error) {
	if len(cfg.Pairs) == 0 {
		return nil, errors.New("no pair of instructions to compare")
	}
	if cfg.Examine > 0 && cfg.Journal != "" {
		return nil, errors.New("a journal has the causes of all mismatches: Examine is 0 with it")
	}
	if cfg.Traced > 0 && cfg.Journal != "" {
		return nil, errors.New("a journal does not say how many dot products are traced: Traced is 0 with it")
	}
	if cfg.Workers <= 0 {
		cfg.Workers = Workers(cfg.Pairs)
	}
	if cfg.PerBucket <= 0 {
		cfg.PerBucket = 1
	}
	if cfg.MaxFindings <= 0 {
		cfg.MaxFindings = DefaultFindings
	}
	c := &Campaign{cfg: cfg}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	c.asked = c.options()
	for range cfg.Workers {
		w := newWorker()
		w.first = cmp.Or(cfg.Traced, traceFirst)
		c.workers = append(c.workers, w)
	}
	if cfg.Journal != "" {
		if err := c.openJournal(); err != nil {
			return c, err
		}
		err := c.openCheckpoint()
		if err == nil {
			err = c.finder.CheckPlaces()
		}
		if err != nil {
			return c, errors.Join(err, c.Close())
		}
		if cfg.Partial != "" {
			if err := c.markIncomplete(); err != nil {
				return c, errors.Join(err, c.Close())
			}
		}
	}
	for i, p := range c.pairs {
		c.askWithCare(i, p)
	}
	return c, nil
}

// prepare makes the pairs and the state of a campaign that has compared nothing.
func (c *Campaign) prepare() error {
	c.state, c.pairs = &State{}, nil
	var runs []*finding.Pair
	for _, of := range c.cfg.Pairs {
		p, err := newPair(&c.cfg, of)
		if err != nil {
			return err
		}
		c.pairs, runs = append(c.pairs, p), append(runs, p.Pair)
		c.state.Pairs = append(c.state.Pairs, p.NewState())
	}
	c.finder = finding.NewFinder(c.cfg.finderOptions(), runs)
	c.setSchedules()
	c.saving = &checkpoint{pairs: c.pairs}
	c.saving.forget()
	c.finder.Memory = c.saving
	return nil
}

// setSchedules makes the schedules of all pairs alike, that of the slowest, so that they
// proceed evenly.
func (c *Campaign) setSchedules() {
	c.speed = gen.Device
	for _, p := range c.pairs {
		c.speed = min(c.speed, p.speed())
	}
	for _, p := range c.pairs {
		p.schedule = gen.NewSchedule(p.sources, c.speed)
	}
}

// learned aims the inputs of a pair at what an epoch has found out about its sides.
func (c *Campaign) learned(i int, d *finding.Sum) error {
	if len(d.Inferred) == 0 {
		return nil
	}
	var err error
	c.pairs[i].sources, err = c.pairs[i].chooseSources(c.cfg.Generators)
	c.setSchedules()
	return err
}

// Workers returns the number of workers that pairs have by default.
func Workers(pairs []devices.Pair) int {
	most := 0
	for i := range pairs {
		most = max(most, devices.Workers(pairs[i].A, pairs[i].B))
	}
	return most
}

// State returns the state after the last complete epoch; after Run, also what was
// compared of one that is not complete.
func (c *Campaign) State() *State { return c.state }

// Resumed returns the number of dot products of all pairs that earlier runs have
// compared: those of the journal, and of the epoch that was in progress.
func (c *Campaign) Resumed() uint64 {
	n, _, _ := c.state.Totals()
	return n + c.saving.dots()
}

// Complete reports whether Run has reached what Config asks for: the count, the time or
// the end of every recording.
func (c *Campaign) Complete() bool { return c.complete }

// Run runs epochs until the count or the time is spent, every recording is
// played, or ctx is done. What was found is in State, whatever the error. A context that
// ends is not an error. The error is a *GoneError if a target has stopped answering.
func (c *Campaign) Run(ctx context.Context) (err error) {
	c.began = time.Now()
	defer func() { err = errors.Join(err, c.Close()) }()
	hard := ctx
	if c.cfg.Time > 0 {
		var cancel context.CancelFunc
		hard, cancel = context.WithDeadline(ctx, c.began.Add(c.cfg.Time+timeSlack(c.cfg.Time)))
		defer cancel()
	}
	c.watch(hard)
	for ctx.Err() == nil {
		plan := c.plan()
		if c.complete = len(plan) == 0 || c.timeOver(); c.complete {
			return c.markComplete()
		}
		if err := c.markIncomplete(); err != nil {
			return err
		}
		e := c.newEpoch(plan)
		complete, err := c.epoch(hard, e)
		if !complete && err == nil && hard.Err() == nil && c.state.Epochs > 0 {
			// The time was over before all pairs had had as many dot products more: the campaign
			// is complete without them.
			c.complete = true
			return errors.Join(c.saving.reset(c.state.Epochs), c.markComplete())
		}
		if complete && err == nil {
			if err := c.commit(e); err != nil {
				return err
			}
			continue
		}
		if ctx.Err() == nil && hard.Err() != nil {
			err = nil // being cut off by the time limit is not an error
		}
		c.complete = err == nil && ctx.Err() == nil
		if ctx.Err() != nil {
			err = nil
		}
		return errors.Join(err, c.keepUnfinished(e))
	}
	return nil
}

// epoch does what is left of an epoch, and reports whether it is complete.
func (c *Campaign) epoch(ctx context.Context, e *epoch) (complete bool, err error) {
	if err := e.compute(ctx, c.timeOver); err != nil {
		return false, err
	}
	if !e.cut() {
		return false, nil
	}
	e.merge()
	err = c.triage(ctx, e, true)
	c.checkDrift(ctx, e)
	return true, errors.Join(err, c.saving.failed())
}

// triage explains the differing cases of an epoch; complete: and makes findings of some.
func (c *Campaign) triage(ctx context.Context, e *epoch, complete bool) error {
	c.triaging.Store(true)
	defer c.triaging.Store(false)
	for _, u := range c.slow {
		u.begin()
	}
	c.finder.Epoch = c.state.Epochs
	all := make([]*finding.Gathered, len(e.pairs))
	for i, p := range e.pairs {
		all[i] = p.Gathered
	}
	err := c.finder.Explain(ctx, all)
	if err == nil && complete {
		err = c.finder.Find(ctx, all)
	}
	return err
}

// reportAll reports the findings of an epoch.
func (c *Campaign) reportAll(d *delta) error {
	for i := range d.Pairs {
		if err := c.finder.Report(d.Pairs[i].Findings); err != nil {
			return err
		}
	}
	return nil
}

// Unexplained returns what is known of a pair whose differences nothing explains; nil if
// they are explained, or if there is nothing to explain.
func (c *Campaign) Unexplained(pair int) *finding.Unexplained {
	return c.finder.Unexplained(pair, c.state.Pairs[pair].Verdict)
}

// EffortSpent reports whether a larger Effort could find more of what makes a pair differ.
func (c *Campaign) EffortSpent(pair int) bool { return c.finder.EffortSpent(pair, c.state.Pairs[pair]) }

// keepUnfinished adds to the state what was compared of an epoch that is not complete.
// The checkpoint has it, too. Findings of pairs whose triage is complete are reported.
func (c *Campaign) keepUnfinished(e *epoch) error {
	d := e.unfinished()
	for i := range d.Pairs {
		if err := c.finder.Report(d.Pairs[i].Findings); err != nil {
			return err
		}
		c.state.Pairs[i].Apply(&d.Pairs[i], c.state.Epochs)
		if err := c.finder.Rewrite(c.state.Pairs[i].Findings); err != nil {
			return err
		}
	}
	return nil
}

// Close releases the journal. Run does it too. The error is that of writing the last
// record.
func (c *Campaign) Close() error {
	if c.jour == nil {
		return nil
	}
	err := errors.Join(c.saving.close(), c.jour.Close())
	c.jour = nil
	return err
}

// timeOver reports whether the time is spent; a count ends by an empty plan.
func (c *Campaign) timeOver() bool {
	return c.cfg.Time > 0 && time.Since(c.began) >= c.cfg.Time
}

// commit makes an epoch's results part of the state: findings are reported,
// then the journal is written, then the state changes.
func (c *Campaign) commit(e *epoch) error {
	d := e.delta()
	if err := c.reportAll(d); err != nil {
		return err
	}
	if c.jour != nil {
		if err := c.jour.Append(&record{Epoch: d}); err != nil {
			return err
		}
	}
	c.state.apply(d)
	for i := range d.Pairs {
		if err := c.finder.Rewrite(c.state.Pairs[i].Findings); err != nil {
			return err
		}
		if err := c.learned(i, &d.Pairs[i]); err != nil {
			return err
		}
	}
	if err := errors.Join(c.saving.reset(c.state.Epochs), c.compact()); err != nil {
		return err
	}
	if c.cfg.Observe != nil {
		c.cfg.Observe.Progress(c.state)
	}
	return nil
}

// TriageCase explains and minimizes one case of a pair outside of a campaign. The evidence is
// fresh: inputs of every generator, and the case itself. cfg.Pairs holds just this pair.
// The error is ErrAgree if the two sides do not differ on it. Units that may change their answers
// are asked several times; a case that changes is unstable, and neither explained nor minimized.
func TriageCase(ctx context.Context, cfg Config, dot *mma.Dot) (*finding.Case, error) {
	cfg.Journal, cfg.Bundles, cfg.Observe = "", "", nil
	c, err := New(cfg)
	if err != nil {
		return nil, err
	}
	return c.finder.Single(ctx, dot)
}
