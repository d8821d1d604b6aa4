package infer

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// A unit that takes tiles of several sizes may compute in another way in some of them, as a
// library does that has a kernel for each size. The generators make tiles of two sizes only,
// so other sizes are tried at the end.

// A program must pass tileCases dot products in each size, or one in tileShare of those of a
// generator, if that is more.
const (
	tileCases = 200
	tileShare = 50
)

// validateTiles checks a program on tiles of all sizes. It returns what was asked, nil if
// the unit does not offer several sizes, and the number of wrong answers, which become
// evidence.
func (l *loop) validateTiles(ctx context.Context, p *mma.Params, n int) (*TileSizes, int, error) {
	sizes := probe.TileSizes(l.unit.unit.Instruction(), maxBatch)
	if len(sizes) < 2 {
		return nil, 0, nil
	}
	m, err := sim.New(l.Formats, l.K, *p)
	if err != nil {
		return nil, 0, err
	}
	dots, r := l.pool(poolCases, p), l.rand()
	t := &TileSizes{}
	for _, s := range sizes {
		s.Tiles = (max(tileCases, n/tileShare) + s.M*s.N - 1) / (s.M * s.N)
		b := l.tiles(s, dots, r)
		check := func() (int, []*mma.Dot, []uint64, error) { return l.unit.checkBatch(ctx, m, b) }
		compared, wrong, codes, err := check()
		if err == nil {
			err = l.blame(ctx, wrong, codes, fmt.Sprintf("alone instead of in a tile of %d x %d", s.M, s.N), check)
		}
		if err != nil || len(wrong) > 0 {
			return nil, len(wrong), err
		}
		t.Sizes = append(t.Sizes, fmt.Sprintf("%d x %d", s.M, s.N))
		t.Asked += compared
		t.Failed += b.Dots() - compared
	}
	return t, 0, nil
}

// tiles makes tiles of dot products: those on the diagonals are whole, in the others rows,
// columns and c come from different ones.
func (l *loop) tiles(s mma.Shape, dots []*mma.Dot, r *rand.Rand) *mma.Batch {
	b := mma.NewBatch(l.Formats, s)
	for i := range b.Dots() {
		b.Set(i, dots[r.IntN(len(dots))])
	}
	for tile := range s.Tiles {
		for x := range min(s.M, s.N) {
			b.Set(tile*s.M*s.N+x*(s.N+1), dots[r.IntN(len(dots))])
		}
	}
	return b
}

// TileSizes is on which sizes of tiles a model was tested.
type TileSizes struct {
	Sizes  []string `json:"sizes"`  // rows x columns
	Asked  int      `json:"asked"`  // dot products in them that were compared: all agree
	Failed int      `json:"failed"` // on how many others the unit failed
}

// tileText says which sizes of tiles were tried.
func (t *Report) tileText() string {
	if t.Tiles == nil {
		return "A tile's size was not varied."
	}
	text := fmt.Sprintf("Tiles of %d sizes, from %s to %s, were tried with %d dot products: the size makes no difference.",
		len(t.Tiles.Sizes), t.Tiles.Sizes[0], t.Tiles.Sizes[len(t.Tiles.Sizes)-1], t.Tiles.Asked)
	if t.Stats.Failures > 0 {
		text += fmt.Sprintf(" The unit has failed %d times on whole batches, perhaps for their size, and answered them in smaller ones.", t.Stats.Failures)
	}
	return text
}
