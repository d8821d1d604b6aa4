package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dotKind is a variant of the sum of products cut toward zero.
type dotKind struct {
	isa
	special bool // some factors may be Inf or NaN
	fp32    bool // accumulators are FP32 and rounded toward zero; else float64 and not rounded
}

// dot emits a step of the sum of products cut toward zero.
//
// An accumulator at U = 2^52 units, U to 2U, has that unit as its last place, and
// with MXCSR rounding toward zero a fused multiply-add of a product that is not
// negative adds as many whole units as the product has. One accumulator takes the
// positive products, another the negative ones; which is which for a value of A
// is up to its sign, which selects the first two or the last two of B's three
// parts.
func (kind dotKind) dot() {
	name := "dot"
	if kind.fp32 {
		name = "dotFP32"
	}
	if kind.special {
		name += "Special"
	}
	TEXT(name+kind.suffix, NOSPLIT, "func(x *Dot)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	d := &dotCode{dotKind: kind, x: x, b: Load(x.Field("B"), GP64()), at: GP64(), kinds: AllocLocal(8)}
	a, s, kb := Load(x.Field("A"), GP64()), Load(x.Field("Sign"), GP64()), Load(x.Field("KindsB"), GP64())
	MOVQ(kb, d.kinds)
	XORQ(d.at, d.at)
	restore := control(U32(roundZero))
	times("tiles", x, "Tiles", func() {
		times("groups", x, "Groups", func() {
			left := Load(x.Field("Rows"), GP64())
			d.rows[0], d.signs[0] = GP64(), GP64()
			MOVQ(a, d.rows[0])
			MOVQ(s, d.signs[0])
			Label("rows")
			n := d.someRows()
			SUBQ(U8(uint8(n)), left)
			JG(LabelRef("rows"))
			ADDQ(mem(x, "BGroup"), d.b)
			next := Load(x.Field("KindsGroup"), GP64())
			ADDQ(next, d.kinds)
		})
		ADDQ(mem(x, "ATile"), a)
		ADDQ(mem(x, "SignTile"), s)
	})
	restore()
	VZEROUPPER()
	RET()
}

// dotCode is what the code of a dot refers to.
type dotCode struct {
	dotKind
	x           gotypes.Component
	b, at       reg.Register // at: number of the output
	rows, signs [2]reg.Register
	kinds       Mem // kinds of the columns of the group
}

// dotUnit is a vector of outputs: of a row, from a column on.
type dotUnit struct {
	row, col  int
	acc, p, n reg.VecVirtual
}

// element is a unit's element of an array of outputs, of some bytes each.
func (d *dotCode) element(u *dotUnit, array string, width int) Mem {
	base := Load(d.x.Field(array), GP64())
	return Mem{Base: base, Index: d.at, Scale: uint8(width), Disp: width * (8*u.row + u.col)}
}

// someRows does a row (AVX2) or two, and returns how many.
func (d *dotCode) someRows() int {
	units := []*dotUnit{{row: 0, col: 0}, {row: 0, col: 4}}
	count := 1
	if d.wide {
		units = []*dotUnit{{row: 0}, {row: 1}}
		count = 2
	}
	strides := []string{"ARow", "SignRow"}
	for i, p := range []*[2]reg.Register{&d.rows, &d.signs} {
		if d.wide {
			p[1] = GP64()
			MOVQ(p[0], p[1])
			ADDQ(mem(d.x, strides[i]), p[1])
		}
	}
	for _, u := range units {
		d.begin(u)
	}
	d.products(units, count)
	for i, u := range units {
		d.end(u, i)
	}
	for i, p := range []*[2]reg.Register{&d.rows, &d.signs} {
		if d.wide {
			MOVQ(p[1], p[0])
		}
		ADDQ(mem(d.x, strides[i]), p[0])
	}
	ADDQ(U8(uint8(8*count)), d.at)
	return count
}

// begin makes the accumulators of a unit: U and the part of C of the sign.
func (d *dotCode) begin(u *dotUnit) {
	u.acc, u.p, u.n = d.vec(), d.vec(), d.vec()
	top, e, t := d.vec(), d.vec(), d.vec()
	k := func(name string) Mem { return mem(d.x, name) }
	if d.fp32 {
		VCVTPS2PD(d.element(u, "Acc", 4), u.acc)
	} else {
		VMOVUPD(d.element(u, "Acc", 8), u.acc)
	}
	VPMOVZXWQ(d.element(u, "E", 2), top)
	VPSLLQ(U8(52), top, top)
	VANDPD(k("ExpMask"), u.acc, e)
	VMAXPD(e, top, top)
	VMAXPD(k("Floor"), top, top)
	z := d.zero()
	d.only(d.compare(cmpNEQ, u.acc, z), k("Emin"), t)
	VMAXPD(t, top, top)
	VPADDQ(k("Shift"), top, top)
	VMAXPD(u.acc, z, u.p)
	VADDPD(top, u.p, u.p)
	VMINPD(u.acc, z, u.n)
	VSUBPD(u.n, top, u.n)
}

// products adds the products of some rows, four values of k at a time.
func (d *dotCode) products(units []*dotUnit, rows int) {
	k, b := GP64(), GP64()
	XORQ(k, k)
	MOVQ(d.b, b)
	Label("k")
	for i := range 4 {
		var a [2]reg.VecVirtual
		var s [2]reg.GPVirtual
		for r := range rows {
			a[r], s[r] = d.vec(), GP64()
			VBROADCASTSD(Mem{Base: d.rows[r], Index: k, Scale: 8, Disp: 8 * i}, a[r])
			MOVBLZX(Mem{Base: d.signs[r], Index: k, Scale: 1, Disp: i}, s[r].As32())
		}
		for _, u := range units {
			m := Mem{Base: b, Index: s[u.row], Scale: 8, Disp: 192*i + 8*u.col}
			VFMADD231PD(m, a[u.row], u.p)
			m.Disp += 64
			VFMADD231PD(m, a[u.row], u.n)
		}
	}
	ADDQ(U8(4), k)
	ADDQ(U32(4*192), b)
	CMPQ(k, mem(d.x, "L"))
	JB(LabelRef("k"))
}

// end stores the sum: what the kinds of the factors make it, if one of them or the
// accumulator is Inf or NaN.
func (d *dotCode) end(u *dotUnit, number int) {
	VSUBPD(u.n, u.p, u.p)
	if d.fp32 {
		d.truncate(u.p)
	}
	var mask reg.VecVirtual
	if !d.wide {
		mask = d.vec()
		VMOVUPD(mem(d.x, "ExpMask"), mask)
	}
	d.choose(d.isa.special(u.acc, mask), u.acc, u.p)
	if d.special {
		d.sumKinds(u, number)
	}
	if !d.fp32 {
		VMOVUPD(u.p, d.element(u, "Sum", 8))
		return
	}
	d.storeFP32(u)
}

// truncate rounds toward zero, by an addition of 2^52 units of the last place and
// its inverse.
func (d *dotCode) truncate(v reg.VecVirtual) {
	t, s := d.vec(), d.vec()
	VANDPD(mem(d.x, "ExpMask"), v, t)
	VMAXPD(mem(d.x, "Emin"), t, t)
	VPADDQ(mem(d.x, "Last"), t, t)
	VANDPD(mem(d.x, "Sign64"), v, s)
	VORPD(s, t, t)
	VADDPD(t, v, v)
	VSUBPD(t, v, v)
}

// storeFP32 converts to FP32, whose infinities are the numbers from 2^128 on.
func (d *dotCode) storeFP32(u *dotUnit) {
	f := d.vec()
	h := d.half(f)
	if d.wide {
		VCVTPD2PS_RN_SAE(u.p, h)
		nan := K()
		VCMPPS(U8(cmpUnord), h, h, nan)
		VPBROADCASTD(mem(d.x, "QNaN"), nan, h)
	} else {
		s, mag := d.vec(), d.vec()
		VANDPD(mem(d.x, "Sign64"), u.p, s)
		VANDNPD(u.p, s, mag)
		VORPD(mem(d.x, "ExpMask"), s, s)
		d.choose(d.compare(cmpGE, mag, mem(d.x, "Over")), s, u.p)
		VCVTPD2PSY(u.p, h)
		nan := XMM()
		VCMPPS(U8(cmpUnord), h, h, nan)
		VBLENDVPS(nan, mem(d.x, "QNaN"), h, h)
	}
	VMOVUPS(h, d.element(u, "Sum", 4))
}

// sumKinds replaces sums of products with Inf or NaN among the factors: bit 13
// of E says so, and the sum of the kinds is theirs.
func (d *dotCode) sumKinds(u *dotUnit, number int) {
	var is reg.Register
	v, some := d.vec(), GP32()
	VPMOVZXWQ(d.element(u, "E", 2), v)
	VPSLLQ(U8(63-13), v, v)
	if d.wide {
		is = K()
		VPMOVQ2M(v, is)
		KMOVB(is, some)
	} else {
		is = v
		VMOVMSKPD(v, some)
	}
	done, next := fmt.Sprint("done", number), fmt.Sprint("kinds", number)
	TESTL(some, some)
	JZ(LabelRef(done))
	a, b, left := GP64(), GP64(), Load(d.x.Field("L"), GP64())
	MOVQ(d.rows[u.row], a)
	SUBQ(mem(d.x, "A"), a)
	SHRQ(U8(1), a)
	ADDQ(mem(d.x, "KindsA"), a)
	MOVQ(d.kinds, b)
	sum, value := d.vec(), d.vec()
	VXORPD(sum, sum, sum)
	Label(next)
	VBROADCASTSS(Mem{Base: a}, d.half(value))
	VFMADD231PS(Mem{Base: b, Disp: 4 * u.col}, d.half(value), d.half(sum))
	ADDQ(U8(4), a)
	ADDQ(U8(32), b)
	DECQ(left)
	JNZ(LabelRef(next))
	VCVTPS2PD(d.half(sum), value)
	VADDPD(u.acc, value, value)
	d.choose(is, value, u.p)
	Label(done)
}
