package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// widen emits the routines that make FP32 of FP16, of BF16 and of TF32.
func widen() {
	widenLoop("widenHalfAVX2", 2, func(src Mem, v reg.Register) { VCVTPH2PS(src, v) })
	widenLoop("widenBrainAVX2", 2, func(src Mem, v reg.Register) {
		VPMOVZXWD(src, v)
		VPSLLD(U8(16), v, v)
	})
	widenLoop("widenTF32AVX2", 4, func(src Mem, v reg.Register) {
		VMOVDQU(src, v)
		VPSRLD(U8(13), v, v)
		VPSLLD(U8(13), v, v)
	})
}

// widenLoop emits a routine for codes of some bytes.
func widenLoop(name string, width int, convert func(src Mem, v reg.Register)) {
	TEXT(name, NOSPLIT, "func(x *Widen)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, dst, n := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64()), Load(x.Field("N"), GP64())
	SHRQ(U8(3), n)
	abs, small, least := YMM(), YMM(), YMM()
	VMOVUPS(mem(x, "Abs"), abs)
	VMOVUPS(mem(x, "Small"), small)
	VMOVUPS(mem(x, "Least"), least)
	loop("codes", n, func() {
		v, mag, counts := YMM(), YMM(), YMM()
		convert(Mem{Base: src}, v)
		VANDPS(abs, v, mag)
		VPCMPGTD(small, mag, counts)
		VPMAXSD(least, mag, mag)
		VANDNPS(v, abs, v)
		VORPS(mag, v, v)
		VANDPS(counts, v, v)
		VMOVUPS(v, Mem{Base: dst})
		ADDQ(U8(uint8(8*width)), src)
		ADDQ(U8(32), dst)
	})
	VZEROUPPER()
	RET()
}
