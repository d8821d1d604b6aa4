package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// largest8 finds the largest exponent codes of one byte, four rows at a time. A
// vector is 4 values of k by 8 columns.
func largest8() {
	spread := GLOBL("spreadBytes", RODATA|NOPTR)
	for i := range 32 {
		DATA(i, U8(uint8(i/8)))
	}
	TEXT("largest8AVX2", NOSPLIT, "func(x *Largest)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	a, b, e := Load(x.Field("A"), GP64()), Load(x.Field("B"), GP64()), Load(x.Field("E"), GP64())
	row, l := Load(x.Field("ARow"), GP64()), Load(x.Field("L"), GP64())
	pattern := YMM()
	VMOVDQU(spread, pattern)
	times("tiles", x, "Tiles", func() {
		times("groups", x, "Groups", func() {
			as, es := GP64(), GP64()
			MOVQ(a, as)
			MOVQ(e, es)
			times("steps", x, "Steps", func() {
				rows, from, to := Load(x.Field("Rows"), GP64()), GP64(), GP64()
				MOVQ(as, from)
				MOVQ(es, to)
				Label("rows")
				row3, k := GP64(), GP64()
				LEAQ(Mem{Base: row, Index: row, Scale: 2}, row3)
				ADDQ(from, row3)
				var top [4]reg.VecVirtual
				for i := range top {
					top[i] = YMM()
				}
				quad := func(first bool) {
					rows := []Mem{{Base: from}, {Base: from, Index: row, Scale: 1}, {Base: from, Index: row, Scale: 2}, {Base: row3}}
					for i, m := range rows {
						v := top[i]
						if !first {
							v = YMM()
						}
						VPBROADCASTD(m, v)
						VPSHUFB(pattern, v, v)
						VPADDB(Mem{Base: b, Index: k, Scale: 8}, v, v)
						if !first {
							VPMAXUB(v, top[i], top[i])
						}
					}
					ADDQ(U8(4), from)
					ADDQ(U8(4), row3)
					ADDQ(U8(4), k)
				}
				XORQ(k, k)
				quad(true)
				CMPQ(k, l)
				JAE(LabelRef("last"))
				Label("quads")
				quad(false)
				CMPQ(k, l)
				JB(LabelRef("quads"))
				Label("last")
				// The largest of 4 values of k: rows 0 and 1, 2 and 3, then all.
				u, v := YMM(), YMM()
				for i := 0; i < 4; i += 2 {
					VPUNPCKLQDQ(top[i+1], top[i], u)
					VPUNPCKHQDQ(top[i+1], top[i], v)
					VPMAXUB(u, v, top[i])
				}
				VINSERTI128(U8(1), top[2].AsX(), top[0], u)
				VPERM2I128(U8(0x31), top[2], top[0], v)
				VPMAXUB(u, v, u)
				VPADDUSB(mem(x, "Bias"), u, u)
				VMOVDQU(u, Mem{Base: to})
				ADDQ(U8(32), to)
				SUBQ(l, from)
				LEAQ(Mem{Base: from, Index: row, Scale: 4}, from)
				SUBQ(U8(4), rows)
				JG(LabelRef("rows"))
				LEAQ(Mem{Base: b, Index: l, Scale: 8}, b)
				ADDQ(l, as)
				ADDQ(mem(x, "EStep"), es)
			})
			rows := Load(x.Field("Rows"), GP64())
			LEAQ(Mem{Base: e, Index: rows, Scale: 8}, e)
		})
		ADDQ(mem(x, "ATile"), a)
	})
	VZEROUPPER()
	RET()
}
