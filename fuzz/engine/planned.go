package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/triage"
)

// A campaign that is planned in advance has all its units before the first is computed: RunUnit
// computes one on any machine; MergeUnits merges the results of the units of an epoch, which
// the plan calls a round.

// roundUnnamed is how many differing cases without a cause all units of a pair in a round may
// have together.
const roundUnnamed = 1 << 15

// Feedback is what units of a round get from the rounds before it.
type Feedback struct {
	Round int            `json:"round"`
	Pairs []PairFeedback `json:"pairs"`
}

// PairFeedback is the part of a Feedback that concerns one pair.
type PairFeedback struct {
	Corpus       []finding.CaseRef `json:"corpus,omitempty"` // inputs with new features
	Verdict      *triage.Verdict   `json:"verdict,omitempty"`
	UnstablePair bool              `json:"unstable_pair,omitempty"`
}

// Share is how many of a pair's dot products a source gets.
type Share struct {
	Source string
	Dots   uint64
	Tile   uint64 // dot products of a tile, of which Dots is a multiple
	Chunk  uint64 // dot products that the units of the pair want at once
}

// Shares divides a number of dot products of a pair among its sources as a campaign does.
// Recorded inputs have one share, at most as many as there are. mutate: mutations of inputs get
// a share too, if the pair has a unit whose arithmetic is known, from which features are taken:
// without features there is nothing to mutate, and the others get this share, as in a campaign
// that is not split.
func (c *Campaign) Shares(pair int, dots uint64, mutate bool) []Share {
	const (
		turns = 1 << 16 // turns of the schedule that are followed; the rest is divided in proportion
		few   = 1 << 9  // parts into which a small number of dot products is divided, so that every source gets some
	)
	p := c.pairs[pair]
	chunk := max(chunkMost, uint64(devices.BatchSize(p.A)), uint64(devices.BatchSize(p.B)))
	if p.Recorder != nil {
		return []Share{{finding.Recorded, min(dots, uint64(p.Recorder.Recorded())), 1, chunk}}
	}
	mutate = mutate && len(p.tracers()) > 0
	if n := p.inputs(); n > 0 {
		dots, mutate = min(dots, n), false
	}
	var shares []Share
	at, next := map[string]int{}, map[string]uint64{}
	add := func(name string, n, tile, chunk uint64) {
		i, ok := at[name]
		if !ok {
			i = len(shares)
			at[name], shares = i, append(shares, Share{name, 0, tile, (chunk + tile - 1) / tile * tile})
		}
		shares[i].Dots += n
	}
	left, early, each := dots, []uint64{}, max(mutatedChunk, min(chunk, dots/few))
	for turn := uint64(0); left > 0 && turn < turns; turn++ {
		if turn == turns/2 {
			for i := range shares {
				early = append(early, shares[i].Dots)
			}
		}
		if mutate && turn%mutateIn == mutateIn-1 {
			n := min(left, mutatedChunk)
			add(Mutated, n, 1, mutatedChunk)
			left -= n
			continue
		}
		src, name, n, ok := p.schedule.Turn(turn, int(min(left, each)), next)
		if !ok {
			return nil
		}
		next[name] += uint64(n)
		add(name, uint64(n), uint64(src.Generator.M*src.Generator.N), chunk)
		left -= min(left, uint64(n))
	}
	proportionally(shares, early, left)
	return shares
}

// proportionally adds more dot products to shares, in proportion to their growth since they
// had the sizes early.
func proportionally(shares []Share, early []uint64, more uint64) {
	grown := uint64(0)
	for i, e := range early {
		grown += shares[i].Dots - e
	}
	for i, e := range early {
		add := float64(more) * (float64(shares[i].Dots-e) / float64(max(grown, 1)))
		shares[i].Dots += uint64(add) / shares[i].Tile * shares[i].Tile
	}
}

// Fed reports whether units of a source need the Feedback of the rounds before their own.
// Mutations do, and so do all units of a pair whose causes are known only from a verdict.
func (c *Campaign) Fed(pair int, source string) bool {
	return source == Mutated || c.pairs[pair].Programs == nil
}

// Feed prepares a campaign that has run nothing yet for RunUnit: with the Feedback for units
// that are Fed, with nil for all others.
func (c *Campaign) Feed(f *Feedback) error {
	if f == nil {
		f = &Feedback{Pairs: make([]PairFeedback, len(c.pairs))}
	}
	if len(f.Pairs) != len(c.pairs) {
		return fmt.Errorf("it is of %d pairs, not %d", len(f.Pairs), len(c.pairs))
	}
	c.state.Epochs = f.Round
	for i, p := range c.pairs {
		from := &f.Pairs[i]
		for _, ref := range from.Corpus {
			if err := p.CheckCase(ref); err != nil {
				return err
			}
			if src := finding.SourceOf(ref.Source); !src.Mutable() {
				return fmt.Errorf("%s cannot be mutated", src)
			}
		}
		if err := p.CheckVerdict(from.Verdict); err != nil {
			return fmt.Errorf("pair %d: verdict: %w", i, err)
		}
		st := c.state.Pairs[i]
		st.Corpus, st.Verdict, st.UnstablePair = from.Corpus, from.Verdict, from.UnstablePair
		p.SetVerdict(st.Verdict)
	}
	return nil
}

// Feedback returns what the next round learns from the rounds that were merged.
func (c *Campaign) Feedback() *Feedback {
	f := &Feedback{Round: c.state.Epochs}
	for _, st := range c.state.Pairs {
		f.Pairs = append(f.Pairs, PairFeedback{st.Corpus, st.Verdict, st.UnstablePair})
	}
	return f
}

// RunUnit runs a unit, after Feed. It may be called from several goroutines. The error is that of
// a context that has ended, or a *GoneError if a target has stopped answering.
func (c *Campaign) RunUnit(ctx context.Context, u Unit) (*Result, error) {
	if p := c.pairs[u.Pair]; p.Attributor == nil && p.Programs != nil {
		return nil, errors.New("fuzz: RunUnit before Feed")
	}
	w, r := newWorker(), &Result{}
	w.kinds, w.unnamed = unitKinds, unitUnnamed
	if err := w.run(ctx, c, &u, r); err != nil {
		return nil, err
	}
	return r, nil
}

// Check returns an error if a unit is impossible: a plan may come from anywhere.
func (c *Campaign) Check(u *Unit) error {
	if u.Pair < 0 || u.Pair >= len(c.pairs) {
		return fmt.Errorf("there is no pair %d", u.Pair)
	}
	return c.pairs[u.Pair].checkPlanned(u)
}

// MergeUnits merges the results of the units of the next round, which each hands to merge in the
// order of their numbers: what is found depends on nothing else. complete: cases are minimized,
// findings are reported and the journal is written; otherwise only what Feedback needs is
// done. It ends with the error of each or that of the context.
func (c *Campaign) MergeUnits(ctx context.Context, each func(merge func(Unit, *Result) error) error, complete bool) error {
	e := c.newEpoch(nil)
	err := each(func(u Unit, r *Result) error {
		if err := c.pairs[u.Pair].checkResult(&u, r); err != nil {
			return err
		}
		e.pairs[u.Pair].merge(&u, r, roundUnnamed)
		return nil
	})
	if err := errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	if err := c.triage(ctx, e, complete); err != nil {
		return err
	}
	if complete {
		return c.commit(e)
	}
	c.state.apply(e.delta())
	return nil
}
