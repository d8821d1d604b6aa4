package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// This file emits the routines of sim's kernel "arranged", which rearranges and widens
// operands for another kernel and adds C to its sums.

// shuffle emits the routine that permutes the bytes within each lane of 16 bytes. With
// cross, the low 8 bytes of both lanes of a vector then come first, before the high ones.
func shuffle(name string, cross bool) {
	x := avx2.routine(name, "Shuffle")
	src, dst, n := x.load("Src"), x.load("Dst"), x.load("N")
	pattern := YMM()
	VMOVDQU(x.mem("Pattern"), pattern)
	loop("bytes", n, 32, []move{{src, 32}, {dst, 32}}, func() {
		v := YMM()
		VMOVDQU(Mem{Base: src}, v)
		VPSHUFB(pattern, v, v)
		if cross {
			VPERMQ(U8(0xd8), v, v)
		}
		VMOVDQU(v, Mem{Base: dst})
	})
	end()
}

// widenToHalf emits the routine that converts one-byte formats to FP16, 16 at a time.
func widenToHalf() {
	x := avx2.routine("halves", "Halves")
	y := x.block("Byte")
	src, dst, n := x.load("Src"), x.load("Dst"), x.count("N", 4)
	left, signLeft, factor := XMM(), XMM(), YMM()
	VMOVQ(y.mem("Left"), left)
	VMOVQ(y.mem("SignLeft"), signLeft)
	VMOVUPS(y.mem("Factor"), factor)
	loop("codes", n, 1, []move{{src, 16}, {dst, 32}}, func() {
		s, mag, nan := YMM(), YMM(), YMM()
		VPMOVZXBW(Mem{Base: src}, s)
		VPAND(y.mem("Magnitude"), s, mag)
		VPCMPGTW(y.mem("Top"), mag, nan)
		VPSLLW(left, mag, mag)
		VPSLLW(signLeft, s, s)
		VPAND(y.mem("SignBit"), s, s)
		VPOR(mag, s, s)
		VPOR(nan, s, s) // all bits of FP16: NaN, too
		for i, half := range avx2.halves(s) {
			f := YMM()
			VCVTPH2PS(half, f)
			VMULPS(factor, f, f)
			VCVTPS2PH(U8(0), f, Mem{Base: dst, Disp: 16 * i})
		}
	})
	end()
}

// addLate emits the routine that adds C after all products in FP32. With half, sums, C and
// D are FP16.
func addLate(name string, half bool) {
	x := avx2.routine(name, "Late")
	sum, c, d, n := x.load("Sum"), x.load("C"), x.load("D"), x.count("N", 3)
	zero, nan, bytes := YMM(), YMM(), 32
	if half {
		bytes = 16
	}
	VMOVUPS(x.mem("Zero"), zero)
	VMOVUPS(x.mem("QNaN"), nan)
	loop("outputs", n, 1, []move{{sum, bytes}, {c, bytes}, {d, bytes}}, func() {
		v, w := YMM(), YMM()
		if half {
			VCVTPH2PS(Mem{Base: sum}, v)
			VCVTPH2PS(Mem{Base: c}, w)
			VADDPS(w, v, v)
		} else {
			VMOVUPS(Mem{Base: sum}, v)
			VADDPS(Mem{Base: c}, v, v)
		}
		VADDPS(zero, v, v)
		avx2.setNaN(nan, v)
		if half {
			VCVTPS2PH(U8(0), v, Mem{Base: d})
		} else {
			VMOVUPS(v, Mem{Base: d})
		}
	})
	end()
}
