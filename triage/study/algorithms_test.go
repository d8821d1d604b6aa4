package study

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Algorithms 10 and 11 of Xie et al., line by line, with exact integers.

// grid is the weight of 1 in all integers: below the products of all operands.
const grid = -600

// summand is a number with its exponent in the algorithms. The paper does not say what that of
// a zero is: here a zero product has none, and c = 0 has the smallest.
type summand struct {
	v *big.Int
	e int
}

const (
	printedF  = 24
	printedF2 = 31
	noneE     = -1 << 20
)

// summandOf returns a finite number in units of the grid, and its exponent.
func summandOf(id fp.ID, code uint64) summand {
	f := id.Get()
	n := f.Decode(code)
	v := new(big.Int).SetUint64(n.Sig)
	e := int(f.Emin())
	if n.Sig != 0 {
		e = max(e, int(n.Exp)-int(f.FracBits)+v.BitLen()-1)
	}
	v.Lsh(v, uint(int(n.Exp)-int(f.FracBits)-grid))
	if n.Neg {
		v.Neg(v)
	}
	return summand{v, e}
}

// times is an exact product.
func (s summand) times(o summand) summand {
	v := new(big.Int).Mul(s.v, o.v)
	if v.Sign() == 0 {
		return summand{v, noneE}
	}
	return summand{v.Rsh(v, -grid), s.e + o.e}
}

// cut rounds to a multiple of 2^q: toward zero, or down.
func (s summand) cut(q int, down bool) *big.Int {
	if q <= grid {
		return s.v
	}
	unit := new(big.Int).Lsh(big.NewInt(1), uint(q-grid))
	n := new(big.Int)
	if down {
		n.Div(s.v, unit) // Euclid's division rounds down where the divisor is positive
	} else {
		n.Quo(s.v, unit)
	}
	return n.Mul(n, unit)
}

// truncatedSum is step 2 of both algorithms.
func truncatedSum(products []summand) summand {
	t := summand{new(big.Int), noneE}
	for _, p := range products {
		t.e = max(t.e, p.e)
	}
	for _, p := range products {
		t.v.Add(t.v, p.cut(t.e-printedF, false))
	}
	return t
}

// withC is step 3 of Algorithm 10 and step 4 of Algorithm 11, which drops a small c.
func withC(t, c summand, drop bool) summand {
	e := max(t.e, c.e)
	s := new(big.Int).Set(t.cut(e-printedF2, true))
	if !drop || c.e >= e-printedF-1 {
		s.Add(s, c.cut(e-printedF, true))
	}
	return summand{s, e}
}

func algorithm10(products []summand, c summand) summand {
	return withC(truncatedSum(products), c, false)
}

func algorithm11(products []summand, c summand) summand {
	var halves [2][]summand
	for k, p := range products {
		halves[k%2] = append(halves[k%2], p)
	}
	even, odd := truncatedSum(halves[0]), truncatedSum(halves[1])
	e := max(even.e, odd.e)
	t := summand{new(big.Int).Add(even.cut(e-printedF, true), odd.cut(e-printedF, true)), e}
	return withC(t, c, true)
}

// algorithms makes entries of Algorithms 10 and 11 and CDNA3's instructions of one step: their
// results on an input that tells our later rule apart, and on finite inputs of all generators; and
// how far the sums are from the exact ones, of which Table 9 has a bound.
func algorithms(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, p := range []struct {
		name, inst string
		sum        func(products []summand, c summand) summand
	}{
		{"Algorithm 10", "v_mfma_f32_32x32x4_xf32", algorithm10},
		{"Algorithm 10", "v_mfma_f32_32x32x8_f16", algorithm10},
		{"Algorithm 10", "v_mfma_f32_32x32x8_bf16", algorithm10},
		{"Algorithm 11", "v_mfma_f32_32x32x16_fp8_fp8", algorithm11},
		{"Algorithm 11", "v_mfma_f32_32x32x16_bf8_bf8", algorithm11},
	} {
		// The sum is 2^-19 above a tie of FP32, which is kept beside c, but not beside the total.
		tie := experiment{"", [2]string{"cdna3", p.inst}, []float64{0x1p-5, 0x1p-10}, []float64{0x1p-5, 0x1p-9}, 0x1p13 - 0x1p-11, 0}
		i, ours, err := tie.run(nil)
		if err != nil {
			return nil, err
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			return nil, err
		}
		finite, differ, worst := 0, 0, 0.0
		for round := range 3 {
			for _, d := range gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, 1, round, &i.Params) {
				products, c, ok := summandsOf(i, d)
				if !ok {
					continue
				}
				finite++
				s := p.sum(products, c)
				if i.D.Get().Float64(m.Dot(d, nil)) != float64(s.float32()) {
					differ++
				}
				off := new(big.Int).Sub(s.v, c.v)
				for _, x := range products {
					off.Sub(off, x.v)
				}
				f, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(off), grid-s.e+printedF).Float64()
				worst = max(worst, math.Abs(f))
			}
		}
		products, c, _ := summandsOf(i, tie.dot(i))
		theirs := p.sum(products, c).float32()
		all = append(all,
			same(i.FullName(), p.name+": 2^13 - 2^-11 + 2^-10 + 2^-19", Number(ours).exactly(), Number(theirs).exactly(), laterRule),
			same(i.FullName(), fmt.Sprintf("results that differ from %s, of %d", p.name, finite), fmt.Sprint(differ), "0", laterRule),
			entry{i.FullName(), "Table 9, fused sum of " + p.name + ": the largest error in 2^(E-24)", fmt.Sprintf("%.3f", worst), fmt.Sprintf("at most %d", i.K+1), worst <= float64(i.K+1), "", statement})
	}
	return all, nil
}

// float32 is the conversion of both algorithms.
func (s summand) float32() float32 {
	f, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(s.v), grid).Float32()
	return f
}

// summandsOf returns the products and c; ok is false if one is not finite: a product of 2^128 is
// infinite.
func summandsOf(i *mma.Instruction, d *mma.Dot) (products []summand, c summand, ok bool) {
	finite := func(id fp.ID, code uint64) bool {
		class := id.Get().Decode(code).Class
		return class != fp.Inf && class != fp.NaN
	}
	for k := range d.A {
		if !finite(i.A, d.A[k]) || !finite(i.B, d.B[k]) {
			return nil, c, false
		}
		p := summandOf(i.A, d.A[k]).times(summandOf(i.B, d.B[k]))
		if p.v.BitLen() > 128-grid {
			return nil, c, false
		}
		products = append(products, p)
	}
	return products, summandOf(i.C, d.C), finite(i.C, d.C)
}

// groupSizes makes entries of G in Table 5 of Xie et al. Group 0 and c cancel and leave a unit of
// 2^-10; two products of 2^-11 give 2^-10 only where they are in one group, in which sums are
// exact.
func groupSizes(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, arch := range []string{"blackwell", "rtx-blackwell"} {
		var seen []fp.ID
		for _, i := range mma.Of(arch) {
			if i.Refuse != "" || i.A != fp.E2M1 || i.B != fp.E2M1 || i.K != 64 || i.Scale == fp.None || slices.Contains(seen, i.Scale) {
				continue
			}
			seen = append(seen, i.Scale)
			m, err := sim.ForInstruction(&i)
			if err != nil {
				return nil, err
			}
			g := 1
			for other := int(i.Block) + 1; other < i.K; other++ {
				if v := i.D.Get().Float64(m.Dot(pairBeside(&i, other), nil)); v == 0x1p-10 {
					g++
				} else if v != 0 {
					return nil, fmt.Errorf("%s: %v is neither 0 nor 2^-10", i.FullName(), v)
				}
			}
			all = append(all, same(i.FullName(), "G", fmt.Sprint(g), "16", ""))
		}
	}
	return all, nil
}

// pairBeside has products that sum to 2^25 in the first 16 places, c = -2^25, and products of
// 2^-11 at the first place of the second block and at another one.
func pairBeside(i *mma.Instruction, other int) *mma.Dot {
	d := mma.NewDot(i.Formats, i.K)
	code := func(v float64) uint64 { return i.A.Get().FromFloat64(v) }
	for k := range 14 {
		d.A[k], d.B[k] = code(6), code(6) // 14*36 and 2*4 are 2^9
	}
	d.A[14], d.B[14] = code(2), code(4)
	for _, k := range []int{int(i.Block), other} {
		d.A[k], d.B[k] = code(0.5), code(0.5)
	}
	scale := i.Scale.Get().FromFloat64
	for n := range d.SA {
		d.SA[n], d.SB[n] = scale(0x1p-6), scale(0x1p-3)
	}
	d.SA[0], d.SB[0] = scale(0x1p8), scale(0x1p8)
	d.C = i.C.Get().FromFloat64(-0x1p25)
	return d
}

// cure makes entries of section 6.3 of Xie et al.: whether CDNA3's instructions are symmetric
// where C is 0.
func cure(ctx context.Context, r *Request) ([]entry, error) {
	var all []entry
	for _, p := range []struct{ inst, why string }{
		{"v_mfma_f32_32x32x8_f16", ""},
		{"v_mfma_f32_16x16x16_f16", "the second of its two steps adds the sum of the first one, by rounding down"},
		{"v_mfma_f32_32x32x16_fp8_fp8", "the sums of even and odd products are rounded down, too: Algorithm 11, step 3"},
	} {
		i, err := mma.Lookup("cdna3", p.inst)
		if err != nil {
			return nil, err
		}
		found, err := asymmetric(ctx, i, r.Seed, true)
		if err != nil {
			return nil, err
		}
		all = append(all, same(i.FullName(), "with c = 0 some -a, b do not give -d", agrees(found).String(), agrees(false).String(), p.why))
	}
	return all, nil
}
