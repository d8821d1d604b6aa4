package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// A multiplication of a subnormal number takes a processor some 150 cycles, and one in
// 32 groups of eight random FP32 operands has one. The routines of this file find the
// steps of a chain that have subnormal operands, and compute those in another way.

// findSubnormals emits the routine that finds subnormal operands. It writes to TinyA, for
// every four rows, a byte for each k that is not zero if one of them is subnormal there; and
// to TinyB, for every k and 8 columns, a mask of those that are.
func findSubnormals() {
	x := avx512.routine("tiny", "Tiny")
	a, b, to := x.load("A"), x.load("B"), x.load("TinyA")
	row, n, k := x.load("ARow"), x.load("K"), GP64()
	x.times("tiles", "Tiles", func() {
		from, left := GP64(), x.load("Rows")
		MOVQ(a, from)
		loop("rows", left, 4, nil, func() {
			rows, row3 := fourRows(from, row)
			XORQ(k, k)
			Label("k")
			some, bytes := K(), XMM()
			for i, m := range rows {
				v, is := ZMM(), K()
				VMOVUPS(m, v)
				VFPCLASSPSZ(U8(subnormal), v, is)
				if i == 0 {
					KMOVW(is, some)
				} else {
					KORW(is, some, some)
				}
			}
			VPMOVM2B(some, bytes)
			VMOVDQU(bytes, Mem{Base: to})
			advance(move{from, 64}, move{row3, 64}, move{to, 16}, move{k, 16})
			CMPQ(k, n)
			JB(LabelRef("k"))
			SHLQ(U8(2), k)
			SUBQ(k, from)
			LEAQ(Mem{Base: from, Index: row, Scale: 4}, from)
		})
		ADDQ(x.mem("ATile"), a)
	})
	to = x.load("TinyB")
	IMULQ(x.mem("Tiles"), n)
	IMULQ(x.mem("Groups"), n)
	SHRQ(U8(4), n)
	loop("columns", n, 1, []move{{b, 512}, {to, 16}}, func() {
		for i := range 8 {
			v, is := ZMM(), K()
			VMOVUPS(Mem{Base: b, Disp: 64 * i}, v)
			VFPCLASSPSZ(U8(subnormal), v, is)
			KMOVW(is, Mem{Base: to, Disp: 2 * i})
		}
	})
	end()
}

// subnormalChain holds the registers of fmaSubnormal.
type subnormalChain struct {
	code
	from, to             Mem
	b, tinyA, tinyB, row register
	abs, up, least, down vec
	far, normal          vec
	nan                  vec
}

// fmaSubnormal emits a chain of FP32 FMAs, eight rows by 8 columns at a time and in the
// end four rows. A vector has one row, not two, because that takes less time to load.
func fmaSubnormal() {
	numbers := []uint32{1<<31 - 1, math.Float32bits(0x1p-75), math.Float32bits(0x1p-52), math.Float32bits(0x1p-74), 2*127 - 76 - 1, 1 << 23}
	table := constants("tinyConstants", len(numbers), func(i int) uint32 { return numbers[i] })
	x := avx512.routine("fma32Tiny", "Chain")
	restore := control(x.mem("Control"))
	a, left, tinyA := x.local("A"), AllocLocal(8), AllocLocal(8)
	c := &subnormalChain{code: x, from: x.local("C"), to: x.local("D"), b: x.load("B"), tinyA: x.load("TinyA"), tinyB: x.load("TinyB"), nan: YMM()}
	VPBROADCASTD(x.mem("QNaN"), c.nan)
	for i, v := range []*vec{&c.abs, &c.up, &c.least, &c.down, &c.far, &c.normal} {
		*v = YMM()
		VPBROADCASTD(table.Offset(4*i), *v)
	}
	x.times("tiles", "Tiles", func() {
		MOVQ(c.tinyA, tinyA)
		x.times("groups", "Groups", func() {
			MOVQ(x.load("Rows"), left)
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
			ADDQ(x.mem("BGroup"), c.b)
			ADDQ(x.mem("K"), c.tinyB)
		})
		ADDQ(x.load("ATile"), a)
	})
	restore()
	end()
}

// block emits the chains of 4 or 8 rows, and moves on to the next.
func (c *subnormalChain) block(rows int) {
	acc := make([]vec, rows)
	transfer := func(m Mem, each func(m Mem, v vec)) {
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
	transfer(c.from, func(m Mem, v vec) { VMOVUPS(m, v) })
	c.chain(rows, acc)
	transfer(c.to, func(m Mem, v vec) {
		avx512.setNaN(c.nan, v)
		VMOVUPS(v, m)
	})
	LEAQ(Mem{Base: c.row, Index: c.load("ARow"), Scale: uint8(rows)}, c.row)
	for range rows / 4 {
		ADDQ(c.mem("K"), c.tinyA)
	}
}

// chain adds the products of some rows, in the program's order.
func (c *subnormalChain) chain(rows int, acc []vec) {
	order, n, at := c.load("Order"), c.load("N"), GP64() // at: -4*n up to 0
	LEAQ(Mem{Base: order, Index: n, Scale: 4}, order)
	SHLQ(U8(2), n)
	XORQ(at, at)
	SUBQ(n, at)
	stride, stride3, next := c.load("ARow"), GP64(), GP64() // next: flags of the other four rows
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	MOVQ(c.tinyA, next)
	ADDQ(c.mem("K"), next)
	label := func(name string) string { return fmt.Sprint(name, rows) }
	k, from, next4, b, tiny := GP64(), GP64(), GP64(), YMM(), GP32()
	var factors []Mem
	for _, p := range []register{from, next4}[:rows/4] {
		factors = append(factors, Mem{Base: p}, Mem{Base: p, Index: stride, Scale: 1}, Mem{Base: p, Index: stride, Scale: 2}, Mem{Base: p, Index: stride3, Scale: 1})
	}
	address := func() {
		MOVLQZX(Mem{Base: order, Index: at, Scale: 1}, k)
		LEAQ(Mem{Base: c.row, Index: k, Scale: 4}, from)
		if rows == 8 {
			LEAQ(Mem{Base: from, Index: stride, Scale: 4}, next4)
		}
	}
	column := Mem{Base: c.b, Index: k, Scale: 4} // with 8k
	testSubnormal(acc)
	JZ(LabelRef(label("k")))
	address()
	SHLQ(U8(3), k)
	c.replaceAccumulators(column, factors, acc)
	Label(label("k"))
	address()
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
	c.addScaled(b, factors, acc)
	ADDQ(U8(4), at)
	JNZ(LabelRef(label("k")))
	Label(label("end"))
}

// testSubnormal clears the zero flag if some number is subnormal.
func testSubnormal(vectors []vec) {
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

// addScaled adds products some of whose factors are subnormal. Such a factor is
// multiplied by 2^74, which is done by converting an integer, and the other factor by
// 2^-74. Where the other one is below 2^-52 it is replaced by that: the product is below
// 2^-178, so that only its sign counts.
func (c *subnormalChain) addScaled(b vec, rows []Mem, acc []vec) {
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

// scaled returns a mask of the subnormal factors, and all factors multiplied by 2^74 as
// if they were subnormal and by 2^-74 as if they were not.
func (c *subnormalChain) scaled(v vec) (is register, large, small vec) {
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

// replaceAccumulators replaces subnormal accumulators, which take as long, by normal
// numbers of the same sign where the first product is at least 2^-76: it is a multiple
// of 2^-122, so that only their sign counts.
func (c *subnormalChain) replaceAccumulators(b Mem, rows []Mem, acc []vec) {
	exponent := func(v vec) {
		VPSLLD(U8(1), v, v)
		VPSRLD(U8(24), v, v)
	}
	eb := YMM()
	VMOVUPS(b, eb)
	exponent(eb)
	for i, m := range rows {
		e, least, is := YMM(), YMM(), K()
		VFPCLASSPSY(U8(subnormal), acc[i], is)
		VBROADCASTSS(m, e)
		exponent(e)
		VPMINSD(e, eb, least)
		VPTESTMD(least, least, is, is)
		VPADDD(e, eb, e)
		VPCMPGTD(c.far, e, is, is)
		VPORD(c.normal, acc[i], is, acc[i])
	}
}
