package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// largest512 is largest8 for steps of a multiple of 8 and with AVX-512: a vector
// is 8 values of k by 8 columns, and four rows are done at once.
func largest512() {
	spread := GLOBL("spreadQuads", RODATA|NOPTR)
	for i := range 64 {
		DATA(i, U8(uint8(i/8)))
	}
	TEXT("largest8AVX512", NOSPLIT, "func(x *Largest)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	a, b, e := Load(x.Field("A"), GP64()), Load(x.Field("B"), GP64()), Load(x.Field("E"), GP64())
	row, l := Load(x.Field("ARow"), GP64()), Load(x.Field("L"), GP64())
	pattern, bias := ZMM(), YMM()
	VMOVDQU(mem(x, "Bias"), bias)
	VMOVDQU8(spread, pattern)
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
					top[i] = ZMM()
				}
				eight := func(first bool) {
					rows := []Mem{{Base: from}, {Base: from, Index: row, Scale: 1}, {Base: from, Index: row, Scale: 2}, {Base: row3}}
					for i, m := range rows {
						v := top[i]
						if !first {
							v = ZMM()
						}
						VPBROADCASTQ(m, v)
						VPSHUFB(pattern, v, v)
						VPADDB(Mem{Base: b, Index: k, Scale: 8}, v, v)
						if !first {
							VPMAXUB(v, top[i], top[i])
						}
					}
					ADDQ(U8(8), from)
					ADDQ(U8(8), row3)
					ADDQ(U8(8), k)
				}
				XORQ(k, k)
				eight(true)
				CMPQ(k, l)
				JAE(LabelRef("last"))
				Label("eights")
				eight(false)
				CMPQ(k, l)
				JB(LabelRef("eights"))
				Label("last")
				// The largest of 8 values of k. After the first step a vector has the
				// upper or lower half of k of two rows, after the second all of a row's
				// in 16 bytes.
				u, v := ZMM(), ZMM()
				for i := range 2 {
					VSHUFI64X2(U8(0x44), top[2+i], top[i], u)
					VSHUFI64X2(U8(0xee), top[2+i], top[i], v)
					VPMAXUB(u, v, top[i])
				}
				VPUNPCKLQDQ(top[1], top[0], u)
				VPUNPCKHQDQ(top[1], top[0], v)
				VPMAXUB(u, v, u)
				// Now 16 bytes are rows 0 and 1, twice, then 2 and 3, twice.
				VSHUFI64X2(U8(0x08), u, u, v)
				VSHUFI64X2(U8(0x0d), u, u, u)
				VPMAXUB(u.AsY(), v.AsY(), u.AsY())
				VPADDUSB(bias, u.AsY(), u.AsY())
				VMOVDQU(u.AsY(), Mem{Base: to})
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
