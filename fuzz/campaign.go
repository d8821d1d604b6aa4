package fuzz

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
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
	Keep func(pair int, bucket *Bucket, v *triage.Verdict) bool
	// Journal, if not "", is the file that makes the campaign resumable. While the campaign is
	// not complete, Journal.epoch and Journal.incomplete lie beside it.
	Journal string
	// Plan is the digest of the plan if the campaign is driven by MergeUnits, and "" if it
	// is driven by Run. A journal belongs to one plan.
	Plan string
	// Partial says, if not "", why the inputs are not all that they should be, such as that a
	// recording was cut short: the campaign ends unfinished, for this reason.
	Partial string
	// Sharing divides triage among processes; the zero value: this one does all of it.
	Sharing Sharing
	// Bundles, if not "", is the directory below which every finding gets a bundle
	// (package bundle). Its path there is BundleDir(f); if BundleDir is nil,
	// INSTRUCTION/CAUSE-NUMBER, prefixed by the targets if the pairs differ in them
	// (SeveralTargets).
	Bundles   string
	BundleDir func(f *Case) string
	// Observe is told of progress; it may be nil. It is called from one
	// goroutine.
	Observe Observer
	// Thinking is called with the effort that the search for an explanation of a pair has spent
	// so far, if it takes long, and the most that it may spend; it may be nil. It is called from
	// one goroutine at a time.
	Thinking func(pair int, computed, most int64)

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
	Finding(f *Case, kept bool) error
	// Progress reports the state after an epoch.
	Progress(s *State)
}

// SeveralTargets reports whether the pairs differ in their targets.
func (cfg *Config) SeveralTargets() bool {
	first := &cfg.Pairs[0]
	return slices.ContainsFunc(cfg.Pairs, func(p devices.Pair) bool { return p.TargetA != first.TargetA || p.TargetB != first.TargetB })
}

// Campaign is a campaign in progress.
type Campaign struct {
	cfg   Config
	state *State
	pairs []*pairRun
	speed gen.Speed // of the slowest pair
	began time.Time
	jour  *journal.Journal[record]

	workers []*worker
	results []chunkResult // of the epoch's chunks
	saving  *checkpoint
	slow    []*slowUnit // of the pairs

	resumed      map[*Case]bool               // findings of earlier runs
	environments map[string]map[string]string // of targets

	triaging atomic.Bool // the chunks of the epoch are done
	thinking sync.Mutex  // of Config.Thinking
	complete bool
	marked   bool // as incomplete, beside the journal
}

// New prepares a campaign. If its journal has an earlier part of it, the campaign continues
// from there.
func New(cfg Config) (*Campaign, error) {
	if len(cfg.Pairs) == 0 {
		return nil, errors.New("no pair of instructions to compare")
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
	c := &Campaign{cfg: cfg, state: &State{}, resumed: map[*Case]bool{}}
	for i := range cfg.Pairs {
		p, err := newPairRun(&cfg, cfg.Pairs[i])
		if err != nil {
			return nil, err
		}
		c.pairs = append(c.pairs, p)
		c.state.Pairs = append(c.state.Pairs, newPairState(p))
	}
	c.setSchedules()
	for range cfg.Workers {
		c.workers = append(c.workers, newWorker())
	}
	c.saving = &checkpoint{pairs: c.pairs}
	c.saving.forget()
	if cfg.Journal != "" {
		if err := c.openJournal(); err != nil {
			return c, err
		}
		err := c.openCheckpoint()
		if err == nil {
			err = c.checkPlaces()
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
	for ctx.Err() == nil {
		plan := c.plan()
		if c.complete = len(plan) == 0 || c.timeOver(); c.complete {
			return c.markComplete()
		}
		if err := c.markIncomplete(); err != nil {
			return err
		}
		e := c.newEpoch(plan)
		whole, err := c.epoch(hard, e)
		if whole && err == nil {
			err = c.commit(e)
			if err == nil {
				continue
			}
			return err
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
func (c *Campaign) epoch(ctx context.Context, e *epoch) (whole bool, err error) {
	for i, p := range c.pairs {
		p.rename(c.state.Pairs[i].Verdict)
	}
	if err := e.chunks(ctx, c.timeOver); err != nil {
		return false, err
	}
	if !e.cut() {
		return false, nil
	}
	e.sum()
	return true, c.triage(ctx, e)
}

// keepUnfinished adds to the state what was compared of an epoch that is not complete.
// The checkpoint has it, too. Findings of pairs whose triage is complete are reported.
func (c *Campaign) keepUnfinished(e *epoch) error {
	d := e.unfinished()
	for i := range d.Pairs {
		if err := c.report(d.Pairs[i].Findings); err != nil {
			return err
		}
		c.state.Pairs[i].apply(&d.Pairs[i], c.state.Epochs)
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
	d := e.d
	if err := c.reportAll(d); err != nil {
		return err
	}
	if c.jour != nil {
		if err := c.jour.Append(&record{Epoch: d}); err != nil {
			return err
		}
	}
	c.state.apply(d)
	if err := errors.Join(c.saving.reset(c.state.Epochs), c.compact()); err != nil {
		return err
	}
	if c.cfg.Observe != nil {
		c.cfg.Observe.Progress(c.state)
	}
	return nil
}

// parallel calls do for 0..n-1 on the campaign's workers, in any order, and returns the
// errors.
func (c *Campaign) parallel(ctx context.Context, n int, do func(i int) error) error {
	errs, order := make([]error, n), c.order(n)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range c.workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				errs[order[i]] = do(order[i])
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}
