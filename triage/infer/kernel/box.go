package kernel

import (
	"context"
	"fmt"
	"math"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// requestSize is about how many bytes of operands go into a call of the black box.
const requestSize = 8 << 20

// box is the black box at a shape.
type box struct {
	unit devices.Unit
	mma.Formats
	schedule.Shape
	one, large float64 // numbers of probes: see probes
	products   int     // that were asked
	show       func()
}

// probes chooses the numbers of probes, large enough and small enough that no sum of the K
// products one*one changes large*one, and reports whether there are such numbers. Wide formats
// have a 1 and a 2^100; of narrow ones the least subnormal number and the largest power of two
// are taken.
func (b *box) probes() bool {
	x, y := b.A.Get(), b.B.Get()
	if x.Emax() >= 100 && y.Emax() >= 100 {
		b.one, b.large = 1, math.Ldexp(1, 100)
		return true
	}
	least, most := int(max(x.Emin()-int32(x.FracBits), y.Emin()-int32(y.FracBits))), int(min(x.Emax(), y.Emax()))
	b.one, b.large = math.Ldexp(1, least), math.Ldexp(1, most)
	return b.K < 1<<max(most-least-int(b.D.Get().FracBits)-1, 0)
}

// newBox returns an error if products cannot be probed.
func newBox(u devices.Unit, s schedule.Shape) (*box, error) {
	i := u.Instruction()
	f := i.Formats
	b := &box{unit: u, Formats: f, Shape: s}
	switch {
	case f.C != fp.None || f.Scale != fp.None:
		return nil, hint.New("give a product D = A*B", "%s has operands beside A and B", i.Name)
	case f.D != fp.FP32 && f.D != fp.FP64 || !b.probes():
		return nil, hint.New("operands of fp64, fp32, bf16 or fp16 with results in fp32 or fp64 can", "%s: the partial sums of %d products of %s cannot be read from results", i.Name, s.K, f)
	case s.K != i.K:
		return nil, fmt.Errorf("%s has K = %d, not %d", i.Name, i.K, s.K)
	case s.K < 2:
		return nil, fmt.Errorf("an element with K = %d is no sum", s.K)
	case !i.M.Contains(s.M) || !i.N.Contains(s.N):
		return nil, fmt.Errorf("%s takes %s rows and %s columns, not %d and %d", i.Name, i.M, i.N, s.M, s.N)
	}
	return b, nil
}

// matrices are the operands of a product, A row after row and B column after column.
type matrices struct{ a, b []byte }

// each asks for n products, several at a time. fill writes the operands of a product, which
// are zeros before; got sees them with D.
func (b *box) each(ctx context.Context, n int, fill func(t int, m matrices), got func(t int, m matrices, d []byte)) error {
	sizeA, sizeB, sizeD := b.M*b.K*b.A.Width(), b.N*b.K*b.B.Width(), b.M*b.N*b.D.Width()
	at := max(1, requestSize/(sizeA+sizeB))
	for from := 0; from < n; from += at {
		tiles := min(at, n-from)
		in := mma.NewBatch(b.Formats, mma.Shape{M: b.M, N: b.N, K: b.K, Tiles: tiles})
		d := make([]byte, tiles*sizeD)
		part := func(t int) matrices { return matrices{in.A[t*sizeA:][:sizeA], in.B[t*sizeB:][:sizeB]} }
		for t := range tiles {
			fill(from+t, part(t))
		}
		if err := b.unit.Run(ctx, in, d); err != nil {
			return err
		}
		b.products += tiles
		if b.show != nil {
			b.show()
		}
		for t := range tiles {
			got(from+t, part(t), d[t*sizeD:][:sizeD])
		}
	}
	return nil
}

// set writes a number into a matrix.
func (b *box) setA(m matrices, row, k int, v float64) {
	mma.Store(m.a, b.A.Width(), row*b.K+k, b.A.Get().FromFloat64(v))
}

func (b *box) setB(m matrices, column, k int, v float64) {
	mma.Store(m.b, b.B.Width(), column*b.K+k, b.B.Get().FromFloat64(v))
}

// ones fills both matrices.
func (b *box) ones(m matrices) {
	fill(m.a, b.A, b.one)
	fill(m.b, b.B, b.one)
}

func fill(to []byte, id fp.ID, v float64) {
	w, code := id.Width(), id.Get().FromFloat64(v)
	for i := range len(to) / w {
		mma.Store(to, w, i, code)
	}
}

// value is how many products of ones an element of D is.
func (b *box) value(d []byte, position int) float64 {
	return b.D.Get().Float64(mma.Load(d, b.D.Width(), position)) / (b.one * b.one)
}
