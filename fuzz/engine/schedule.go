package engine

import (
	"maps"
	"math"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
)

// A campaign proceeds in epochs. What an epoch tries is planned from the state before it, its
// units run in any order on any number of workers, and their results are merged in the
// order of the plan. So results depend on the configuration alone.

const (
	firstEpoch = 1 << 12 // dot products of a pair in the first epoch
	lastEpoch  = 1 << 17 // in the largest epochs; each epoch is twice as large as the one before
	fastEpoch  = 1 << 20 // the same for all pairs together, if both sides are fast
	// The same for campaigns of devices: milliseconds where both sides are devices, seconds
	// where a slow model is on the other.
	deviceEpoch = 1 << 24
	chunkDots   = 1 << 10 // dot products of a unit at most
	chunkMost   = 1 << 13 // the same in the largest epochs, if no unit wants more
	mutateIn    = 8       // one unit in 8 mutates inputs with new features

	mutatedChunk = chunkDots / mutateIn // dot products of such a unit, at most
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
	if c.pairs[i].Recorder == nil && dots-c.state.Pairs[i].Dots < c.epochSize(i, c.state.Epochs) {
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
func (p *pair) speed() gen.Speed {
	a, b := speed(p.A), speed(p.B)
	if min(a, b) == gen.Slow {
		return gen.Slow
	}
	return max(a, b)
}

// unitSize is the number of dot products of a unit in an epoch of a size:
// small in the first ones, so that all generators soon have a turn, and in the others as
// many as the pair's sides want. Sides that want many are given fewer units.
func (p *pair) unitSize(epoch uint64) uint64 {
	wanted := uint64(max(devices.BatchSize(p.A), devices.BatchSize(p.B)))
	units := uint64(128)
	if wanted > 0 {
		units = 32
	}
	return min(epoch/units, max(chunkDots, min(epoch/128, chunkMost), wanted))
}

// plan returns the units of the next epoch. Each is computed at once.
func (c *Campaign) plan() []Unit {
	var plan []Unit
	for i := range c.pairs {
		plan = append(plan, c.planPair(i)...)
	}
	for i := range plan {
		plan[i].Chunk = plan[i].Dots
	}
	return plan
}

func (c *Campaign) planPair(i int) (plan []Unit) {
	p, st := c.pairs[i], c.state.Pairs[i]
	size := c.epochSize(i, c.state.Epochs)
	left := size
	if c.cfg.Count > 0 {
		left = min(size, c.cfg.Count-min(c.cfg.Count, st.Dots))
	}
	if p.Recorder != nil {
		left = min(size, uint64(p.Recorder.Recorded())-st.Dots)
		for at := st.Dots; left > 0; {
			n := min(left, chunkDots)
			plan = append(plan, Unit{Pair: i, Source: finding.Recorded, First: at, Dots: n})
			at, left = at+n, left-n
		}
		return plan
	}
	if n := p.inputs(); n > 0 {
		left = min(left, n-min(n, st.Dots))
	}
	turn := turnsOf(st)
	for left > 0 {
		u, ok := c.nextUnit(i, turn, int(p.unitSize(size)), int(min(left, math.MaxInt32)))
		if !ok {
			break
		}
		plan = append(plan, u)
		left -= min(left, u.Dots) // complete tiles may exceed it
	}
	return plan
}

// turns is the state of the choice of sources: how many units there were, and
// how far each source got.
type turns struct {
	units uint64
	next  map[string]uint64
}

func turnsOf(st *finding.PairState) *turns {
	t := &turns{units: st.Units, next: map[string]uint64{}}
	maps.Copy(t.next, st.Next)
	return t
}

// nextUnit takes the source whose turn it is, and now and then mutates an input that had a
// new feature.
//
// A unit has about size dot products, and no more than are left, in complete tiles. How many
// are left cuts only the last unit and has no part in the size of those before: a campaign
// that a time has ended is that with the count which it reached.
func (c *Campaign) nextUnit(i int, t *turns, size, left int) (u Unit, ok bool) {
	p, st := c.pairs[i], c.state.Pairs[i]
	turn := t.units
	t.units++
	n := 0
	if turn%mutateIn == mutateIn-1 && len(st.Corpus) > 0 && p.inputs() == 0 {
		u.Source = st.Corpus[int(turn/mutateIn)%len(st.Corpus)].Mutated().String()
		n = max(min(size, left, mutatedChunk), 1)
	} else {
		var src gen.Source
		if src, u.Source, n, ok = p.schedule.Turn(turn, size, t.next); !ok {
			return u, false
		}
		if n > left {
			tile := src.Generator.M * src.Generator.N
			n = max(left/tile, 1) * tile
		}
	}
	u.Pair, u.First, u.Dots = i, t.next[u.Source], uint64(n)
	t.next[u.Source] += u.Dots
	return u, true
}
