package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A multiplication of a subnormal number takes a processor some 150 cycles, and of
// eight random operands of FP32 one in 32 has some. The routines here find the steps
// of a chain that have such operands, and take a longer way for these.

// tiny512 emits the routine that finds them.
func tiny512() {
	TEXT("tinyAVX512", NOSPLIT, "func(x *Tiny)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	a, b, to := Load(x.Field("A"), GP64()), Load(x.Field("B"), GP64()), Load(x.Field("TinyA"), GP64())
	row, n, k := Load(x.Field("ARow"), GP64()), Load(x.Field("K"), GP64()), GP64()
	times("tiles", x, "Tiles", func() {
		from, left := GP64(), Load(x.Field("Rows"), GP64())
		MOVQ(a, from)
		Label("rows")
		row3 := GP64()
		LEAQ(Mem{Base: row, Index: row, Scale: 2}, row3)
		ADDQ(from, row3)
		XORQ(k, k)
		Label("k")
		any := K()
		for i, m := range []Mem{{Base: from}, {Base: from, Index: row, Scale: 1}, {Base: from, Index: row, Scale: 2}, {Base: row3}} {
			v, is := ZMM(), K()
			VMOVUPS(m, v)
			VFPCLASSPSZ(U8(subnormal), v, is)
			if i == 0 {
				KMOVW(is, any)
			} else {
				KORW(is, any, any)
			}
		}
		bytes := XMM()
		VPMOVM2B(any, bytes)
		VMOVDQU(bytes, Mem{Base: to})
		ADDQ(U8(64), from)
		ADDQ(U8(64), row3)
		ADDQ(U8(16), to)
		ADDQ(U8(16), k)
		CMPQ(k, n)
		JB(LabelRef("k"))
		SHLQ(U8(2), k)
		SUBQ(k, from)
		LEAQ(Mem{Base: from, Index: row, Scale: 4}, from)
		SUBQ(U8(4), left)
		JG(LabelRef("rows"))
		ADDQ(mem(x, "ATile"), a)
	})
	to = Load(x.Field("TinyB"), GP64())
	IMULQ(mem(x, "Tiles"), n)
	IMULQ(mem(x, "Groups"), n)
	SHRQ(U8(4), n)
	loop("columns", n, func() {
		for i := range 8 {
			v, is := ZMM(), K()
			VMOVUPS(Mem{Base: b, Disp: 64 * i}, v)
			VFPCLASSPSZ(U8(subnormal), v, is)
			KMOVW(is, Mem{Base: to, Disp: 2 * i})
		}
		ADDQ(U32(512), b)
		ADDQ(U8(16), to)
	})
	VZEROUPPER()
	RET()
}

// subnormal is a class of VFPCLASSPS.
const subnormal = 0x20

// fmaTiny512 emits a chain of FMAs of FP32, of four rows by 8 columns at a time in two
// vectors.
func fmaTiny512() {
	c := &tinyCode{}
	constants := GLOBL("tinyConstants", RODATA|NOPTR)
	for i, v := range []uint32{1<<31 - 1, math.Float32bits(0x1p-75), math.Float32bits(0x1p-52), math.Float32bits(0x1p-74)} {
		DATA(4*i, U32(v))
	}
	TEXT("fma32TinyAVX512", NOSPLIT, "func(x *Chain)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	restore := control(mem(x, "Control"))
	a, from, to := AllocLocal(8), Load(x.Field("C"), GP64()), Load(x.Field("D"), GP64())
	first := Load(x.Field("A"), GP64())
	MOVQ(first, a)
	c.b, c.tinyA, c.tinyB = Load(x.Field("B"), GP64()), Load(x.Field("TinyA"), GP64()), Load(x.Field("TinyB"), GP64())
	tinyA := AllocLocal(8)
	nan := ZMM()
	VPBROADCASTD(mem(x, "QNaN"), nan)
	for i, v := range []*reg.VecVirtual{&c.abs, &c.up, &c.least, &c.down} {
		*v = ZMM()
		VPBROADCASTD(constants.Offset(4*i), *v)
	}
	upper := GP32()
	c.upper = K()
	MOVL(U32(0xff00), upper)
	KMOVW(upper, c.upper)
	times("tiles", x, "Tiles", func() {
		MOVQ(c.tinyA, tinyA)
		times("groups", x, "Groups", func() {
			left := AllocLocal(8)
			r := Load(x.Field("Rows"), GP64())
			MOVQ(r, left)
			stride := Load(x.Field("ARow"), GP64())
			c.rows[0] = GP64()
			MOVQ(a, c.rows[0])
			MOVQ(tinyA, c.tinyA)
			Label("rows")
			for i := 1; i < len(c.rows); i++ {
				c.rows[i] = GP64()
				LEAQ(Mem{Base: c.rows[i-1], Index: stride, Scale: 1}, c.rows[i])
			}
			for i := range c.acc {
				c.acc[i] = ZMM()
				VMOVUPS(Mem{Base: from, Disp: 64 * i}, c.acc[i])
			}
			c.chain(Load(x.Field("Order"), GP64()), Load(x.Field("N"), GP64()))
			for i, v := range c.acc {
				is := K()
				VCMPPS(U8(cmpUnord), v, v, is)
				VMOVAPS(nan, is, v)
				VMOVUPS(v, Mem{Base: to, Disp: 64 * i})
			}
			ADDQ(U32(128), from)
			ADDQ(U32(128), to)
			LEAQ(Mem{Base: c.rows[3], Index: stride, Scale: 1}, c.rows[0])
			ADDQ(mem(x, "K"), c.tinyA)
			SUBQ(U8(4), left)
			JG(LabelRef("rows"))
			ADDQ(mem(x, "BGroup"), c.b)
			ADDQ(mem(x, "K"), c.tinyB)
		})
		next := Load(x.Field("ATile"), GP64())
		ADDQ(next, a)
	})
	restore()
	VZEROUPPER()
	RET()
}

// tinyCode is what the code of the chain refers to.
type tinyCode struct {
	b, tinyA, tinyB      reg.Register
	rows                 [4]reg.Register
	upper                reg.Register // mask of the upper half of a vector
	acc                  [2]reg.VecVirtual
	abs, up, least, down reg.VecVirtual
}

// chain does n products in an order.
func (c *tinyCode) chain(order, n reg.Register) {
	at := GP64() // -4*n up to 0
	LEAQ(Mem{Base: order, Index: n, Scale: 4}, order)
	SHLQ(U8(2), n)
	XORQ(at, at)
	SUBQ(n, at)
	Label("k")
	k, k8, b, tiny := GP64(), GP64(), ZMM(), GP32()
	MOVLQZX(Mem{Base: order, Index: at, Scale: 1}, k)
	MOVQ(k, k8)
	SHLQ(U8(3), k8)
	VBROADCASTF32X8(Mem{Base: c.b, Index: k8, Scale: 4}, b)
	rows := [2]reg.VecVirtual{ZMM(), ZMM()}
	for i, row := range c.rows {
		if m := (Mem{Base: row, Index: k, Scale: 4}); i%2 == 0 {
			VBROADCASTSS(m, rows[i/2])
		} else {
			VBROADCASTSS(m, c.upper, rows[i/2])
		}
	}
	MOVBLZX(Mem{Base: c.tinyA, Index: k, Scale: 1}, tiny)
	ORB(Mem{Base: c.tinyB, Index: k, Scale: 1}, tiny.As8())
	JNZ(LabelRef("tiny"))
	for i, v := range rows {
		VFMADD231PS(v, b, c.acc[i])
	}
	ADDQ(U8(4), at)
	JNZ(LabelRef("k"))
	JMP(LabelRef("done"))
	Label("tiny")
	for i, v := range rows {
		c.tiny(v, b, c.acc[i])
	}
	ADDQ(U8(4), at)
	JNZ(LabelRef("k"))
	Label("done")
}

// tiny is an FMA of factors some of which are subnormal: such a factor times 2^74,
// which the processor gets by converting an integer, and the other times 2^-74. If
// that is below 2^-52 it is made that: the product is below 2^-178, and nothing but
// its sign counts.
func (c *tinyCode) tiny(a, b, acc reg.VecVirtual) {
	isA, is, usual, some := K(), K(), K(), K()
	x, y, sign, mag := ZMM(), ZMM(), ZMM(), ZMM()
	VFPCLASSPSZ(U8(subnormal), a, isA)
	VFPCLASSPSZ(U8(subnormal), b, is)
	KORW(isA, is, is)
	KNOTW(is, usual)
	VFMADD231PS(b, a, usual, acc)
	VMOVAPS(b, x)
	VMOVAPS(a, isA, x)
	VMOVAPS(a, y)
	VMOVAPS(b, isA, y)
	VPANDD(c.abs, x, mag)
	VPANDND(x, c.abs, sign)
	VCVTDQ2PS(mag, mag)
	VMULPS(c.up, mag, mag)
	VPORD(sign, mag, x)
	VPANDD(c.abs, y, mag)
	VPANDND(y, c.abs, sign)
	VPTESTMD(mag, mag, some)
	VPMAXSD(c.least, mag, mag)
	VMULPS_Z(c.down, mag, some, mag)
	VPORD(sign, mag, y)
	VFMADD231PS(y, x, is, acc)
}
