package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// truncation holds the constants of the rounding toward zero to FP32.
type truncation struct {
	isa
	expMask, sign, emin, last, over vec
	nan                             register
}

func newTruncation(x code) *truncation {
	t := &truncation{
		isa: x.isa, expMask: x.constant("ExpMask"), sign: x.constant("SignBit"), emin: x.constant("Emin"),
		last: x.constant("Last"), over: x.constant("Over"),
	}
	t.nan = x.codeNaN()
	return t
}

// codeNaN loads the code of NaN into half a vector.
func (c code) codeNaN() register {
	nan := c.half(c.vec())
	VPBROADCASTD(c.mem("QNaN"), nan)
	return nan
}

// truncate rounds by adding 2^52 units of the last place and subtracting them.
func (t *truncation) truncate(v vec) {
	u, s := t.vec(), t.vec()
	VANDPD(t.expMask, v, u)
	VMAXPD(t.emin, u, u)
	VPADDQ(t.last, u, u)
	if t.isa == avx512 {
		VPTERNLOGQ(U8(0xf8), t.sign, v, u) // u | v & sign
	} else {
		VANDPD(t.sign, v, s)
		VORPD(s, u, u)
	}
	VADDPD(u, v, v)
	VSUBPD(u, v, v)
}

// convert converts to FP32, where numbers from 2^128 on are infinities.
func (t *truncation) convert(v vec) register {
	if t.isa == avx512 {
		h := t.half(t.vec())
		VCVTPD2PS_RN_SAE(v, h)
		return h
	}
	s, mag := t.vec(), t.vec()
	VANDPD(t.sign, v, s)
	VANDNPD(v, t.sign, mag)
	VORPD(t.expMask, s, s)
	t.choose(t.compare(cmpGE, mag, t.over), s, v)
	return t.narrow(v)
}

// storeFP32 stores sums and, where the accumulator or a factor is Inf or NaN, the result
// that these make. If special is false no factor is Inf, and what E marks is NaN.
func (s *sumsCode) storeFP32(h, nan register, col int, special bool) {
	if s.isa == avx512 {
		s.exceptions512(h, nan, col, special)
	} else {
		s.exceptions2(h, nan, col, special)
	}
	VMOVUPS(h, Mem{Base: s.sum, Disp: 4 * col})
}

func (s *sumsCode) exceptions512(h, nan register, col int, special bool) {
	acc, m, kind, bit, f := Mem{Base: s.acc, Disp: 4 * col}, K(), YMM(), XMM(), K()
	VFPCLASSPSY(U8(infOrNaN), acc, m)
	VMOVUPS(acc, m, h)
	if special {
		VMOVUPS(acc, kind)
		VADDPS(Mem{Base: s.kinds, Disp: 4 * col}, kind, kind)
		VPBROADCASTW(s.mem("Bit13"), bit)
		VPTESTMW(Mem{Base: s.e, Disp: 2 * col}, bit, f)
		VFPCLASSPSY(U8(infOrNaN), kind, f, f)
		VMOVAPS(kind, f, h)
	}
	VCMPPS(U8(cmpUnord), h, h, m)
	if !special {
		VPBROADCASTW(s.mem("Bit13"), bit)
		VPTESTMW(Mem{Base: s.e, Disp: 2 * col}, bit, f)
		KORW(f, m, m)
	}
	VMOVAPS(nan, m, h)
}

func (s *sumsCode) exceptions2(h, nan register, col int, special bool) {
	v, inf, m := XMM(), XMM(), XMM()
	VPBROADCASTD(s.mem("Inf32"), inf)
	VMOVUPS(Mem{Base: s.acc, Disp: 4 * col}, v)
	VANDPS(inf, v, m)
	VPCMPEQD(inf, m, m)
	VBLENDVPS(m, v, h, h)
	if special {
		is := XMM()
		VADDPS(Mem{Base: s.kinds, Disp: 4 * col}, v, v)
		VANDPS(inf, v, is)
		VPCMPEQD(inf, is, is)
		VPMOVZXWD(Mem{Base: s.e, Disp: 2 * col}, m)
		VPSLLD(U8(31-13), m, m)
		VPAND(is, m, m)
		VBLENDVPS(m, v, h, h)
	}
	VCMPPS(U8(cmpUnord), h, h, m)
	if !special {
		VPMOVZXWD(Mem{Base: s.e, Disp: 2 * col}, v)
		VPSLLD(U8(31-13), v, v)
		VPOR(v, m, m)
	}
	VBLENDVPS(m, nan, h, h)
}

// toNearest emits the routine that converts float64 sums to FP32, to nearest, with the
// exceptions of storeFP32.
func (i isa) toNearest(special bool) {
	s := newSums(i.routine(named("closing", false, special), "Sums"), true)
	nan := s.codeNaN()
	s.loop(64, func(col int) {
		s.storeFP32(i.narrow(Mem{Base: s.parts, Disp: 8 * col}), nan, col, special)
	})
	end()
}

// towardZero emits the same conversion toward zero, where factors may be Inf.
func (i isa) towardZero() {
	s := newSums(i.routine("truncating", "Sums"), true)
	restore := control(U32(roundZero))
	t := newTruncation(s.code)
	s.loop(64, func(col int) {
		v := i.vec()
		VMOVUPD(Mem{Base: s.parts, Disp: 8 * col}, v)
		t.truncate(v)
		s.storeFP32(t.convert(v), t.nan, col, true)
	})
	restore()
	end()
}
