package minimize

import (
	"context"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Place describes how much of its tile an output needs around it to show a mismatch.
type Place uint8

// The places, from the simplest on.
const (
	Alone    Place = iota // nothing: a tile of this output alone shows it
	Corner                // a tile of zeros around it; the output is moved to position 0
	Original              // a tile of zeros around it, at its own position
	FullTile              // the rest of its tile
	Nowhere               // more than its tile: the tile alone does not show it
)

var placeNames = []string{"alone", "corner", "original", "whole", "nowhere"}

// String returns the place's name.
func (p Place) String() string {
	if int(p) >= len(placeNames) {
		return fmt.Sprintf("place(%d)", uint8(p))
	}
	return placeNames[p]
}

// TileTest runs a batch of one tile and reports whether the output with an index in the
// tile, from 0 on, still shows the mismatch that is minimized.
type TileTest func(ctx context.Context, b *mma.Batch, output int) (bool, error)

// Tile finds the simplest place at which an output of a tile of a batch still shows its
// mismatch. output is its index in the tile. If that is Alone or the Corner, the dot product
// can be minimized by itself; else the layout matters.
func Tile(ctx context.Context, b *mma.Batch, tile, output int, test TileTest) (Place, error) {
	n := b.M * b.N
	dot := mma.NewDot(b.Formats, b.K)
	b.Get(tile*n+output, dot)
	alone := mma.NewBatch(b.Formats, mma.Shape{M: 1, N: 1, K: b.K, Tiles: 1})
	alone.Set(0, dot)
	tileBatch := mma.NewBatch(b.Formats, mma.Shape{M: b.M, N: b.N, K: b.K, Tiles: 1})
	for i := range n {
		b.Get(tile*n+i, dot)
		tileBatch.Set(i, dot)
	}
	tries := []struct {
		b      *mma.Batch
		output int
	}{
		Alone:    {alone, 0},
		Corner:   {amongZeros(tileBatch, output, 0), 0},
		Original: {amongZeros(tileBatch, output, output), output},
		FullTile: {tileBatch, output},
	}
	for p, t := range tries {
		if ok, err := test(ctx, t.b, t.output); ok || err != nil {
			return Place(p), err
		}
	}
	return Nowhere, nil
}

// amongZeros returns a tile of zeros, with scales of 1, that has one output of
// another tile at a position.
func amongZeros(tile *mma.Batch, output, at int) *mma.Batch {
	return Placed(tile.Formats, shapeOf(tile), []*mma.Dot{dotOf(tile, output)}, func(int) int { return at })
}

// Positions returns tiles of zeros, one for each position of the first tile of a batch: tile i has
// an output of that tile at position i.
func Positions(b *mma.Batch, output int) *mma.Batch {
	return Placed(b.Formats, shapeOf(b), slices.Repeat([]*mma.Dot{dotOf(b, output)}, b.M*b.N), func(tile int) int { return tile })
}

// Placed returns tiles of zeros, with scales of 1, one for each dot product, that have it at the
// position that at returns. shape is that of a tile.
func Placed(f mma.Formats, shape mma.Shape, dots []*mma.Dot, at func(tile int) int) *mma.Batch {
	l, n := newLayout(f, shape.K), shape.M*shape.N
	zero := l.dot(l.plain)
	shape.Tiles = len(dots)
	all := mma.NewBatch(f, shape)
	for tile, dot := range dots {
		for i := range n {
			all.Set(tile*n+i, zero)
		}
		all.Set(tile*n+at(tile), dot)
	}
	return all
}

func shapeOf(b *mma.Batch) mma.Shape { return mma.Shape{M: b.M, N: b.N, K: b.K} }

func dotOf(b *mma.Batch, output int) *mma.Dot {
	dot := mma.NewDot(b.Formats, b.K)
	b.Get(output, dot)
	return dot
}
