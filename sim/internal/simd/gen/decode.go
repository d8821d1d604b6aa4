package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// words returns a vector with one word in all lanes of 32 bytes.
func words(name string, w uint16) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 16 {
		DATA(2*i, U16(w))
	}
	return m
}

// decodeHalf makes floats and exponent codes of FP16 codes, 32 at a time.
func decodeHalf() {
	abs, one, thirty, codeOne, special := words("halfAbs", 0x7fff), words("halfOne", 1), words("halfThirty", 30), words("halfCodeOne", codeOne-1), words("halfSpecial", codeSpecial)
	TEXT("decodeHalfAVX2", NOSPLIT, "func(x *Half)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, val, code := Load(x.Field("Src"), GP64()), Load(x.Field("Val"), GP64()), Load(x.Field("Code"), GP64())
	n := Load(x.Field("N"), GP64())
	SHRQ(U8(5), n)
	zero, any, vAbs, vSpecial := YMM(), YMM(), YMM(), YMM()
	VPXOR(zero, zero, zero)
	VPXOR(any, any, any)
	VMOVDQU(abs, vAbs)
	VMOVDQU(special, vSpecial)
	loop("codes", n, func() {
		var c [2]reg.VecVirtual
		for i := range c {
			for j := range 2 {
				v := YMM()
				VCVTPH2PS(Mem{Base: src, Disp: 32*i + 16*j}, v)
				VMOVUPS(v, Mem{Base: val, Disp: 64*i + 32*j})
			}
			mag, field, t := YMM(), YMM(), YMM()
			VPAND(Mem{Base: src, Disp: 32 * i}, vAbs, mag)
			VPSRLW(U8(10), mag, field)
			VPCMPGTW(thirty, field, t)
			VPMAXUW(one, field, field)
			VPADDW(codeOne, field, field)
			VPCMPEQW(zero, mag, mag)
			VPANDN(field, mag, field)
			VPAND(t, vSpecial, t)
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
	storeAny(any, x.Field("Any"))
}

// storeAny stores 1 if any bit of v is set, else 0, and returns.
func storeAny(v reg.VecVirtual, to gotypes.Component) {
	bit := GP32()
	XORL(bit, bit)
	VPTEST(v, v)
	SETNE(bit.As8())
	Store(bit.As64(), to)
	VZEROUPPER()
	RET()
}
