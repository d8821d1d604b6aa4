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
	probes []probe // that may show partial sums
	probe          // that which is used
	// withoutLeast: of scaled integers the least, such as -128, is not drawn.
	withoutLeast bool
	drawsC       bool // else C, if there is one, is -0, which changes no sum
	ones         bool // scales of floating-point numbers are one where matrices are drawn, too

	factor   float64         // by which the sum is multiplied
	inA, inB []float64       // by which operands may be multiplied instead
	relus    []schedule.Step // what becomes of negative results, if that is zero: one of these
	factors  []float64       // that give what was asked about it; none: it is one

	fits []fp.ID // narrower formats that have all results so far

	cast     cast // of the operands of the class that is looked at
	drawn    cast // the last such cast: operands near its ties are drawn
	products int  // that were asked
	show     func()
}

// probe is the numbers by which partial sums are read: ones beside a large number and its
// negative, at two products that are chosen. A one is plain*small.
type probe struct {
	plain, small, large float64
	// alone: large numbers are in A, whose others are plain, and in B, whose others are small, so
	// that a matrix asks about two products only. Else one of them is plain, and each line of the other
	// asks about two products of its own.
	alone bool
	// chunk is how many ones D counts exactly: of more products the others are zeros, and each
	// chunk is counted in a matrix of its own.
	chunk int
}

// probesOf returns the probes in which no sum of K ones changes the large number in an accumulator of
// at least FP32, the one that asks most at a time first; then those for accumulators of FP16. Wide
// formats have a 1 and a 2^100; of narrow ones the least subnormal number and the largest power of two are
// taken, as far as an accumulator or D can show a one.
func (b *box) probesOf() (all []probe) {
	if b.A.Integer() || b.B.Integer() || b.D.Integer() {
		return nil
	}
	idA, idB := b.cast.formats(b.Formats)
	x, y, d, half := idA.Get(), idB.Get(), b.D.Get(), fp.FP16.Get()
	wide := x.Emax() >= 100 && y.Emax() >= 100
	if wide {
		all = []probe{{1, 1, 0x1p100, false, b.counted(d)}}
	} else {
		all = b.narrow(d, fp.FP32.Get(), max(d.FracBits, fp.FP32.Get().FracBits))
	}
	if wide && d.FracBits <= fp.FP32.Get().FracBits || d.FracBits > half.FracBits {
		all = append(all, b.narrow(half, half, half.FracBits)...)
	}
	return all
}

// narrow returns probes of narrow operands: ones and their sums have to be numbers of the format that
// is given, the large ones of that of the accumulator, and bits are those of a fraction of it.
func (b *box) narrow(shown, acc *fp.Format, bits uint8) (all []probe) {
	idA, idB := b.cast.formats(b.Formats)
	x, y := idA.Get(), idB.Get()
	least, most := max(x.Emin()-int32(x.FracBits), y.Emin()-int32(y.FracBits)), min(x.Emax(), y.Emax())
	one := max(shown.Emin()-int32(shown.FracBits), 2*least) // the least product of ones
	if b.factor != 1 {                                      // which is rounded
		one = max(one, b.D.Get().Emin()-int32(math.Ilogb(b.factor)))
	}
	for _, alone := range []bool{false, true} {
		small := max(least, one-most)
		if x.Emax() >= 100 && y.Emax() >= 100 { // no need for subnormal numbers
			small = one
		}
		ratio := min(most-small, acc.Emax()-one)
		large := small + ratio
		if alone {
			small = one - one/2
			large = min(most, acc.Emax()/2)
			ratio = 2*large - one
		}
		if b.K < 1<<min(max(ratio-int32(bits)-1, 0), 30) {
			all = append(all, probe{math.Ldexp(1, int(one-small)), math.Ldexp(1, int(small)), math.Ldexp(1, int(large)), alone, b.counted(shown)})
		}
	}
	return all
}

// counted is how many ones a format counts: so few that where they are multiplied by a factor and rounded, each shows.
func (b *box) counted(f *fp.Format) int {
	if b.factor != 1 {
		return 1 << min(max(b.D.Get().FracBits, 2)-2, 30)
	}
	return 1 << min(f.FracBits+1, 30)
}

// newBox returns an error if products cannot be probed.
func newBox(u devices.Unit, s schedule.Shape) (*box, error) {
	i := u.Instruction()
	f := i.Formats
	b := &box{unit: u, Formats: f, Shape: s, factor: 1, fits: narrower(f)}
	if b.probes = b.probesOf(); len(b.probes) > 0 {
		b.probe = b.probes[0]
	}
	switch {
	case f.Scale != fp.None && !b.takesScales():
		return nil, hint.New("let the target multiply by scales of one, and leave out scale= and block=: the order of the sums is found so, not where scales are multiplied in",
			"%s has scales of %s for operands of %s and results of %s, which are not known with --shape", i.Name, f.Scale, f.A, f.D)
	case b.scaled() && f.C != fp.None:
		return nil, hint.New("give a product D = A*B", "%s has scales and a C", i.Name)
	case s.K != i.K:
		return nil, fmt.Errorf("%s has K = %d, not %d", i.Name, i.K, s.K)
	case s.K < 2:
		return nil, fmt.Errorf("an element with K = %d is no sum", s.K)
	case !i.M.Contains(s.M) || !i.N.Contains(s.N):
		return nil, fmt.Errorf("%s takes %s rows and %s columns, not %d and %d", i.Name, i.M, i.N, s.M, s.N)
	}
	return b, nil
}

// matrices are the operands of a product, A row after row and B column after column, and their scales, if it
// has some, and C, row after row.
type matrices struct{ a, b, sa, sb, c []byte }

// all returns the operands and their scales: of rows, of columns, of rows and of columns.
func (m *matrices) all() [4]*[]byte { return [4]*[]byte{&m.a, &m.b, &m.sa, &m.sb} }

// lineSizes returns the bytes of a line of each of these.
func (b *box) lineSizes() [4]int {
	scales := b.Blocks(b.K) * b.Scale.Width()
	return [4]int{b.K * b.A.Width(), b.K * b.B.Width(), scales, scales}
}

// lines returns a line of A and one of B with their scales.
func (b *box) lines(m matrices, row, column int) (one matrices) {
	sizes, to := b.lineSizes(), one.all()
	for n, from := range m.all() {
		at := row
		if n%2 == 1 {
			at = column
		}
		*to[n] = (*from)[at*sizes[n]:][:sizes[n]]
	}
	return one
}

// same copies the first lines of matrices to the others.
func (b *box) same(m matrices, ofA, ofB bool) {
	for n, lines := range m.all() {
		if len(*lines) > 0 && (n%2 == 0 && ofA || n%2 == 1 && ofB) {
			same(*lines, [2]int{b.M, b.N}[n%2])
		}
	}
}

// copyTo copies operands to those of a product.
func (m *matrices) copyTo(to matrices) {
	all := to.all()
	for n, from := range m.all() {
		copy(*all[n], *from)
	}
}

// each asks for n products, several at a time. fill writes the operands of a product, which
// are zeros before; got sees them with D.
func (b *box) each(ctx context.Context, n int, fill func(t int, m matrices), got func(t int, m matrices, d []byte)) error {
	sizes, sizeC, sizeD := b.lineSizes(), b.M*b.N*b.C.Width(), b.M*b.N*b.D.Width()
	total := sizeC
	for n := range sizes {
		sizes[n] *= [2]int{b.M, b.N}[n%2]
		total += sizes[n]
	}
	at := max(1, requestSize/total)
	for from := 0; from < n; from += at {
		tiles := min(at, n-from)
		in := mma.NewBatch(b.Formats, mma.Shape{M: b.M, N: b.N, K: b.K, Tiles: tiles})
		if !b.drawsC && b.C != fp.None {
			b.withoutC(in.C)
		}
		d := make([]byte, tiles*sizeD)
		part := func(t int) (m matrices) {
			to := m.all()
			for n, of := range [][]byte{in.A, in.B, in.SA, in.SB} {
				*to[n] = of[t*sizes[n]:][:sizes[n]]
			}
			m.c = in.C[t*sizeC:][:sizeC]
			return m
		}
		if b.placed() {
			b.scaleByOne(in)
		}
		for t := range tiles {
			fill(from+t, part(t))
		}
		if err := b.unit.Run(ctx, in, d); err != nil {
			return err
		}
		b.products += tiles
		b.fit(d)
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

// scaleByOne makes all scales one.
func (b *box) scaleByOne(in *mma.Batch) {
	fill(in.SA, b.Scale, 1)
	fill(in.SB, b.Scale, 1)
}

func fill(to []byte, id fp.ID, v float64) {
	w, code := id.Width(), id.Get().FromFloat64(v)
	for i := range len(to) / w {
		mma.Store(to, w, i, code)
	}
}

// value is how many products of ones an element of D is.
func (b *box) value(d []byte, position int) float64 {
	v := b.D.Get().Float64(mma.Load(d, b.D.Width(), position)) / (b.plain * b.small)
	if b.factor != 1 {
		v /= b.factor
		if n := math.Round(v); math.Abs(v-n) < 0.25 {
			return n
		}
	}
	return v
}
