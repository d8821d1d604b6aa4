package gemm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// unitOperands returns operands as units have them.
func unitOperands(ctx context.Context, k *schedule.Kernel, o *Operands) (*Operands, error) {
	unit, err := k.FirstUnit().Resolve()
	if err != nil {
		return nil, err
	}
	if o.D != fp.None && o.D != unit.D {
		o = converted(o, unit.D)
	}
	for _, s := range []struct {
		of    *schedule.Blocks
		codes []uint64
		lines int
	}{{k.ScaleA, o.ScaleA, o.M}, {k.ScaleB, o.ScaleB, o.N}} {
		if s.of != nil && len(s.codes) != s.of.Count(s.lines, o.K) {
			return nil, fmt.Errorf("there are %d scales of %d lines, not %d", len(s.codes), s.lines, s.of.Count(s.lines, o.K))
		}
	}
	p := k.Preparation()
	if p == (schedule.Preparation{}) {
		return o, nil
	}
	out := *o
	if k.Dequantize != nil {
		a, b, err := k.Dequantization()
		if err != nil {
			return nil, err
		}
		if out.A, err = times(ctx, a, o.A, o.ScaleA, k.ScaleA, o.M, o.K); err != nil {
			return nil, err
		}
		if out.B, err = times(ctx, b, o.B, o.ScaleB, k.ScaleB, o.N, o.K); err != nil {
			return nil, err
		}
	}
	if out.A, err = castTo(ctx, p.CastA, out.A, unit.A); err != nil {
		return nil, err
	}
	out.B, err = castTo(ctx, p.CastB, out.B, unit.B)
	return &out, err
}

// converted returns operands for units with other results.
func converted(o *Operands, d fp.ID) *Operands {
	out := *o
	out.D = d
	if o.C != nil {
		out.C = make([]byte, o.M*o.N*d.Width())
		for n := range o.M * o.N {
			mma.Store(out.C, d.Width(), n, d.Get().Nearest(o.D.Get().Float64(mma.Load(o.C, o.D.Width(), n))))
		}
	}
	from, to := schedule.Side(o.D).Get(), schedule.Side(d).Get()
	if from == to {
		return &out
	}
	one := func(code uint64) uint64 { return to.Nearest(from.Float64(code)) }
	out.Alpha, out.Beta = one(o.Alpha), one(o.Beta)
	for _, codes := range []*[]uint64{&out.Bias, &out.ScaleA, &out.ScaleB} {
		own := slices.Clone(*codes)
		for i, code := range own {
			own[i] = one(code)
		}
		*codes = own
	}
	return &out
}

// checkOperands returns an error if matrices do not have the sizes that they have in the formats of a plan's units.
func checkOperands(p *schedule.Plan, o *Operands) error {
	for i := range p.Ops {
		op := &p.Ops[i]
		f := op.Unit.Formats
		if op.X.Kind == schedule.C && len(o.C) != o.M*o.N*f.A.Width() || op.Z.Kind == schedule.C && len(o.C) != o.M*o.N*f.C.Width() {
			return fmt.Errorf("matrix C has %d bytes, not those of %d x %d elements of a unit that adds to %s", len(o.C), o.M, o.N, f.C)
		}
		if op.K != nil && (len(o.A) != o.M*o.K*f.A.Width() || len(o.B) != o.N*o.K*f.B.Width()) {
			return fmt.Errorf("matrices A and B have %d and %d bytes, not those of %d x %d elements of %s and %d x %d of %s", len(o.A), len(o.B), o.M, o.K, f.A, o.K, o.N, f.B)
		}
	}
	return nil
}

// times multiplies the elements of lines of a matrix by their scales.
func times(ctx context.Context, i *mma.Instruction, codes []byte, scales []uint64, b *schedule.Blocks, lines, depth int) ([]byte, error) {
	if a := i.Params.Acc; i.A.Width() == 1 && i.B == fp.FP32 && i.D == fp.FP32 && a.Flush == mma.NoFlush { // FP64 has all products
		out := make([]byte, 4*lines*depth)
		values := make([]float64, 256)
		for code := range values {
			values[code] = i.A.Get().Float64(uint64(code))
		}
		for n, code := range codes {
			v := float32(values[code] * float64(math.Float32frombits(uint32(scales[b.Index(n/depth, n%depth, depth)]))))
			bits := uint64(math.Float32bits(v))
			if v != v {
				bits = nanCode(i)
			}
			mma.Store(out, 4, n, bits)
		}
		return out, nil
	}
	return elements(ctx, i, codes, func(n int) uint64 { return scales[b.Index(n/depth, n%depth, depth)] })
}

// castTo multiplies elements by a factor, if there is one, rounds them to a format, if there is one, and takes them back.
func castTo(ctx context.Context, c schedule.Cast, codes []byte, id fp.ID) ([]byte, error) {
	if c.Format == fp.None {
		return codes, nil
	}
	steps, err := c.Steps(id)
	if err != nil {
		return nil, err
	}
	for n, i := range steps {
		y := 1.0
		if n == 0 && c.Factor != 0 {
			y = c.Factor
		}
		code := i.B.Get().FromFloat64(y)
		if codes, err = elements(ctx, i, codes, func(int) uint64 { return code }); err != nil {
			return nil, err
		}
	}
	return codes, nil
}

// elements does x*y - 0 with each element x and the factor that belongs to it.
func elements(ctx context.Context, i *mma.Instruction, codes []byte, factor func(n int) uint64) ([]byte, error) {
	unit, err := newUnits(nil).of(i)
	if err != nil {
		return nil, err
	}
	count := len(codes) / i.A.Width()
	in := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: 1, Tiles: count})
	in.A = codes
	for n := range count {
		mma.Store(in.B, i.B.Width(), n, factor(n))
		mma.Store(in.C, i.C.Width(), n, i.C.Get().SignBit())
	}
	out := make([]byte, count*i.D.Width())
	return out, unit.Run(ctx, in, out)
}
