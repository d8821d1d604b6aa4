package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// words returns a vector with one word in all lanes of 64 bytes.
func words(name string, w uint16) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 32 {
		DATA(2*i, U16(w))
	}
	return m
}

// decodeHalf emits the routines that make floats and exponent codes of FP16
// codes, 32 at a time.
func decodeHalf() {
	c := halfConsts{
		abs: words("halfAbs", 0x7fff), one: words("halfOne", 1), thirty: words("halfThirty", 30),
		code: words("halfCode", codeOne-1), special: words("halfSpecial", codeSpecial),
	}
	c.decode2()
	c.decode512()
	c.byte2()
	c.byte512()
}

type halfConsts struct{ abs, one, thirty, code, special Mem }

func (h *halfConsts) decode2() {
	TEXT("decodeHalfAVX2", NOSPLIT, "func(x *Half)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, val, code := Load(x.Field("Src"), GP64()), Load(x.Field("Val"), GP64()), Load(x.Field("Code"), GP64())
	n := Load(x.Field("N"), GP64())
	SHRQ(U8(5), n)
	zero, any, abs, special := YMM(), YMM(), YMM(), YMM()
	VPXOR(zero, zero, zero)
	VPXOR(any, any, any)
	VMOVDQU(h.abs, abs)
	VMOVDQU(h.special, special)
	loop("codes", n, func() {
		var c [2]reg.VecVirtual
		for i := range c {
			for j := range 2 {
				v := YMM()
				VCVTPH2PS(Mem{Base: src, Disp: 32*i + 16*j}, v)
				VMOVUPS(v, Mem{Base: val, Disp: 64*i + 32*j})
			}
			mag, field, t := YMM(), YMM(), YMM()
			VPAND(Mem{Base: src, Disp: 32 * i}, abs, mag)
			VPSRLW(U8(10), mag, field)
			VPCMPGTW(h.thirty, field, t)
			VPMAXUW(h.one, field, field)
			VPADDW(h.code, field, field)
			VPCMPEQW(zero, mag, mag)
			VPANDN(field, mag, field)
			VPAND(t, special, t)
			VPOR(t, any, any)
			VPOR(t, field, field)
			c[i] = field
		}
		VPACKUSWB(c[1], c[0], c[0])
		VPERMQ(U8(0xd8), c[0], c[0])
		VMOVDQU(c[0], Mem{Base: code})
		ADDQ(U8(64), src)
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

func (h *halfConsts) decode512() {
	TEXT("decodeHalfAVX512", NOSPLIT, "func(x *Half)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, val, code := Load(x.Field("Src"), GP64()), Load(x.Field("Val"), GP64()), Load(x.Field("Code"), GP64())
	n := Load(x.Field("N"), GP64())
	SHRQ(U8(5), n)
	any, abs, special, one, thirty, codes := K(), ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	KXORD(any, any, any)
	VMOVDQU16(h.abs, abs)
	VMOVDQU16(h.special, special)
	VMOVDQU16(h.one, one)
	VMOVDQU16(h.thirty, thirty)
	VMOVDQU16(h.code, codes)
	loop("codes", n, func() {
		for j := range 2 {
			v := ZMM()
			VCVTPH2PS(Mem{Base: src, Disp: 32 * j}, v)
			VMOVUPS(v, Mem{Base: val, Disp: 64 * j})
		}
		mag, field, some, top := ZMM(), ZMM(), K(), K()
		VPANDD(Mem{Base: src}, abs, mag)
		VPTESTMW(mag, mag, some)
		VPSRLW(U8(10), mag, field)
		VPCMPGTW(thirty, field, top)
		VPMAXUW(one, field, field)
		VPADDW_Z(codes, field, some, field)
		VMOVDQU16(special, top, field)
		KORD(top, any, any)
		VPMOVWB(field, Mem{Base: code})
		ADDQ(U8(64), src)
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
