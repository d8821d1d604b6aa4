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

// input is a dot product whose exact value lies between two normal numbers, with the answers to it.
type input struct {
	dot       *mma.Dot
	near, far uint64  // the neighbours, the one nearer zero first
	fraction  float64 // of the step from near to far
	negative  bool
	bits      uint64 // of the value
	exponent  int

	asked, times, third int    // answers, those that are far, and those that are no neighbour
	other               uint64 // the first of these
	spread
}

// count counts an answer, and returns 1 if it is far, else 0.
func (x *input) count(code uint64) int {
	x.asked++
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

// draw returns inputs, the simplest first; nil if there are none, as where D has the bits of
// every product.
func draw(f mma.Formats, k int, seed uint64) []*input {
	if f.D.Integer() || f.A.Integer() || f.Scale != fp.None {
		return nil
	}
	r := rand.New(rand.NewPCG(seed, 0x5707ca571c))
	var all []*input
	for n := range tries {
		if x := one(f, k, r, n < simpleTries); x != nil {
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
		if f.B != fp.One {
			dot.B[0] = f.B.Get().Encode(fp.Dyadic{Lo: 1}, fp.RZ, fp.OverMax)
		}
		x := oracle.ExactDot(f, dot)
		if _, _, _, between := x.Neighbours(); !between && x.Code() == near && a.Decode(dot.A[0]).Sig>>a.FracBits != 0 {
			all = append(all, &input{dot: dot, near: near, far: near})
		}
	}
	return all
}

// one draws an input; nil if its value is not between two normal numbers, or its fraction has too
// many bits.
func one(f mma.Formats, k int, r *rand.Rand, simple bool) *input {
	a, d := f.A.Get(), f.D.Get()
	digits := int(d.FracBits) + 1 + r.IntN(fractionBits)
	low, high := max(a.Emin(), d.Emin()), min(a.Emax(), d.Emax())
	if low >= high {
		return nil
	}
	n := fp.Dyadic{Lo: 1<<digits | 1, Q: min(max(0, low), high) - int32(digits)}
	if !simple {
		n = fp.Dyadic{Lo: 1<<digits | r.Uint64N(1<<digits), Q: low + r.Int32N(high-low) - int32(digits), Neg: a.Signed && r.IntN(2) == 1}
	}
	dot := mma.NewDot(f, k)
	dot.A[0] = a.Encode(n, fp.RZ, fp.OverMax)
	if f.B != fp.One {
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
	x := oracle.ExactDot(f, dot)
	in := &input{dot: dot, negative: x.Neg}
	var between bool
	in.near, in.far, in.fraction, between = x.Neighbours()
	scaled := in.fraction * (1 << fractionBits)
	if !between || scaled != float64(int(scaled)) || d.Decode(in.near).Sig>>d.FracBits == 0 || d.Decode(in.far).Class != fp.Finite {
		return nil
	}
	in.bits, in.exponent = x.Mant.Uint64(), x.Exp+x.Mant.BitLen()-1
	return in
}
