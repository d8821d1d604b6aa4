package exec

import (
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices/exec/internal/wire"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// unit is an instruction of a child. A child sees only batches of its own K and
// of tiles of a size that it has announced: everything else is made of those
// here.
type unit struct {
	inst   *mma.Instruction
	number int // in the header
	pool   *pool
}

func (u *unit) Instruction() *mma.Instruction { return u.inst }

// Known returns nil, whatever the instruction's name: how the child computes is
// what we want to find out.
func (u *unit) Known() *mma.Params { return nil }

// Run cuts dot products that are longer than the instruction's into steps.
func (u *unit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	k := u.inst.K
	if in.K == k {
		return u.step(ctx, in, out)
	}
	if in.K%k != 0 || u.inst.C == fp.None || u.inst.C != u.inst.D {
		return fmt.Errorf("%s has K = %d and c %s, d %s: it cannot be repeated for dot products of %d elements", u.inst.FullName(), k, u.inst.C, u.inst.D, in.K)
	}
	part := mma.NewBatch(in.Formats, mma.Shape{M: in.M, N: in.N, K: k, Tiles: in.Tiles})
	copy(part.C, in.C)
	for from := 0; from < in.K; from += k {
		sliceK(part, in, from)
		if err := u.step(ctx, part, out); err != nil {
			return err
		}
		copy(part.C, out)
	}
	return nil
}

// step runs the instruction once, on tiles of a size that it takes.
func (u *unit) step(ctx context.Context, in *mma.Batch, out []byte) error {
	m, n := fit(u.pool.header.Instructions[u.number].M, in.M), fit(u.pool.header.Instructions[u.number].N, in.N)
	if m == in.M && n == in.N || u.pool.header.Text { // a line is one dot product
		return u.send(ctx, in, out)
	}
	t := newTiling(in, m, n)
	res := make([]byte, t.cut.Dots()*in.Formats.D.Width())
	if err := u.send(ctx, t.cut, res); err != nil {
		return err
	}
	t.collect(res, out)
	return nil
}

// send makes requests of a batch, each of whole tiles.
func (u *unit) send(ctx context.Context, in *mma.Batch, out []byte) error {
	most := u.tiles(in)
	w := in.M * in.N * in.Formats.D.Width() // bytes of a tile's D
	for from := 0; from < in.Tiles; from += most {
		n := min(most, in.Tiles-from)
		part := some(in, from, n)
		d := out[from*w : (from+n)*w]
		err := u.pool.ask(ctx, func(g *guard, p *process) error {
			if p.header.Text {
				return p.askText(g, u.inst, part, d)
			}
			return p.askBinary(u.number, part, d)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tiles returns how many tiles go into a request: as many as the child takes,
// but not more than a payload may hold, and one at least.
func (u *unit) tiles(in *mma.Batch) int {
	one := in.Shape
	one.Tiles = 1
	most := int64(wire.MaxPayload) / max(1, wire.PayloadSize(in.Formats, one))
	if b := u.pool.header.Batch; b > 0 {
		most = min(most, int64(b/one.Dots()))
	}
	return int(max(1, most))
}

// fit returns the rows or columns of the tiles for a batch that has so many: the
// fewest that the instruction allows and that hold them, or its most.
func fit(r mma.Range, n int) int {
	if n <= r.Min {
		return r.Min
	}
	step := max(r.Step, 1)
	return min(r.Min+(n-r.Min+step-1)/step*step, r.Min+(r.Max-r.Min)/step*step)
}
