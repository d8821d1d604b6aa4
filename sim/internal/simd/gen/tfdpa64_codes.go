package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// packedOrder restores the order of the words of two vectors after VPACKUSDW, which leaves
// every 8 bytes of them together (AVX-512).
var packedOrder Mem

// wordCodes emits the routines that make exponent codes of two bytes and kinds.
func wordCodes() {
	packedOrder = constants("packedOrder", 8, func(i int) uint64 { return uint64(i%4*2 + i/4) })
	for _, width := range []int{1, 2, 4} {
		exponents2(width)
		exponents512(width)
		kinds2(width)
		kinds512(width)
	}
}

// codeWords loads a vector of codes of some bytes as words. A TF32 code is cut to the bits
// of BF16, with a fraction that is not zero if its own is not.
func (i isa) codeWords(width int, src register) vec {
	c := i.vec()
	switch width {
	case 1:
		VPMOVZXBW(Mem{Base: src}, c)
	case 2:
		i.moveWords(Mem{Base: src}, c)
	case 4:
		if i == avx512 {
			codeWordsTF32(src, c)
			break
		}
		half := [2]vec{YMM(), YMM()}
		for i, h := range half {
			rest, zero := YMM(), YMM()
			VPXOR(zero, zero, zero)
			VMOVDQU(Mem{Base: src, Disp: 32 * i}, h)
			VPSLLD(U8(16), h, rest) // three bits, and the dropped ones below
			VPSRLD(U8(29), rest, rest)
			VPCMPGTD(zero, rest, rest)
			VPSRLD(U8(31), rest, rest)
			VPSRLD(U8(16), h, h)
			VPOR(rest, h, h)
		}
		VPACKUSDW(half[1], half[0], c)
		VPERMQ(U8(0xd8), c, c)
	}
	return c
}

// codeWordsTF32 does so for TF32 with AVX-512.
func codeWordsTF32(src register, c vec) {
	one, rest, r, half := ZMM(), ZMM(), GP32(), [2]vec{ZMM(), ZMM()}
	MOVL(U32(1), r)
	VPBROADCASTD(r, one)
	MOVL(U32(0xe000), r)
	VPBROADCASTD(r, rest)
	for i, h := range half {
		some := K()
		VMOVDQU32(Mem{Base: src, Disp: 64 * i}, h)
		VPTESTMD(rest, h, some)
		VPSRLD(U8(16), h, h)
		VPORD(one, h, some, h)
	}
	order := ZMM()
	VMOVDQU64(packedOrder, order)
	VPACKUSDW(half[1], half[0], c)
	VPERMQ(c, order, c)
}

// classifier512 makes masks of the classes of codes.
type classifier512 struct {
	magnitude, top vec // constants
	nan            vec // nil: every NaN is above top, as Inf is
}

func newClassifier512(x code, width int) *classifier512 {
	c := &classifier512{magnitude: x.constant512(2, "Magnitude"), top: x.constant512(2, "Top")}
	if width == 1 {
		c.nan = x.constant512(2, "NaN")
	}
	return c
}

// of returns magnitudes, and masks of those that are not zero and of those that are Inf
// or NaN.
func (c *classifier512) of(v vec) (mag vec, some, special register) {
	mag = ZMM()
	some, special = K(), K()
	VPANDD(c.magnitude, v, mag)
	VPTESTMW(mag, mag, some)
	VPCMPGTW(c.top, mag, special)
	if c.nan != nil {
		k := K()
		VPCMPEQW(c.nan, v, k)
		KORD(k, special, special)
	}
	return mag, some, special
}

// exponents2 emits the routine that makes exponent codes of two bytes, 16 at a time with
// AVX2, and bytes that are 8 where the sign is negative, else 0.
func exponents2(width int) {
	x := avx2.routine(fmt.Sprint("exponents", width), "Exponents")
	src, code, sign, n := x.load("Src"), x.load("Code"), x.load("Sign"), x.load("N")
	zero, frac, signAt, special, inf := YMM(), XMM(), XMM(), YMM(), YMM()
	VMOVQ(x.mem("SignAt"), signAt)
	VPXOR(special, special, special)
	VPXOR(inf, inf, inf)
	VPXOR(zero, zero, zero)
	VMOVQ(x.mem("Frac"), frac)
	loop("codes", n, 16, []move{{src, 16 * width}, {code, 32}}, func() {
		c := avx2.codeWords(width, src)
		mag, field, is, s, nan, isInf := YMM(), YMM(), YMM(), YMM(), YMM(), YMM()
		VPSRLW(signAt, c, s)
		VPAND(x.mem("One"), s, s)
		VPSLLW(U8(3), s, s)
		VPACKUSWB(s, s, s)
		VPERMQ(U8(0x08), s, s)
		VMOVDQU(s.AsX(), Mem{Base: sign})
		ADDQ(U8(16), sign)
		VPAND(x.mem("Magnitude"), c, mag)
		VPSRLW(frac, mag, field)
		VPMAXUW(x.mem("One"), field, field)
		VPADDW(x.mem("Base"), field, field)
		VPCMPEQW(x.mem("Inf"), mag, isInf)
		VPOR(isInf, inf, inf)
		VPCMPGTW(x.mem("Top"), mag, is)
		VPCMPEQW(x.mem("NaN"), c, nan)
		VPOR(nan, is, is)
		VPAND(x.mem("Special"), is, is)
		VPOR(is, special, special)
		VPCMPEQW(zero, mag, mag)
		VPANDN(field, mag, field)
		VPOR(is, field, field)
		VMOVDQU(field, Mem{Base: code})
	})
	x.store1Unless0("Any", func() { VPTEST(special, special) })
	x.store1Unless0("AnyInf", func() { VPTEST(inf, inf) })
	end()
}

// exponents512 emits the same for 32 at a time with AVX-512.
func exponents512(width int) {
	x := avx512.routine(fmt.Sprint("exponents", width), "Exponents")
	src, code, sign, n := x.load("Src"), x.load("Code"), x.load("Sign"), x.load("N")
	classifier, special, inf, eight := newClassifier512(x, width), K(), K(), YMM()
	KXORD(special, special, special)
	KXORD(inf, inf, inf)
	infinity, frac, one := x.constant512(2, "Inf"), x.constant512(2, "Frac"), x.constant512(2, "One")
	base, bit, signBit := x.constant512(2, "Base"), x.constant512(2, "Special"), x.constant512(2, "SignBit")
	VPBROADCASTB(x.mem("Eight"), eight)
	loop("codes", n, 32, []move{{src, 32 * width}, {code, 64}, {sign, 32}}, func() {
		c := avx512.codeWords(width, src)
		negative, bytes := K(), YMM()
		VPTESTMW(signBit, c, negative)
		VMOVDQU8_Z(eight, negative, bytes)
		VMOVDQU8(bytes, Mem{Base: sign})
		mag, some, is := classifier.of(c)
		isInf := K()
		VPCMPEQW(infinity, mag, isInf)
		KORD(isInf, inf, inf)
		VPSRLVW(frac, mag, mag)
		VPMAXUW(one, mag, mag)
		VPADDW_Z(base, mag, some, mag)
		VMOVDQU16(bit, is, mag)
		KORD(is, special, special)
		VMOVDQU16(mag, Mem{Base: code})
	})
	x.store1Unless0("Any", func() { KORTESTD(special, special) })
	x.store1Unless0("AnyInf", func() { KORTESTD(inf, inf) })
	end()
}

// kinds2 emits the routine that writes for each code an FP32 of its sign and class: zero,
// Number, InfKind or NaNKind. It makes 16 at a time with AVX2, as BF16, the upper halves of
// FP32.
func kinds2(width int) {
	x := avx2.routine(fmt.Sprint("kinds", width), "Kinds")
	src, dst, n := x.load("Src"), x.load("Dst"), x.load("N")
	zero, signAt := YMM(), XMM()
	VPXOR(zero, zero, zero)
	VMOVQ(x.mem("SignAt"), signAt)
	loop("codes", n, 16, []move{{src, 16 * width}, {dst, 64}}, func() {
		c := avx2.codeWords(width, src)
		mag, v, nan, inf := YMM(), YMM(), YMM(), YMM()
		VPAND(x.mem("Magnitude"), c, mag)
		VPCMPGTW(zero, mag, v)
		VPAND(x.mem("Number"), v, v)
		VPCMPGTW(x.mem("Top"), mag, nan)
		VPCMPEQW(x.mem("Inf"), mag, inf)
		VPANDN(nan, inf, nan)
		VPAND(x.mem("InfKind"), inf, inf)
		VPOR(inf, v, v)
		VPCMPEQW(x.mem("NaN"), c, mag)
		VPOR(mag, nan, nan)
		VPAND(x.mem("NaNKind"), nan, nan)
		VPOR(nan, v, v)
		VPSRLW(signAt, c, c)
		VPSLLW(U8(15), c, c)
		VPOR(c, v, v)
		avx2.storeUpper(v, Mem{Base: dst})
	})
	end()
}

// kinds512 emits the same for 32 at a time with AVX-512.
func kinds512(width int) {
	x := avx512.routine(fmt.Sprint("kinds", width), "Kinds")
	src, dst, n := x.load("Src"), x.load("Dst"), x.load("N")
	classifier := newClassifier512(x, width)
	number, inf, infKind := x.constant512(2, "Number"), x.constant512(2, "Inf"), x.constant512(2, "InfKind")
	nanKind, sign, signLeft := x.constant512(2, "NaNKind"), x.constant512(2, "Sign"), x.constant512(2, "SignLeft")
	loop("codes", n, 32, []move{{src, 32 * width}, {dst, 128}}, func() {
		c := avx512.codeWords(width, src)
		mag, some, special := classifier.of(c)
		v, isInf := ZMM(), K()
		VMOVDQU16_Z(number, some, v)
		VMOVDQU16(nanKind, special, v)
		VPCMPEQW(inf, mag, isInf)
		VMOVDQU16(infKind, isInf, v)
		VPSLLVW(signLeft, c, c)
		VPTERNLOGD(U8(0xf8), sign, c, v) // v | c & sign
		avx512.storeUpper(v, Mem{Base: dst})
	})
	end()
}

// storeUpper stores words as the upper halves of FP32.
func (i isa) storeUpper(v vec, to Mem) {
	for n, h := range i.halves(v) {
		f := i.vec()
		VPMOVZXWD(h, f)
		VPSLLD(U8(16), f, f)
		VMOVUPS(f, to.Offset(n*i.bytes()))
	}
}
