package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Byte offsets of the three vectors that a group of 8 outputs has in memory between prepare,
// dot and finish, and their size (see doc.go).
const (
	partU    = 0
	partAll  = 64
	partNeg  = 128
	sumBytes = 192
)

// named adds the variant to the name of a routine.
func named(name string, fp32, special bool) string {
	if fp32 {
		name += "FP32"
	}
	if special {
		name += "Special"
	}
	return name
}

// sumsCode holds the registers of a routine on Sums.
type sumsCode struct {
	code
	fp32                         bool
	e, parts, acc, sum, kinds, n register
}

func newSums(x code, fp32 bool) *sumsCode {
	return &sumsCode{
		code: x, fp32: fp32, e: x.load("E"), parts: x.load("Parts"), acc: x.load("Acc"),
		sum: x.load("Sum"), kinds: x.load("Kinds"), n: x.load("N"),
	}
}

// loop emits a loop over the outputs, 8 at a time; partBytes is the size of the parts of 8
// outputs. each emits the work on one vector, from column col on.
func (s *sumsCode) loop(partBytes int, each func(col int)) {
	width := 64
	if s.fp32 {
		width = 32
	}
	loop("outputs", s.n, 8, []move{{s.e, 16}, {s.parts, partBytes}, {s.acc, width}, {s.sum, width}, {s.kinds, 32}}, func() {
		for col := 0; col < 8; col += s.lanes() {
			each(col)
		}
	})
}

// prepare emits the routine that makes U and the accumulators, to which C is already added.
func (i isa) prepare(fp32 bool) {
	s := newSums(i.routine(named("prepare", fp32, false), "Sums"), fp32)
	restore := control(U32(roundZero))
	p := s.preparation()
	s.loop(sumBytes, func(col int) {
		u, all, neg := p.parts(col)
		VMOVUPD(u, Mem{Base: s.parts, Disp: partU + 8*col})
		VMOVUPD(all, Mem{Base: s.parts, Disp: partAll + 8*col})
		VMOVUPD(neg, Mem{Base: s.parts, Disp: partNeg + 8*col})
	})
	restore()
	end()
}

// preparation holds the constants with which sums begin.
type preparation struct {
	*sumsCode
	expMask, abs, shift, least, z vec
	most                          vec // instead of abs: what an infinity counts as
}

func (s *sumsCode) preparation() *preparation {
	p := &preparation{sumsCode: s, expMask: s.constant("ExpMask"), shift: s.constant("Shift"), least: s.constant("Least"), z: s.zero()}
	if s.isa == avx512 && s.fp32 {
		p.most = s.constant("Most")
	} else {
		p.abs = s.constant("Abs")
	}
	return p
}

// parts computes U and the accumulators of a vector of outputs. With AVX-512 sums of FP32
// that are Inf or NaN come out as such: where E is special, U is Inf, and so are both
// accumulators. Where C is Inf, the accumulator of all magnitudes gets Most instead, which
// is below such a U, and that of the negative ones is Inf if C is negative. Where C is
// NaN, neg is NaN, which makes the sum NaN.
func (p *preparation) parts(col int) (u, all, neg vec) {
	e := p.vec()
	u, all, neg = p.vec(), p.vec(), p.vec()
	acc := p.accumulator(col, func(acc vec, small bool) {
		if p.most != nil {
			VRANGEPD(U8(rangeMinAbs), p.most, acc, all) // the smaller magnitude, or the one that is not NaN
		} else {
			VANDPD(p.abs, acc, all)
		}
		VANDPD(p.expMask, all, e)
		if small {
			p.only(p.compare(cmpNEQ, acc, p.z), p.least, neg)
			VMAXPD(neg, e, e)
		}
	})
	VPMOVZXWQ(Mem{Base: p.e, Disp: 2 * col}, u)
	VPSLLQ(U8(52), u, u)
	VMAXPD(e, u, u)
	VPADDQ(p.shift, u, u)
	VADDPD(u, all, all)
	VMINPD(acc, p.z, neg)
	VSUBPD(neg, u, neg)
	return u, all, neg
}

// rangeMinAbs makes VRANGEPD choose the smaller magnitude, without its sign.
const rangeMinAbs = 0x0a

// accumulator loads C. Converting a subnormal number is slow, and most grids of random
// bits have some: vectors that have one are converted by integer instructions, which with
// AVX2 turn Inf and NaN into arbitrary numbers.
//
// each emits the use of C, once for each way; small is whether C may be below 2^-126 and not
// zero.
func (s *sumsCode) accumulator(col int, each func(acc vec, small bool)) vec {
	acc := s.vec()
	if !s.fp32 {
		VMOVUPD(Mem{Base: s.acc, Disp: 8 * col}, acc)
		each(acc, true)
		return acc
	}
	from := Mem{Base: s.acc, Disp: 4 * col}
	normal, done := fmt.Sprint("normal", col), fmt.Sprint("converted", col)
	s.testSubnormal(from)
	JZ(LabelRef(normal))
	sign, t := s.vec(), s.vec()
	VPMOVZXDQ(from, acc)
	VPSLLQ(U8(32), acc, sign)
	VANDPD(s.constant("SignBit"), sign, sign)
	VPSLLQ(U8(33), acc, acc)
	VPSRLQ(U8(4), acc, acc)
	sub := s.greater(s.constant("Hidden"), acc)
	VPADDQ(s.constant("Rebias"), acc, acc)
	VMOVUPD(acc, t)
	VFMSUB213PD(s.constant("Emin"), s.constant("Two"), t)
	s.choose(sub, t, acc)
	if s.isa == avx512 {
		special := K()
		VFPCLASSPSY(U8(infOrNaN), from, special)
		VORPD(s.constant("ExpMask"), acc, special, acc)
	}
	VORPD(sign, acc, acc)
	each(acc, true)
	JMP(LabelRef(done))
	Label(normal)
	VCVTPS2PD(from, acc)
	each(acc, false)
	Label(done)
	return acc
}

// testSubnormal clears the zero flag if some FP32 is subnormal.
func (s *sumsCode) testSubnormal(from Mem) {
	if s.isa == avx512 {
		m := K()
		VFPCLASSPSY(U8(subnormal), from, m)
		KTESTB(m, m)
		return
	}
	fraction, exponent, zero := XMM(), XMM(), XMM()
	VPXOR(zero, zero, zero)
	VPBROADCASTD(s.mem("Inf32"), exponent)
	VPAND(from, exponent, exponent)
	VPCMPEQD(zero, exponent, exponent)
	VPBROADCASTD(s.mem("Fraction32"), fraction)
	VPAND(from, fraction, fraction)
	VPTEST(fraction, exponent) // all bits where the exponent field is 0
}

// finish emits the routine that makes the sums: FP32 rounded toward zero, or float64.
// Where the accumulator is Inf or NaN so is the sum. Where some factor is, which bit 13 of
// E marks, the kinds of the factors decide. If special is false, a marked factor can only be
// NaN: FP32 sums are then NaN, float64 sums arbitrary.
func (i isa) finish(fp32, special bool) {
	x := i.routine(named("finish", fp32, special), "Sums")
	s := newSums(x, fp32)
	restore := control(U32(roundZero))
	expMask := x.constant("ExpMask")
	var t *truncation
	if fp32 {
		t = newTruncation(x)
	}
	s.loop(sumBytes, func(col int) {
		sum, n := i.vec(), i.vec()
		VMOVUPD(Mem{Base: s.parts, Disp: partNeg + 8*col}, n)
		VMOVUPD(Mem{Base: s.parts, Disp: partAll + 8*col}, sum)
		VSUBPD(n, sum, sum)
		VSUBPD(Mem{Base: s.parts, Disp: partU + 8*col}, n, n)
		VSUBPD(n, sum, sum)
		if fp32 {
			t.truncate(sum)
			s.storeFP32(t.convert(sum), t.nan, col, special)
			return
		}
		acc := s.accumulator(col, func(vec, bool) {})
		i.choose(i.special(acc, expMask), acc, sum)
		if special {
			kind, e := i.vec(), i.vec()
			VCVTPS2PD(Mem{Base: s.kinds, Disp: 4 * col}, kind)
			VADDPD(acc, kind, kind)
			VPMOVZXWQ(Mem{Base: s.e, Disp: 2 * col}, e)
			VPSLLQ(U8(63-13), e, e)
			i.choose(i.negative(e), kind, sum)
		}
		VMOVUPD(sum, Mem{Base: s.sum, Disp: 8 * col})
	})
	restore()
	end()
}
