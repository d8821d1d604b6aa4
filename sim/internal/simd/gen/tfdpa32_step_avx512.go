package main

// This file emits the AVX-512 code of a step of T-FDPA on narrow operands; the algorithm is
// described in doc.go, the variants in tfdpa32_step.go.

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// stepLanes are numbers of lanes: first and second are the lanes of outputs, each twice,
// that the products of the first and of the second row belong to; even and odd are the
// lanes of both rows' products that have even k and odd k.
type stepLanes struct{ first, second, even, odd Mem }

func newStepLanes() *stepLanes {
	return &stepLanes{
		first: constants("stepFirst", 16, func(i int) uint32 { return uint32(i / 2) }), second: constants("stepSecond", 16, func(i int) uint32 { return uint32(8 + i/2) }),
		even: constants("stepEven", 16, func(i int) uint32 { return uint32(2 * i) }), odd: constants("stepOdd", 16, func(i int) uint32 { return uint32(2*i + 1) }),
	}
}

// load512 loads constants.
func (s *stepCode) load512(lanes *stepLanes) {
	s.vectors = map[string]vec{}
	for _, name := range []string{"Exponent", "Unit", "Inverse"} {
		s.vectors[name] = s.block("Consts").constant512(4, name)
	}
	for _, c := range []struct {
		dst  *vec
		from Mem
	}{{&s.scales[0], lanes.first}, {&s.scales[1], lanes.second}, {&s.even, lanes.even}, {&s.odd, lanes.odd}} {
		*c.dst = ZMM()
		VMOVDQU32(c.from, *c.dst)
	}
}

// outputs512 emits one step for the outputs of two rows in a group of 8 columns. A vector
// of products is two values of k by 8 columns of a row.
func (s *stepCode) outputs512(acc, ec, code, scale, ci vec) vec {
	s.scale512(ec, code, scale)
	VMULPS(scale, acc, ci)
	VCVTTPS2DQ(ci, ci)
	sums, floats := s.products512(scale)
	even, odd := s.rows512(sums, VPERMT2D)
	VPADDD(odd, ci, ci)
	r := ZMM()
	s.round512(even, ci, scale, r)
	d, finite := ZMM(), K()
	if s.inf {
		s.infinite512(acc, floats, d, finite)
	} else {
		s.finite512(acc, ec, code, d, finite)
	}
	VMOVAPS(r, finite, d)
	s.null512(acc, code, d)
	return d
}

// scale512 computes 2^(F-E) from the exponent fields of the accumulator and of the
// products; E is the largest of them.
func (s *stepCode) scale512(ec, code, scale vec) {
	top := ZMM()
	if s.fp16 { // the exponent of a non-zero accumulator is at least Emin
		some := K()
		VPTESTMD(ec, ec, some)
		VPMAXSD_BCST(s.k("Emin"), ec, some, ec)
	}
	VPMAXSD(ec, code, top)
	if !s.fits {
		VPMAXSD_BCST(s.k("Floor"), top, top)
	}
	VPSUBD(top, s.k("Unit"), scale)
}

// products512 is products2 for two rows: the sums of products of even k and of odd k,
// and if inf is set also the sums of the unscaled products, as floats.
func (s *stepCode) products512(scale vec) (sums, floats [2]vec) {
	var scales [2]vec
	for i := range scales {
		scales[i], sums[i], floats[i] = ZMM(), ZMM(), ZMM()
		VPERMPS(scale, s.scales[i], scales[i])
	}
	rows := [2]register{s.row, GP64()}
	stride, k := s.load("ARow"), GP64()
	LEAQ(Mem{Base: s.row, Index: stride, Scale: 1}, rows[1])
	four := func(first bool, from int) {
		var p [2][2]vec
		for i := range 2 {
			q := ZMM()
			VMOVUPS(Mem{Base: s.b, Index: k, Scale: 8, Disp: 32*from + 64*i}, q)
			for r := range rows {
				p[r][i] = ZMM()
				VBROADCASTSD(Mem{Base: rows[r], Index: k, Scale: 1, Disp: 4*from + 8*i}, p[r][i])
				VMULPS(q, p[r][i], p[r][i])
			}
		}
		for r, p := range p {
			if s.inf {
				s.add(first, VADDPS, p, floats[r])
			}
			for _, p := range p {
				VMULPS(scales[r], p, p)
				VCVTTPS2DQ(p, p)
			}
			s.add(first, VPADDD, p, sums[r])
		}
	}
	XORQ(k, k)
	four(true, 0)
	TESTQ(U32(16), s.mem("L4"))
	JNZ(LabelRef("odd"))
	four(false, 4)
	ADDQ(U8(16), k)
	Label("odd")
	ADDQ(U8(16), k)
	CMPQ(k, s.mem("L4"))
	JGE(LabelRef("summed"))
	Label("k")
	four(false, 0)
	four(false, 4)
	ADDQ(U8(32), k)
	CMPQ(k, s.mem("L4"))
	JL(LabelRef("k"))
	Label("summed")
	return sums, floats
}

// add adds two vectors to sum, or for the first time sets it to their sum.
func (s *stepCode) add(first bool, add instruction, v [2]vec, sum vec) {
	if first {
		add(v[1], v[0], sum)
		return
	}
	t := ZMM()
	add(v[1], v[0], t)
	add(t, sum, sum)
}

// rows512 turns the sums of two rows into those of even k and of odd k.
func (s *stepCode) rows512(rows [2]vec, permute instruction) (even, odd vec) {
	even, odd = rows[0], ZMM()
	VMOVAPS(rows[0], odd)
	permute(rows[1], s.even, even)
	permute(rows[1], s.odd, odd)
	return even, odd
}

// round512 rounds sum + ci, of 32 bits and a sign, and multiplies it by 2^(E-F). It rounds
// toward zero; for FP16 to odd, so that the conversion to FP16 gives what rounding the
// exact sum would.
func (s *stepCode) round512(sum, ci, scale, r vec) {
	m, inverse := ZMM(), ZMM()
	VPSUBD(scale, s.k("Inverse"), inverse)
	if s.fits { // the sum fits in an int32
		VPADDD(ci, sum, r)
		VCVTDQ2PS_RZ_SAE(r, r)
		VMULPS(inverse, r, r)
		return
	}
	VPADDD(ci, sum, m)
	// The sign is the majority of the signs of sum, ci and m: if the addition overflows,
	// m's is wrong and the other two agree.
	neg, negative, zero := sum, K(), ZMM()
	VPTERNLOGD(U8(0xe8), m, ci, neg)
	VPMOVD2M(neg, negative)
	VPXORD(zero, zero, zero)
	VPSUBD(m, zero, negative, m)
	VCVTUDQ2PS_RZ_SAE(m, r)
	if s.fp16 {
		back, inexact := ZMM(), K()
		VCVTTPS2UDQ(r, back)
		VPCMPD(U8(4), m, back, inexact)
		VPORD_BCST(s.k("One"), r, inexact, r)
	}
	VMULPS(inverse, r, r)
	if s.fp16 { // what would round to zero is +0
		some := K()
		VPCMPGTD_BCST(s.k("Small"), r, some)
		VMOVAPS_Z(r, some, r)
		VPANDD_BCST_Z(s.k("Sign"), neg, some, neg)
		VPORD(neg, r, r)
		return
	}
	VPTERNLOGD_BCST(U8(0xf8), s.k("Sign"), neg, r) // r | neg & Sign
	VPANDD_BCST(s.k("Keep"), r, r)
}

// finite512 makes a mask of the outputs that are finite, and in d the results of the
// others: the accumulator if it is Inf and no factor is NaN, else NaN.
func (s *stepCode) finite512(acc, ec, code, d vec, finite register) {
	numbers := K()
	VPCMPD_BCST(U8(2), s.k("Special"), code, numbers)
	VPBROADCASTD(s.k("QNaN"), d)
	VFIXUPIMMPS_BCST(U8(0), s.k("Infinite"), acc, numbers, d)
	VPCMPD_BCST(U8(2), s.k("Finite"), ec, numbers, finite)
}

// infinite512 does the same for steps with inf set, where the sum as floats decides.
func (s *stepCode) infinite512(acc vec, floats [2]vec, d vec, finite register) {
	even, odd := s.rows512(floats, VPERMT2PS)
	VADDPS(even, acc, even)
	VADDPS(odd, even, even)
	VPBROADCASTD(s.k("QNaN"), d)
	VFIXUPIMMPS_BCST(U8(0), s.k("Infinite"), even, d)
	VFPCLASSPSZ(U8(infOrNaN), even, finite)
	KNOTW(finite, finite)
}

// null512 corrects the outputs all of whose products are zero (E below Null): a finite
// accumulator is the result.
func (s *stepCode) null512(acc, code, d vec) {
	CMPQ(s.mem("AnyNull"), U8(0))
	JE(LabelRef("some"))
	null, some, value := K(), K(), ZMM()
	VPANDD_BCST(s.k("Abs"), acc, value)
	VPCMPD_BCST(U8(2), s.k("Finite"), value, null)
	VPCMPD_BCST(U8(1), s.k("Null"), code, null, null)
	VPANDD_BCST(s.k("Keep"), acc, value)
	VPTESTMD_BCST(s.k("Abs"), value, some)
	VMOVDQA32_Z(value, some, value) // zeros of either sign become +0
	VMOVDQA32(value, null, d)
	Label("some")
}
