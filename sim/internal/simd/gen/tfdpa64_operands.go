package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// decoder holds the constants with which codes become float64 magnitudes.
type decoder struct {
	code
	keep, left     vec // see Decode
	rebias, hidden vec
	two, emin      vec
}

func newDecoder(x code) *decoder {
	return &decoder{x, x.constant("Keep"), x.constant("Left"), x.constant("Rebias"), x.constant("Hidden"), x.constant("Two"), x.constant("Emin")}
}

// loop emits a loop over codes of width bytes, 8 at a time. each emits what is done with one
// vector v of them; from is the index of its first code.
func (d *decoder) loop(width int, src, n register, dst move, each func(v vec, from int)) {
	loop("codes", n, 8, []move{{src, 8 * width}, dst}, func() {
		for from := 0; from < 8; from += d.lanes() {
			v, m := d.vec(), Mem{Base: src, Disp: from * width}
			switch width {
			case 1:
				VPMOVZXBQ(m, v)
			case 2:
				VPMOVZXWQ(m, v)
			case 4:
				VPMOVZXDQ(m, v)
			}
			each(v, from)
		}
	})
}

// magnitudes turns codes into magnitudes. A subnormal code of fraction f, read as if normal,
// gives x = (1+f)*2^(emin-1); its value f*2^emin is 2x - 2^emin.
func (d *decoder) magnitudes(v vec) {
	VANDPD(d.keep, v, v)
	VPSLLVQ(d.left, v, v)
	sub := d.greater(d.hidden, v)
	VPADDQ(d.rebias, v, v)
	if d.isa == avx512 {
		VFMSUB213PD(d.emin, d.two, sub, v)
		return
	}
	t := d.vec()
	VMOVUPD(v, t)
	VFMSUB213PD(d.emin, d.two, t)
	d.choose(sub, t, v)
}

// signs returns a mask of the signs of codes.
func (d *decoder) signs(v, sign, zero vec) register {
	if d.isa == avx512 {
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
	x := i.routine(fmt.Sprint("rows", width), "Decode")
	src, dst, n := x.load("Src"), x.load("Dst"), x.load("N")
	d := newDecoder(x)
	d.loop(width, src, n, move{dst, 64}, func(v vec, from int) {
		d.magnitudes(v)
		VMOVUPD(v, Mem{Base: dst, Disp: 8 * from})
	})
	end()
}

// columns emits the routine that decodes columns, 8 values of one k at a time: all
// magnitudes, those of the negative ones, and those of the positive ones, with zeros for
// the others.
func (i isa) columns(width int) {
	x := i.routine(fmt.Sprint("columns", width), "Decode")
	src, dst, n := x.load("Src"), x.load("Dst"), x.load("N")
	d := newDecoder(x)
	zero, sign := i.zero(), x.constant("Sign")
	d.loop(width, src, n, move{dst, 192}, func(v vec, from int) {
		minus := i.vec()
		negative := d.signs(v, sign, zero)
		d.magnitudes(v)
		VMOVUPD(v, Mem{Base: dst, Disp: 8 * from})
		i.only(negative, v, minus)
		VMOVUPD(minus, Mem{Base: dst, Disp: 8*from + 64})
		VSUBPD(minus, v, v)
		VMOVUPD(v, Mem{Base: dst, Disp: 8*from + 128})
	})
	end()
}

// scale emits the routine that multiplies decoded operands by block scales, which are
// powers of two or NaN: values, exponent codes, and kinds. For rows it does 8 values of k at
// once (block lengths are multiples of 8), for columns one k of 8 columns.
func scale(name string, columns bool) {
	x := avx2.routine(name, "Scale")
	val, code, kind := x.load("Val"), x.load("Code"), x.load("Kind")
	factor, add, set, nan, n := x.load("Factor"), x.load("Add"), x.load("Set"), x.load("NaN"), x.load("N")
	vectors, atOnce, moves := 2, uint8(8), []move{{factor, 8}, {add, 2}, {set, 2}, {nan, 4}}
	if columns { // 8 scales; values have three parts
		vectors, atOnce, moves = 6, 1, []move{{factor, 64}, {add, 16}, {set, 16}, {nan, 32}}
	}
	loop("blocks", n, 1, moves, func() {
		f, a, s, q := [2]vec{YMM(), YMM()}, XMM(), XMM(), YMM()
		if columns {
			VMOVUPD(Mem{Base: factor}, f[0])
			VMOVUPD(Mem{Base: factor, Disp: 32}, f[1])
			VMOVDQU(Mem{Base: add}, a)
			VMOVDQU(Mem{Base: set}, s)
			VMOVUPS(Mem{Base: nan}, q)
		} else {
			f[1] = f[0]
			VBROADCASTSD(Mem{Base: factor}, f[0])
			VPBROADCASTW(Mem{Base: add}, a)
			VPBROADCASTW(Mem{Base: set}, s)
			VBROADCASTSS(Mem{Base: nan}, q)
		}
		loop("k", x.load("Block"), atOnce, []move{{val, 32 * vectors}, {code, 16}}, func() {
			for i := range vectors {
				v := YMM()
				VMULPD(Mem{Base: val, Disp: 32 * i}, f[i%2], v)
				VMOVUPD(v, Mem{Base: val, Disp: 32 * i})
			}
			c, m := XMM(), XMM()
			VMOVDQU(Mem{Base: code}, c)
			VPXOR(m, m, m)
			VPCMPEQW(c, m, m)
			VPANDN(a, m, m)
			VPADDW(m, c, c) // to codes that are not 0
			VPOR(s, c, c)
			VMOVDQU(c, Mem{Base: code})
			TESTQ(kind, kind)
			JZ(LabelRef("next"))
			v := YMM()
			VADDPS(Mem{Base: kind}, q, v)
			VMOVUPS(v, Mem{Base: kind})
			ADDQ(U8(32), kind)
			Label("next")
		})
	})
	end()
}
