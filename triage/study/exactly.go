package study

import (
	"math"
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// sum2 is a sum in twice the precision of a float64 (Dekker 1971; Knuth, TAOCP 2, 4.2.2,
// theorem B): it is off by some 2^-104 of the sum of magnitudes, which no unit comes near.
type sum2 struct{ hi, lo float64 }

// add adds v exactly to hi, and what does not fit to lo.
func (s *sum2) add(v float64) {
	t := s.hi + v
	z := t - s.hi
	s.lo += (s.hi - (t - z)) + (v - z)
	s.hi = t
}

// addProduct adds a*b. The products of all formats but FP64 are float64 numbers, and then
// the second term is 0.
func (s *sum2) addProduct(a, b float64) {
	p := a * b
	s.add(p)
	s.add(math.FMA(a, b, -p))
}

// minus returns v - s.
func (s sum2) minus(v float64) float64 {
	s.add(-v)
	return -(s.hi + s.lo)
}

// decoder reads codes of a format as float64, which has the values of every format.
type decoder struct {
	f     *fp.Format
	table []float64
}

func newDecoder(id fp.ID) decoder {
	if id == fp.None {
		return decoder{}
	}
	d := decoder{f: id.Get()}
	if bits := d.f.CodeBits(); bits <= 16 {
		d.table = make([]float64, 1<<bits)
		for c := range d.table {
			d.table[c] = d.f.Float64(uint64(c))
		}
	}
	return d
}

func (d *decoder) value(code uint64) float64 {
	if d.table != nil {
		return d.table[code&uint64(len(d.table)-1)]
	}
	return d.f.Float64(code)
}

// reader reads dot products of some formats.
type reader struct {
	f              mma.Formats
	a, b, c, d, sc decoder
}

func newReader(f mma.Formats) *reader {
	return &reader{f, newDecoder(f.A), newDecoder(f.B), newDecoder(f.C), newDecoder(f.D), newDecoder(f.Scale)}
}

// sum returns the value of the first k elements of a dot product of finite numbers, and
// the sum of their magnitudes.
func (r *reader) sum(d *mma.Dot, k int) (s sum2, magnitude float64) {
	down := math.Ldexp(1, -int(r.f.Down))
	for i := range k {
		a, b := r.a.value(d.A[i])*down, r.b.value(d.B[i])
		if r.f.Scale != fp.None {
			block := i / int(r.f.Block)
			a, b = a*r.sc.value(d.SA[block]), b*r.sc.value(d.SB[block])
		}
		s.addProduct(a, b)
		magnitude += math.Abs(a * b)
	}
	if r.f.C != fp.None {
		c := r.c.value(d.C)
		s.add(c)
		magnitude += math.Abs(c)
	}
	return s, magnitude
}

// distribution is how values are drawn.
type distribution struct {
	name string
	draw func(rng *rand.Rand) float64
}

var (
	standardNormal = distribution{"normal", (*rand.Rand).NormFloat64}
	positive       = distribution{"positive", (*rand.Rand).Float64}
)

// dot draws a dot product of k elements, with scales of 1. c is what C is drawn by.
func (r *reader) dot(k int, ab, c distribution, rng *rand.Rand) *mma.Dot {
	d := mma.NewDot(r.f, k)
	for i := range k {
		d.A[i], d.B[i] = r.a.f.FromFloat64(ab.draw(rng)), r.b.f.FromFloat64(ab.draw(rng))
	}
	if r.f.C != fp.None {
		d.C = r.c.f.FromFloat64(c.draw(rng))
	}
	for i := range d.SA {
		one := r.sc.f.FromFloat64(1)
		d.SA[i], d.SB[i] = one, one
	}
	return d
}
