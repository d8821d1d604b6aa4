package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
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

// fmaTiny512 emits a chain of FMAs of FP32, of eight rows by 8 columns at a time and in
// the end of four rows. Vectors of one row, not of two, take less time to load.
func fmaTiny512() {
	c := &tinyCode{}
	constants := GLOBL("tinyConstants", RODATA|NOPTR)
	for i, v := range []uint32{1<<31 - 1, math.Float32bits(0x1p-75), math.Float32bits(0x1p-52), math.Float32bits(0x1p-74), 2*127 - 76 - 1, 1 << 23} {
		DATA(4*i, U32(v))
	}
	TEXT("fma32TinyAVX512", NOSPLIT, "func(x *Chain)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	restore := control(mem(x, "Control"))
	local := func(field string) Mem {
		m, r := AllocLocal(8), Load(x.Field(field), GP64())
		MOVQ(r, m)
		return m
	}
	a, left, tinyA := local("A"), AllocLocal(8), AllocLocal(8)
	c.x, c.from, c.to = x, local("C"), local("D")
	c.b, c.tinyA, c.tinyB = Load(x.Field("B"), GP64()), Load(x.Field("TinyA"), GP64()), Load(x.Field("TinyB"), GP64())
	c.nan = YMM()
	VPBROADCASTD(mem(x, "QNaN"), c.nan)
	for i, v := range []*reg.VecVirtual{&c.abs, &c.up, &c.least, &c.down, &c.far, &c.normal} {
		*v = YMM()
		VPBROADCASTD(constants.Offset(4*i), *v)
	}
	times("tiles", x, "Tiles", func() {
		MOVQ(c.tinyA, tinyA)
		times("groups", x, "Groups", func() {
			r := Load(x.Field("Rows"), GP64())
			MOVQ(r, left)
			c.row = GP64()
			MOVQ(a, c.row)
			MOVQ(tinyA, c.tinyA)
			for _, rows := range []int{8, 4} {
				more, done := fmt.Sprint("rows", rows), fmt.Sprint("done", rows)
				SUBQ(U8(uint8(rows)), left)
				JL(LabelRef(done))
				Label(more)
				c.block(rows)
				SUBQ(U8(uint8(rows)), left)
				JGE(LabelRef(more))
				Label(done)
				ADDQ(U8(uint8(rows)), left)
			}
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
	x                    gotypes.Component
	from, to             Mem
	b, tinyA, tinyB, row reg.Register
	abs, up, least, down reg.VecVirtual
	far, normal          reg.VecVirtual
	nan                  reg.VecVirtual
}

// block does some rows, 4 or 8, and goes on to the next.
func (c *tinyCode) block(rows int) {
	acc := make([]reg.VecVirtual, rows)
	move := func(m Mem, each func(m Mem, v reg.VecVirtual)) {
		p := GP64()
		MOVQ(m, p)
		for i, v := range acc {
			each(Mem{Base: p, Disp: 32 * i}, v)
		}
		ADDQ(U32(uint32(32*rows)), m)
	}
	for i := range acc {
		acc[i] = YMM()
	}
	move(c.from, func(m Mem, v reg.VecVirtual) { VMOVUPS(m, v) })
	c.chain(rows, acc)
	move(c.to, func(m Mem, v reg.VecVirtual) {
		is := K()
		VCMPPS(U8(cmpUnord), v, v, is)
		VMOVAPS(c.nan, is, v)
		VMOVUPS(v, m)
	})
	stride := Load(c.x.Field("ARow"), GP64())
	LEAQ(Mem{Base: c.row, Index: stride, Scale: uint8(rows)}, c.row)
	for range rows / 4 {
		ADDQ(mem(c.x, "K"), c.tinyA)
	}
}

// chain adds the products of some rows, in their order.
func (c *tinyCode) chain(rows int, acc []reg.VecVirtual) {
	order, n, at := Load(c.x.Field("Order"), GP64()), Load(c.x.Field("N"), GP64()), GP64() // at: -4*n up to 0
	LEAQ(Mem{Base: order, Index: n, Scale: 4}, order)
	SHLQ(U8(2), n)
	XORQ(at, at)
	SUBQ(n, at)
	stride, stride3, next := Load(c.x.Field("ARow"), GP64()), GP64(), GP64() // next: flags of the other four rows
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	MOVQ(c.tinyA, next)
	ADDQ(mem(c.x, "K"), next)
	label := func(name string) string { return fmt.Sprint(name, rows) }
	k, from, next4, b, tiny := GP64(), GP64(), GP64(), YMM(), GP32()
	var factors []Mem
	for _, p := range []reg.Register{from, next4}[:rows/4] {
		factors = append(factors, Mem{Base: p}, Mem{Base: p, Index: stride, Scale: 1}, Mem{Base: p, Index: stride, Scale: 2}, Mem{Base: p, Index: stride3, Scale: 1})
	}
	element := func() { // makes the addresses
		MOVLQZX(Mem{Base: order, Index: at, Scale: 1}, k)
		LEAQ(Mem{Base: c.row, Index: k, Scale: 4}, from)
		if rows == 8 {
			LEAQ(Mem{Base: from, Index: stride, Scale: 4}, next4)
		}
	}
	column := Mem{Base: c.b, Index: k, Scale: 4} // with 8k
	testSubnormal(acc)
	JZ(LabelRef(label("k")))
	element()
	SHLQ(U8(3), k)
	c.tinyAccumulators(column, factors, acc)
	Label(label("k"))
	element()
	MOVBLZX(Mem{Base: c.tinyA, Index: k, Scale: 1}, tiny)
	ORB(Mem{Base: c.tinyB, Index: k, Scale: 1}, tiny.As8())
	if rows == 8 {
		ORB(Mem{Base: next, Index: k, Scale: 1}, tiny.As8())
	}
	SHLQ(U8(3), k)
	VMOVUPS(column, b)
	TESTL(tiny, tiny)
	JNZ(LabelRef(label("tiny")))
	for i, m := range factors {
		VFMADD231PS_BCST(m, b, acc[i])
	}
	ADDQ(U8(4), at)
	JNZ(LabelRef(label("k")))
	JMP(LabelRef(label("end")))
	Label(label("tiny"))
	c.tiny(b, factors, acc)
	ADDQ(U8(4), at)
	JNZ(LabelRef(label("k")))
	Label(label("end"))
}

// testSubnormal clears the zero flag if some number is subnormal.
func testSubnormal(vectors []reg.VecVirtual) {
	some := K()
	for i, v := range vectors {
		is := K()
		VFPCLASSPSY(U8(subnormal), v, is)
		if i == 0 {
			KMOVB(is, some)
		} else {
			KORB(is, some, some)
		}
	}
	KTESTB(some, some)
}

// tiny adds products some of whose factors are subnormal: such a factor times 2^74,
// which the processor gets by converting an integer, and the other times 2^-74. If that
// is below 2^-52 it is made that: the product is below 2^-178, and nothing but its sign
// counts.
func (c *tinyCode) tiny(b reg.VecVirtual, rows []Mem, acc []reg.VecVirtual) {
	isB, largeB, smallB := c.scaled(b)
	for i, m := range rows {
		a, is, usual := YMM(), K(), K()
		VBROADCASTSS(m, a)
		isA, large, small := c.scaled(a)
		KORB(isA, isB, is)
		KNOTB(is, usual)
		VFMADD231PS(b, a, usual, acc[i])
		VBLENDMPS(large, largeB, isA, large)
		VBLENDMPS(smallB, small, isA, small)
		VFMADD231PS(small, large, is, acc[i])
	}
}

// scaled says which factors are subnormal, and makes both multiples of all.
func (c *tinyCode) scaled(v reg.VecVirtual) (is reg.Register, large, small reg.VecVirtual) {
	some, sign, mag := K(), YMM(), YMM()
	is, large, small = K(), YMM(), YMM()
	VFPCLASSPSY(U8(subnormal), v, is)
	VPANDD(c.abs, v, mag)
	VPANDND(v, c.abs, sign)
	VCVTDQ2PS(mag, large)
	VMULPS(c.up, large, large)
	VPORD(sign, large, large)
	VPTESTMD(mag, mag, some)
	VPMAXSD(c.least, mag, small)
	VMULPS_Z(c.down, small, some, small)
	VPORD(sign, small, small)
	return is, large, small
}

// tinyAccumulators makes normal numbers of subnormal accumulators, which take as long,
// where the first product is at least 2^-76: it is a multiple of 2^-122, so that nothing
// but their sign counts.
func (c *tinyCode) tinyAccumulators(b Mem, rows []Mem, acc []reg.VecVirtual) {
	field := func(v reg.VecVirtual) {
		VPSLLD(U8(1), v, v)
		VPSRLD(U8(24), v, v)
	}
	eb := YMM()
	VMOVUPS(b, eb)
	field(eb)
	for i, m := range rows {
		e, least, is := YMM(), YMM(), K()
		VFPCLASSPSY(U8(subnormal), acc[i], is)
		VBROADCASTSS(m, e)
		field(e)
		VPMINSD(e, eb, least)
		VPTESTMD(least, least, is, is)
		VPADDD(e, eb, e)
		VPCMPGTD(c.far, e, is, is)
		VPORD(c.normal, acc[i], is, acc[i])
	}
}
