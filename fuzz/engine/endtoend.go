package engine

import (
	"context"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// EndToEnd is the inner loop of a campaign: make inputs of one source, run both
// units of a pair on them, compare, and take features of a sample (every 32nd of
// the first 32,768 dot products, later every 16,384th). Campaigns run the same code,
// and then examine the differing cases. It is for one goroutine at a time;
// BenchmarkEndToEnd and mmafuzz bench measure its speed.
type EndToEnd struct {
	p    *pair
	w    *worker
	r    Result
	ch   finding.Chunk
	seed uint64
	n    EndToEndCounts
}

// EndToEndCounts is what an EndToEnd has done so far. It depends on the pair, the
// source, the seed and the number of tiles alone.
type EndToEndCounts struct {
	Tiles, Dots uint64
	Products    uint64                   // of one of the two sides
	Classes     [oracle.Fault + 1]uint64 // dot products by oracle.Class
	Traced      uint64                   // dot products whose features were taken
	Features    int                      // different ones
}

// NewEndToEnd returns a loop over a pair of units and a source of ParseSource, such
// as raw. Neither side of the pair may be a recording.
func NewEndToEnd(of devices.Pair, source gen.Source, seed uint64) (*EndToEnd, error) {
	p, err := newPair(&Config{}, of)
	if err != nil {
		return nil, err
	}
	return &EndToEnd{
		p: p, w: newWorker(), ch: finding.Chunk{Source: source, Name: source.String()}, seed: seed,
	}, nil
}

// Shape returns the rows, columns and products per output of a tile.
func (e *EndToEnd) Shape() mma.Shape {
	g := e.ch.Source.Generator
	return mma.Shape{M: g.M, N: g.N, K: e.p.K, Tiles: 1}
}

// Run does the next tiles. The error is that of a unit, or of a context that ended.
func (e *EndToEnd) Run(ctx context.Context, tiles int) error {
	per := e.ch.Source.Generator.M * e.ch.Source.Generator.N
	most := max(1, chunkMost/per)
	for tiles > 0 {
		n := min(tiles, most)
		tiles -= n
		e.ch.Dots = n * per
		e.r.reset()
		if err := e.w.compute(ctx, e.p, e.seed, &e.ch, &e.r); err != nil {
			return err
		}
		e.ch.First += uint64(e.ch.Dots)
		e.count(n)
	}
	return nil
}

// count adds a chunk of tiles.
func (e *EndToEnd) count(tiles int) {
	e.n.Tiles += uint64(tiles)
	e.n.Dots += uint64(e.ch.Dots)
	e.n.Products += uint64(e.ch.Dots * e.p.K)
	for c, n := range e.r.Classes {
		e.n.Classes[c] += n
	}
	e.n.Traced, e.n.Features = e.w.traced, len(e.w.seen)
}

// Counts returns what was done so far.
func (e *EndToEnd) Counts() EndToEndCounts { return e.n }
