package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// steps512 emits the steps with AVX-512: a vector is two rows by 8 columns.
func steps512() {
	for _, kind := range stepKinds("AVX512") {
		step(kind, 2, func(s *stepCode) {
			bits := GP32()
			s.upper = K()
			MOVL(U32(0xff00), bits)
			KMOVW(bits, s.upper)
		}, (*stepCode).rows512)
	}
}

// rows512 is a step of the outputs of two rows and a group.
func (s *stepCode) rows512() {
	acc, abs, code, scale := ZMM(), ZMM(), ZMM(), ZMM()
	if s.half {
		VCVTPH2PS(Mem{Base: s.c}, acc)
	} else {
		VMOVUPS(Mem{Base: s.c}, acc)
	}
	VPMOVZXBD(Mem{Base: s.e}, code)
	VPANDD_BCST(s.k("Abs"), acc, abs)
	s.scale512(abs, code, scale)
	ci, sum, floats := ZMM(), ZMM(), ZMM()
	VMULPS(scale, acc, ci)
	VCVTTPS2DQ(ci, ci)
	if s.special {
		VMOVAPS(acc, floats)
	}
	s.products512(scale, sum, floats)
	r := ZMM()
	s.round512(sum, ci, scale, r)
	s.exceptions512(r, acc, abs, code, floats)
	width := 64
	if s.half {
		width = 32
		VCVTPS2PH(U8(0), r, Mem{Base: s.d})
	} else {
		VMOVUPS(r, Mem{Base: s.d})
	}
	stride := Load(s.x.Field("ARow"), GP64())
	LEAQ(Mem{Base: s.row, Index: stride, Scale: 2}, s.row)
	ADDQ(U8(16), s.e)
	ADDQ(U8(uint8(width)), s.c)
	ADDQ(U8(uint8(width)), s.d)
}

// scale512 is scale2.
func (s *stepCode) scale512(abs, code, scale reg.VecVirtual) {
	ec, top := ZMM(), ZMM()
	VPSRLD(U8(23), abs, ec)
	VPSUBD_BCST(s.k("Field"), ec, ec)
	if s.half { // an accumulator that is not zero has Emin at least
		some := K()
		VPTESTMD(abs, abs, some)
		VPMAXSD_BCST(s.k("Emin"), ec, some, ec)
	}
	VPMAXSD(ec, code, top)
	if !s.fits {
		VPMAXSD_BCST(s.k("Floor"), top, top)
	}
	VPBROADCASTD(s.k("Unit"), scale)
	VPSUBD(top, scale, scale)
	VPSLLD(U8(23), scale, scale)
}

// products512 is products2.
func (s *stepCode) products512(scale, sum, floats reg.VecVirtual) {
	k, second := GP64(), GP64()
	MOVQ(s.row, second)
	ADDQ(s.arg("ARow"), second)
	XORQ(k, k)
	VPXORD(sum, sum, sum)
	Label("k")
	for i := range 4 {
		p, q := ZMM(), ZMM()
		VBROADCASTSS(Mem{Base: s.row, Index: k, Scale: 1, Disp: 4 * i}, p)
		VBROADCASTSS(Mem{Base: second, Index: k, Scale: 1, Disp: 4 * i}, s.upper, p)
		VBROADCASTF32X8(Mem{Base: s.b, Index: k, Scale: 8, Disp: 32 * i}, q)
		VMULPS(q, p, p)
		if s.special {
			VADDPS(p, floats, floats)
		}
		VMULPS(scale, p, p)
		VCVTTPS2DQ(p, p)
		VPADDD(p, sum, sum)
	}
	ADDQ(U8(16), k)
	CMPQ(k, s.arg("L4"))
	JB(LabelRef("k"))
}

// round512 rounds sum + ci, of 32 bits and a sign, and multiplies it by 2^(E-F):
// toward zero, or for FP16 to odd, which the conversion to FP16 then rounds as if
// it were exact.
func (s *stepCode) round512(sum, ci, scale, r reg.VecVirtual) {
	m, inverse := ZMM(), ZMM()
	VPBROADCASTD(s.k("Inverse"), inverse)
	VPSUBD(scale, inverse, inverse)
	VPADDD(ci, sum, m)
	if s.fits {
		VCVTDQ2PS_RZ_SAE(m, r)
		VMULPS(inverse, r, r)
		return
	}
	// The sum of two int32 that overflows has the sign of both: the majority.
	neg, negative, zero := sum, K(), ZMM()
	VPTERNLOGD(U8(0xe8), m, ci, neg)
	VPMOVD2M(neg, negative)
	VPXORD(zero, zero, zero)
	VPSUBD(m, zero, negative, m)
	VCVTUDQ2PS_RZ_SAE(m, r)
	if s.half {
		back, inexact := ZMM(), K()
		VCVTTPS2UDQ(r, back)
		VPCMPD(U8(4), m, back, inexact)
		VPORD_BCST(s.k("One"), r, inexact, r)
	}
	VMULPS(inverse, r, r)
	if s.half { // what would round to zero is +0
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

// exceptions512 is exceptions2.
func (s *stepCode) exceptions512(r, acc, abs, code, floats reg.VecVirtual) {
	null, is := K(), K()
	VPCMPD_BCST(U8(1), s.k("Null"), code, null)
	VPCMPGTD_BCST(s.k("Finite"), abs, is)
	if s.special {
		special := K()
		VPCMPGTD_BCST(s.k("Special"), code, special)
		KORW(special, is, is)
	} else {
		floats = acc
	}
	KORTESTW(null, is)
	JZ(LabelRef("usual"))
	value, some, nan := ZMM(), K(), K()
	VPANDD_BCST(s.k("Keep"), acc, value)
	VPTESTMD_BCST(s.k("Abs"), value, some)
	VMOVDQA32_Z(value, some, value) // +0 of both zeros
	VMOVDQA32(value, null, r)
	VMOVAPS(floats, is, r)
	VCMPPS(U8(3), floats, floats, is, nan) // unordered
	VPBROADCASTD(s.k("QNaN"), nan, r)
	Label("usual")
}
