package cpu

import (
	"context"
	"encoding/binary"

	"github.com/mmafuzz/mmafuzz/devices/internal/tiling"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// unit is an instruction under its modes.
type unit struct {
	inst    *mma.Instruction
	native  *native
	control uint64
	flags   bool // results are the exception flags
}

func (u *unit) Instruction() *mma.Instruction { return u.inst }

// Model returns nil: the unit is a black box, so that a comparison can find the
// catalogue to be wrong about it.
func (u *unit) Model() *mma.Params { return nil }

func (u *unit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	return tiling.Repeat(u.inst, in, out, func(in *mma.Batch, out []byte) error { return u.step(ctx, in, out) })
}

// step executes the instruction once on every tile of a batch.
func (u *unit) step(ctx context.Context, in *mma.Batch, out []byte) error {
	m, n := u.native.m, u.native.n
	switch {
	case in.M == m && in.N == n:
		return u.tiles(ctx, in, out)
	case m == 1 && n == 1:
		return u.tiles(ctx, tiling.Single(in), out)
	case in.M == 1 && in.N == 1 && m == n:
		t := tiling.Pack(in, n)
		return u.collect(ctx, t.Tiles, t.Collect, out)
	}
	t := tiling.Cut(in, m, n)
	return u.collect(ctx, t.Tiles, t.Collect, out)
}

// collect executes the instruction on a batch that was cut or packed.
func (u *unit) collect(ctx context.Context, in *mma.Batch, collect func(res, out []byte), out []byte) error {
	res := make([]byte, in.Dots()*in.D.Width())
	if err := u.tiles(ctx, in, res); err != nil {
		return err
	}
	collect(res, out)
	return nil
}

// most is the number of groups between two checks of the context.
const most = 1 << 16

// tiles executes the instruction on tiles of its own size.
func (u *unit) tiles(ctx context.Context, in *mma.Batch, out []byte) error {
	if u.flags {
		return u.raise(ctx, in, out)
	}
	copy(out, in.C) // without a C the body does not read out
	full := in.Tiles / u.native.group
	d, a, b := u.sizes(in)
	for from := 0; from < full; from += most {
		if err := ctx.Err(); err != nil {
			return err
		}
		u.native.body(&out[from*d], &in.A[from*a], &in.B[from*b], min(most, full-from), u.control)
	}
	if full*u.native.group < in.Tiles {
		u.lastGroup(in, out, full)
	}
	return nil
}

// sizes returns the bytes that the operands of a group take.
func (u *unit) sizes(in *mma.Batch) (d, a, b int) {
	n := u.native
	return n.group * n.m * n.n * in.D.Width(), n.group * n.m * in.K * in.Formats.A.Width(), n.group * n.n * in.K * in.Formats.B.Width()
}

// lastGroup executes the last group, filled up with zeros.
func (u *unit) lastGroup(in *mma.Batch, out []byte, full int) {
	d, a, b := u.sizes(in)
	bufs := make([]byte, d+a+b)
	bufD, bufA, bufB := bufs[:d], bufs[d:d+a], bufs[d+a:]
	copy(bufD, out[full*d:])
	copy(bufA, in.A[full*a:])
	copy(bufB, in.B[full*b:])
	u.native.body(&bufD[0], &bufA[0], &bufB[0], 1, u.control)
	copy(out[full*d:], bufD)
}

// raise executes the instruction on one dot product at a time: in a group of which all others are
// zeros, which raise nothing.
func (u *unit) raise(ctx context.Context, in *mma.Batch, out []byte) error {
	results := *in
	results.Formats.D = in.D.Result()
	d, a, b := u.sizes(&results)
	bufs := make([]byte, d+4+a+b)
	bufD, bufA, bufB := bufs[:d+4], bufs[d+4:d+4+a], bufs[d+4+a:]
	elementC, elementA, elementB := len(in.C)/in.Tiles, len(in.A)/in.Tiles, len(in.B)/in.Tiles
	for i := range in.Tiles {
		if i%most == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		clear(bufD)
		copy(bufD, in.C[i*elementC:(i+1)*elementC])
		copy(bufA, in.A[i*elementA:(i+1)*elementA])
		copy(bufB, in.B[i*elementB:(i+1)*elementB])
		u.native.body(&bufD[0], &bufA[0], &bufB[0], 1, u.control|1<<63)
		out[i] = byte(raised(binary.LittleEndian.Uint32(bufD[d:])))
	}
	return nil
}
