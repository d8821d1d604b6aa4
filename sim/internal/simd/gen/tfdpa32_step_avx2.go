package main

// This file emits the AVX2 code of a step of T-FDPA on narrow operands; the algorithm is
// described in doc.go, the variants in tfdpa32_step.go.

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// outputs2 emits one step for the outputs of one row in a group of 8 columns.
func (s *stepCode) outputs2(acc, ec, code, scale, ci vec) vec {
	s.scale2(ec, code, scale)
	sum, floats := YMM(), YMM()
	VMULPS(scale, acc, ci)
	VCVTTPS2DQ(ci, ci)
	if s.inf {
		VMOVAPS(acc, floats)
	}
	s.products2(scale, sum, ci, floats)
	r := YMM()
	switch {
	case s.fp16:
		s.round2(sum, ci, scale, r)
	case s.fits:
		s.truncateFitting2(sum, ci, scale, r)
	default:
		s.truncate2(sum, ci, scale, r)
	}
	s.exceptions2(r, acc, ec, code, floats)
	return r
}

// scale2 computes 2^(F-E) from the exponent fields of the accumulator and of the products;
// E is the largest of them.
func (s *stepCode) scale2(ec, code, scale vec) {
	top := YMM()
	if s.fp16 { // the exponent of a non-zero accumulator is at least Emin
		zero, least := YMM(), YMM()
		VPXOR(zero, zero, zero)
		VPCMPEQD(zero, ec, zero)
		VPMAXSD(s.k("Emin"), ec, least)
		VPBLENDVB(zero, ec, least, top)
		VPMAXSD(top, code, top)
	} else {
		VPMAXSD(ec, code, top)
	}
	if !s.fits {
		VPMAXSD(s.k("Floor"), top, top)
	}
	VMOVDQU(s.k("Unit"), scale)
	VPSUBD(top, scale, scale)
}

// products2 scales and truncates the products and adds half of them to sum, the others to
// ci; neither overflows. If inf is set, it also adds the unscaled products to floats.
func (s *stepCode) products2(scale, sum, ci, floats vec) {
	VPXOR(sum, sum, sum)
	s.loop8(func(k register, from int) {
		var p [4]vec
		for i := range p {
			p[i] = YMM()
			VBROADCASTSS(Mem{Base: s.row, Index: k, Scale: 1, Disp: 4 * (from + i)}, p[i])
			VMULPS(Mem{Base: s.b, Index: k, Scale: 8, Disp: 32 * (from + i)}, p[i], p[i])
		}
		if s.inf {
			t, u := YMM(), YMM()
			VADDPS(p[0], p[1], t)
			VADDPS(p[2], p[3], u)
			VADDPS(t, u, u)
			VADDPS(u, floats, floats)
		}
		for _, p := range p {
			VMULPS(scale, p, p)
			VCVTTPS2DQ(p, p)
		}
		if from == 0 {
			addFour(VPADDD, p, sum)
		} else {
			addFour(VPADDD, p, ci)
		}
	})
}

// loop8 emits the loop over the products of a step, 8 at a time. four emits four of them,
// beginning i values after byte offset k of a row. If the number of products is an odd
// multiple of 4, the loop begins in its middle.
func (s *stepCode) loop8(four func(k register, i int)) {
	k := GP64()
	XORQ(k, k)
	TESTQ(U32(16), s.mem("L4"))
	JZ(LabelRef("k"))
	SUBQ(U8(16), k)
	JMP(LabelRef("middle"))
	Label("k")
	four(k, 0)
	Label("middle")
	four(k, 4)
	ADDQ(U8(32), k)
	CMPQ(k, s.mem("L4"))
	JL(LabelRef("k"))
}

// addFour adds four vectors to sum: first to each other, because an addition of integers
// waits two more cycles for the result of a conversion (Golden Cove), which would make a
// chain of additions longer.
func addFour(add instruction, v [4]vec, sum vec) {
	add(v[1], v[0], v[0])
	add(v[3], v[2], v[2])
	add(v[2], v[0], v[0])
	add(v[0], sum, sum)
}

// magnitude2 returns the magnitude of sum + ci, halved where it has 32 bits; a mask of the
// sign; and 1 where the magnitude was halved. If the addition of the two int32 overflows,
// the sign is that of both.
func magnitude2(sum, ci vec) (m, neg, halved vec) {
	m, neg, halved = YMM(), YMM(), YMM()
	same := YMM()
	VPADDD(ci, sum, m)
	VPOR(ci, sum, same)
	VPAND(m, same, same)
	VPAND(ci, sum, neg)
	VPOR(same, neg, neg)
	VPSRAD(U8(31), neg, neg)
	VPXOR(neg, m, m)
	VPSUBD(neg, m, m)
	VPSRLD(U8(31), m, halved)
	VPSRLVD(halved, m, m)
	return m, neg, halved
}

// unscale2 multiplies r by 2^(E-F), by twice that where it was halved, and sets its sign.
func (s *stepCode) unscale2(r, scale, neg, halved vec) {
	inverse := YMM()
	VMOVDQU(s.k("Inverse"), inverse)
	VPSUBD(scale, inverse, inverse)
	VPSLLD(U8(23), halved, halved)
	VPADDD(halved, inverse, inverse)
	VMULPS(inverse, r, r)
	VPSLLD(U8(31), neg, neg)
	VORPS(neg, r, r)
}

// floatTruncated2 converts m, at most 31 bits, toward zero. The conversion rounds to
// nearest. With the bit below the last one that a float32 keeps cleared, it truncates.
func floatTruncated2(m, r vec) {
	guard := YMM()
	VPSRLD(U8(24), m, guard)
	VPANDN(m, guard, r)
	VCVTDQ2PS(r, r)
}

// truncateFitting2 converts sum + ci to float32, toward zero, and multiplies it by 2^(E-F).
// sum + ci must not overflow.
func (s *stepCode) truncateFitting2(sum, ci, scale, r vec) {
	m, inverse := YMM(), YMM()
	VPADDD(ci, sum, sum)
	VPABSD(sum, m)
	floatTruncated2(m, r)
	VMOVDQU(s.k("Inverse"), inverse)
	VPSUBD(scale, inverse, inverse)
	VMULPS(inverse, r, r)
	VPAND(s.k("Sign"), sum, sum)
	VORPS(sum, r, r)
}

// truncate2 converts sum + ci to float32, toward zero, multiplies it by 2^(E-F), and clears
// the bits that a result does not keep.
func (s *stepCode) truncate2(sum, ci, scale, r vec) {
	m, neg, halved := magnitude2(sum, ci)
	floatTruncated2(m, r)
	s.unscale2(r, scale, neg, halved)
	VANDPS(s.k("Keep"), r, r)
}

// round2 rounds sum + ci to odd and multiplies it by 2^(E-F), so that the conversion to
// FP16 that follows gives what rounding the exact sum would. Numbers that would become zero
// there become +0.
func (s *stepCode) round2(sum, ci, scale, r vec) {
	m, neg, halved := magnitude2(sum, ci)
	lost, sticky := YMM(), YMM()
	VPADDD(ci, sum, lost)
	VPAND(lost, halved, lost) // the bit that halving lost
	VPOR(lost, m, m)
	floatTruncated2(m, r)
	VCVTTPS2DQ(r, sticky)
	VPCMPEQD(m, sticky, sticky)
	VPANDN(s.k("One"), sticky, sticky)
	VORPS(sticky, r, r)
	s.unscale2(r, scale, neg, halved)
	VANDPS(s.k("Abs"), r, sticky)
	VPCMPGTD(s.k("Small"), sticky, sticky)
	VANDPS(sticky, r, r)
}

// exceptions2 corrects the outputs all of whose products are zero (E below Null), and those
// with Inf or NaN.
func (s *stepCode) exceptions2(r, acc, ec, code, floats vec) {
	null, is, value, t := YMM(), YMM(), YMM(), YMM()
	VMOVDQU(s.k("Null"), null)
	VPCMPGTD(code, null, null)
	VPTEST(null, null)
	JZ(LabelRef("some"))
	VPXOR(t, t, t)
	VPAND(s.k("Keep"), acc, value)
	VPAND(s.k("Abs"), value, is)
	VPCMPEQD(t, is, t)
	VPANDN(value, t, value) // zeros of either sign become +0
	VBLENDVPS(null, value, r, r)
	Label("some")
	VPCMPGTD(s.k("Finite"), ec, is)
	if s.inf {
		VPCMPGTD(s.k("Special"), code, t)
		VPOR(t, is, is)
	} else { // no factor is Inf: the result is the accumulator, or NaN if a factor is NaN
		VPCMPGTD(s.k("Special"), code, t)
		floats = YMM()
		VORPS(t, acc, floats)
		VPOR(t, is, is)
		VPTEST(is, is)
		JZ(LabelRef("finite"))
	}
	VCMPPS(U8(cmpUnord), floats, floats, t)
	VBLENDVPS(t, s.k("QNaN"), floats, value)
	VBLENDVPS(is, value, r, r)
	if !s.inf {
		Label("finite")
	}
}
