package fuzz

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The limits of what an epoch keeps. Counts are always complete; samples feed
// triage and feedback.
const (
	differPerChunk = 8   // differing cases of each class
	agreePerChunk  = 4   // cases that agree
	differPerEpoch = 8   // of each class and generator, which are run again
	evidenceKept   = 384 // cases of each kind kept for triage of a pair

	// Some of the cases that a verdict does not explain become evidence for another one.
	refutingPerRound = 8
	refutingRounds   = 3  // in an epoch
	refutingKept     = 64 // of a pair, in addition to evidenceKept

	corpusMost = 4096 // inputs with new features kept for a pair
)

// epoch is an epoch in progress: chunks, then triage. Finished parts are written to the
// checkpoint, so that an interruption costs only what was in progress.
type epoch struct {
	c       *Campaign
	pairs   []*pairEpoch
	order   []turn // of the chunks
	d       *delta // after the chunks
	triaged []bool // pairs of d that are complete

	failed atomic.Bool
	mu     sync.Mutex
	err    error // of the first chunk in the order that failed
	errAt  int
}

// turn is a chunk's place: its pair, and its number in the pair's plan.
type turn struct{ pair, chunk int }

// newEpoch prepares the epoch of a plan, with the parts that the checkpoint has of it.
func (c *Campaign) newEpoch(plan []chunk) *epoch {
	e := &epoch{c: c}
	for _, st := range c.state.Pairs {
		e.pairs = append(e.pairs, &pairEpoch{st: st, fresh: map[uint32]bool{}, sampled: map[sampleKind]int{}})
	}
	results := c.resultsFor(plan)
	e.order = make([]turn, 0, len(plan))
	for i := range plan {
		p := e.pairs[plan[i].pair]
		e.order = append(e.order, turn{plan[i].pair, len(p.chunks)})
		p.chunks, p.results = append(p.chunks, &plan[i]), append(p.results, &results[i])
	}
	// All pairs proceed evenly, so that a campaign whose time ends in the middle of an
	// epoch has compared about as much of each.
	slices.SortStableFunc(e.order, func(x, y turn) int { return cmp.Compare(x.chunk, y.chunk) })
	for i, p := range e.pairs {
		p.ready, p.parts = make([]bool, len(p.chunks)), make([]part, 0, len(p.chunks))
		e.resumePair(i, p)
	}
	if cut := c.saving.saved.cut; cut != nil {
		e.cutAt(cut)
	}
	c.saving.begin(e)
	return e
}

// resumePair resumes the parts that the checkpoint has of a pair, up to the first one that
// does not fit the plan: with another Config.Count the last chunks are others.
func (e *epoch) resumePair(i int, p *pairEpoch) {
	for n, r := range e.c.saving.saved.parts[i] {
		if n >= len(p.chunks) {
			return
		}
		part, err := r.part(e.c.pairs[i], p.chunks[n])
		if err != nil {
			return
		}
		p.resume(part)
	}
}

// resultsFor returns space for the results of a plan, in that of the epoch before.
func (c *Campaign) resultsFor(plan []chunk) []chunkResult {
	c.results = slices.Grow(c.results[:0], len(plan))[:len(plan)]
	for i := range c.results {
		c.results[i].reset()
	}
	return c.results
}

// chunks runs what is left of the plan, or stops when until reports true. What is done is
// kept when the context ends.
func (e *epoch) chunks(ctx context.Context, until func() bool) error {
	var next atomic.Int64
	var wg sync.WaitGroup
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

// run runs a chunk, unless its part exists already.
func (e *epoch) run(ctx context.Context, w *worker, i int) {
	at := e.order[i]
	p := e.pairs[at.pair]
	if p.has(at.chunk) {
		return
	}
	w.run(ctx, e.c, p.chunks[at.chunk], p.results[at.chunk])
	if err := p.results[at.chunk].err; err != nil {
		e.fail(i, err)
		return
	}
	p.finish(at.chunk)
	e.c.saving.touch()
}

// records returns the parts that are not in the checkpoint yet.
func (e *epoch) records() []*partRecord {
	var rs []*partRecord
	for i, p := range e.pairs {
		rs = append(rs, p.records(i)...)
	}
	return rs
}

func (e *epoch) fail(i int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil || i < e.errAt {
		e.err, e.errAt = err, i
	}
	e.failed.Store(true)
}

// whole reports whether every chunk is done.
func (e *epoch) whole() bool {
	for _, p := range e.pairs {
		if len(p.parts) < len(p.chunks) {
			return false
		}
	}
	return true
}

// cut shortens an epoch that has run out of time to the last place where all pairs have had
// the same number of dot products, so that it is complete, as with that number as the count.
// It reports whether there is such a place after the epoch's beginning.
func (e *epoch) cut() bool {
	if e.whole() {
		return true
	}
	at := e.even()
	if at == nil {
		return false
	}
	e.c.saving.setCut(at)
	e.cutAt(at)
	return true
}

// even returns the number of chunks of each pair up to the last place where all pairs have
// had the same number of dot products, nil if there is none. Recordings, whose numbers of
// inputs differ, keep all their chunks.
func (e *epoch) even() []int {
	common := map[uint64]int{} // by number of dot products: the pairs that have had just as many after some chunk
	pairs := 0
	for i, p := range e.pairs {
		if len(p.chunks) == 0 || e.c.pairs[i].recorder != nil {
			continue
		}
		pairs++
		dots := p.st.Dots
		for n := range p.parts {
			dots += uint64(p.chunks[n].n)
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
		dots := p.st.Dots
		for n := range p.parts {
			if dots += uint64(p.chunks[n].n); dots <= last || e.c.pairs[i].recorder != nil {
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

// cutAt drops all but the first at[i] chunks of pair i.
func (e *epoch) cutAt(at []int) {
	for i, p := range e.pairs {
		p.cutAt(at[i])
	}
	e.order = slices.DeleteFunc(e.order, func(t turn) bool { return t.chunk >= len(e.pairs[t.pair].chunks) })
}

// sum adds up the chunks that are done.
func (e *epoch) sum() {
	e.d = &delta{Epoch: e.c.state.Epochs, Pairs: make([]pairDelta, len(e.pairs))}
	e.triaged = make([]bool, len(e.pairs))
	for i, p := range e.pairs {
		e.d.Pairs[i] = p.delta(len(p.parts))
		e.d.Cut = max(e.d.Cut, e.c.cutOf(i, p.st.Dots+e.d.Pairs[i].Dots))
	}
}

// unfinished returns what there is of an epoch that is not complete. Differing cases
// that are in no bucket yet are counted as unexamined.
func (e *epoch) unfinished() *delta {
	if e.d == nil {
		e.sum()
	}
	for i := range e.d.Pairs {
		if d := &e.d.Pairs[i]; !e.triaged[i] {
			*d = e.pairs[i].delta(len(e.pairs[i].parts))
			d.Unexamined = uint64(len(d.unnamed))
		}
	}
	return e.d
}

// timeSlack is how long chunks in progress, and their triage, may go on when a campaign's
// time is over.
func timeSlack(limit time.Duration) time.Duration { return max(2*time.Second, limit*3/100) }
