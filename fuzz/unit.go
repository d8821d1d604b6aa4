package fuzz

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/triage"
)

// A campaign that is split over machines works in units instead of chunks, and in rounds
// instead of epochs. RunUnit computes a unit on any machine; MergeUnits merges the results of
// all units of a round as those of an epoch. What a unit finds depends on the configuration
// and, where Fed reports it, on what earlier rounds found. It does not depend on other units
// of its round, on the machine or on the order.

// Unit is a range of the inputs of one source for one pair. One goroutine works on it, chunk
// by chunk.
type Unit struct {
	Pair int `json:"pair"`
	// Source is a name that gen.Source.String returns; "recorded" for the inputs of a
	// recording; or "mutate": the range then counts mutations of the inputs with new features
	// that earlier rounds found, taken in turn.
	Source string `json:"source"`
	First  uint64 `json:"first"` // a multiple of Chunk
	Dots   uint64 `json:"dots"`
	Chunk  uint64 `json:"chunk"` // dot products that are computed at once, of whole tiles
}

// Mutated is the source of units that mutate inputs with new features.
const Mutated = "mutate"

// What a unit keeps of its cases, beside the counts.
const (
	unitAgree   = 4    // cases that agree
	unitKinds   = 256  // kinds of differing cases; cases of further kinds are counted by primary cause alone
	unitUnnamed = 2048 // differing cases without a verdict

	roundUnnamed = 1 << 15 // the same for all units of a pair in a round together
)

// UnitResult is what a unit has found: all its counts, and a few cases of every kind.
type UnitResult struct {
	Dots       uint64                   `json:"dots"` // whole tiles may exceed the unit's
	Classes    [oracle.Fault + 1]uint64 `json:"classes"`
	Kinds      []UnitKind               `json:"kinds,omitempty"` // in the order in which they appeared
	Unnamed    []Sample                 `json:"unnamed,omitempty"`
	Unexamined uint64                   `json:"unexamined,omitempty"` // number of further such cases, which are not kept
	Differ     []Sample                 `json:"differ,omitempty"`
	Agree      []Sample                 `json:"agree,omitempty"`
	Fresh      []UnitInput              `json:"fresh,omitempty"` // inputs with features that no earlier input of the unit had
	Where      Where                    `json:"where"`
}

// UnitKind is differing cases of one cause and class.
type UnitKind struct {
	Primary triage.Label `json:"primary"`
	Detail  string       `json:"detail"`
	Class   oracle.Class `json:"class"`
	Cases   uint64       `json:"cases"`
	MaxUlp  float64      `json:"max_ulp"`
	Digest  uint64       `json:"digest"`
	First   Sample       `json:"first"`
}

// UnitInput is an input with new features.
type UnitInput struct {
	CaseRef
	Features []uint32 `json:"features"`
}

// Feedback is what units of a round get from the rounds before it.
type Feedback struct {
	Round int            `json:"round"`
	Pairs []PairFeedback `json:"pairs"`
}

// PairFeedback is the part of a Feedback that concerns one pair.
type PairFeedback struct {
	Corpus  []CaseRef       `json:"corpus,omitempty"` // inputs with new features
	Verdict *triage.Verdict `json:"verdict,omitempty"`
	Odd     bool            `json:"odd,omitempty"`
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
	if p.recorder != nil {
		return []Share{{recordedSource, min(dots, uint64(p.recorder.Recorded())), 1, chunk}}
	}
	mutate = mutate && len(p.tracers()) > 0
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
	return source == Mutated || c.pairs[pair].given == nil
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
			if err := p.checkCase(ref); err != nil {
				return err
			}
			if src := sourceOf(ref.Source); !src.Mutable() {
				return fmt.Errorf("%s cannot be mutated", src)
			}
		}
		if err := p.checkVerdict(from.Verdict); err != nil {
			return fmt.Errorf("pair %d: verdict: %w", i, err)
		}
		st := c.state.Pairs[i]
		st.Corpus, st.Verdict, st.Odd = from.Corpus, from.Verdict, from.Odd
		p.rename(st.Verdict)
	}
	return nil
}

// Feedback returns what the next round learns from the rounds that were merged.
func (c *Campaign) Feedback() *Feedback {
	f := &Feedback{Round: c.state.Epochs}
	for _, st := range c.state.Pairs {
		f.Pairs = append(f.Pairs, PairFeedback{st.Corpus, st.Verdict, st.Odd})
	}
	return f
}

// RunUnit runs a unit, after Feed. It may be called from several goroutines. The error is that of
// a context that has ended, or a *GoneError if a target has stopped answering.
func (c *Campaign) RunUnit(ctx context.Context, u Unit) (*UnitResult, error) {
	p := c.pairs[u.Pair]
	if p.attributor == nil && p.given != nil {
		return nil, errors.New("fuzz: RunUnit before Feed")
	}
	w := newWorker()
	sum := unitSum{seen: map[uint32]bool{}, sampled: map[oracle.Class]int{}}
	var r chunkResult
	for at := uint64(0); at < u.Dots; {
		ch, ok := c.unitChunk(&u, at)
		if !ok {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.reset()
		w.run(ctx, c, &ch, &r)
		if r.err != nil {
			return nil, r.err
		}
		sum.add(&ch, &r)
		at += uint64(ch.n)
	}
	return &sum.UnitResult, nil
}

// unitChunk returns the chunk of a unit that begins at a dot product of it. ok is false if
// there is nothing to mutate.
func (c *Campaign) unitChunk(u *Unit, at uint64) (ch chunk, ok bool) {
	n := min(u.Chunk, u.Dots-at)
	ch = chunk{pair: u.Pair, name: u.Source, index: u.First + at, n: int(n)}
	switch u.Source {
	case recordedSource:
		ch.play = true
		return ch, true
	case Mutated:
		inputs := c.state.Pairs[u.Pair].Corpus
		if len(inputs) == 0 {
			return ch, false
		}
		ch.source = inputs[ch.index/u.Chunk%uint64(len(inputs))].mutated()
		ch.name = ch.source.String()
	default:
		ch.source = sourceOf(u.Source)
		tile := ch.source.Generator.M * ch.source.Generator.N
		ch.n = (ch.n + tile - 1) / tile * tile
	}
	return ch, true
}

// Check returns an error if a unit is impossible: a plan may come from anywhere.
func (c *Campaign) Check(u *Unit) error {
	const most = 1 << 24 // dot products of a chunk: all are in memory
	switch {
	case u.Pair < 0 || u.Pair >= len(c.pairs):
		return fmt.Errorf("there is no pair %d", u.Pair)
	case u.Dots == 0 || u.Dots > maxEpochDots || u.First > maxEpochDots || u.Chunk == 0 || u.Chunk > most:
		return fmt.Errorf("%d dot products from %d on, in chunks of %d", u.Dots, u.First, u.Chunk)
	}
	p := c.pairs[u.Pair]
	if u.Source == Mutated && p.recorder == nil {
		return nil
	}
	if p.recorder != nil {
		return errors.Join(p.checkCase(CaseRef{u.Source, u.First}), p.checkCase(CaseRef{u.Source, u.First + u.Dots - 1}))
	}
	src, err := canonical(u.Source)
	if err != nil {
		return err
	}
	if tile := uint64(src.Generator.M * src.Generator.N); u.First%tile != 0 || u.Chunk%tile != 0 {
		return fmt.Errorf("%s: dot products from %d on in chunks of %d are no whole tiles", u.Source, u.First, u.Chunk)
	}
	return nil
}

// unitSum adds up the chunks of a unit.
type unitSum struct {
	UnitResult
	seen    map[uint32]bool
	sampled map[oracle.Class]int
	keys    []kindKey // of Kinds
	rest    map[triage.Label]*triage.Cause
}

func (s *unitSum) add(ch *chunk, r *chunkResult) {
	s.Dots += uint64(ch.n)
	for class, n := range r.classes {
		s.Classes[class] += n
	}
	for i := range r.kinds {
		s.count(&r.kinds[i])
	}
	kept := min(len(r.unnamed), unitUnnamed-len(s.Unnamed))
	s.Unnamed = append(s.Unnamed, r.unnamed[:kept]...)
	s.Unexamined += uint64(len(r.unnamed) - kept)
	for i := range r.differ {
		if class := r.differ[i].Class; s.sampled[class] < differPerEpoch {
			s.sampled[class]++
			s.Differ = append(s.Differ, r.differ[i])
		}
	}
	s.Agree = append(s.Agree, r.agree[:min(len(r.agree), unitAgree-len(s.Agree))]...)
	for i := range r.traced {
		s.input(&r.traced[i])
	}
	s.Where.add(&r.where)
}

// count adds cases of a kind.
func (s *unitSum) count(k *kind) {
	key := k.kindKey
	i := slices.Index(s.keys, key)
	if i < 0 && len(s.keys) >= unitKinds {
		cause := s.rest[key.cause.Primary]
		if cause == nil {
			if s.rest == nil {
				s.rest = map[triage.Label]*triage.Cause{}
			}
			cause = &triage.Cause{Primary: key.cause.Primary, Detail: string(key.cause.Primary)}
			s.rest[cause.Primary] = cause
		}
		key.cause = cause
		i = slices.Index(s.keys, key)
	}
	if i < 0 {
		i = len(s.keys)
		s.keys = append(s.keys, key)
		s.Kinds = append(s.Kinds, UnitKind{Primary: key.cause.Primary, Detail: key.cause.Detail, Class: key.class, First: k.first})
	}
	to := &s.Kinds[i]
	to.Cases += k.cases
	to.MaxUlp = max(to.MaxUlp, k.maxUlp)
	to.Digest += k.digest
}

// input keeps an input that has features which none before it had.
func (s *unitSum) input(t *tracedCase) {
	var fresh []uint32
	for _, f := range t.features {
		if !s.seen[f] {
			s.seen[f] = true
			fresh = append(fresh, f)
		}
	}
	if fresh != nil {
		s.Fresh = append(s.Fresh, UnitInput{t.ref, fresh})
	}
}

// checkUnit returns an error if the result of a unit is impossible: it may come from anywhere.
func (p *pairRun) checkUnit(u *Unit, r *UnitResult) error {
	compared, accounted := uint64(0), r.Unexamined+uint64(len(r.Unnamed))
	for _, n := range r.Classes {
		compared += min(n, maxEpochDots)
	}
	if r.Dots > u.Dots+u.Chunk || compared != r.Dots || r.Unexamined > r.Dots {
		return fmt.Errorf("%d dot products in classes of %d, but the unit has %d", r.Dots, compared, u.Dots)
	}
	for i := range r.Kinds {
		k := &r.Kinds[i]
		if accounted += k.Cases; k.Cases > r.Dots || k.MaxUlp < 0 || k.First.Class != k.Class || k.Primary != triage.PrimaryIn(k.Detail) {
			return fmt.Errorf("kind %.40q of cases is damaged", k.Detail)
		}
		if err := errors.Join(checkBucketName(k.Detail), p.checkSample(&k.First)); err != nil {
			return err
		}
	}
	if differ := r.Dots - r.Classes[oracle.Same]; accounted != differ {
		return fmt.Errorf("%d cases differ, %d are accounted for", differ, accounted)
	}
	for _, s := range slices.Concat(r.Unnamed, r.Differ, r.Agree) {
		if err := p.checkSample(&s); err != nil {
			return err
		}
	}
	for i := range r.Fresh {
		if err := p.checkCase(r.Fresh[i].CaseRef); err != nil {
			return err
		}
	}
	return r.Where.check(r.Dots)
}

// chunkResult returns the result of a unit as that of one long chunk.
func (r *UnitResult) chunkResult() *chunkResult {
	c := &chunkResult{classes: r.Classes, unnamed: r.Unnamed, differ: r.Differ, agree: r.Agree, where: r.Where}
	for _, k := range r.Kinds {
		cause := &triage.Cause{Primary: k.Primary, Detail: k.Detail}
		if *cause == *faulty {
			cause = faulty
		}
		c.kinds = append(c.kinds, kind{kindKey: kindKey{cause, k.Class}, cases: k.Cases, maxUlp: k.MaxUlp, digest: k.Digest, first: k.First})
	}
	for _, f := range r.Fresh {
		c.traced = append(c.traced, tracedCase{f.CaseRef, f.Features})
	}
	return c
}

// asChunk returns a unit as one chunk of as many dot products as were computed.
func (u *Unit) asChunk(dots uint64) *chunk {
	ch := &chunk{pair: u.Pair, name: u.Source, index: u.First, n: int(dots)}
	switch u.Source {
	case recordedSource:
		ch.play = true
	case Mutated:
		ch.source, ch.mixed = gen.Source{}.Mutate(0), true
	default:
		ch.source = sourceOf(u.Source)
	}
	return ch
}

// chunkOf returns the chunk of a unit that has shown a case.
func (c *Campaign) chunkOf(u *Unit, ref CaseRef) chunk {
	ch, _ := c.unitChunk(u, (ref.Index-u.First)/u.Chunk*u.Chunk)
	if u.Source == Mutated {
		ch.name, ch.source = ref.Source, sourceOf(ref.Source)
	}
	return ch
}

// MergeUnits merges the results of the units of the next round, in the order of their numbers,
// as those of an epoch: what is found depends on nothing else. whole: cases are minimized,
// findings are reported and the journal is written; otherwise only what Feedback needs is
// done. It ends with the error that failed returns after the last result, or that of the
// context.
func (c *Campaign) MergeUnits(ctx context.Context, results iter.Seq2[Unit, *UnitResult], failed func() error, whole bool) error {
	for _, u := range c.slow {
		u.begin()
	}
	e := &epoch{c: c, d: &delta{Epoch: c.state.Epochs, Pairs: make([]pairDelta, len(c.pairs))}, triaged: make([]bool, len(c.pairs))}
	for i, st := range c.state.Pairs {
		c.pairs[i].rename(st.Verdict)
		e.pairs = append(e.pairs, &pairEpoch{st: st, fresh: map[uint32]bool{}, sampled: map[sampleKind]int{}})
		e.d.Pairs[i].Where = &Where{}
	}
	for u, r := range results {
		if err := c.pairs[u.Pair].checkUnit(&u, r); err != nil {
			return err
		}
		e.merge(&u, r)
	}
	if err := errors.Join(failed(), ctx.Err()); err != nil {
		return err
	}
	if whole {
		if err := c.triage(ctx, e); err != nil {
			return err
		}
		return c.commit(e)
	}
	err := c.parallel(ctx, len(c.pairs), func(i int) error {
		if d := &e.d.Pairs[i]; len(d.differ) > 0 {
			return e.triageOf(i).triage(ctx)
		}
		return nil
	})
	if err == nil {
		c.state.apply(e.d)
	}
	return err
}

// merge adds the result of a unit to an epoch.
func (e *epoch) merge(u *Unit, r *UnitResult) {
	p, d, ch := e.pairs[u.Pair], &e.d.Pairs[u.Pair], u.asChunk(r.Dots)
	result := r.chunkResult()
	kept := min(len(result.unnamed), roundUnnamed-len(d.unnamed))
	d.Unexamined += r.Unexamined + uint64(len(result.unnamed)-kept)
	result.unnamed = result.unnamed[:kept]
	var part part
	p.reduce(&part, ch, result)
	d.add(p.st, &part, ch)
	for _, s := range slices.Concat(part.differ, part.unnamed) {
		if real := e.c.chunkOf(u, s.CaseRef); !slices.ContainsFunc(p.chunks, func(c *chunk) bool { return c.has(s.CaseRef) }) {
			p.chunks = append(p.chunks, &real)
		}
	}
}
