package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// steps512 emits the steps with AVX-512: a vector is two rows by 8 columns.
func steps512() {
	for _, kind := range stepKinds("AVX512") {
		step(kind, 2*pairs512, func(s *stepCode) {
			bits := GP32()
			s.upper = K()
			MOVL(U32(0xff00), bits)
			KMOVW(bits, s.upper)
			s.vectors = map[string]reg.VecVirtual{}
			for _, name := range []string{"Abs", "Unit", "Inverse"} {
				v := ZMM()
				VPBROADCASTD(s.k(name), v)
				s.vectors[name] = v
			}
		}, (*stepCode).rows512)
	}
}

// pair512 is the registers of two rows.
type pair512 struct{ acc, abs, code, scale, ci, sum, floats, r reg.VecVirtual }

const pairs512 = 1 // that are done at once

// rows512 is a step of the outputs of some pairs of rows and a group.
func (s *stepCode) rows512() {
	var ps [pairs512]pair512
	width := 64
	if s.half {
		width = 32
	}
	for i := range ps {
		p := &ps[i]
		p.acc, p.abs, p.code, p.scale = ZMM(), ZMM(), ZMM(), ZMM()
		p.ci, p.sum = ZMM(), ZMM()
		if s.half {
			VCVTPH2PS(Mem{Base: s.c, Disp: width * i}, p.acc)
		} else {
			VMOVUPS(Mem{Base: s.c, Disp: width * i}, p.acc)
		}
		VPMOVZXBD(Mem{Base: s.e, Disp: 16 * i}, p.code)
		VPANDD(s.vectors["Abs"], p.acc, p.abs)
		s.scale512(p.abs, p.code, p.scale)
		VMULPS(p.scale, p.acc, p.ci)
		VCVTTPS2DQ(p.ci, p.ci)
		if s.fits {
			p.sum = p.ci
		} else {
			VPXORD(p.sum, p.sum, p.sum)
		}
		if s.special {
			p.floats = ZMM()
			VMOVAPS(p.acc, p.floats)
		}
	}
	s.products512(&ps)
	for i := range ps {
		p := &ps[i]
		p.r = ZMM()
		s.round512(p.sum, p.ci, p.scale, p.r)
		s.exceptions512(i, p.r, p.acc, p.abs, p.code, p.floats)
		if s.half {
			VCVTPS2PH(U8(0), p.r, Mem{Base: s.d, Disp: width * i})
		} else {
			VMOVUPS(p.r, Mem{Base: s.d, Disp: width * i})
		}
	}
	stride := Load(s.x.Field("ARow"), GP64())
	for range pairs512 {
		LEAQ(Mem{Base: s.row, Index: stride, Scale: 2}, s.row)
	}
	ADDQ(U8(16*pairs512), s.e)
	ADDQ(U32(uint32(width*pairs512)), s.c)
	ADDQ(U32(uint32(width*pairs512)), s.d)
}

// scale512 is scale2.
func (s *stepCode) scale512(abs, code, scale reg.VecVirtual) {
	ec, top := ZMM(), ZMM()
	VPSRLD(U8(23), abs, ec)
	if s.half { // an accumulator that is not zero has Emin at least
		some := K()
		VPTESTMD(abs, abs, some)
		VPMAXSD_BCST(s.k("Emin"), ec, some, ec)
	}
	VPMAXSD(ec, code, top)
	if !s.fits {
		VPMAXSD_BCST(s.k("Floor"), top, top)
	}
	VPSUBD(top, s.vectors["Unit"], scale)
	VPSLLD(U8(23), scale, scale)
}

// products512 is products2.
func (s *stepCode) products512(ps *[pairs512]pair512) {
	rows := []reg.Register{s.row}
	stride := Load(s.x.Field("ARow"), GP64())
	for i := 1; i < 2*pairs512; i++ {
		r := GP64()
		LEAQ(Mem{Base: rows[i-1], Index: stride, Scale: 1}, r)
		rows = append(rows, r)
	}
	s.products(func(k reg.Register, from int) {
		var q [4]reg.VecVirtual
		for i := range q {
			q[i] = ZMM()
			VBROADCASTF32X8(Mem{Base: s.b, Index: k, Scale: 8, Disp: 32 * (from + i)}, q[i])
		}
		for n := range ps {
			v := &ps[n]
			var p [4]reg.VecVirtual
			for i := range p {
				p[i] = ZMM()
				VBROADCASTSS(Mem{Base: rows[2*n], Index: k, Scale: 1, Disp: 4 * (from + i)}, p[i])
				VBROADCASTSS(Mem{Base: rows[2*n+1], Index: k, Scale: 1, Disp: 4 * (from + i)}, s.upper, p[i])
				VMULPS(q[i], p[i], p[i])
			}
			if s.special {
				t, u := ZMM(), ZMM()
				VADDPS(p[0], p[1], t)
				VADDPS(p[2], p[3], u)
				VADDPS(t, u, u)
				VADDPS(u, v.floats, v.floats)
			}
			for _, p := range p {
				VMULPS(v.scale, p, p)
				VCVTTPS2DQ(p, p)
			}
			if from == 0 {
				addFour(VPADDD, p, v.sum)
			} else {
				addFour(VPADDD, p, v.ci)
			}
		}
	})
}

// round512 rounds sum + ci, of 32 bits and a sign, and multiplies it by 2^(E-F):
// toward zero, or for FP16 to odd, which the conversion to FP16 then rounds as if
// it were exact.
func (s *stepCode) round512(sum, ci, scale, r reg.VecVirtual) {
	m, inverse := ZMM(), ZMM()
	VPSUBD(scale, s.vectors["Inverse"], inverse)
	if s.fits { // one sum
		VCVTDQ2PS_RZ_SAE(sum, r)
		VMULPS(inverse, r, r)
		return
	}
	VPADDD(ci, sum, m)
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
func (s *stepCode) exceptions512(n int, r, acc, abs, code, floats reg.VecVirtual) {
	null, is, some, nan, value := K(), K(), K(), K(), ZMM()
	usual := fmt.Sprint("usual", n)
	VPCMPD_BCST(U8(1), s.k("Null"), code, null)
	VPCMPGTD_BCST(s.k("Finite"), abs, is)
	VPCMPGTD_BCST(s.k("Special"), code, nan)
	if s.special {
		KORW(nan, is, is)
	} else {
		floats = acc
	}
	KORTESTW(null, is)
	JZ(LabelRef(usual))
	VPANDD_BCST(s.k("Keep"), acc, value)
	VPTESTMD_BCST(s.k("Abs"), value, some)
	VMOVDQA32_Z(value, some, value) // +0 of both zeros
	VMOVDQA32(value, null, r)
	VMOVAPS(floats, is, r)
	VCMPPS(U8(3), floats, floats, is, some) // unordered
	VPBROADCASTD(s.k("QNaN"), some, r)
	Label(usual)
	if !s.special {
		VPBROADCASTD(s.k("QNaN"), nan, r)
	}
}
