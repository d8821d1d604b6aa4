package kernel

import (
	"math"
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// kinds of matrices, by number: see number. B of symmetric products is A transposed, and the
// lines of mixed ones are of any kind before them.
var kinds = []string{"flat", "spread", "cancelling", "small", "zeros", "special", "large", "activations",
	"underflow", "scaled lines", "sparse", "symmetric", "mixed lines"}

// drawer draws numbers, line after line.
type drawer struct {
	*rand.Rand
	mma.Formats
	k int // numbers in a line
	// Of the line that is drawn:
	kind     string
	second   bool    // it is a column of B
	mixed    bool    // in matrices whose lines are of any kind
	sign     float64 // of zeros, or of all numbers; 0: any
	exponent int     // any that the format has
	equal    float64 // what all numbers are; NaN: they differ
	run      int     // numbers that are left of a run of zeros, or of others
	zeros    bool
}

func newDrawer(seed, stream uint64) *drawer {
	return &drawer{Rand: rand.New(rand.NewPCG(seed, stream))}
}

// line begins a row or a column of numbers of a format.
func (d *drawer) line(kind int, f *fp.Format) {
	d.mixed = kind == len(kinds)-1
	if d.kind = kinds[kind]; d.mixed {
		d.kind = kinds[d.IntN(kind)]
	}
	d.sign = float64(d.IntN(3) - 1)
	if d.exponent = int(f.Emin()) + d.IntN(int(f.Emax()-f.Emin())-4); d.IntN(4) == 0 {
		d.exponent = int(f.Emin()) - d.IntN(int(f.FracBits)) // subnormal numbers
	}
	d.run, d.zeros = 0, d.IntN(2) == 0
	if d.equal = math.NaN(); d.mixed && d.IntN(4) == 0 {
		d.equal = d.number(f)
	}
}

// draw fills both matrices.
func (b *box) draw(d *drawer, kind int, m matrices) {
	d.Formats, d.k = b.Formats, b.K
	spread := make([]float64, b.K) // by k
	for k := range spread {
		spread[k] = math.Pow(10, 6*d.Float64()-3)
	}
	for n, to := range [][]byte{m.a, m.b} {
		id := [2]fp.ID{b.A, b.B}[n]
		f, w := id.Get(), id.Width()
		d.second = n == 1
		for i := range len(to) / w {
			if i%b.K == 0 {
				d.line(kind, f)
			}
			v := d.equal
			if math.IsNaN(v) {
				v = d.number(f)
			}
			if d.kind == "spread" {
				v *= spread[i%b.K]
			}
			if d.mixed && d.sign != 0 {
				v = math.Copysign(v, d.sign)
			}
			code := f.FromFloat64(v) // of an infinity it makes the largest number
			if math.IsInf(v, 0) && f.HasInf() {
				code = f.InfCode(v < 0)
			}
			mma.Store(to, w, i, code)
		}
	}
	if kinds[kind] == "symmetric" && b.A == b.B {
		for from := 0; from < len(m.b); from += len(m.a) {
			copy(m.b[from:], m.a)
		}
	}
}

// number draws a number of the line.
func (d *drawer) number(f *fp.Format) float64 {
	v := d.NormFloat64()
	switch d.kind {
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
	case "large": // sums about the largest number
		return math.Ldexp(v, int(f.Emax())/2-d.IntN(6))
	case "activations": // weights, and activations of which a few are outliers
		switch {
		case d.second:
			return v * 0.02
		case d.IntN(200) == 0:
			return v * 50
		}
		return max(v, 0)
	case "underflow": // products about the least subnormal number, of one sign in many lines
		if d.sign != 0 {
			v = math.Copysign(v, d.sign)
		}
		least := d.D.Get().Emin() - int32(d.D.Get().FracBits)
		return math.Ldexp(v, int(least)/2+d.exponent&15-10)
	case "scaled lines":
		return math.Ldexp(v, d.exponent)
	case "sparse":
		return d.special(d.sparse(v))
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
