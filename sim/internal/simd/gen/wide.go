package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// wides emits the routines on float64.
func wides() {
	larger16()
	narrowHalf()
	shuffle()
	small()
	packedOrder()
	for _, width := range []int{1, 2, 4} {
		exponents(width)
		exponents512(width)
		kinds(width)
		kinds512(width)
	}
	for _, i := range isas {
		for _, width := range []int{1, 2, 4} {
			i.rows(width)
			i.columns(width)
		}
		i.largest16()
		i.dot()
		i.sumKinds()
		i.sumOver()
		for _, fp32 := range []bool{false, true} {
			i.prepare(fp32)
			i.finish(fp32, false)
			i.finish(fp32, true)
		}
		for _, b := range []bool{false, true} {
			i.join(b)
			i.closing(b)
		}
		if i.wide {
			i.fused(false, false)
			i.fused(true, false)
			i.fused(true, true)
			i.joined(false)
			i.joined(true)
		}
		i.groups()
		i.truncating()
		i.exact(2)
		i.exact(4)
		i.round()
		i.fromFloat32()
		i.toFloat32()
	}
}

// zeroExtended loads codes of some bytes as integers of 8 bytes.
func (i isa) zeroExtended(width int, m Mem) reg.VecVirtual {
	v := i.vec()
	switch width {
	case 1:
		VPMOVZXBQ(m, v)
	case 2:
		VPMOVZXWQ(m, v)
	case 4:
		VPMOVZXDQ(m, v)
	}
	return v
}

// decoder is the constants with which codes become float64.
type decoder struct {
	isa
	keep, left     reg.VecVirtual // see Decode
	rebias, hidden reg.VecVirtual
	two, twiceEmin reg.VecVirtual
}

func (i isa) decoder(x gotypes.Component) *decoder {
	k := func(name string) reg.VecVirtual { return i.broadcast(mem(x, name)) }
	return &decoder{i, k("Keep"), k("Left"), k("Rebias"), k("Hidden"), k("Two"), k("Emin")}
}

// magnitudes makes magnitudes of codes. As if it were normal, a subnormal code with
// the fraction f is (1+f)*2^(emin-1); it is f*2^emin.
func (d *decoder) magnitudes(v reg.VecVirtual) {
	VANDPD(d.keep, v, v)
	VPSLLVQ(d.left, v, v)
	sub := d.greater(d.hidden, v)
	VPADDQ(d.rebias, v, v)
	if d.wide {
		VFMSUB213PD(d.twiceEmin, d.two, sub, v)
		return
	}
	t := d.vec()
	VMOVUPD(v, t)
	VFMSUB213PD(d.twiceEmin, d.two, t)
	d.choose(sub, t, v)
}

// signs makes a mask of the signs of codes.
func (d *decoder) signs(v, sign, zero reg.VecVirtual) reg.Register {
	if d.wide {
		m := K()
		VPTESTMQ(sign, v, m)
		return m
	}
	m := d.vec()
	VANDPD(sign, v, m)
	return d.greater(m, zero)
}

// rows emits the routine that decodes rows: magnitudes.
func (i isa) rows(width int) {
	TEXT(fmt.Sprint("rows", width, i.suffix), NOSPLIT, "func(x *Decode)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, dst, n := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64()), Load(x.Field("N"), GP64())
	d := i.decoder(x)
	Label("codes")
	for from := 0; from < 8; from += i.lanes() {
		v := i.zeroExtended(width, Mem{Base: src, Disp: from * width})
		d.magnitudes(v)
		VMOVUPD(v, Mem{Base: dst, Disp: 8 * from})
	}
	ADDQ(U8(uint8(8*width)), src)
	ADDQ(U8(64), dst)
	SUBQ(U8(8), n)
	JG(LabelRef("codes"))
	VZEROUPPER()
	RET()
}

// columns emits the routine that decodes columns, 8 values of one k at a time: all
// magnitudes, those of the negative ones, and those of the positive ones, with
// zeros for the others.
func (i isa) columns(width int) {
	TEXT(fmt.Sprint("columns", width, i.suffix), NOSPLIT, "func(x *Decode)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, dst, n := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64()), Load(x.Field("N"), GP64())
	d := i.decoder(x)
	zero, sign := i.zero(), i.broadcast(mem(x, "Sign"))
	Label("codes")
	for from := 0; from < 8; from += i.lanes() {
		v, minus := i.zeroExtended(width, Mem{Base: src, Disp: from * width}), i.vec()
		negative := d.signs(v, sign, zero)
		d.magnitudes(v)
		VMOVUPD(v, Mem{Base: dst, Disp: 8 * from})
		i.only(negative, v, minus)
		VMOVUPD(minus, Mem{Base: dst, Disp: 8*from + 64})
		VSUBPD(minus, v, v)
		VMOVUPD(v, Mem{Base: dst, Disp: 8*from + 128})
	}
	ADDQ(U8(uint8(8*width)), src)
	ADDQ(U32(192), dst)
	SUBQ(U8(8), n)
	JG(LabelRef("codes"))
	VZEROUPPER()
	RET()
}
