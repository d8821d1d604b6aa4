package stochastic

import (
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

const (
	fractionBits = 6       // of a fraction at most
	tries        = 1 << 16 // for all inputs
	exactOne     = 4       // of so many inputs gives an exact one
	simpleTries  = 64      // with as few bits as possible
)

// input is a dot product whose exact value lies between two numbers, with the answers to it. All
// inputs of a tally have normal results, or all have subnormal ones.
type input struct {
	dot       *mma.Dot
	near, far uint64  // the neighbours, the one nearer zero first
	fromZero  bool    // near is a zero; its sign does not count
	farNormal bool    // far is no subnormal number
	fraction  float64 // of the step from near to far
	negative  bool
	bits      uint64 // of the value
	exponent  int

	asked, times, zeros, third int    // answers, those that are far, that are zeros, and that are no neighbour
	other                      uint64 // the first of these
	spread
}

// count counts an answer, and returns 1 if it is far, else 0.
func (x *input) count(d fp.ID, code uint64) int {
	if x.asked++; d.Get().Decode(code).Class == fp.Zero {
		if x.zeros++; x.fromZero {
			code = x.near
		}
	}
	switch code {
	case x.far:
		x.times++
		return 1
	case x.near:
		return 0
	}
	if x.third == 0 {
		x.other = code
	}
	x.third++
	return 0
}

// draw returns inputs of a kind, normal or subnormal, the simplest first; nil if there are none, as
// where D has the bits of every product.
func draw(f mma.Formats, k int, seed uint64, kind func(mma.Formats, int, *rand.Rand, bool) *input) []*input {
	r := rand.New(rand.NewPCG(seed, 0x5707ca571c))
	var all []*input
	for n := range tries {
		if x := kind(f, k, r, n < simpleTries); x != nil {
			all = append(all, x)
		}
		if len(all) == inputs {
			slices.SortStableFunc(all, (*input).simpler)
			return all
		}
	}
	return nil
}

// exactly returns inputs whose values are numbers of D, which no unit has to round: the neighbours
// nearer zero of some other inputs. There are none if A does not have them.
func exactly(f mma.Formats, k int, some []*input) []*input {
	a, d := f.A.Get(), f.D.Get()
	var all []*input
	for i := 0; i < len(some); i += exactOne {
		near, dot := some[i].near, mma.NewDot(f, k)
		dot.A[0] = a.Encode(d.Dyadic(d.Decode(near)), fp.RZ, fp.OverMax)
		if !f.B.IsOne() {
			dot.B[0] = f.B.Get().Encode(fp.Dyadic{Lo: 1}, fp.RZ, fp.OverMax)
		}
		x := oracle.ExactDot(f, dot)
		_, _, _, between := x.Neighbours()
		if !between && x.Code() == near && !some[i].fromZero && isNormal(a, dot.A[0]) == isNormal(a, some[i].dot.A[0]) {
			all = append(all, &input{dot: dot, near: near, far: near})
		}
	}
	return all
}

// normal draws an input; nil if its value is not between two normal numbers, or its fraction has too
// many bits.
func normal(f mma.Formats, k int, r *rand.Rand, simple bool) *input {
	a, d := f.A.Get(), f.D.Get()
	digits := int(d.FracBits) + 1 + r.IntN(fractionBits)
	low, high := max(a.Emin(), d.Emin()), min(a.Emax(), d.Emax())
	if low >= high {
		return nil
	}
	n := fp.Dyadic{Lo: 1<<digits | 1, Q: min(max(0, low), high) - int32(digits)}
	if !simple {
		n = fp.Dyadic{Lo: 1<<digits | r.Uint64N(1<<digits), Q: low + r.Int32N(high-low) - int32(digits), Neg: a.Signed && d.Signed && r.IntN(2) == 1}
	}
	dot := mma.NewDot(f, k)
	dot.A[0] = a.Encode(n, fp.RZ, fp.OverMax)
	if !f.B.IsOne() {
		by := fp.Dyadic{Lo: 1}
		if !simple {
			by = fp.Dyadic{Lo: 1 + r.Uint64N(15), Q: -3}
		}
		dot.B[0] = f.B.Get().Encode(by, fp.RZ, fp.OverMax)
	}
	if k == 1 && f.C != fp.None && r.IntN(2) == 1 {
		reach := int32(d.FracBits) + fractionBits
		n.Lo, n.Q, n.Neg = 1+r.Uint64N(255), n.Q+int32(digits)+r.Int32N(2*reach)-reach, r.IntN(2) == 1
		dot.C = f.C.Get().Encode(n, fp.RZ, fp.OverMax)
	}
	if x := newInput(f, dot); x != nil && isNormal(d, x.near) {
		return x
	}
	return nil
}

// subnormal draws an input whose value is below the normal numbers; nil if its fraction has too many
// bits, or is none. Its operands are normal, so that it is the result alone that a unit may flush;
// where a conversion has none of these, they all are subnormal.
func subnormal(f mma.Formats, k int, r *rand.Rand, simple bool) *input {
	a, d := f.A.Get(), f.D.Get()
	if d.NoZero {
		return nil
	}
	dot, digits := mma.NewDot(f, k), r.IntN(int(d.FracBits)+fractionBits)
	n := fp.Dyadic{Lo: 1<<digits | r.Uint64N(1<<digits), Q: d.Emin() - int32(d.FracBits) - fractionBits, Neg: !simple && a.Signed && d.Signed && r.IntN(2) == 1}
	normal := true
	if f.B.IsOne() {
		normal = a.Emin() < d.Emin()
	} else {
		b, e := f.B.Get(), n.Q+int32(digits)
		low, high := max(b.Emin()+3, e-a.Emax()), min(b.Emax(), e-a.Emin())
		if low > high {
			return nil
		}
		by := fp.Dyadic{Lo: 1, Q: low + r.Int32N(high-low+1)}
		if n.Q -= by.Q; !simple {
			by.Lo, by.Q = 1+r.Uint64N(15), by.Q-3
		}
		dot.B[0] = b.Encode(by, fp.RZ, fp.OverMax)
	}
	dot.A[0] = a.Encode(n, fp.RZ, fp.OverMax)
	if x := newInput(f, dot); x != nil && !isNormal(d, x.near) && isNormal(a, dot.A[0]) == normal {
		return x
	}
	return nil
}

// newInput returns the input of a dot product whose products after the first have the code 0; nil if
// its value is not between two numbers, or its fraction has too many bits.
func newInput(f mma.Formats, dot *mma.Dot) *input {
	value := *dot
	if f.A.Get().Decode(0).Class == fp.Zero { // most inputs are drawn in vain: zeros need not be added
		value.A, value.B = dot.A[:1], dot.B[:1]
	}
	x, d := oracle.ExactDot(f, &value), f.D.Get()
	in := &input{dot: dot, negative: x.Neg}
	var between bool
	in.near, in.far, in.fraction, between = x.Neighbours()
	scaled := in.fraction * (1 << fractionBits)
	if !between || scaled != float64(int(scaled)) || d.Decode(in.far).Class != fp.Finite || x.Neg && !d.Signed {
		return nil
	}
	in.fromZero, in.farNormal = d.Decode(in.near).Class == fp.Zero, isNormal(d, in.far)
	in.bits, in.exponent = x.Mant.Uint64(), x.Exp+x.Mant.BitLen()-1
	return in
}

// isNormal reports whether a code is that of a number with all bits of its significand.
func isNormal(f *fp.Format, code uint64) bool { return f.Decode(code).Sig>>f.FracBits != 0 }
