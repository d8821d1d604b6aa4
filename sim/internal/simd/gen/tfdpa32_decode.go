package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Exponent codes of one byte: 0 for zero, codeOne for the format's emin, and one more for
// each exponent above it; codeSpecial for Inf and NaN. A product's code is the sum of its
// factors' codes.
const (
	codeOne     = 32
	codeSpecial = 127
)

// halfConsts are constants of FP16, and the exponent codes by exponent field.
type halfConsts struct{ abs, one, infinity, code, special, table Mem }

// decodes emits the routines that decode FP16 and 1-byte formats to float32 values and
// exponent codes, 32 at a time.
func decodes() {
	words := func(name string, w uint16) Mem { return constants(name, 32, func(int) uint16 { return w }) }
	h := &halfConsts{
		abs: words("halfAbs", 0x7fff), one: words("halfOne", 1), infinity: words("halfInfinity", 0x7c00),
		code: words("halfCode", codeOne-1), special: words("halfSpecial", codeSpecial),
		table: constants("halfCodes", 32, func(field int) uint16 {
			if field == 31 {
				return codeSpecial
			}
			return uint16(codeOne - 1 + max(field, 1))
		}),
	}
	for _, i := range isas {
		i.decodeHalf(h)
		i.decodeByte(h)
	}
}

func (i isa) decodeHalf(h *halfConsts) {
	x := i.routine("decodeHalf", "Half")
	src, val, code, n := x.load("Src"), x.load("Val"), x.load("Code"), x.count("N", 5)
	c, abs := i.halfCodes(h), i.vec()
	i.moveWords(h.abs, abs)
	loop("codes", n, 1, []move{{src, 64}, {val, 128}, {code, 32}}, func() {
		for at := 0; at < 64; at += i.bytes() {
			for j := range 2 {
				v := i.vec()
				VCVTPH2PS(Mem{Base: src, Disp: at + i.bytes()/2*j}, v)
				VMOVUPS(v, Mem{Base: val, Disp: 2*at + i.bytes()*j})
			}
			mag := i.vec()
			i.and(Mem{Base: src, Disp: at}, abs, mag)
			c.add(mag)
		}
		c.store(Mem{Base: code})
	})
	c.storeAnyInf(x)
	end()
}

// decodeByte emits the decoding of formats of one byte, by way of FP16.
func (i isa) decodeByte(h *halfConsts) {
	x := i.routine("decodeByte", "Byte")
	src, val, code, n := x.load("Src"), x.load("Val"), x.load("Code"), x.count("N", 5)
	magnitude, top, signBit := x.words("Magnitude"), x.words("Top"), x.words("SignBit")
	left, signLeft, factor := XMM(), XMM(), i.vec()
	VMOVQ(x.mem("Left"), left)
	VMOVQ(x.mem("SignLeft"), signLeft)
	VBROADCASTSS(x.mem("Factor"), factor)
	var abs Op = h.abs
	if i == avx512 {
		abs = i.vec()
		i.moveWords(h.abs, abs)
	}
	c := i.halfCodes(h)
	loop("codes", n, 1, []move{{src, 32}, {val, 128}, {code, 32}}, func() {
		for at := 0; at < 64; at += i.bytes() {
			s, mag, nan := i.vec(), i.vec(), i.mask()
			VPMOVZXBW(Mem{Base: src, Disp: at / 2}, s)
			i.and(magnitude, s, mag)
			VPCMPGTW(top, mag, nan)
			VPSLLW(left, mag, mag)
			if i == avx512 { // set all magnitude bits of a NaN: that is a NaN in FP16 too
				VMOVDQU16(abs, nan, mag)
			} else {
				VPOR(nan, mag, mag)
				VPAND(abs, mag, mag)
			}
			VPSLLW(signLeft, s, s)
			if i == avx512 {
				VPTERNLOGD(U8(0xec), signBit, mag, s) // s & signBit | mag
			} else {
				VPAND(signBit, s, s)
				VPOR(mag, s, s)
			}
			for j, half := range i.halves(s) {
				f := i.vec()
				VCVTPH2PS(half, f)
				VMULPS(factor, f, f)
				VMOVUPS(f, Mem{Base: val, Disp: 2*at + i.bytes()*j})
			}
			c.add(mag)
		}
		c.store(Mem{Base: code})
	})
	c.storeAnyInf(x)
	end()
}

// halfCodes computes exponent codes from 32 FP16 magnitudes, in two vectors or one, and
// finds out whether one is Inf.
type halfCodes struct {
	isa
	*halfConsts
	table, infinity, zero vec
	inf                   vec // AVX2: not zero where one was Inf; AVX-512: 0 where one was Inf
	codes                 []vec
}

func (i isa) halfCodes(h *halfConsts) *halfCodes {
	c := &halfCodes{isa: i, halfConsts: h, infinity: i.vec(), inf: i.vec()}
	if i == avx512 {
		c.table = i.vec()
		i.moveWords(h.table, c.table)
	}
	i.moveWords(h.infinity, c.infinity)
	if i == avx512 {
		VPTERNLOGD(U8(0xff), c.inf, c.inf, c.inf)
	} else {
		c.zero = i.vec()
		VPXOR(c.zero, c.zero, c.zero)
		VPXOR(c.inf, c.inf, c.inf)
	}
	return c
}

// add computes the codes of a vector of magnitudes.
func (c *halfCodes) add(mag vec) {
	inf := c.vec()
	if c.isa == avx512 {
		some := K()
		VPXORD(c.infinity, mag, inf)
		VPMINUW(inf, c.inf, c.inf)
		VPTESTMW(mag, mag, some)
		VPSRLW(U8(10), mag, mag)
		VPERMW_Z(c.table, mag, some, mag)
		c.codes = []vec{mag}
		return
	}
	code, special := c.vec(), c.vec()
	VPCMPEQW(c.infinity, mag, inf)
	VPOR(inf, c.inf, c.inf)
	VPMAXUW(c.infinity, mag, special)
	VPCMPEQW(special, mag, special)
	VPAND(c.halfConsts.special, special, special)
	VPSRLW(U8(10), mag, code)
	VPMAXUW(c.one, code, code)
	VPADDW(c.code, code, code)
	VPCMPEQW(c.zero, mag, mag)
	VPANDN(code, mag, code)
	VPOR(special, code, code)
	c.codes = append(c.codes, code)
}

// store stores the codes, as bytes.
func (c *halfCodes) store(to Mem) {
	v := c.codes[0]
	if c.isa == avx512 {
		VPMOVWB(v, to)
		return
	}
	VPACKUSWB(c.codes[1], v, v)
	VPERMQ(U8(0xd8), v, v)
	VMOVDQU(v, to)
}

// storeAnyInf stores whether there was an infinity.
func (c *halfCodes) storeAnyInf(x code) {
	x.store1Unless0("AnyInf", func() {
		if c.isa == avx512 {
			is := K()
			VPTESTNMW(c.inf, c.inf, is)
			KORTESTD(is, is)
		} else {
			VPTEST(c.inf, c.inf)
		}
	})
}
