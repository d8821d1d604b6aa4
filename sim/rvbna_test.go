package sim_test

import (
	"math/bits"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestRVBNAVectors runs what was worked out by hand from the ISA manual.
func TestRVBNAVectors(t *testing.T) { checkPaper(t, "rvbna.txt", 40) }

// TestRVBNA compares the rows of RISC-V with the manual's algorithm, followed step by
// step on finite operands without an overflow.
func TestRVBNA(t *testing.T) {
	compared := 0
	for _, i := range mma.Of("riscv") {
		if i.D != fp.FP32 {
			continue
		}
		m, err := sim.ForInstruction(&i)
		if err != nil {
			t.Fatal(err)
		}
		if i.Conversion() {
			continue // a conversion
		}
		for _, name := range []string{"spread", "cut", "tie", "subnormal", "cancel", "corner"} {
			g, err := gen.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			sp := gen.Spec{Formats: i.Formats, K: i.K}
			src := g.Aimed(sp, &i.Params)
			for n := range uint64(tier.Of(100, 300, 5_000, 10_000)) {
				d := src.Dot(sp, 1, n)
				if sum, ok := bulkNormalized(i.Formats, d); ok {
					compared++
					if got, want := m.Dot(d, nil), addOdd(sum, uint32(d.C)); got != uint64(want) {
						t.Fatalf("%s: %s gives %08x, want %08x", i.Name, mma.FormatDot(i.Formats, d), got, want)
					}
				}
			}
		}
	}
	if compared < 1000 {
		t.Errorf("%d dot products compared", compared)
	}
}

// number is sig * 2^exp with a sign.
type number struct {
	neg bool
	sig uint64
	exp int
}

// bulkNormalized is the manual's BulkNormalizedDotProduct for FP32 results, in unsigned
// magnitudes that are aligned, jammed, and then added. It leaves specials out.
func bulkNormalized(f mma.Formats, d *mma.Dot) (number, bool) {
	const q = 24
	guard := bits.Len(uint(len(d.A) - 1)) // ceil(log2 n)
	var products []number
	maxExp := -1 << 20
	for k := range d.A {
		a, okA := factor(f.A, d.A[k])
		b, okB := factor(f.B, d.B[k])
		if !okA || !okB {
			return number{}, false
		}
		if a.sig == 0 || b.sig == 0 {
			continue
		}
		// The significands have one integer bit each, which the reference exponents are of.
		fraction := int(f.A.Get().FracBits + f.B.Get().FracBits)
		p := number{a.neg != b.neg, a.sig * b.sig << (q - 1 + guard - fraction), a.exp + b.exp}
		maxExp = max(maxExp, p.exp)
		products = append(products, p)
	}
	total := int64(0)
	for _, p := range products {
		aligned := int64(jam(p.sig, maxExp-p.exp))
		if p.neg {
			aligned = -aligned
		}
		total += aligned
	}
	sum := number{total < 0, uint64(max(total, -total)), maxExp - (q - 1) - guard}
	return roundOdd(sum)
}

// factor decodes a code by hand: the biased exponent field, 1 for a subnormal.
func factor(id fp.ID, code uint64) (number, bool) {
	f := id.Get()
	frac, expBits := int(f.FracBits), int(f.CodeBits())-1-int(f.FracBits)
	field, mant := int(code>>frac)&(1<<expBits-1), code&(1<<frac-1)
	top := 1<<expBits - 1
	if field == top && (id != fp.E4M3 || mant == 1<<frac-1) {
		return number{}, false
	}
	n := number{neg: code>>(frac+expBits)&1 != 0, sig: mant, exp: max(field, 1) - (1<<(expBits-1) - 1)}
	if field > 0 {
		n.sig |= 1 << frac
	}
	return n, true
}

// jam shifts right and ORs what is lost into the last bit.
func jam(sig uint64, by int) uint64 {
	if by >= 64 {
		return min(sig, 1)
	}
	if sig&(1<<by-1) != 0 {
		return sig>>by | 1
	}
	return sig >> by
}

// roundOdd rounds to 24 bits or to a multiple of 2^-149, to odd; false: it overflows.
func roundOdd(n number) (number, bool) {
	unit := max(n.exp+bits.Len64(n.sig)-24, -149)
	if n.sig == 0 {
		return number{exp: -149}, true
	}
	if unit > n.exp {
		n.sig, n.exp = jam(n.sig, unit-n.exp), unit
	}
	return n, n.exp+bits.Len64(n.sig) <= 128
}

// addOdd adds c to a sum and rounds to odd. Where the larger of the two is at least 2^32
// units above the smaller one, all that counts of this one is that it is not zero.
func addOdd(sum number, c uint32) uint32 {
	addend := number{neg: c>>31 != 0, sig: uint64(c & 0x7fffff), exp: max(int(c>>23&0xff), 1) - 127 - 23}
	switch {
	case c>>23&0xff == 0xff && c&0x7fffff != 0:
		return 0x7fc00000
	case c>>23&0xff == 0xff:
		return c
	case c>>23&0xff != 0:
		addend.sig |= 1 << 23
	}
	large, small := sum, addend
	if small.sig != 0 && small.exp+bits.Len64(small.sig) > large.exp+bits.Len64(large.sig) || large.sig == 0 {
		large, small = small, large
	}
	up := min(62-bits.Len64(large.sig), 36) // room below the large one, for what is jammed
	large.sig, large.exp = large.sig<<up, large.exp-up
	if small.exp >= large.exp {
		small.sig <<= small.exp - large.exp
	} else {
		small.sig = jam(small.sig, large.exp-small.exp)
	}
	total := int64(large.sig)
	if small.neg != large.neg {
		total -= int64(small.sig)
	} else {
		total += int64(small.sig)
	}
	r, ok := roundOdd(number{large.neg != (total < 0), uint64(max(total, -total)), large.exp})
	sign := uint32(0)
	if r.neg {
		sign = 1 << 31
	}
	switch {
	case r.sig == 0:
		return 0
	case !ok:
		return sign | 0x7f800000
	}
	for r.sig < 1<<23 && r.exp > -149 { // normalise what is exact
		r.sig, r.exp = r.sig<<1, r.exp-1
	}
	if r.sig < 1<<23 {
		return sign | uint32(r.sig)
	}
	return sign | uint32(r.exp+150)<<23 | uint32(r.sig)&0x7fffff
}
