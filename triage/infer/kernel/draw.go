package kernel

import (
	"math"
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// kinds of matrices, by number: see draw.
var kinds = []string{"flat", "spread", "cancelling", "small", "zeros", "special", "large", "activations"}

// drawer draws numbers.
type drawer struct {
	*rand.Rand
	sign float64 // of zeros in a line, 0: any
}

func newDrawer(seed, stream uint64) *drawer {
	return &drawer{Rand: rand.New(rand.NewPCG(seed, stream))}
}

// line begins a row or a column.
func (d *drawer) line() { d.sign = float64(d.IntN(3) - 1) }

// draw fills both matrices.
func (b *box) draw(d *drawer, kind int, m matrices) {
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
				d.line()
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
		return d.special(v)
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

// special draws an infinity or a NaN now and then, and often a zero.
func (d *drawer) special(v float64) float64 {
	switch d.IntN(2000) {
	case 0:
		return math.Inf(1)
	case 1:
		return math.Inf(-1)
	case 2:
		return math.NaN()
	}
	if d.IntN(4) == 0 {
		return math.Copysign(0, v)
	}
	return v
}
