package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// small emits the decoding of formats of one byte without Inf and NaN to FP32:
// values and magnitudes.
func small() {
	TEXT("smallAVX2", NOSPLIT, "func(x *Small)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, val, mag, n := Load(x.Field("Src"), GP64()), Load(x.Field("Val"), GP64()), Load(x.Field("Mag"), GP64()), Load(x.Field("N"), GP64())
	k := func(name string) reg.VecVirtual {
		v := YMM()
		VPBROADCASTD(mem(x, name), v)
		return v
	}
	left, right, signLeft, sign := k("Left"), k("Right"), k("SignLeft"), k("Sign")
	hidden, rebias, two, emin := k("Hidden"), k("Rebias"), k("Two"), k("Emin")
	Label("codes")
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
	ADDQ(U8(8), src)
	ADDQ(U8(32), val)
	ADDQ(U8(32), mag)
	SUBQ(U8(8), n)
	JG(LabelRef("codes"))
	VZEROUPPER()
	RET()
}

// groups emits the fused sum of scaled sums of groups and C, each cut toward zero
// (arXiv:2511.10909, Alg. 9).
func (i isa) groups() {
	TEXT("groups"+i.suffix, NOSPLIT, "func(x *Groups)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	restore := control(U32(roundZero))
	acc, d, at := Load(x.Field("Acc"), GP64()), Load(x.Field("D"), GP64()), GP64()
	rows, columns := Load(x.Field("RowScales"), GP64()), Load(x.Field("ColumnScales"), GP64())
	XORQ(at, at)
	z := i.zero()
	times("tiles", x, "Tiles", func() {
		times("columns", x, "ColumnGroups", func() {
			row, left := GP64(), Load(x.Field("Rows"), GP64())
			MOVQ(rows, row)
			Label("rows")
			for col := 0; col < 8; col += i.lanes() {
				i.groupSums(&groupCode{x: x, row: row, columns: columns, at: at, acc: acc, d: d, z: z, col: col})
			}
			ADDQ(U8(32), acc)
			ADDQ(U8(64), d)
			ADDQ(U8(32), at)
			ADDQ(mem(x, "RowStride"), row)
			DECQ(left)
			JNZ(LabelRef("rows"))
			ADDQ(mem(x, "ColumnStride"), columns)
		})
		ADDQ(mem(x, "RowTile"), rows)
	})
	restore()
	VZEROUPPER()
	RET()
}

// groupCode is what the code of a vector of outputs refers to.
type groupCode struct {
	x                        gotypes.Component
	row, columns, at, acc, d reg.Register
	z                        reg.VecVirtual
	col                      int
}

// groupSums does a vector of outputs: the largest exponent of the terms, then their
// sum.
func (i isa) groupSums(g *groupCode) {
	k := func(name string) reg.VecVirtual { return i.broadcast(mem(g.x, name)) }
	c, top, t, sign := i.vec(), i.vec(), i.vec(), k("SignBit")
	VCVTPS2PD(Mem{Base: g.acc, Disp: 4 * g.col}, c)
	VANDPD(k("ExpMask"), c, top)
	i.only(i.compare(cmpNEQ, c, g.z), k("Emin"), t)
	VMAXPD(t, top, top)
	VMAXPD(k("Floor"), top, top)
	each := func(label string, body func(row, column, sums, sizes Mem)) {
		n, r, b, s, q := Load(g.x.Field("Groups"), GP64()), GP64(), GP64(), Load(g.x.Field("Sums"), GP64()), Load(g.x.Field("Sizes"), GP64())
		MOVQ(g.row, r)
		MOVQ(g.columns, b)
		stride := Load(g.x.Field("SumStride"), GP64())
		label = fmt.Sprint(label, g.col)
		loop(label, n, func() {
			at := func(p reg.Register) Mem { return Mem{Base: p, Index: g.at, Scale: 1, Disp: 4 * g.col} }
			body(Mem{Base: r}, Mem{Base: b, Disp: 8 * g.col}, at(s), at(q))
			ADDQ(U8(16), r)
			ADDQ(U32(128), b)
			ADDQ(stride, s)
			ADDQ(stride, q)
		})
	}
	each("exponents", func(row, column, _, sizes Mem) {
		e, some := i.vec(), i.vec()
		VBROADCASTSD(row.Offset(8), e)
		VMULPD(column.Offset(64), e, e)
		VCVTPS2PD(sizes, some)
		i.only(i.compare(cmpNEQ, some, g.z), e, e)
		VMAXPD(e, top, top)
	})
	VPADDQ(k("Shift"), top, top)
	cut := func(v reg.VecVirtual) {
		u := i.vec()
		VANDPD(sign, v, u)
		VORPD(top, u, u)
		VADDPD(u, v, v)
		VSUBPD(u, v, v)
	}
	sum, kind := i.vec(), i.vec()
	VMOVUPD(c, sum)
	VXORPD(kind, kind, kind)
	cut(sum)
	each("terms", func(row, column, sums, _ Mem) {
		v, s := i.vec(), i.vec()
		VBROADCASTSD(row, s)
		VMULPD(column, s, s)
		VCVTPS2PD(sums, v)
		VMULPD(s, v, v)
		cut(v)
		VADDPD(v, sum, sum)
		VFMADD231PD(g.z, s, kind) // 0, or NaN of a scale
	})
	VMOVUPD(sum, Mem{Base: g.d, Disp: 8 * g.col})
	h := i.half(kind)
	if i.wide {
		VCVTPD2PS(kind, h)
	} else {
		VCVTPD2PSY(kind, h)
	}
	kinds := Load(g.x.Field("Kinds"), GP64())
	VMOVUPS(h, Mem{Base: kinds, Index: g.at, Scale: 1, Disp: 4 * g.col})
}

// truncating emits the conversion of sums to FP32, toward zero. Where the
// accumulator is Inf or NaN so is the result, and where bit 13 of E is set and the
// kinds tell so.
func (i isa) truncating() {
	TEXT("truncating"+i.suffix, NOSPLIT, "func(x *Sums)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	s := i.sums(x, true)
	s.stride = 64
	restore := control(U32(roundZero))
	t := i.truncation(x)
	s.loop(func(col int) {
		v := i.vec()
		VMOVUPD(Mem{Base: s.parts, Disp: 8 * col}, v)
		t.truncate(v)
		h := t.convert(v)
		s.exceptions32(h, t.nan, col, true)
		VMOVUPS(h, Mem{Base: s.sum, Disp: 4 * col})
	})
	restore()
	VZEROUPPER()
	RET()
}
