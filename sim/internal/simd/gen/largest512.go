package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// largest512 is largest8 with AVX-512: a vector is 8 values of k by 8 columns, of which
// each has two values together, and four rows are done at once.
func largest512() {
	spread := GLOBL("spreadPairs", RODATA|NOPTR)
	for i := range 64 {
		DATA(i, U8(uint8(i/16*2+i%2)))
	}
	TEXT("largest8AVX512", NOSPLIT, "func(x *Largest)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	a, b, e := Load(x.Field("A"), GP64()), Load(x.Field("B"), GP64()), Load(x.Field("E"), GP64())
	row, l := Load(x.Field("ARow"), GP64()), Load(x.Field("L"), GP64())
	pattern, bias, least := ZMM(), YMM(), YMM()
	VPCMPEQB(least, least, least)
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
				// values does n values of k, 8 or, in the lower half of a vector, 4.
				values := func(first bool, n uint8) {
					rows := []Mem{{Base: from}, {Base: from, Index: row, Scale: 1}, {Base: from, Index: row, Scale: 2}, {Base: row3}}
					for i, m := range rows {
						v := top[i]
						if !first {
							v = ZMM()
						}
						if n == 8 {
							VPBROADCASTQ(m, v)
							VPSHUFB(pattern, v, v)
							VPADDB(Mem{Base: b, Index: k, Scale: 8}, v, v)
						} else {
							VPBROADCASTD(m, v.AsY())
							VPSHUFB(pattern.AsY(), v.AsY(), v.AsY())
							VPADDB(Mem{Base: b, Index: k, Scale: 8}, v.AsY(), v.AsY())
						}
						if !first {
							VPMAXUB(v, top[i], top[i])
						}
					}
					ADDQ(U8(n), from)
					ADDQ(U8(n), row3)
					ADDQ(U8(n), k)
				}
				XORQ(k, k)
				TESTQ(U32(4), l)
				JZ(LabelRef("even"))
				values(true, 4)
				JMP(LabelRef("more"))
				Label("even")
				values(true, 8)
				Label("more")
				CMPQ(k, l)
				JAE(LabelRef("last"))
				Label("eights")
				values(false, 8)
				CMPQ(k, l)
				JB(LabelRef("eights"))
				Label("last")
				// The largest of 8 values of k. After the first step a vector has four of
				// two rows, after the second two of four rows, 16 bytes of each.
				u, v := ZMM(), ZMM()
				for i := 0; i < 4; i += 2 {
					VSHUFI64X2(U8(0x44), top[i+1], top[i], u)
					VSHUFI64X2(U8(0xee), top[i+1], top[i], v)
					VPMAXUB(u, v, top[i])
				}
				VSHUFI64X2(U8(0x88), top[2], top[0], u)
				VSHUFI64X2(U8(0xdd), top[2], top[0], v)
				VPMAXUB(u, v, u)
				VPSRLW(U8(8), u, v)
				VPMAXUB(u, v, u)
				VPMOVWB(u, u.AsY())
				VPADDUSB(bias, u.AsY(), u.AsY())
				VPMINUB(u.AsY(), least, least)
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
	null := K()
	VPCMPUB(U8(1), mem(x, "Null"), least, null)
	storeUnlessZero(x, "AnyNull", func() { KORTESTD(null, null) })
	VZEROUPPER()
	RET()
}
