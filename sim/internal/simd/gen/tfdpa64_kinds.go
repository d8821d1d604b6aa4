package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// kindsCode holds the registers of a sum over kinds.
type kindsCode struct {
	code
	b           vec // 8 columns
	least, most vec // the finite numbers of FP32
	little      vec // 2^-100
}

// sumKinds emits the routine that sums the products of kinds.
func (i isa) sumKinds() {
	i.sumSpecial("sumKinds", func(c *kindsCode, a Mem, sum vec) {
		if i == avx512 {
			VFMADD231PS_BCST(a, c.b, sum)
			return
		}
		v := YMM()
		VBROADCASTSS(a, v)
		VFMADD231PS(c.b, v, sum)
	})
}

// sumOver emits the routine that sums products of FP32 where only Inf and NaN count:
// finite ones count as little or nothing.
func (i isa) sumOver() {
	i.sumSpecial("sumOver", func(c *kindsCode, a Mem, sum vec) {
		p, q := YMM(), YMM()
		if i == avx512 {
			VMULPS_BCST(a, c.b, p)
			VFMADD231PS(c.little, p, sum) // of products of 1 at least: not subnormal
			return
		}
		VBROADCASTSS(a, p)
		VMULPS(c.b, p, p)
		VMINPS(c.most, p, q)
		VMAXPS(c.least, q, q)
		VSUBPS(q, p, p)
		VADDPS(p, sum, sum)
	})
}

// sumSpecial emits a sum in FP32, four rows at a time, for the rows of outputs in which
// some factor is Inf or NaN: bit 13 of some E is set. add adds the product of the columns
// and a value of a row.
func (i isa) sumSpecial(name string, add func(c *kindsCode, a Mem, sum vec)) {
	mask := constants(name+i.suffix()+"Bit13", 16, func(int) uint16 { return 1 << 13 })
	limits := constants(name+i.suffix()+"Limits", 3, func(n int) uint32 {
		return math.Float32bits([]float32{math.MaxFloat32, -math.MaxFloat32, 0x1p-100}[n])
	})
	x := i.routine(name, "SumKinds")
	a, b, e, d := x.load("A"), x.load("B"), x.load("E"), x.load("D")
	row, l := x.load("ARow"), x.load("L")
	bit := YMM()
	c := &kindsCode{code: x, b: YMM(), least: YMM(), most: YMM(), little: YMM()}
	VMOVDQU(mask, bit)
	VBROADCASTSS(limits, c.most)
	VBROADCASTSS(limits.Offset(4), c.least)
	VBROADCASTSS(limits.Offset(8), c.little)
	x.grid(a, b, 4, func(from register) {
		some := YMM()
		VMOVDQU(Mem{Base: e}, some)
		VPOR(Mem{Base: e, Disp: 32}, some, some)
		VPTEST(some, bit)
		JZ(LabelRef("none"))
		rows, row3 := fourRows(from, row)
		k, bk := GP64(), GP64()
		var sums [4]vec
		for r := range sums {
			sums[r] = YMM()
			VXORPS(sums[r], sums[r], sums[r])
		}
		MOVQ(b, bk)
		MOVQ(l, k)
		loop("k", k, 4, []move{{from, 16}, {row3, 16}, {bk, 128}}, func() {
			for n := range 4 {
				VMOVUPS(Mem{Base: bk, Disp: 32 * n}, c.b)
				for r, m := range rows {
					add(c, m.Offset(4*n), sums[r])
				}
			}
		})
		for r := range sums {
			VMOVUPS(sums[r], Mem{Base: d, Disp: 32 * r})
		}
		MOVQ(l, k)
		SHLQ(U8(2), k)
		SUBQ(k, from)
		Label("none")
		LEAQ(Mem{Base: from, Index: row, Scale: 4}, from)
		advance(move{e, 64}, move{d, 128})
	})
	end()
}
