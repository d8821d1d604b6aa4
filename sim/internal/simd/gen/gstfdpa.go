package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// This file emits the routines of sim/kernel_gstfdpa_amd64.go: GST-FDPA, a fused dot product
// that sums groups exactly, scales the sums, and cuts them toward zero (arXiv:2511.10909,
// Alg. 9).

// decodeSmall emits the routine that decodes one-byte formats without Inf and NaN to
// FP32, 8 at a time: values and magnitudes.
func decodeSmall() {
	x := avx2.routine("small", "Small")
	src, val, mag, n := x.load("Src"), x.load("Val"), x.load("Mag"), x.load("N")
	k := func(name string) vec {
		v := YMM()
		VPBROADCASTD(x.mem(name), v)
		return v
	}
	left, right, signLeft, sign := k("Left"), k("Right"), k("SignLeft"), k("Sign")
	hidden, rebias, two, emin := k("Hidden"), k("Rebias"), k("Two"), k("Emin")
	loop("codes", n, 8, []move{{src, 8}, {val, 32}, {mag, 32}}, func() {
		v, s, t, m := YMM(), YMM(), YMM(), YMM()
		VPMOVZXBD(Mem{Base: src}, v)
		VPSLLVD(signLeft, v, s)
		VPAND(sign, s, s)
		VPSLLVD(left, v, v)
		VPSRLVD(right, v, v)
		VPCMPGTD(v, hidden, m)
		VPADDD(rebias, v, v)
		VMOVUPS(v, t)
		VFMSUB213PS(emin, two, t)
		VBLENDVPS(m, t, v, v)
		VMOVUPS(v, Mem{Base: mag})
		VORPS(s, v, v)
		VMOVUPS(v, Mem{Base: val})
	})
	end()
}

// groupCode holds the registers that are used while summing one vector of outputs.
type groupCode struct {
	code
	row, columns, at, acc, d register
	z                        vec
	col                      int
}

// groups emits the routine that sums C and the scaled sums of groups, each cut toward zero
// (arXiv:2511.10909, Alg. 9).
func (i isa) groups() {
	x := i.routine("groups", "Groups")
	restore := control(U32(roundZero))
	acc, d, at := x.load("Acc"), x.load("D"), GP64()
	rows, columns := x.load("RowScales"), x.load("ColumnScales")
	XORQ(at, at)
	z := i.zero()
	x.times("tiles", "Tiles", func() {
		x.times("columns", "ColumnGroups", func() {
			row, left := GP64(), x.load("Rows")
			MOVQ(rows, row)
			loop("rows", left, 1, nil, func() {
				for col := 0; col < 8; col += i.lanes() {
					g := &groupCode{code: x, row: row, columns: columns, at: at, acc: acc, d: d, z: z, col: col}
					g.sum()
				}
				advance(move{acc, 32}, move{d, 64}, move{at, 32})
				ADDQ(x.mem("RowStride"), row)
			})
			ADDQ(x.mem("ColumnStride"), columns)
		})
		ADDQ(x.mem("RowTile"), rows)
	})
	restore()
	end()
}

// each emits a loop over the groups: body gets the scales of the row and of the columns,
// the sums, and their sizes.
func (g *groupCode) each(label string, body func(row, column, sums, sizes Mem)) {
	n, r, b, s, q := g.load("Groups"), GP64(), GP64(), g.load("Sums"), g.load("Sizes")
	MOVQ(g.row, r)
	MOVQ(g.columns, b)
	stride := g.load("SumStride")
	loop(fmt.Sprint(label, g.col), n, 1, nil, func() {
		at := func(p register) Mem { return Mem{Base: p, Index: g.at, Scale: 1, Disp: 4 * g.col} }
		body(Mem{Base: r}, Mem{Base: b, Disp: 8 * g.col}, at(s), at(q))
		advance(move{r, 16}, move{b, 128})
		ADDQ(stride, s)
		ADDQ(stride, q)
	})
}

// sum emits the sum of a vector of outputs: the largest exponent of the terms, then the
// terms.
func (g *groupCode) sum() {
	c, top, t, sign := g.vec(), g.vec(), g.vec(), g.constant("SignBit")
	VCVTPS2PD(Mem{Base: g.acc, Disp: 4 * g.col}, c)
	VANDPD(g.constant("ExpMask"), c, top)
	g.only(g.compare(cmpNEQ, c, g.z), g.constant("Emin"), t)
	VMAXPD(t, top, top)
	VMAXPD(g.constant("Floor"), top, top)
	g.each("exponents", func(row, column, _, sizes Mem) {
		e, some := g.vec(), g.vec()
		VBROADCASTSD(row.Offset(8), e)
		VMULPD(column.Offset(64), e, e)
		VCVTPS2PD(sizes, some)
		g.only(g.compare(cmpNEQ, some, g.z), e, e)
		VMAXPD(e, top, top)
	})
	VPADDQ(g.constant("Shift"), top, top)
	cut := func(v vec) {
		u := g.vec()
		VANDPD(sign, v, u)
		VORPD(top, u, u)
		VADDPD(u, v, v)
		VSUBPD(u, v, v)
	}
	sum, kind := g.vec(), g.vec()
	VMOVUPD(c, sum)
	VXORPD(kind, kind, kind)
	cut(sum)
	g.each("terms", func(row, column, sums, _ Mem) {
		v, s := g.vec(), g.vec()
		VBROADCASTSD(row, s)
		VMULPD(column, s, s)
		VCVTPS2PD(sums, v)
		VMULPD(s, v, v)
		cut(v)
		VADDPD(v, sum, sum)
		VFMADD231PD(g.z, s, kind) // 0, or NaN if a scale is NaN
	})
	VMOVUPD(sum, Mem{Base: g.d, Disp: 8 * g.col})
	VMOVUPS(g.narrow(kind), Mem{Base: g.load("Kinds"), Index: g.at, Scale: 1, Disp: 4 * g.col})
}
