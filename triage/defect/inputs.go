package defect

import (
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// maker makes inputs near known ones: parts of a case that differs beside parts of others, with
// single bits, exponents, signs and places changed. So they lie on both sides of whatever condition
// the case meets.
type maker struct {
	f mma.Formats
	r *rand.Rand
}

// near returns a change of one dot product with parts of another.
func (g *maker) near(from, other *mma.Dot) *mma.Dot {
	d := from.Clone()
	share := []float64{0, 0.1, 0.5, 0.9}[g.r.IntN(4)]
	for k := range d.A {
		if g.r.Float64() < share {
			if g.r.IntN(4) > 0 {
				d.A[k] = other.A[k]
			}
			if g.r.IntN(4) > 0 {
				d.B[k] = other.B[k]
			}
		}
	}
	if g.r.Float64() < share {
		d.C = other.C
	}
	for range 1 + g.r.IntN(3) {
		g.change(d, other)
	}
	return d
}

// change changes one thing.
func (g *maker) change(d, other *mma.Dot) {
	k, j := g.r.IntN(len(d.A)), g.r.IntN(len(d.A))
	switch g.r.IntN(18) {
	case 0:
		d.A[k] = g.flip(g.f.A, d.A[k])
	case 1:
		d.B[k] = g.flip(g.f.B, d.B[k])
	case 2, 3:
		d.C = g.flip(g.f.C, d.C)
	case 4:
		d.A[k], d.A[j], d.B[k], d.B[j] = d.A[j], d.A[k], d.B[j], d.B[k]
	case 5:
		d.A[k], d.B[k] = d.A[j], d.B[j]
	case 6:
		d.A[k], d.B[k] = other.A[j], other.B[j]
	case 7:
		d.A[k] = 0
	case 8: // one product alone
		g.only(d, k)
	case 9:
		n := g.r.IntN(9) - 4
		d.A[k] = g.scale(g.f.A, d.A[k], n)
		if g.r.IntN(2) == 0 {
			d.B[k] = g.scale(g.f.B, d.B[k], -n)
		}
	case 10:
		d.C = g.scale(g.f.C, d.C, g.r.IntN(17)-8)
	case 11: // all exponents
		n := g.r.IntN(5) - 2
		for i := range d.A {
			d.A[i] = g.scale(g.f.A, d.A[i], n)
		}
		d.C = g.scale(g.f.C, d.C, n)
	case 12: // all signs
		for i := range d.A {
			d.A[i] ^= g.f.A.Get().SignBit()
		}
		if g.f.C != fp.None {
			d.C ^= g.f.C.Get().SignBit()
		}
	case 13:
		d.C = other.C
		if g.r.IntN(2) == 0 {
			d.C = 0
		}
	case 14:
		d.A[k] = g.corner(g.f.A)
	case 15:
		d.B[k] = g.corner(g.f.B)
	case 16:
		d.C = g.corner(g.f.C)
	case 17: // a square
		if g.r.IntN(2) == 0 {
			d.A[k] = g.corner(g.f.A)
		}
		d.B[k] = d.A[k] & g.f.B.Get().CodeMask()
	}
}

// only leaves one product.
func (g *maker) only(d *mma.Dot, k int) {
	for j := range d.A {
		if j != k {
			d.A[j], d.B[j] = 0, 0
		}
	}
}

// opposed puts two products that cancel in place of others than k, mostly of larger exponents than all: so
// the largest exponent of a term is another one, and the sum is the same if nothing more is cut.
func (g *maker) opposed(d *mma.Dot, k int) {
	i, j := g.r.IntN(len(d.A)), g.r.IntN(len(d.A))
	a, b := g.f.A.Get(), g.f.B.Get()
	if i == j || i == k || j == k || a.SignBit() == 0 {
		return
	}
	if from := g.r.IntN(len(d.A)); g.r.IntN(2) == 0 {
		d.A[i], d.B[i] = d.A[from], d.B[from]
	} else {
		d.A[i], d.B[i] = a.FromFloat64(1), b.FromFloat64(1)
	}
	for range 1 + g.r.IntN(4) {
		n := g.r.IntN(1 << g.r.IntN(8))
		d.A[i], d.B[i] = g.scale(g.f.A, d.A[i], n), g.scale(g.f.B, d.B[i], n)
	}
	d.A[j], d.B[j] = d.A[i]^a.SignBit(), d.B[i]
}

// extreme scales all terms alike, so far that the result is near an end of its range.
func (g *maker) extreme(d *mma.Dot, result uint64) {
	f := g.f.D.Get()
	if f.Integer() || classOf(f, result) < isSubnormal || classOf(f, result) > isNormal {
		return
	}
	to := int(f.Emax()) - g.r.IntN(2)
	if g.r.IntN(3) == 0 {
		to = int(f.Emin()) + g.r.IntN(4) - 2
	}
	n := to - int(f.Decode(result).Exp)
	d.C = g.scale(g.f.C, d.C, n)
	for i := range d.A {
		part := n / 2
		if g.f.B == fp.One {
			part = n
		}
		d.A[i], d.B[i] = g.scale(g.f.A, d.A[i], part), g.scale(g.f.B, d.B[i], n-part)
	}
}

// specials are the codes of a format, other than negative ones, for which designs have exceptions.
func specials(id fp.ID) []uint64 {
	if id == fp.None || id == fp.One {
		return nil
	}
	f := id.Get()
	one, normal, least := f.FromFloat64(1), uint64(1)<<(f.FracBits+f.Low), uint64(step(f))
	codes := []uint64{0, one, one + normal, one - normal, one - least, one + normal - least, least, normal, normal - least, f.MaxFinite(), f.MaxFinite() &^ (normal - 1)}
	if f.HasInf() {
		codes = append(codes, f.InfCode(false))
	}
	if f.HasNaN() {
		codes = append(codes, f.QuietNaN(false))
	}
	return codes
}

// corner returns a special code, or one with a fraction of zeros or ones.
func (g *maker) corner(id fp.ID) uint64 {
	codes := specials(id)
	if codes == nil {
		return 0
	}
	f := id.Get()
	c := codes[g.r.IntN(len(codes))]
	if g.r.IntN(3) == 0 {
		c = g.r.Uint64N(f.CodeMask()) &^ f.SignBit() &^ (1<<(f.FracBits+f.Low) - 1)
		if g.r.IntN(2) == 0 {
			c |= 1<<(f.FracBits+f.Low) - uint64(step(f))
		}
	}
	if g.r.IntN(2) == 0 {
		c ^= f.SignBit()
	}
	return c
}

// flip changes a bit of a code, or its least ones.
func (g *maker) flip(id fp.ID, c uint64) uint64 {
	if id == fp.None || id == fp.One { // whose code has no bits
		return c
	}
	f := id.Get()
	if g.r.IntN(4) == 0 {
		return (c + uint64(g.r.IntN(3)-1)*uint64(step(f))) & f.CodeMask()
	}
	return c ^ 1<<g.r.IntN(int(f.CodeBits()))
}

// scale adds to the exponent of a code, if that is possible.
func (g *maker) scale(id fp.ID, c uint64, n int) uint64 {
	if id == fp.None {
		return c
	}
	if y, ok := scaled(id.Get(), c, int64(n)); ok {
		return y
	}
	return c
}

// transplant returns a dot product with one product of another, in its place or another.
func (g *maker) transplant(into, from *mma.Dot) *mma.Dot {
	d := into.Clone()
	k, j := g.r.IntN(len(d.A)), g.r.IntN(len(d.A))
	if g.r.IntN(4) > 0 {
		j = k
	}
	d.A[j], d.B[j] = from.A[k], from.B[k]
	if g.r.IntN(2) == 0 {
		d.C = from.C
	}
	return d
}
