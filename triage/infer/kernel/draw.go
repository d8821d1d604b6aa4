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
	"underflow", "scaled lines", "sparse", "near ties", "opposites", "symmetric", "mixed lines"}

// far is the kind of matrices of drawFar, which is drawn for open values of fields alone.
const far = -1

func kindName(kind int) string {
	if kind == far {
		return "far apart"
	}
	return kinds[kind]
}

// drawer draws numbers, line after line.
type drawer struct {
	*rand.Rand
	mma.Formats
	k   int     // numbers in a line
	tie float64 // of near ties: how far operands are from powers of two
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
	if d.exponent = int(f.Emin()) + d.IntN(max(1, int(f.Emax()-f.Emin()))); d.IntN(4) == 0 {
		d.exponent = int(f.Emin()) - d.IntN(max(1, int(f.FracBits))) // subnormal numbers
	}
	d.run, d.zeros = 0, d.IntN(2) == 0
	if d.equal = math.NaN(); d.mixed && d.IntN(4) == 0 {
		d.equal = d.number(f)
	}
}

// draw fills both matrices.
func (b *box) draw(d *drawer, kind int, m matrices) {
	if kind == far {
		b.drawFar(d, m)
		return
	}
	d.Formats, d.k = b.drawn.drawn(d, b.Formats), b.K
	if b.Scale != fp.None && !b.ones {
		own := kind
		if b.placed() { // of some matrices the operands alone are of the kind, of some the scales
			switch d.IntN(3) {
			case 0:
				own = 0
			case 1:
				kind = 0
			}
		}
		b.drawScales(d, own, m)
	}
	ties := [2]castTies{{b.drawn.a, false}, {b.drawn.b, false}}
	spread, wide := make([]float64, b.K), make([]float64, b.K) // by k
	opposite, reach := d.Perm(b.K), d.reach()>>d.IntN(3)
	for n := range b.K {
		spread[n] = math.Pow(10, 6*d.Float64()-3)
		if wide[opposite[n]] = math.Ldexp(1, -reach); n < b.K*7/8 {
			wide[opposite[n]] = math.Ldexp(1, d.IntN(2*reach+1)-reach)
		}
	}
	bits := int(min(d.A.Get().FracBits, d.B.Get().FracBits))
	d.tie = math.Ldexp(1, d.IntN(bits/2+1)-bits)
	for n, to := range [][]byte{m.a, m.b} {
		id := [2]fp.ID{b.A, b.B}[n]
		f, w := id.Get(), id.Width()
		of := [2]fp.ID{d.A, d.B}[n].Get()
		d.second = n == 1
		for i := range len(to) / w {
			if i%b.K == 0 {
				d.line(kind, of)
				ties[n].line(d)
			}
			if f.Integer() {
				code := d.integer(f)
				if b.withoutLeast && f.Signed && code == f.SignBit() {
					code++
				}
				mma.Store(to, w, i, code)
				continue
			}
			v := d.equal
			if math.IsNaN(v) {
				v = d.number(of)
			}
			switch d.kind {
			case "spread":
				v *= spread[i%b.K]
			case "opposites":
				v *= wide[i%b.K]
			}
			if d.mixed && d.sign != 0 {
				v = math.Copysign(v, d.sign)
			}
			v = ties[n].number(d, v)
			mma.Store(to, w, i, d.code(f, v))
		}
	}
	if kinds[kind] == "mixed lines" { // some of them all the same
		if d.IntN(8) == 0 {
			b.same(m, true, false)
		}
		if d.IntN(8) == 0 {
			b.same(m, false, true)
		}
	}
	if kinds[kind] == "opposites" {
		b.oppose(opposite[:b.K*7/8], m)
	}
	if kinds[kind] == "symmetric" && b.A == b.B {
		for from := 0; from < len(m.b); from += len(m.a) {
			copy(m.b[from:], m.a)
		}
	}
}

// code is a number in a format: of an infinity that it does not have the largest number, of a NaN zero.
func (d *drawer) code(f *fp.Format, v float64) uint64 {
	switch {
	case math.IsNaN(v) && f.HasNaN():
		return d.nan(f)
	case math.IsInf(v, 0) && f.HasInf():
		return f.InfCode(v < 0)
	case math.IsNaN(v):
		return 0
	}
	return f.FromFloat64(v)
}

// drawScales fills the scales of both matrices with numbers of a kind.
func (b *box) drawScales(d *drawer, kind int, m matrices) {
	f, w, along := b.Scale.Get(), b.Scale.Width(), b.Blocks(b.K)
	for n, to := range [][]byte{m.sa, m.sb} {
		d.second = n == 1
		end := 0 // of the range of scales: the whole line is near it
		for i := range len(to) / w {
			if i%along == 0 {
				d.line(kind, f)
				if end = 0; b.placed() && d.IntN(8) == 0 {
					end = d.IntN(2)*2 - 1
				}
			}
			v := d.equal
			if math.IsNaN(v) {
				v = d.number(f)
			}
			switch {
			case end > 0:
				v = math.Ldexp(0.5+d.Float64(), int(f.Emax())-d.IntN(10))
			case end < 0:
				v = math.Ldexp(0.5+d.Float64(), int(f.Emin())+d.IntN(10)-2)
			}
			if !f.Signed {
				v = math.Abs(v)
			}
			mma.Store(to, w, i, d.code(f, v))
		}
	}
}

// reach returns by which power of two operands may differ from one, so that sums do not overflow.
func (d *drawer) reach() int {
	a, b := d.A.Get(), d.B.Get()
	return max(1, int(min(a.Emax(), b.Emax(), -a.Emin(), -b.Emin(), d.D.Get().Emax()/2))*3/4)
}

// oppose makes every other of some products the negative of the one before it.
func (b *box) oppose(ks []int, m matrices) {
	for i := 1; i < len(ks); i += 2 {
		from, to := ks[i-1], ks[i]
		for line := 0; line < b.M*b.K; line += b.K {
			mma.Store(m.a, b.A.Width(), line+to, mma.Load(m.a, b.A.Width(), line+from))
		}
		for line := 0; line < b.N*b.K; line += b.K {
			code := mma.Load(m.b, b.B.Width(), line+from)
			if b.B.Get().Signed && !b.B.Integer() {
				code ^= b.B.Get().SignBit()
			}
			mma.Store(m.b, b.B.Width(), line+to, code)
		}
	}
}

// integer draws any code in flat lines; in others only those of a few bits, or the largest numbers, or
// zeros among others.
func (d *drawer) integer(f *fp.Format) uint64 {
	switch code := d.Uint64() & f.CodeMask(); d.kind {
	case "small", "underflow":
		return code & 3
	case "large", "scaled lines":
		if d.kind == "large" && f.Signed && d.IntN(2) == 0 {
			return f.SignBit() // the least
		}
		return f.MaxFinite()
	case "zeros", "sparse", "special":
		return code * uint64(d.IntN(16)/15)
	default:
		return code
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
		return math.Ldexp(v, int(min(f.Emax(), d.D.Get().Emax()))/2-d.IntN(6))
	case "activations": // weights, and activations of which a few are outliers
		switch {
		case d.second:
			return v * 0.02
		case d.IntN(200) == 0:
			return v * 50
		}
		return max(v, 0)
	case "underflow": // products about the least subnormal number, of one sign in many lines, or zeros
		if d.IntN(8) == 0 {
			v = math.Copysign(0, v)
		}
		if d.sign != 0 {
			v = math.Copysign(v, d.sign)
		}
		least := d.D.Get().Emin() - int32(d.D.Get().FracBits)
		return math.Ldexp(v, int(least)/2+d.exponent&15-10)
	case "scaled lines":
		return math.Ldexp(v, d.exponent)
	case "sparse":
		return d.special(d.sparse(v))
	case "near ties": // (1+tie)*(1-tie), times powers of two: a little less than half an ulp of some sums
		return math.Copysign(math.Ldexp(1+math.Copysign(d.tie, d.Float64()-0.5), -d.IntN(1+int(max(0, min(int32(d.D.Get().FracBits), -d.A.Get().Emin(), -d.B.Get().Emin()))))), v)
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

// nan draws any of the NaNs: code that rounds by addition, or drops low bits, may make numbers of some.
func (d *drawer) nan(f *fp.Format) uint64 {
	code := f.QuietNaN(d.IntN(2) == 0)
	if f.HasInf() {
		fraction := uint64(1)<<f.FracBits - 1
		fraction = []uint64{1, fraction, 1 + d.Uint64N(fraction)}[d.IntN(3)]
		code = code&f.SignBit() | f.InfCode(false) | fraction<<f.Low
	}
	return code
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
