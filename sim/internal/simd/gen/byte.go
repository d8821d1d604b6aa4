package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// byte2 emits decode2 for codes of one byte, 32 at a time.
func (h *halfConsts) byte2() {
	TEXT("decodeByteAVX2", NOSPLIT, "func(x *Byte)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, val, code := Load(x.Field("Src"), GP64()), Load(x.Field("Val"), GP64()), Load(x.Field("Code"), GP64())
	n := Load(x.Field("N"), GP64())
	SHRQ(U8(5), n)
	left, signLeft, zero, any, factor, infinity := XMM(), XMM(), YMM(), YMM(), YMM(), YMM()
	VMOVDQU(h.infinity, infinity)
	VMOVQ(mem(x, "Left"), left)
	VMOVQ(mem(x, "SignLeft"), signLeft)
	VMOVUPS(mem(x, "Factor"), factor)
	VPXOR(zero, zero, zero)
	VPXOR(any, any, any)
	loop("codes", n, func() {
		var c [2]reg.VecVirtual
		for i := range c {
			s, mag, nan, inf := YMM(), YMM(), YMM(), YMM()
			VPMOVZXBW(Mem{Base: src, Disp: 16 * i}, s)
			VPAND(mem(x, "Magnitude"), s, mag)
			VPCMPGTW(mem(x, "Top"), mag, nan)
			VPSLLW(left, mag, mag)
			VPCMPEQW(infinity, mag, inf)
			VPOR(inf, any, any)
			VPOR(nan, mag, mag) // all bits: NaN of FP16, too
			VPAND(h.abs, mag, mag)
			VPSLLW(signLeft, s, s)
			VPAND(mem(x, "SignBit"), s, s)
			VPOR(mag, s, s)
			upper := XMM()
			VEXTRACTI128(U8(1), s, upper)
			for j, half := range []reg.Register{s.AsX(), upper} {
				f := YMM()
				VCVTPH2PS(half, f)
				VMULPS(factor, f, f)
				VMOVUPS(f, Mem{Base: val, Disp: 64*i + 32*j})
			}
			c[i] = h.codes2(mag, infinity, zero)
		}
		VPACKUSWB(c[1], c[0], c[0])
		VPERMQ(U8(0xd8), c[0], c[0])
		VMOVDQU(c[0], Mem{Base: code})
		ADDQ(U8(32), src)
		ADDQ(U32(128), val)
		ADDQ(U8(32), code)
	})
	storeUnlessZero(x, "AnyInf", func() { VPTEST(any, any) })
	VZEROUPPER()
	RET()
}

// byte512 is byte2 with AVX-512.
func (h *halfConsts) byte512() {
	TEXT("decodeByteAVX512", NOSPLIT, "func(x *Byte)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, val, code := Load(x.Field("Src"), GP64()), Load(x.Field("Val"), GP64()), Load(x.Field("Code"), GP64())
	n := Load(x.Field("N"), GP64())
	SHRQ(U8(5), n)
	word := func(name string) reg.VecVirtual {
		v := ZMM()
		VPBROADCASTW(mem(x, name), v)
		return v
	}
	magnitude, top, signBit := word("Magnitude"), word("Top"), word("SignBit")
	left, signLeft, factor, ones := XMM(), XMM(), ZMM(), ZMM()
	VMOVQ(mem(x, "Left"), left)
	VMOVQ(mem(x, "SignLeft"), signLeft)
	VBROADCASTSS(mem(x, "Factor"), factor)
	VMOVDQU16(h.abs, ones)
	c := newCodes512(h, NewDataAddr(Symbol{Name: "halfCodes", Static: true}, 0))
	loop("codes", n, func() {
		s, mag, upper, nan := ZMM(), ZMM(), YMM(), K()
		VPMOVZXBW(Mem{Base: src}, s)
		VPANDD(magnitude, s, mag)
		VPCMPGTW(top, mag, nan)
		VPSLLW(left, mag, mag)
		VMOVDQU16(ones, nan, mag) // NaN of FP16, too
		VPSLLW(signLeft, s, s)
		VPTERNLOGD(U8(0xec), signBit, mag, s) // s & signBit | mag
		VEXTRACTI64X4(U8(1), s, upper)
		for j, half := range []reg.Register{s.AsY(), upper} {
			f := ZMM()
			VCVTPH2PS(half, f)
			VMULPS(factor, f, f)
			VMOVUPS(f, Mem{Base: val, Disp: 64 * j})
		}
		c.store(mag, Mem{Base: code})
		ADDQ(U8(32), src)
		ADDQ(U32(128), val)
		ADDQ(U8(32), code)
	})
	c.anyInf(x)
	VZEROUPPER()
	RET()
}
