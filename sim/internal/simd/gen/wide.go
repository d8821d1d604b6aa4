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
	for _, width := range []int{1, 2, 4} {
		exponents(width, false)
		exponents(width, true)
		kinds(width)
	}
	narrowHalf()
	largest16()
	for _, i := range isas {
		for _, width := range []int{1, 2, 4} {
			i.rows(width)
			i.columns(width)
		}
		for _, special := range []bool{false, true} {
			dotKind{i, special, false}.dot()
			dotKind{i, special, true}.dot()
		}
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
	left, right               reg.Register // shifts that bring magnitudes to where float64 has them
	rebias, hidden, emin, top reg.VecVirtual
	keep, z                   reg.VecVirtual
}

func (i isa) decoder(x gotypes.Component, width int) *decoder {
	d := &decoder{isa: i, left: XMM(), right: XMM()}
	VMOVQ(mem(x, "Left"), d.left)
	VMOVQ(mem(x, "Right"), d.right)
	d.rebias, d.hidden, d.emin = i.broadcast(mem(x, "Rebias")), i.broadcast(mem(x, "Hidden")), i.broadcast(mem(x, "Emin"))
	if width == 4 {
		d.keep = i.broadcast(mem(x, "Keep"))
	}
	return d
}

// magnitudes makes magnitudes of codes. A subnormal gets a hidden bit, which is
// subtracted again.
func (d *decoder) magnitudes(v reg.VecVirtual) {
	VPSLLQ(d.left, v, v)
	VPSRLQ(d.right, v, v)
	if d.keep != nil {
		VANDPD(d.keep, v, v)
	}
	sub := d.greater(d.hidden, v)
	VPADDQ(d.rebias, v, v)
	if d.wide {
		VPADDQ(d.hidden, v, sub, v)
		VSUBPD(d.emin, v, sub, v)
		return
	}
	low := d.vec()
	d.only(sub, d.hidden, low)
	VPADDQ(low, v, v)
	d.only(sub, d.emin, low)
	VSUBPD(low, v, v)
}

// rows emits the routine that decodes rows: magnitudes.
func (i isa) rows(width int) {
	TEXT(fmt.Sprint("rows", width, i.suffix), NOSPLIT, "func(x *Decode)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, dst, n := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64()), Load(x.Field("N"), GP64())
	d := i.decoder(x, width)
	Label("codes")
	v := i.zeroExtended(width, Mem{Base: src})
	d.magnitudes(v)
	VMOVUPD(v, Mem{Base: dst})
	ADDQ(U8(uint8(i.lanes()*width)), src)
	ADDQ(U8(uint8(8*i.lanes())), dst)
	SUBQ(U8(uint8(i.lanes())), n)
	JG(LabelRef("codes"))
	VZEROUPPER()
	RET()
}

// columns emits the routine that decodes columns, 8 values of one k at a time: the
// magnitudes of the positive ones, of the negative ones, and of the positive ones
// again, with zeros for the others.
func (i isa) columns(width int) {
	TEXT(fmt.Sprint("columns", width, i.suffix), NOSPLIT, "func(x *Decode)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, dst, n := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64()), Load(x.Field("N"), GP64())
	d := i.decoder(x, width)
	signAt, zero := XMM(), i.zero()
	VMOVQ(mem(x, "SignLeft"), signAt)
	Label("codes")
	for from := 0; from < 8; from += i.lanes() {
		v, s, plus, minus := i.zeroExtended(width, Mem{Base: src, Disp: from * width}), i.vec(), i.vec(), i.vec()
		VPSLLQ(signAt, v, s)
		d.magnitudes(v)
		negative := i.greater(zero, s)
		i.only(negative, v, minus)
		VSUBPD(minus, v, plus)
		VMOVUPD(plus, Mem{Base: dst, Disp: 8 * from})
		VMOVUPD(minus, Mem{Base: dst, Disp: 8*from + 64})
		VMOVUPD(plus, Mem{Base: dst, Disp: 8*from + 128})
	}
	ADDQ(U8(uint8(8*width)), src)
	ADDQ(U32(192), dst)
	SUBQ(U8(8), n)
	JG(LabelRef("codes"))
	VZEROUPPER()
	RET()
}
