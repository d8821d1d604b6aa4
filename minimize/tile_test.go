package minimize

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestTile finds the place at which predicates on tiles hold.
func TestTile(t *testing.T) {
	const m, n, k = 4, 2, 32
	shape := mma.Shape{M: m, N: n, K: k, Tiles: 3}
	b := mma.NewBatch(mxfp8, shape)
	r := rand.New(rand.NewPCG(7, 8))
	for i := range b.Dots() {
		b.Set(i, draw(r, mxfp8, k, "normal"))
	}
	want := mma.NewDot(mxfp8, k)
	const tile, output = 1, 5
	b.Get(tile*m*n+output, want)
	zero := newLayout(mxfp8, k).dot(newLayout(mxfp8, k).plain)

	has := func(b *mma.Batch, i int, d *mma.Dot) bool {
		got := mma.NewDot(mxfp8, k)
		b.Get(i, got)
		return got.Equal(d)
	}
	for place, in := range map[Place]func(b *mma.Batch, i int) bool{
		Alone:    func(b *mma.Batch, i int) bool { return true },
		Corner:   func(b *mma.Batch, i int) bool { return b.M == m && b.N == n },
		Original: func(b *mma.Batch, i int) bool { return i == output },
		FullTile: func(b *mma.Batch, i int) bool { return i == output && !has(b, 0, zero) },
		Nowhere:  func(*mma.Batch, int) bool { return false },
	} {
		asked := 0
		got, err := Tile(context.Background(), b, tile, output, func(_ context.Context, b *mma.Batch, i int) (bool, error) {
			asked++
			if b.Tiles != 1 || b.K != k || b.Formats != mxfp8 || !has(b, i, want) {
				t.Errorf("%s: output %d of try %d is not the dot product", place, i, asked)
			}
			if alone := asked == 1; alone != (b.Dots() == 1) || !alone && (b.M != m || b.N != n) {
				t.Errorf("%s: shape %v in try %d", place, b.Shape, asked)
			}
			return in(b, i), nil
		})
		if got != place || err != nil || asked != min(int(place)+1, 4) {
			t.Errorf("%s after %d tries, want %s: %v", got, asked, place, err)
		}
	}
	failure := errors.New("no device")
	if _, err := Tile(context.Background(), b, tile, output, func(context.Context, *mma.Batch, int) (bool, error) {
		return false, failure
	}); err != failure {
		t.Errorf("error %v", err)
	}
}

// TestAmongZeros holds that nothing but one row and one column stands in a tile.
func TestAmongZeros(t *testing.T) {
	const k = 32
	shape := mma.Shape{M: 3, N: 4, K: k, Tiles: 1}
	tile := mma.NewBatch(mxfp8, shape)
	r := rand.New(rand.NewPCG(9, 10))
	for i := range tile.Dots() {
		tile.Set(i, draw(r, mxfp8, k, "normal"))
	}
	l := newLayout(mxfp8, k)
	want, got := mma.NewDot(mxfp8, k), mma.NewDot(mxfp8, k)
	tile.Get(7, want)
	for _, at := range []int{0, 7} {
		z := amongZeros(tile, 7, at)
		for i := range z.Dots() {
			z.Get(i, got)
			expect := l.dot(l.plain)
			if i/shape.N == at/shape.N {
				expect.A, expect.SA = want.A, want.SA
			}
			if i%shape.N == at%shape.N {
				expect.B, expect.SB = want.B, want.SB
			}
			if i == at {
				expect.C = want.C
			}
			if !got.Equal(expect) {
				t.Fatalf("output %d of a tile with one at %d: %+v, want %+v", i, at, got, expect)
			}
		}
	}
}

func TestPlaceString(t *testing.T) {
	if Alone.String() != "alone" || Nowhere.String() != "nowhere" || Place(9).String() != "place(9)" {
		t.Errorf("%s %s %s", Alone, Nowhere, Place(9))
	}
}
