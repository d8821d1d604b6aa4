package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
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
		abs: words("halfAbs", 0x7fff), one: words("halfOne", 1), infinity: words("halfInfinity", 0x7c00),
		code: words("halfCode", codeOne-1), special: words("halfSpecial", codeSpecial),
	}
	c.decode2()
	c.decode512()
	c.byte2()
	c.byte512()
}

type halfConsts struct{ abs, one, infinity, code, special Mem }

func (h *halfConsts) decode2() {
	TEXT("decodeHalfAVX2", NOSPLIT, "func(x *Half)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, val, code := Load(x.Field("Src"), GP64()), Load(x.Field("Val"), GP64()), Load(x.Field("Code"), GP64())
	n := Load(x.Field("N"), GP64())
	SHRQ(U8(5), n)
	zero, any, abs, infinity := YMM(), YMM(), YMM(), YMM()
	VPXOR(zero, zero, zero)
	VPXOR(any, any, any)
	VMOVDQU(h.abs, abs)
	VMOVDQU(h.infinity, infinity)
	loop("codes", n, func() {
		var c [2]reg.VecVirtual
		for i := range c {
			for j := range 2 {
				v := YMM()
				VCVTPH2PS(Mem{Base: src, Disp: 32*i + 16*j}, v)
				VMOVUPS(v, Mem{Base: val, Disp: 64*i + 32*j})
			}
			mag, inf := YMM(), YMM()
			VPAND(Mem{Base: src, Disp: 32 * i}, abs, mag)
			VPCMPEQW(infinity, mag, inf)
			VPOR(inf, any, any)
			c[i] = h.codes2(mag, infinity, zero)
		}
		VPACKUSWB(c[1], c[0], c[0])
		VPERMQ(U8(0xd8), c[0], c[0])
		VMOVDQU(c[0], Mem{Base: code})
		ADDQ(U8(64), src)
		ADDQ(U32(128), val)
		ADDQ(U8(32), code)
	})
	storeUnlessZero(x, "AnyInf", func() { VPTEST(any, any) })
	VZEROUPPER()
	RET()
}

// codes2 returns the exponent codes of magnitudes of FP16.
func (h *halfConsts) codes2(mag, infinity, zero reg.VecVirtual) reg.VecVirtual {
	field, special := YMM(), YMM()
	VPMAXUW(infinity, mag, special)
	VPCMPEQW(special, mag, special)
	VPAND(h.special, special, special)
	VPSRLW(U8(10), mag, field)
	VPMAXUW(h.one, field, field)
	VPADDW(h.code, field, field)
	VPCMPEQW(zero, mag, mag)
	VPANDN(field, mag, field)
	VPOR(special, field, field)
	return field
}

func (h *halfConsts) decode512() {
	table := GLOBL("halfCodes", RODATA|NOPTR)
	for i := range 32 {
		code := codeOne - 1 + max(i, 1)
		if i == 31 {
			code = codeSpecial
		}
		DATA(2*i, U16(code))
	}
	TEXT("decodeHalfAVX512", NOSPLIT, "func(x *Half)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, val, code := Load(x.Field("Src"), GP64()), Load(x.Field("Val"), GP64()), Load(x.Field("Code"), GP64())
	n := Load(x.Field("N"), GP64())
	SHRQ(U8(5), n)
	c, abs := newCodes512(h, table), ZMM()
	VMOVDQU16(h.abs, abs)
	loop("codes", n, func() {
		for j := range 2 {
			v := ZMM()
			VCVTPH2PS(Mem{Base: src, Disp: 32 * j}, v)
			VMOVUPS(v, Mem{Base: val, Disp: 64 * j})
		}
		mag := ZMM()
		VPANDD(Mem{Base: src}, abs, mag)
		c.store(mag, Mem{Base: code})
		ADDQ(U8(64), src)
		ADDQ(U32(128), val)
		ADDQ(U8(32), code)
	})
	c.anyInf(x)
	VZEROUPPER()
	RET()
}

// codes512 makes exponent codes of magnitudes of FP16.
type codes512 struct {
	table    reg.VecVirtual // by exponent field
	infinity reg.VecVirtual
	nearest  reg.VecVirtual // the least difference from it, as bits
}

func newCodes512(h *halfConsts, table Mem) *codes512 {
	c := &codes512{ZMM(), ZMM(), ZMM()}
	VMOVDQU16(table, c.table)
	VMOVDQU16(h.infinity, c.infinity)
	VPTERNLOGD(U8(0xff), c.nearest, c.nearest, c.nearest)
	return c
}

func (c *codes512) store(mag reg.VecVirtual, to Mem) {
	some, difference := K(), ZMM()
	VPXORD(c.infinity, mag, difference)
	VPMINUW(difference, c.nearest, c.nearest)
	VPTESTMW(mag, mag, some)
	VPSRLW(U8(10), mag, mag)
	VPERMW_Z(c.table, mag, some, mag)
	VPMOVWB(mag, to)
}

// anyInf stores whether there was an infinity.
func (c *codes512) anyInf(x gotypes.Component) {
	bit, inf := GP32(), K()
	XORL(bit, bit)
	VPTESTNMW(c.nearest, c.nearest, inf)
	KORTESTD(inf, inf)
	SETNE(bit.As8())
	Store(bit.As64(), x.Field("AnyInf"))
}
