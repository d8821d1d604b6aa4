package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scales emits the routines that multiply decoded operands by block scales, which
// are powers of two or NaN: values, exponent codes, and kinds.
func scales() {
	scaleRows()
	scaleColumns()
}

// scaleCodes adds to codes that are not 0 and sets bits in all.
func scaleCodes(codes Mem, add, set reg.Register, like func() reg.VecVirtual) {
	c, m := like(), like()
	VMOVDQU(codes, c)
	VPXOR(m, m, m)
	VPCMPEQW(c, m, m)
	VPANDN(add, m, m)
	VPADDW(m, c, c)
	VPOR(set, c, c)
	VMOVDQU(c, codes)
}

// scaleKinds adds a vector to 8 kinds, if there are any, and goes on to the next.
func scaleKinds(kind, nan reg.Register) {
	TESTQ(kind, kind)
	JZ(LabelRef("next"))
	v := YMM()
	VADDPS(Mem{Base: kind}, nan, v)
	VMOVUPS(v, Mem{Base: kind})
	ADDQ(U8(32), kind)
	Label("next")
}

// scaleRows does rows, a block of 8 values of k or a multiple at a time.
func scaleRows() {
	TEXT("scaleRowsAVX2", NOSPLIT, "func(x *Scale)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	val, code, kind := Load(x.Field("Val"), GP64()), Load(x.Field("Code"), GP64()), Load(x.Field("Kind"), GP64())
	factor, add, set, nan := Load(x.Field("Factor"), GP64()), Load(x.Field("Add"), GP64()), Load(x.Field("Set"), GP64()), Load(x.Field("NaN"), GP64())
	n := Load(x.Field("N"), GP64())
	loop("blocks", n, func() {
		f, a, s, q := YMM(), XMM(), XMM(), YMM()
		VBROADCASTSD(Mem{Base: factor}, f)
		VPBROADCASTW(Mem{Base: add}, a)
		VPBROADCASTW(Mem{Base: set}, s)
		VBROADCASTSS(Mem{Base: nan}, q)
		left := Load(x.Field("Block"), GP64())
		Label("k")
		for i := range 2 {
			v := YMM()
			VMULPD(Mem{Base: val, Disp: 32 * i}, f, v)
			VMOVUPD(v, Mem{Base: val, Disp: 32 * i})
		}
		scaleCodes(Mem{Base: code}, a, s, func() reg.VecVirtual { return XMM() })
		scaleKinds(kind, q)
		ADDQ(U8(64), val)
		ADDQ(U8(16), code)
		SUBQ(U8(8), left)
		JG(LabelRef("k"))
		ADDQ(U8(8), factor)
		ADDQ(U8(2), add)
		ADDQ(U8(2), set)
		ADDQ(U8(4), nan)
	})
	VZEROUPPER()
	RET()
}

// scaleColumns does columns, 8 of them at a time; a block is any number of values
// of k.
func scaleColumns() {
	TEXT("scaleColumnsAVX2", NOSPLIT, "func(x *Scale)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	val, code, kind := Load(x.Field("Val"), GP64()), Load(x.Field("Code"), GP64()), Load(x.Field("Kind"), GP64())
	factor, add, set, nan := Load(x.Field("Factor"), GP64()), Load(x.Field("Add"), GP64()), Load(x.Field("Set"), GP64()), Load(x.Field("NaN"), GP64())
	n := Load(x.Field("N"), GP64())
	loop("blocks", n, func() {
		f, a, s, q := [2]reg.VecVirtual{YMM(), YMM()}, XMM(), XMM(), YMM()
		for i := range f {
			VMOVUPD(Mem{Base: factor, Disp: 32 * i}, f[i])
		}
		VMOVDQU(Mem{Base: add}, a)
		VMOVDQU(Mem{Base: set}, s)
		VMOVUPS(Mem{Base: nan}, q)
		left := Load(x.Field("Block"), GP64())
		Label("k")
		for i := range 6 {
			v := YMM()
			VMULPD(Mem{Base: val, Disp: 32 * i}, f[i%2], v)
			VMOVUPD(v, Mem{Base: val, Disp: 32 * i})
		}
		scaleCodes(Mem{Base: code}, a, s, func() reg.VecVirtual { return XMM() })
		scaleKinds(kind, q)
		ADDQ(U32(192), val)
		ADDQ(U8(16), code)
		DECQ(left)
		JNZ(LabelRef("k"))
		ADDQ(U8(64), factor)
		ADDQ(U8(16), add)
		ADDQ(U8(16), set)
		ADDQ(U8(32), nan)
	})
	VZEROUPPER()
	RET()
}
