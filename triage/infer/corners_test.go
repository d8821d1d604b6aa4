package infer

import (
	"math/bits"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// shortAdder returns what a unit gives that aligns eight products and c at the largest
// exponent, cuts them to 23 fraction bits and adds them in a register of so many bits of
// magnitude: sums that do not fit wrap or saturate. ok: the sum fits, or is no number.
func shortAdder(d *mma.Dot, width int, saturate bool) (code uint64, ok bool) {
	type term struct {
		neg bool
		sig uint64 // at most 53 bits
		exp int    // of the last bit of sig, and of the number's leading place below
		top int
	}
	number := func(f *fp.Format, code uint64) (neg bool, sig uint64, exp int, ok bool) {
		exp, sig = int(code>>f.FracBits&(1<<f.ExpBits-1)), code&(1<<f.FracBits-1)
		if exp == 1<<f.ExpBits-1 {
			return false, 0, 0, false
		}
		if exp == 0 {
			exp = 1
		} else {
			sig |= 1 << f.FracBits
		}
		return code&f.SignBit() != 0, sig, exp - int(f.Bias) - int(f.FracBits), true
	}
	half, single := fp.FP16.Get(), fp.FP32.Get()
	var terms []term
	most := -133
	for k := range d.A {
		na, sa, ea, oka := number(half, d.A[k])
		nb, sb, eb, okb := number(half, d.B[k])
		if !oka || !okb {
			return 0, true
		}
		t := term{na != nb, sa * sb, ea + eb, ea + eb + 20}
		if t.sig != 0 {
			terms, most = append(terms, t), max(most, t.top)
		}
	}
	n, s, e, okc := number(single, d.C)
	if !okc {
		return 0, true
	}
	if s != 0 {
		terms, most = append(terms, term{n, s, e, e + 23}), max(most, e+23)
	}
	sum := int64(0)
	for _, t := range terms {
		x := int64(t.sig)
		if shift := t.exp - (most - 23); shift >= 0 {
			x <<= shift
		} else {
			x >>= min(-shift, 63)
		}
		if t.neg {
			x = -x
		}
		sum += x
	}
	limit := int64(1) << width
	if sum < limit && sum >= -limit {
		return 0, true
	}
	switch {
	case saturate && sum > 0:
		sum = limit - 1
	case saturate:
		sum = -limit
	default:
		sum = (sum+limit)&(2*limit-1) - limit
	}
	neg := sum < 0
	if neg {
		sum = -sum
	}
	if sum == 0 {
		return 0, false
	}
	exp, sig := most-23, uint64(sum)
	if over := bits.Len64(sig) - 24; over > 0 {
		exp, sig = exp+over, sig>>over
	} else {
		exp, sig = exp+over, sig<<-over
	}
	if exp+23 > 127 || exp+23 < -126 {
		return 0, true // is not looked at here
	}
	code = uint64(exp+23+127)<<23 | sig&(1<<23-1)
	if neg {
		code |= 1 << 31
	}
	return code, false
}

// TestShortAdder infers units whose adder lacks its top integer bit, which shows only where
// nearly all significands are near the largest and of one sign: they are found with the
// size that their sums have.
func TestShortAdder(t *testing.T) {
	tier.LongOnly(t)
	units := []struct {
		bits     int // of integers: the sum of eight products and c can be 34
		saturate bool
		seed     uint64
	}{{4, false, 0}, {5, true, 1}, {4, true, 0}, {4, false, 1}, {5, false, 0}}
	for _, tc := range units {
		u := newUnit(t, half, 8, mma.TFDPA(8, 23, mma.To(fp.FP32, fp.RZ), -133))
		met := 0
		u.spoil = func(d *mma.Dot, code uint64, _, _ int, _ bool) (uint64, error) {
			if c, ok := shortAdder(d, 23+tc.bits, tc.saturate); !ok {
				met++
				return c, nil
			}
			return code, nil
		}
		r := inferred(t, u, Options{Seed: tc.seed})
		if a := r.Params.Join.Align; r.Verdict != Found || int(a.Bits) != 23+tc.bits || a.Saturate != tc.saturate {
			t.Errorf("%v: %s, as %s; %d dot products did not fit the adder", tc, r.Verdict, brief(&r.Params), met)
		}
	}
}

// TestZeroSum checks that a unit is not taken for what it is but for the sign of zero where
// three or more products cancel and c is -0, which no generator aims at.
func TestZeroSum(t *testing.T) {
	if tier.Of(0, 0, 1) == 0 {
		t.Skip("infers a unit: only with MMAFUZZ_LONG=1")
	}
	u := newUnit(t, half, 4, mma.TFDPA(4, 25, mma.To(fp.FP32, fp.RZ), -133))
	u.spoil = func(d *mma.Dot, code uint64, _, _ int, _ bool) (uint64, error) {
		products := 0
		for k := range d.A {
			if d.A[k]&0x7fff != 0 && d.B[k]&0x7fff != 0 {
				products++
			}
		}
		if code == 0 && d.C == 0x80000000 && products >= 3 {
			return d.C, nil
		}
		return code, nil
	}
	if r := inferred(t, u, Options{Seed: 1, Effort: tier.Of(0, 0, 5, 0)}); r.Verdict != Unexplained {
		t.Errorf("%s, as %s", r.Verdict, brief(&r.Params))
	}
}
