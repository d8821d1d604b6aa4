package gen

import (
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// conversions are the generators for an operation of A alone, whose B is fp.One: rounding to
// another format. Its inputs are so few that either all of them or all borders of its results
// can be tried. The last one is for sums of integers.
var conversions = []Generator{
	{Name: "codes", Version: 1, Weight: 1, M: 1, N: 1, Size: codesSize, Once: math.MaxUint64, rare: true, dot: codesDot,
		Doc: "every code of A in turn, for an operation of A alone"},
	{Name: "border", Version: 1, Weight: 16, M: 1, N: 1, Size: borderSize, rare: true, dot: borderDot,
		Doc: "the numbers of D and those half way between them, and A's neighbours of each, for an operation of A alone"},
	{Name: "integer", Version: 1, Weight: 16, M: 1, N: 1, rare: true, dot: integerDot,
		Doc: "the ends of the ranges of integers, and c for which the sum is one or next to one, for integers"},
}

const allCodes = 16 // bits up to which all codes are inputs of an operation of A alone

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
	case sp.B != fp.One || sp.K != 1:
		return all
	case sp.A.Get().CodeBits() <= allCodes:
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

func codesDot(d *draw) { d.dot.A[0] = d.index & d.fa.CodeMask() }

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
