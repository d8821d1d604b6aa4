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
	left, signLeft, zero, any, factor := XMM(), XMM(), YMM(), YMM(), YMM()
	VMOVQ(mem(x, "Left"), left)
	VMOVQ(mem(x, "SignLeft"), signLeft)
	VMOVUPS(mem(x, "Factor"), factor)
	VPXOR(zero, zero, zero)
	VPXOR(any, any, any)
	loop("codes", n, func() {
		var c [2]reg.VecVirtual
		for i := range c {
			s, mag, special, t, f := YMM(), YMM(), YMM(), YMM(), YMM()
			VPMOVZXBW(Mem{Base: src, Disp: 16 * i}, s)
			VPAND(mem(x, "Magnitude"), s, mag)
			VPCMPGTW(mem(x, "Top"), mag, special)
			VPSLLW(left, mag, mag)
			VPAND(mem(x, "Special"), special, t)
			VPOR(t, mag, mag)
			VPSLLW(signLeft, s, s)
			VPAND(mem(x, "SignBit"), s, s)
			VPOR(mag, s, s)
			upper := XMM()
			VEXTRACTI128(U8(1), s, upper)
			for j, half := range []reg.Register{s.AsX(), upper} {
				VCVTPH2PS(half, f)
				VMULPS(factor, f, f)
				VMOVUPS(f, Mem{Base: val, Disp: 64*i + 32*j})
			}
			field := YMM()
			VPSRLW(U8(10), mag, field)
			VPMAXUW(h.one, field, field)
			VPADDW(h.code, field, field)
			VPCMPEQW(zero, mag, mag)
			VPANDN(field, mag, field)
			VPOR(special, any, any)
			VPAND(h.special, special, special)
			VPOR(special, field, field)
			c[i] = field
		}
		VPACKUSWB(c[1], c[0], c[0])
		VPERMQ(U8(0xd8), c[0], c[0])
		VMOVDQU(c[0], Mem{Base: code})
		ADDQ(U8(32), src)
		ADDQ(U32(128), val)
		ADDQ(U8(32), code)
	})
	bit := GP32()
	XORL(bit, bit)
	VPTEST(any, any)
	SETNE(bit.As8())
	Store(bit.As64(), x.Field("Any"))
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
	magnitude, top, signBit, specials := word("Magnitude"), word("Top"), word("SignBit"), word("Special")
	left, signLeft, any, factor := XMM(), XMM(), K(), ZMM()
	VMOVQ(mem(x, "Left"), left)
	VMOVQ(mem(x, "SignLeft"), signLeft)
	VBROADCASTSS(mem(x, "Factor"), factor)
	special, one, codes := ZMM(), ZMM(), ZMM()
	VMOVDQU16(h.special, special)
	VMOVDQU16(h.one, one)
	VMOVDQU16(h.code, codes)
	KXORD(any, any, any)
	loop("codes", n, func() {
		s, mag, f, upper, some, above := ZMM(), ZMM(), ZMM(), YMM(), K(), K()
		VPMOVZXBW(Mem{Base: src}, s)
		VPANDD(magnitude, s, mag)
		VPCMPGTW(top, mag, above)
		VPSLLW(left, mag, mag)
		VPSLLW(signLeft, s, s)
		VPTERNLOGD(U8(0xec), signBit, mag, s) // s & signBit | mag
		full := ZMM()
		VPORD(specials, s, full)
		VMOVDQU16(full, above, s)
		VEXTRACTI64X4(U8(1), s, upper)
		for j, half := range []reg.Register{s.AsY(), upper} {
			VCVTPH2PS(half, f)
			VMULPS(factor, f, f)
			VMOVUPS(f, Mem{Base: val, Disp: 64 * j})
		}
		VPTESTMW(mag, mag, some)
		VPSRLW(U8(10), mag, mag)
		VPMAXUW(one, mag, mag)
		VPADDW_Z(codes, mag, some, mag)
		VMOVDQU16(special, above, mag)
		KORD(above, any, any)
		VPMOVWB(mag, Mem{Base: code})
		ADDQ(U8(32), src)
		ADDQ(U32(128), val)
		ADDQ(U8(32), code)
	})
	bit := GP32()
	XORL(bit, bit)
	KORTESTD(any, any)
	SETNE(bit.As8())
	Store(bit.As64(), x.Field("Any"))
	VZEROUPPER()
	RET()
}
