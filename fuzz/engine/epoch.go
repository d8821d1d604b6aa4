package engine

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mmafuzz/mmafuzz/sim/parallel"
)

// epoch is an epoch in progress: units, then triage. The results of units are written to the
// checkpoint, so that an interruption costs only what was in progress.
type epoch struct {
	c     *Campaign
	pairs []*pairEpoch
	order []turn // of the units
	cutAt uint64 // the count that has cut the epoch; 0: none

	failed atomic.Bool
	mu     sync.Mutex
	err    error // of the first unit in the order that failed
	errAt  int
}

// pairEpoch is the epoch in progress of one pair.
type pairEpoch struct {
	merging
	units   []Unit    // of the plan; none if the results come from elsewhere
	results []*Result // of the units; nil: not there yet
}

// turn is a unit's place: its pair, and its number in the pair's plan.
type turn struct{ pair, unit int }

// newEpoch prepares the epoch of a plan, with the results that the checkpoint has of it.
func (c *Campaign) newEpoch(plan []Unit) *epoch {
	e := &epoch{c: c}
	for _, w := range c.workers {
		clear(w.models) // the last epoch's triage may know more programs
	}
	for i, st := range c.state.Pairs {
		c.pairs[i].SetVerdict(st.Verdict)
		e.pairs = append(e.pairs, &pairEpoch{merging: newMerging(i, st)})
	}
	e.order = make([]turn, 0, len(plan))
	for _, u := range plan {
		p := e.pairs[u.Pair]
		e.order = append(e.order, turn{u.Pair, len(p.units)})
		p.units, p.results = append(p.units, u), append(p.results, c.saving.result(len(p.units), &u))
	}
	// All pairs proceed evenly, so that a campaign whose time ends in the middle of an
	// epoch has compared about as much of each.
	slices.SortStableFunc(e.order, func(x, y turn) int { return cmp.Compare(x.unit, y.unit) })
	if cut := c.saving.saved.cut; cut != nil {
		e.shorten(cut)
	}
	c.results = slices.Grow(c.results[:0], len(e.order))[:len(e.order)]
	return e
}

// compute computes what is left of the plan, or stops when until reports true. What is done is
// kept when the context ends.
func (e *epoch) compute(ctx context.Context, until func() bool) error {
	var next atomic.Int64
	var wg parallel.Group
	for _, w := range e.c.workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(e.order) || ctx.Err() != nil || until() || e.failed.Load() {
					return
				}
				e.run(ctx, w, i)
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if e.err == nil {
		e.err = e.c.saving.failed()
	}
	return e.err
}

// run computes a unit, unless its result is there.
func (e *epoch) run(ctx context.Context, w *worker, i int) {
	at := e.order[i]
	p := e.pairs[at.pair]
	if p.results[at.unit] != nil {
		return
	}
	r := &e.c.results[i]
	r.reset()
	if err := w.run(ctx, e.c, &p.units[at.unit], r); err != nil {
		e.fail(i, err)
		return
	}
	p.results[at.unit] = r
	e.c.saving.addResult(at.unit, &p.units[at.unit], r)
}

func (e *epoch) fail(i int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil || i < e.errAt {
		e.err, e.errAt = err, i
	}
	e.failed.Store(true)
}

// done returns how many of the first units have results.
func (p *pairEpoch) done() int {
	if n := slices.Index(p.results, nil); n >= 0 {
		return n
	}
	return len(p.results)
}

// complete reports whether every unit is done.
func (e *epoch) complete() bool {
	return !slices.ContainsFunc(e.pairs, func(p *pairEpoch) bool { return p.done() < len(p.units) })
}

// cut shortens an epoch that has run out of time to the last place where all pairs have had
// the same number of dot products, so that it is complete, as with that number as the count.
// It reports whether there is such a place after the epoch's beginning.
func (e *epoch) cut() bool {
	if e.complete() {
		return true
	}
	at := e.even()
	if at == nil {
		return false
	}
	e.c.saving.setCut(at)
	e.shorten(at)
	return true
}

// even returns the number of units of each pair up to the last place where all pairs have
// had the same number of dot products, nil if there is none. Recordings, whose numbers of
// inputs differ, keep all their units.
func (e *epoch) even() []int {
	common := map[uint64]int{} // by number of dot products: the pairs that have had just as many after some unit
	pairs := 0
	for i, p := range e.pairs {
		if len(p.units) == 0 || e.c.pairs[i].Recorder != nil {
			continue
		}
		pairs++
		dots := p.Before.Dots
		for n := range p.done() {
			dots += p.units[n].Dots
			common[dots]++
		}
	}
	last := uint64(0)
	for dots, n := range common {
		if n == pairs {
			last = max(last, dots)
		}
	}
	at := make([]int, len(e.pairs))
	any := false
	for i, p := range e.pairs {
		dots := p.Before.Dots
		for n := range p.done() {
			if dots += p.units[n].Dots; dots <= last || e.c.pairs[i].Recorder != nil {
				at[i] = n + 1
			}
		}
		any = any || at[i] > 0
	}
	if !any {
		return nil
	}
	return at
}

// shorten drops all but the first at[i] units of pair i.
func (e *epoch) shorten(at []int) {
	for i, p := range e.pairs {
		n := min(at[i], len(p.units))
		p.units, p.results = p.units[:n], p.results[:n]
	}
	e.order = slices.DeleteFunc(e.order, func(t turn) bool { return t.unit >= len(e.pairs[t.pair].units) })
}

// merge merges the results of the first units that are done.
func (e *epoch) merge() {
	for i, p := range e.pairs {
		p.mergeAll()
		e.cutAt = max(e.cutAt, e.c.cutOf(i, p.Before.Dots+p.Dots))
	}
}

func (p *pairEpoch) mergeAll() {
	p.merging = newMerging(p.Pair, p.Before)
	for n := range p.done() {
		p.merge(&p.units[n], p.results[n], math.MaxInt)
	}
}

// delta returns what the epoch adds to the state.
func (e *epoch) delta() *delta {
	d := &delta{Epoch: e.c.state.Epochs, Cut: e.cutAt}
	for _, p := range e.pairs {
		d.Pairs = append(d.Pairs, p.Sum)
	}
	return d
}

// unfinished returns what there is of an epoch that is not complete. Differing cases
// that are in no bucket yet are counted as unexamined.
func (e *epoch) unfinished() *delta {
	for _, p := range e.pairs {
		if !p.Explained {
			p.mergeAll()
			p.Unexamined = uint64(len(p.Unnamed))
		}
	}
	return e.delta()
}

// timeSlack is how long chunks in progress, and their triage, may go on when a campaign's
// time is over.
func timeSlack(limit time.Duration) time.Duration { return max(2*time.Second, limit*3/100) }
