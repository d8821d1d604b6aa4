package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/engine"
)

// Shard is a part of the work on a plan: the units whose number modulo Of is Index, and then
// units of other shards in the same directory.
type Shard struct {
	Plan      *Plan
	Pairs     []devices.Pair
	Dir       string
	Index, Of int
	Workers   int           // units that are worked on at once
	Lease     time.Duration // how long a shard may give no sign of life until it counts as dead; 0: DefaultLease
	Observe   func(p Progress)

	many  int // least number of steps of triage that shards divide; 0: manySteps
	me    *presence
	watch *watch
	mu    sync.Mutex
	index *index
	mine  map[int]bool           // units that this process works on
	feeds map[int]*fuzz.Campaign // by round; 0 is for units without feedback
	done  Progress
	stale time.Time // when the index was read
	began time.Time
}

// DefaultLease is how long a shard may be silent.
const DefaultLease = time.Minute

const (
	beatsPerLease = 6
	pollEvery     = time.Second
)

// Progress is how far a shard has come.
type Progress struct {
	Done, Of   int // units of the plan
	Here       int // units that this process has done
	Dots       uint64
	Mismatches uint64
	Waiting    bool // for units that others work on
	Triaging   bool // all units are done, this process does its part of the triage
	Triaged    int  // steps of triage that it has done
}

// ErrRound reports that a shard cannot go on: the units that are left need results of other
// shards.
var ErrRound = errors.New("what is left learns from units that are not here")

// Run works until nothing is left that this shard can do: its own units, the units of all
// shards that have ever appeared in the directory, and, if all units of the plan are done,
// its part of the triage. The error is ErrRound if the units that are left need results of
// shards that have not appeared; Run waits for these for the time of a lease, since a
// scheduler may need it to start them all. If the context ends, its error is returned, and
// the units in progress are lost.
func (s *Shard) Run(ctx context.Context) (err error) {
	if s.Lease == 0 {
		s.Lease = DefaultLease
	}
	if err := s.begin(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, max(s.Workers, 1))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			if errs[i] = s.work(ctx); errs[i] != nil && !errors.Is(errs[i], ErrRound) {
				cancel()
			}
		})
	}
	wg.Wait()
	if err = worst(errs); err == nil {
		err = s.triage(ctx)
	}
	return errors.Join(err, s.me.leave())
}

// worst returns the error that tells most: that of a context, which another error may have
// cancelled, only if there is no other.
func worst(errs []error) (err error) {
	for _, e := range errs {
		if err == nil || errors.Is(err, context.Canceled) && e != nil {
			err = e
		}
	}
	return err
}

func (s *Shard) begin() (err error) {
	s.began = time.Now()
	s.index, s.mine, s.feeds = newIndex(s.Plan), map[int]bool{}, map[int]*fuzz.Campaign{}
	first, err := s.campaign(nil)
	if err == nil {
		err = s.Plan.check(first)
	}
	if err != nil {
		return err // nothing is left of a shard that is refused
	}
	name := fmt.Sprintf("%d-of-%d.%d", s.Index, s.Of, os.Getpid())
	if err := prepare(s.Dir, name, s.Plan); err != nil {
		return err
	}
	s.feeds[0] = first
	if s.me, err = appear(s.Dir, s.Index, s.Of, s.Lease/beatsPerLease); err != nil {
		return err
	}
	s.watch = &watch{me: s.me, after: s.Lease, seen: map[string]seen{}}
	return nil
}

// campaign returns a campaign with the feedback of earlier rounds, if f is not nil.
func (s *Shard) campaign(f *engine.Feedback) (*fuzz.Campaign, error) {
	cfg, err := s.Plan.Config(s.Pairs)
	if err != nil {
		return nil, err
	}
	cfg.Sharing.Once = s.once
	c, err := fuzz.New(cfg)
	if err != nil {
		return nil, err
	}
	return c, c.Feed(f)
}

// work does units until there is none left.
func (s *Shard) work(ctx context.Context) error {
	for {
		u, c, err := s.next(ctx)
		if err != nil || c == nil {
			return err
		}
		r, err := c.RunUnit(ctx, u.Unit)
		if err == nil {
			err = s.finish(u, r)
		}
		s.mu.Lock()
		delete(s.mine, u.Number)
		s.mu.Unlock()
		if err = errors.Join(err, s.me.giveBack(unitName(u.Number))); err != nil {
			return err
		}
	}
}

// finish writes the result of a unit.
func (s *Shard) finish(u *Unit, r *engine.Result) error {
	line, err := journal.Line(unitLine{s.Plan.Digest(), u.Number, r})
	if err != nil {
		return err
	}
	file := numbered(s.Dir, unitsDir, u.Number)
	if err := write(file, s.me.name, line); err != nil {
		return err
	}
	s.mu.Lock()
	s.index.put(u.Number, place{file: file})
	s.done.Here++
	s.done.Dots += r.Dots
	s.done.Mismatches += r.Dots - r.Classes[0]
	s.tell(false)
	here, dots := s.done.Here, s.done.Dots
	s.mu.Unlock()
	return s.me.beat(func(h *heartbeat) { h.Units, h.Dots = here, dots })
}

// tell reports the progress to the observer.
func (s *Shard) tell(waiting bool) {
	s.done.Done, s.done.Of, s.done.Waiting = len(s.index.at), len(s.Plan.Units()), waiting
	if s.Observe != nil {
		s.Observe(s.done)
	}
}

// next returns a unit whose lease it has taken, and the campaign that runs it; both are nil
// if nothing is left.
func (s *Shard) next(ctx context.Context) (*Unit, *fuzz.Campaign, error) {
	for {
		u, c, wait, err := s.pick(ctx)
		if err != nil || c != nil || !wait {
			return u, c, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

// pick looks for a unit. If there is none, wait says whether there may be one later, since
// others are at work.
func (s *Shard) pick(ctx context.Context) (u *Unit, c *fuzz.Campaign, wait bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, nil, false, err
	}
	if time.Since(s.stale) >= pollEvery {
		if _, err := s.index.add(s.Dir); err != nil {
			return nil, nil, false, err
		}
		s.stale = time.Now()
	}
	beats, err := readHeartbeats(s.Dir)
	if err != nil {
		return nil, nil, false, err
	}
	own, others := s.candidates(beats)
	blocked, ready := false, s.index.complete()
	for _, u := range slices.Concat(own, others) {
		if s.mine[u.Number] {
			wait = true
			continue
		}
		if u.Fed && u.Round > ready {
			blocked = true
			continue
		}
		if c, err = s.feed(ctx, u); err != nil {
			return nil, nil, false, err
		}
		switch taken, err := s.take(u.Number, beats); {
		case err != nil:
			return nil, nil, false, err
		case taken:
			s.mine[u.Number] = true
			return u, c, false, nil
		}
		wait = true
	}
	wait = wait || blocked && time.Since(s.began) < s.Lease
	s.tell(wait)
	if blocked && !wait {
		return nil, nil, false, ErrRound
	}
	return nil, nil, wait, nil
}

// candidates returns the units that are left: those of this shard, and those of other shards
// that have appeared. Within a round the latter come in reverse order, because their own
// shards begin at the other end.
func (s *Shard) candidates(beats map[string]*heartbeat) (own, others []*Unit) {
	here := map[int]bool{}
	for _, h := range beats {
		if h.Of == s.Of {
			here[h.Shard] = true
		}
	}
	units := s.Plan.Units()
	for i := range units {
		u := &units[i]
		if _, done := s.index.at[u.Number]; done {
			continue
		}
		switch of := u.Number % s.Of; {
		case of == s.Index:
			own = append(own, u)
		case here[of]:
			others = append(others, u)
		}
	}
	slices.SortStableFunc(others, func(x, y *Unit) int {
		if x.Round != y.Round {
			return x.Round - y.Round
		}
		return y.Number - x.Number
	})
	return own, others
}

// take takes the lease of a unit that has no result yet.
func (s *Shard) take(n int, beats map[string]*heartbeat) (bool, error) {
	taken, err := s.watch.take(unitName(n), beats)
	if !taken || err != nil {
		return false, err
	}
	file := numbered(s.Dir, unitsDir, n)
	if _, err := os.Stat(file); err != nil {
		return true, nil
	}
	s.index.put(n, place{file: file}) // it was done since the index was read
	return false, s.me.giveBack(unitName(n))
}

// feed returns the campaign that runs a unit. If the unit takes feedback, all results of
// earlier rounds must be here.
func (s *Shard) feed(ctx context.Context, u *Unit) (*fuzz.Campaign, error) {
	round := 0
	if u.Fed {
		round = u.Round
	}
	if c := s.feeds[round]; c != nil {
		return c, nil
	}
	f, err := s.feedback(ctx, round)
	if err != nil {
		return nil, err
	}
	c, err := s.campaign(f)
	if err == nil {
		s.feeds[round] = c
	}
	return c, err
}

// roundFile is the contents of a file in the directory rounds.
type roundFile struct {
	Plan     string           `json:"plan"`
	Feedback *engine.Feedback `json:"feedback"`
}

// feedback returns what the units of a round learn from earlier rounds: it reads the file of
// the round, or computes the feedback and writes the file.
func (s *Shard) feedback(ctx context.Context, round int) (*engine.Feedback, error) {
	file := filepath.Join(s.Dir, roundsDir, fmt.Sprintf("%d.json", round))
	body, err := corpus.ReadFile(file, "feedback of a round", unitBytes)
	if err == nil {
		have := roundFile{}
		if err = strictjson.Error(body, json.Unmarshal(body, &have)); err == nil && (have.Plan != s.Plan.Digest() || have.Feedback == nil || have.Feedback.Round != round) {
			err = errors.New("it is of another plan or round: remove it")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return have.Feedback, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c, err := s.campaign(nil)
	if err != nil {
		return nil, err
	}
	for r := range round {
		if err := s.index.mergeRound(ctx, c, r, false); err != nil {
			return nil, err
		}
	}
	if body, err = json.Marshal(roundFile{s.Plan.Digest(), c.Feedback()}); err != nil {
		return nil, err
	}
	return c.Feedback(), write(file, s.me.name, append(body, '\n'))
}
