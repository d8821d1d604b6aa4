package gen

import (
	"encoding/binary"
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// conversions are the generators for an operation of A alone, whose B is fp.One: rounding to
// another format. Its inputs are so few that either all of them or all borders of its results
// can be tried. The last one is for sums of integers.
var conversions = []Generator{
	{Name: "codes", Version: 2, Weight: 1, M: 1, N: 1, Size: codesSize, Once: math.MaxUint64, rare: true, dot: codesDot, all: allCodes,
		Doc: "every code of A once, those that lie apart one after the other, for an operation of A alone"},
	{Name: "border", Version: 1, Weight: 16, M: 1, N: 1, Size: borderSize, rare: true, dot: borderDot,
		Doc: "the numbers of D and those half way between them, and A's neighbours of each, for an operation of A alone"},
	{Name: "integer", Version: 2, Weight: 16, M: 1, N: 1, rare: true, dot: integerDot,
		Doc: "the ends of the ranges of integers, and c for which the sum is one or next to one, for integers"},
}

const (
	mostBits = 16     // bits up to which all codes are inputs of an operation of A alone
	stride   = 0x9e37 // between two codes: the first of them are spread over all, each comes once since it is odd
)

// Conversions returns the generators for an operation of A alone, and that for integers.
func Conversions() []*Generator { return pointers(conversions) }

// For returns the generators that a campaign takes for operands of the given formats: all that
// make dot products, and those for integers, or those for an operation of A alone.
func For(sp Spec) []*Generator {
	all := Every(sp)
	if last := all[len(all)-1]; last.Inputs(sp) > 0 {
		return []*Generator{last}
	}
	return all
}

// Every returns all generators for operands of the given formats.
func Every(sp Spec) []*Generator {
	all := pointers(generators)
	switch {
	case sp.D.Integer():
		return append(all, &conversions[2])
	case !sp.B.IsOne() || sp.K != 1:
		return all
	case sp.B == fp.One && sp.A.Get().CodeBits() <= mostBits:
		return append(all, &conversions[0])
	}
	return append(all, &conversions[1])
}

// Inputs returns the number of all inputs that there are, if the generator makes each; else 0.
func (g *Generator) Inputs(sp Spec) uint64 {
	if g.Once != math.MaxUint64 {
		return 0
	}
	return g.Size(sp)
}

func codesSize(sp Spec) uint64 { return 1 << min(sp.A.Get().CodeBits(), 63) }

func codesDot(d *draw) { d.dot.A[0] = d.index * stride & d.fa.CodeMask() }

// allCodes makes a batch of codes of A beside the number 1. An operation of A alone may have other
// operands, and dot products have more than one, which codesDot makes.
func allCodes(b *mma.Batch, first uint64) bool {
	f, n := b.Formats, b.Dots()
	if f.B != fp.One || f.C != fp.None || f.Scale != fp.None || b.K != 1 {
		return false
	}
	mask, code, step := f.A.Get().CodeMask(), first*stride, uint64(stride)
	if f.A.Width() == 4 {
		for i := range n {
			binary.LittleEndian.PutUint32(b.A[4*i:], uint32(code&mask))
			code += step
		}
	} else {
		for i := range n {
			mma.Store(b.A, f.A.Width(), i, code&mask)
			code += step
		}
	}
	clear(b.B)
	return true
}

const (
	borderSteps   = 5       // A's numbers around a border
	mostScattered = 1 << 30 // enumerated cases: the steps between them have as many bits
)

func borderSize(sp Spec) uint64 {
	f := sp.D.Get()
	return (f.MaxFinite()>>f.Low + 1) * 2 * 2 * borderSteps
}

func borderDot(d *draw) {
	f, size := d.D.Get(), borderSize(d.Spec)
	x := digits(d.next())
	if size < mostScattered {
		x = scattered(d.index, size)
	}
	negative, half, step := x.digit(2) == 1, x.digit(2), x.digit(borderSteps)-borderSteps/2
	n := f.Decode(uint64(x) % (f.MaxFinite()>>f.Low + 1) << f.Low)
	border := fp.Dyadic{Lo: 2*n.Sig + uint64(half), Q: n.Exp - int32(f.FracBits) - 1}
	code := int64(d.fa.Encode(border, fp.RZ, fp.OverMax)) + int64(step)<<d.fa.Low
	d.dot.A[0] = uint64(min(max(code, 0), int64(d.fa.MaxFinite())))
	if negative {
		d.dot.A[0] |= d.fa.SignBit()
	}
}

// randomBits gives every b its random bits: any, none, all or one of them, and most of the time those
// with which a is just rounded to the number of D farther from zero, or just not.
func (d *draw) randomBits(n uint8) {
	for k, a := range d.dot.A {
		if d.base != nil && d.coin() {
			continue // as in the case that is mutated
		}
		bits := d.next()
		switch d.intn(6) {
		case 0:
		case 1:
			bits = []uint64{0, bits | 1<<n - 1, 1 << (bits % uint64(n))}[d.intn(3)]
		default:
			bits = -d.cutOff(a, d.dot.B[k], n) + uint64(d.between(-1, 1))
		}
		d.dot.B[k] = d.dot.B[k]&^(1<<n-1) | bits&(1<<n-1)
	}
}

// cutOff returns the first n bits of what a rounding of a, scaled by b, to D's format toward zero cuts
// off, 0 if it is no number.
func (d *draw) cutOff(a, b uint64, n uint8) uint64 {
	x, scale := d.fa.Decode(a), d.fb.Decode(b)
	if x.Class != fp.Finite || scale.Class != fp.Finite {
		return 0
	}
	v, f := d.fa.Dyadic(x), d.D.Get()
	v.Q += scale.Exp
	low := max(v.Exponent(), f.Emin()) - int32(f.FracBits+n)
	if v = v.Round(low, fp.RZ); v.IsZero() {
		return 0
	}
	return v.Shl(min(v.Q-low, 127)).Lo & (1<<n - 1)
}
