package fleet

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/engine"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
)

// Shard is a part of the work on a plan: the units whose number modulo Of is Index.
type Shard struct {
	Plan      *Plan
	Pairs     []devices.Pair
	Dir       string
	Index, Of int
	Workers   int              // units that are worked on at once
	Wait      time.Duration    // how long to wait for results of shards that have shown no new one; 0: DefaultWait
	OwnOnly   bool             // units of other shards are never done here: the directory is not shared
	Observe   func(p Progress) // may be nil

	mu     sync.Mutex
	index  *index
	log    *shardLog
	done   Progress
	plain  *fuzz.Campaign // runs units without feedback
	merged *fuzz.Campaign // has merged rounds, for what later ones learn from them
	fed    *fuzz.Campaign // runs units with the feedback of merged; nil: there is none yet
}

// DefaultWait is how long a shard waits for others that seem to do nothing. A unit takes half as
// long, as a rule.
const DefaultWait = time.Minute

const pollEvery = time.Second

// Progress is how far a shard has come.
type Progress struct {
	Done, Of   int // units of the plan
	Here       int // units that this process has done
	Others     int // of these, units of other shards
	Dots       uint64
	Mismatches uint64
	Waiting    bool // for units of other shards
}

// ErrRound reports that a shard with OwnOnly cannot go on: the units that are left need results of
// other shards.
var ErrRound = errors.New("what is left learns from units that are not here")

// Run does the units of the shard that have no result yet: first those that need no feedback, then
// round by round those that do, for which all units of the rounds before must be done. It
// waits for these as long as other shards write results in the directory. What nobody works on, it
// does itself, or returns ErrRound if OwnOnly is set. If the context ends, its error is returned,
// and the units in progress are lost.
func (s *Shard) Run(ctx context.Context) (err error) {
	if s.Wait == 0 {
		s.Wait = DefaultWait
	}
	if err := s.begin(); err != nil {
		return err
	}
	defer func() {
		err = cmp.Or(err, s.index.update())
		s.tell(false) // with what others have done meanwhile
		err = errors.Join(err, s.log.close())
	}()
	for round := range s.Plan.Rounds {
		units := s.units(round)
		if len(units) > 0 && round > 0 {
			if err := s.await(ctx, round); err != nil {
				return err
			}
		}
		if err := s.compute(ctx, units); err != nil {
			return err
		}
	}
	return nil
}

// begin opens the log of the shard and the campaigns that it needs. Nothing is left of a shard that
// is refused.
func (s *Shard) begin() (err error) {
	if s.plain, err = s.campaign(nil); err == nil {
		err = s.Plan.check(s.plain)
	}
	if err == nil {
		s.merged, err = s.campaign(nil)
	}
	if err == nil {
		err = prepare(s.Dir, journal.ByShard, s.Plan)
	}
	if err != nil {
		return err
	}
	s.index = newIndex(s.Plan, s.Dir)
	if err := s.index.update(); err != nil {
		return err
	}
	if s.log, err = newShardLog(s.Dir, s.Index, s.Of); err != nil {
		return err
	}
	s.tell(false)
	return nil
}

// campaign returns a campaign with the feedback of earlier rounds, if f is not nil.
func (s *Shard) campaign(f *engine.Feedback) (*fuzz.Campaign, error) {
	cfg, err := s.Plan.Config(s.Pairs)
	if err != nil {
		return nil, err
	}
	c, err := fuzz.New(cfg)
	if err != nil {
		return nil, err
	}
	return c, c.Feed(f)
}

// units returns the shard's units without a result that are fed in a round; in round 0, all that
// need no feedback.
func (s *Shard) units(round int) (units []*Unit) {
	all := s.Plan.Units()
	for n := s.Index; n < len(all); n += s.Of {
		u := &all[n]
		if _, done := s.index.at[n]; !done && u.Fed == (round > 0) && (!u.Fed || u.Round == round) {
			units = append(units, u)
		}
	}
	return units
}

// compute does units of one round, which either all need feedback or all do not.
func (s *Shard) compute(ctx context.Context, units []*Unit) error {
	if len(units) == 0 {
		return nil
	}
	c := s.plain
	if u := units[0]; u.Fed {
		var err error
		if c, err = s.feed(ctx, u.Round); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	parallel.For(max(s.Workers, 1), len(units), func(i int) {
		if ctx.Err() != nil {
			return
		}
		r, err := c.RunUnit(ctx, units[i].Unit)
		if err == nil {
			err = s.finish(units[i].Number, r)
		}
		if err != nil {
			cancel(err)
		}
	})
	return context.Cause(ctx)
}

// finish writes the result of a unit.
func (s *Shard) finish(n int, r *engine.Result) error {
	line, err := journal.Line(unitLine{time.Now().UnixMilli(), s.Plan.Digest(), n, r})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at, err := s.log.add(line)
	if err != nil {
		return err
	}
	s.index.put(n, at)
	s.done.Here++
	if n%s.Of != s.Index {
		s.done.Others++
	}
	s.done.Dots += r.Dots
	s.done.Mismatches += r.Dots - r.Classes[0]
	s.tell(false)
	return nil
}

// tell reports the progress to the observer.
func (s *Shard) tell(waiting bool) {
	s.done.Done, s.done.Of, s.done.Waiting = len(s.index.at), len(s.Plan.Units()), waiting
	if s.Observe != nil {
		s.Observe(s.done)
	}
}

// await waits until all results of the rounds before one are there, and does the units that nobody
// else works on: a few at a time, since others may come.
func (s *Shard) await(ctx context.Context, round int) error {
	for {
		if err := s.index.update(); err != nil {
			return err
		}
		if s.index.complete() >= round {
			return nil
		}
		switch left := s.idle(); {
		case len(left) > 0 && s.OwnOnly:
			return ErrRound
		case len(left) > 0:
			if err := s.compute(ctx, left[:min(len(left), max(s.Workers, 1))]); err != nil {
				return err
			}
			continue
		}
		s.tell(true)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

// feed returns the campaign that runs the units which are fed in a round. All results of the rounds
// before it are there.
func (s *Shard) feed(ctx context.Context, round int) (c *fuzz.Campaign, err error) {
	for f := s.merged.Feedback(); f.Round < round; f = s.merged.Feedback() {
		if err := s.index.mergeRound(ctx, s.merged, f.Round, false); err != nil {
			return nil, err
		}
		s.fed = nil
	}
	if s.fed == nil {
		s.fed, err = s.campaign(s.merged.Feedback())
	}
	return s.fed, err
}

// idle returns units without a result of the first round that has some, which nobody works on: none
// is of another shard that has written a result not long ago and whose process, if it is seen from
// here, has not ended. Either all need feedback or none
// does. Each shard begins elsewhere, so that those that find the same units do others of them.
func (s *Shard) idle() (units []*Unit) {
	works := map[int]map[int]bool{} // by the number of shards
	for path, l := range s.index.logs {
		if l.of > 0 && (l.of != s.Of || l.shard != s.Index) && time.Since(l.grown) < s.Wait && !l.ended(path) {
			if works[l.of] == nil {
				works[l.of] = map[int]bool{}
			}
			works[l.of][l.shard] = true
		}
	}
	all, round := s.Plan.Units(), s.index.complete()
	for n := range all {
		u := &all[n]
		_, done := s.index.at[n]
		if u.Round != round || done || len(units) > 0 && u.Fed != units[0].Fed {
			continue
		}
		worked := false
		for of, shards := range works {
			worked = worked || shards[n%of]
		}
		if !worked {
			units = append(units, u)
		}
	}
	first := len(units) * s.Index / s.Of
	return slices.Concat(units[first:], units[:first])
}
