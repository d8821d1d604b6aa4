package fuzz

import (
	"math"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
)

// A campaign proceeds in epochs. What an epoch tries is planned from the state before it, its
// chunks run in any order on any number of workers, and their results are merged in the
// order of the plan. So results depend on the configuration alone.

// chunk is a run of dot products of one source for one pair.
type chunk struct {
	pair   int
	source gen.Source
	name   string // of the source
	index  uint64 // of the first dot product
	n      int
	play   bool // the inputs are those of the pair's recording
	mixed  bool // of several sources: see Unit
}

const (
	firstEpoch = 1 << 12 // dot products of a pair in the first epoch
	lastEpoch  = 1 << 17 // in the largest epochs; each epoch is twice as large as the one before
	fastEpoch  = 1 << 20 // the same for all pairs together, if both sides are fast
	// The same for campaigns of devices: milliseconds where both sides are devices, seconds
	// where a slow model is on the other.
	deviceEpoch = 1 << 24
	chunkDots   = 1 << 10 // dot products of a chunk at most
	chunkMost   = 1 << 13 // the same in the largest epochs, if no unit wants more
	mutateIn    = 8       // one chunk in 8 mutates inputs with new features

	mutatedChunk = chunkDots / mutateIn // dot products of such a chunk, at most
)

// epochSize is the number of dot products of pair i in epoch n.
func (c *Campaign) epochSize(i, n int) uint64 {
	last := uint64(lastEpoch)
	switch all := uint64(len(c.pairs)); {
	case c.speed == gen.Device:
		last = max(last, deviceEpoch/all)
	case c.pairs[i].speed() != gen.Slow:
		last = max(last, fastEpoch/all)
	}
	size := uint64(firstEpoch)
	for ; n > 0 && size < last; n-- {
		size *= 2
	}
	return size
}

// cutOf returns the number of dot products that pair i has after the epoch in progress, if
// a count or a time has cut the epoch short, else 0.
func (c *Campaign) cutOf(i int, dots uint64) uint64 {
	if c.pairs[i].recorder == nil && dots-c.state.Pairs[i].Dots < c.epochSize(i, c.state.Epochs) {
		return dots
	}
	return 0
}

// speed returns how fast a unit is. Those that want larger batches than others are given are
// taken for devices.
func speed(u devices.Unit) gen.Speed {
	switch n := devices.BatchSize(u); {
	case n > chunkMost:
		return gen.Device
	case n > 0 || u.Model() != nil:
		return gen.Fast
	}
	return gen.Slow
}

// speed returns how fast a pair is: as its faster side, unless one is slow.
func (p *pairRun) speed() gen.Speed {
	a, b := speed(p.A), speed(p.B)
	if min(a, b) == gen.Slow {
		return gen.Slow
	}
	return max(a, b)
}

// chunkSize is the number of dot products of a chunk in an epoch of the given size:
// small in the first ones, so that all generators soon have a turn, and in the others as
// many as the units want. Units that want many are given fewer chunks.
func (p *pairRun) chunkSize(epoch uint64) uint64 {
	wanted := uint64(max(devices.BatchSize(p.A), devices.BatchSize(p.B)))
	chunks := uint64(128)
	if wanted > 0 {
		chunks = 32
	}
	return min(epoch/chunks, max(chunkDots, min(epoch/128, chunkMost), wanted))
}

// plan returns the chunks of the next epoch.
func (c *Campaign) plan() []chunk {
	var plan []chunk
	for i := range c.pairs {
		plan = append(plan, c.planPair(i)...)
	}
	return plan
}

func (c *Campaign) planPair(i int) []chunk {
	p, st := c.pairs[i], c.state.Pairs[i]
	size := c.epochSize(i, c.state.Epochs)
	left := size
	if c.cfg.Count > 0 {
		left = min(size, c.cfg.Count-min(c.cfg.Count, st.Dots))
	}
	if p.recorder != nil {
		left = min(size, uint64(p.recorder.Recorded())-st.Dots)
		return cutChunks(chunk{pair: i, name: recordedSource, index: st.Dots, play: true}, left)
	}
	turn := st.turns()
	var plan []chunk
	for left > 0 {
		ch, ok := c.nextChunk(i, turn, int(p.chunkSize(size)), int(min(left, math.MaxInt32)))
		if !ok {
			break
		}
		plan = append(plan, ch)
		left -= min(left, uint64(ch.n)) // whole tiles may exceed it
	}
	return plan
}

// recordedSource is the source of cases that come from a recording.
const recordedSource = "recorded"

// generator is the name of a chunk's generator.
func (ch *chunk) generator() string {
	if ch.play {
		return recordedSource
	}
	return ch.source.Generator.Name
}

// has reports whether a case is one of a chunk.
func (ch *chunk) has(ref CaseRef) bool {
	return ref.Source == ch.name && ref.Index >= ch.index && ref.Index < ch.index+uint64(ch.n)
}

// ref names a dot product of a chunk.
func (ch *chunk) ref(i int) CaseRef { return CaseRef{ch.name, ch.index + uint64(i)} }

// cutChunks cuts n dot products into chunks.
func cutChunks(first chunk, n uint64) []chunk {
	var plan []chunk
	for n > 0 {
		first.n = int(min(n, chunkDots))
		plan = append(plan, first)
		first.index += uint64(first.n)
		n -= uint64(first.n)
	}
	return plan
}

// turns is the state of the choice of sources: how many chunks there were, and
// how far each source got.
type turns struct {
	chunks uint64
	next   map[string]uint64
}

func (st *PairState) turns() *turns {
	t := &turns{chunks: st.Chunks, next: map[string]uint64{}}
	for k, v := range st.Next {
		t.next[k] = v
	}
	return t
}

// nextChunk takes the source whose turn it is, and now and then mutates an input that had a
// new feature.
//
// A chunk has about size dot products, and no more than are left, in whole tiles. How many
// are left cuts only the last chunk and has no part in the size of those before: a campaign
// that a time has ended is that with the count which it reached.
func (c *Campaign) nextChunk(i int, t *turns, size, left int) (chunk, bool) {
	p, st := c.pairs[i], c.state.Pairs[i]
	turn := t.chunks
	t.chunks++
	var ch chunk
	if turn%mutateIn == mutateIn-1 && len(st.Corpus) > 0 {
		src := st.Corpus[int(turn/mutateIn)%len(st.Corpus)].mutated()
		ch = chunk{source: src, name: src.String(), n: max(min(size, left, mutatedChunk), 1)}
	} else {
		src, name, n, ok := p.schedule.Turn(turn, size, t.next)
		if !ok {
			return chunk{}, false
		}
		if n > left {
			tile := src.Generator.M * src.Generator.N
			n = max(left/tile, 1) * tile
		}
		ch = chunk{source: src, name: name, n: n}
	}
	ch.pair, ch.index = i, t.next[ch.name]
	t.next[ch.name] += uint64(ch.n)
	return ch, true
}
