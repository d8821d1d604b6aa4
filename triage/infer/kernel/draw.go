package kernel

import (
	"math"
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// kinds of matrices, by number: see draw.
var kinds = []string{"flat", "spread", "cancelling", "small", "zeros", "special", "large", "activations",
	"underflow", "scaled lines", "sparse", "equal"}

// drawer draws numbers.
type drawer struct {
	*rand.Rand
	mma.Formats
	k int // numbers in a line
	// Of the line that is drawn:
	sign     float64 // of zeros, and of all numbers if they are to underflow; 0: any
	exponent int     // any that the format has
	equal    bool    // all numbers are one, which is value
	value    float64
	run      int // numbers that are left of a run of zeros, or of others
	zeros    bool
}

func newDrawer(seed, stream uint64) *drawer {
	return &drawer{Rand: rand.New(rand.NewPCG(seed, stream))}
}

// line begins a row or a column.
func (d *drawer) line(f *fp.Format) {
	d.sign = float64(d.IntN(3) - 1)
	if d.exponent = int(f.Emin()) + d.IntN(int(f.Emax()-f.Emin())); d.IntN(4) == 0 {
		d.exponent = int(f.Emin()) - d.IntN(int(f.FracBits)) // subnormal numbers
	}
	d.equal, d.value = d.IntN(2) == 0, 1
	if d.IntN(2) == 0 {
		d.value = d.NormFloat64()
	}
	d.run, d.zeros = 0, d.IntN(2) == 0
}

// draw fills both matrices.
func (b *box) draw(d *drawer, kind int, m matrices) {
	d.Formats, d.k = b.Formats, b.K
	spread := make([]float64, b.K) // by k
	for k := range spread {
		spread[k] = math.Pow(10, 6*d.Float64()-3)
	}
	for _, side := range []struct {
		to []byte
		id fp.ID
		b  bool
	}{{m.a, b.A, false}, {m.b, b.B, true}} {
		f, w := side.id.Get(), side.id.Width()
		for i := range len(side.to) / w {
			if i%b.K == 0 {
				d.line(f)
			}
			v := d.number(kind, side.b, f)
			if kinds[kind] == "spread" {
				v *= spread[i%b.K]
			}
			code := f.FromFloat64(v) // of an infinity it makes the largest number
			if math.IsInf(v, 0) && f.HasInf() {
				code = f.InfCode(v < 0)
			}
			mma.Store(side.to, w, i, code)
		}
	}
}

// number draws an element of A, or of B.
func (d *drawer) number(kind int, second bool, f *fp.Format) float64 {
	v := d.NormFloat64()
	switch kinds[kind] {
	case "cancelling":
		return math.Ldexp(float64(d.IntN(33)-16), d.IntN(20)-10)
	case "small": // products about the least normal number
		return math.Ldexp(v, int(f.Emin())/2+d.IntN(8)-4)
	case "zeros":
		if d.sign != 0 {
			return math.Copysign(0, d.sign)
		}
		return math.Copysign(float64(d.IntN(64)/63), v)
	case "special":
		if d.IntN(4) == 0 {
			v = math.Copysign(0, v)
		}
		return d.special(v)
	case "underflow": // products about the least subnormal number
		if d.sign != 0 {
			v = math.Copysign(v, d.sign)
		}
		least := d.D.Get().Emin() - int32(d.D.Get().FracBits)
		return math.Ldexp(v, int(least)/2+(d.exponent&15)-10)
	case "scaled lines":
		return math.Ldexp(v, d.exponent)
	case "sparse": // runs of zeros
		return d.special(d.sparse(v))
	case "equal":
		if d.equal {
			return d.value
		}
	case "large": // sums about the largest number
		return math.Ldexp(v, int(f.Emax())/2-d.IntN(6))
	case "activations": // weights, and activations of which a few are outliers
		switch {
		case second:
			return v * 0.02
		case d.IntN(200) == 0:
			return v * 50
		}
		return max(v, 0)
	}
	return v
}

// sparse draws a few numbers, then a run of zeros.
func (d *drawer) sparse(v float64) float64 {
	if d.run == 0 {
		if d.zeros = !d.zeros; d.zeros {
			d.run = 1 + d.IntN(d.k)
		} else {
			d.run = 1 + d.IntN(4)
		}
	}
	if d.run--; d.zeros {
		return math.Copysign(0, v)
	}
	return v
}

// special draws an infinity or a NaN in a few lines.
func (d *drawer) special(v float64) float64 {
	switch d.IntN(12 * d.k) {
	case 0:
		return math.Inf(1)
	case 1:
		return math.Inf(-1)
	case 2:
		return math.NaN()
	}
	return v
}
