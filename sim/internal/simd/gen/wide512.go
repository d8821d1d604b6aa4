package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// words512 is words16 with AVX-512, for 32 codes.
func words512(width int, src reg.Register) reg.VecVirtual {
	c := ZMM()
	switch width {
	case 1:
		VPMOVZXBW(Mem{Base: src}, c)
	case 2:
		VMOVDQU16(Mem{Base: src}, c)
	case 4:
		one, rest := ZMM(), ZMM()
		r := GP32()
		MOVL(U32(1), r)
		VPBROADCASTD(r, one)
		MOVL(U32(0xe000), r)
		VPBROADCASTD(r, rest)
		var half [2]reg.VecVirtual
		for i := range half {
			half[i] = ZMM()
			some := K()
			VMOVDQU32(Mem{Base: src, Disp: 64 * i}, half[i])
			VPTESTMD(rest, half[i], some)
			VPSRLD(U8(16), half[i], half[i])
			VPORD(one, half[i], some, half[i])
		}
		order := ZMM()
		VMOVDQU64(NewDataAddr(Symbol{Name: "packedOrder", Static: true}, 0), order)
		VPACKUSDW(half[1], half[0], c)
		VPERMQ(c, order, c)
	}
	return c
}

// packedOrder emits the order of 8 bytes of two vectors that VPACKUSDW mixed.
func packedOrder() {
	GLOBL("packedOrder", RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(uint64(i%4*2+i/4)))
	}
}

// classes512 is what the codes of a vector of words are.
type classes512 struct {
	magnitude, top reg.VecVirtual // constants
	nan            reg.VecVirtual // nil: only magnitudes above top are NaN
}

func newClasses512(x gotypes.Component, width int) *classes512 {
	word := func(name string) reg.VecVirtual {
		v := ZMM()
		VPBROADCASTW(mem(x, name), v)
		return v
	}
	c := &classes512{magnitude: word("Magnitude"), top: word("Top")}
	if width == 1 {
		c.nan = word("NaN")
	}
	return c
}

// of returns magnitudes and which are not zero, and which are Inf or NaN.
func (c *classes512) of(v reg.VecVirtual) (mag reg.VecVirtual, some, special reg.Register) {
	mag = ZMM()
	some, special = K(), K()
	VPANDD(c.magnitude, v, mag)
	VPTESTMW(mag, mag, some)
	VPCMPGTW(c.top, mag, special)
	if c.nan != nil {
		k := K()
		VPCMPEQW(c.nan, v, k)
		KORD(k, special, special)
	}
	return mag, some, special
}

// exponents512 is exponents with AVX-512, 32 at a time.
func exponents512(width int) {
	TEXT(fmt.Sprint("exponents", width, "AVX512"), NOSPLIT, "func(x *Exponents)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, code, sign, n := Load(x.Field("Src"), GP64()), Load(x.Field("Code"), GP64()), Load(x.Field("Sign"), GP64()), Load(x.Field("N"), GP64())
	classes := newClasses512(x, width)
	any, anyInf, frac, one, base, special, signBit, eight, infinity := K(), K(), ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), YMM(), ZMM()
	KXORD(any, any, any)
	KXORD(anyInf, anyInf, anyInf)
	VPBROADCASTW(mem(x, "Inf"), infinity)
	VPBROADCASTW(mem(x, "Frac"), frac)
	VPBROADCASTW(mem(x, "One"), one)
	VPBROADCASTW(mem(x, "Base"), base)
	VPBROADCASTW(mem(x, "Special"), special)
	VPBROADCASTW(mem(x, "SignBit"), signBit)
	VPBROADCASTB(mem(x, "Eight"), eight)
	Label("codes")
	c := words512(width, src)
	negative, bytes := K(), YMM()
	VPTESTMW(signBit, c, negative)
	VMOVDQU8_Z(eight, negative, bytes)
	VMOVDQU8(bytes, Mem{Base: sign})
	mag, some, sp := classes.of(c)
	inf := K()
	VPCMPEQW(infinity, mag, inf)
	KORD(inf, anyInf, anyInf)
	VPSRLVW(frac, mag, mag)
	VPMAXUW(one, mag, mag)
	VPADDW_Z(base, mag, some, mag)
	VMOVDQU16(special, sp, mag)
	KORD(sp, any, any)
	VMOVDQU16(mag, Mem{Base: code})
	ADDQ(U8(uint8(32*width)), src)
	ADDQ(U8(64), code)
	ADDQ(U8(32), sign)
	SUBQ(U8(32), n)
	JG(LabelRef("codes"))
	storeUnlessZero(x, "Any", func() { KORTESTD(any, any) })
	storeUnlessZero(x, "AnyInf", func() { KORTESTD(anyInf, anyInf) })
	VZEROUPPER()
	RET()
}

// kinds512 is kinds with AVX-512, 32 at a time.
func kinds512(width int) {
	TEXT(fmt.Sprint("kinds", width, "AVX512"), NOSPLIT, "func(x *Kinds)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, dst, n := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64()), Load(x.Field("N"), GP64())
	classes := newClasses512(x, width)
	word := func(name string) reg.VecVirtual {
		v := ZMM()
		VPBROADCASTW(mem(x, name), v)
		return v
	}
	number, inf, infKind, nanKind, sign := word("Number"), word("Inf"), word("InfKind"), word("NaNKind"), word("Sign")
	signLeft := ZMM()
	VPBROADCASTW(mem(x, "SignLeft"), signLeft)
	Label("codes")
	c := words512(width, src)
	mag, some, special := classes.of(c)
	v, isInf := ZMM(), K()
	VMOVDQU16_Z(number, some, v)
	VMOVDQU16(nanKind, special, v)
	VPCMPEQW(inf, mag, isInf)
	VMOVDQU16(infKind, isInf, v)
	VPSLLVW(signLeft, c, c)
	VPTERNLOGD(U8(0xf8), sign, c, v) // v | c & sign
	upper := YMM()
	VEXTRACTI64X4(U8(1), v, upper)
	for i, h := range []reg.Register{v.AsY(), upper} {
		f := ZMM()
		VPMOVZXWD(h, f)
		VPSLLD(U8(16), f, f)
		VMOVUPS(f, Mem{Base: dst, Disp: 64 * i})
	}
	ADDQ(U8(uint8(32*width)), src)
	ADDQ(U32(128), dst)
	SUBQ(U8(32), n)
	JG(LabelRef("codes"))
	VZEROUPPER()
	RET()
}
