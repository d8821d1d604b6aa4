package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// widens emits the routines that make FP32 of FP16, of BF16 and of TF32.
func widens() {
	widen("widenHalf", 2, func(src Mem, v vec) { VCVTPH2PS(src, v) })
	widen("widenBrain", 2, func(src Mem, v vec) {
		VPMOVZXWD(src, v)
		VPSLLD(U8(16), v, v)
	})
	widen("widenTF32", 4, func(src Mem, v vec) {
		VMOVDQU(src, v)
		VPSRLD(U8(13), v, v)
		VPSLLD(U8(13), v, v)
	})
	widenFromOne(2)
	widenFromOne(4)
}

// widen emits a routine for codes of some bytes, 8 at a time: small numbers become +0,
// others Least at least.
func widen(name string, width int, convert func(src Mem, v vec)) {
	x := avx2.routine(name, "Widen")
	src, dst, n := x.load("Src"), x.load("Dst"), x.count("N", 3)
	abs, small, least := YMM(), YMM(), YMM()
	VMOVUPS(x.mem("Abs"), abs)
	VMOVUPS(x.mem("Small"), small)
	VMOVUPS(x.mem("Least"), least)
	loop("codes", n, 1, []move{{src, 8 * width}, {dst, 32}}, func() {
		v, mag, counts := YMM(), YMM(), YMM()
		convert(Mem{Base: src}, v)
		VANDPS(abs, v, mag)
		VPCMPGTD(small, mag, counts)
		VPMAXSD(least, mag, mag)
		VANDNPS(v, abs, v)
		VORPS(mag, v, v)
		VANDPS(counts, v, v)
		VMOVUPS(v, Mem{Base: dst})
	})
	end()
}

// widenFromOne emits a routine for BF16 or TF32, 16 at a time with AVX-512: numbers
// that are not zero become 1 at least.
func widenFromOne(width int) {
	x := avx512.routine(fmt.Sprint("widenFromOne", width), "Widen")
	src, dst, n := x.load("Src"), x.load("Dst"), x.load("N")
	magnitude, sign, one := ZMM(), ZMM(), ZMM()
	r := GP32()
	for _, c := range []struct {
		v    vec
		bits uint32
	}{{magnitude, 0x7fffe000}, {sign, 1 << 31}, {one, 127 << 23}} {
		MOVL(U32(c.bits), r)
		VPBROADCASTD(r, c.v)
	}
	loop("codes", n, 16, []move{{src, 16 * width}, {dst, 64}}, func() {
		v, mag, some := ZMM(), ZMM(), K()
		if width == 2 {
			VPMOVZXWD(Mem{Base: src}, v)
			VPSLLD(U8(16), v, v)
		} else {
			VMOVDQU32(Mem{Base: src}, v)
		}
		VPANDD(magnitude, v, mag)
		VPTESTMD(mag, mag, some)
		VPMAXSD(one, mag, mag)
		VPTERNLOGD(U8(0xf8), sign, v, mag) // mag | v & sign
		VMOVDQU32_Z(mag, some, v)
		VMOVDQU32(v, Mem{Base: dst})
	})
	end()
}
