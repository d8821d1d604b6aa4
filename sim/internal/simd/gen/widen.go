package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// widen emits the routines that make FP32 of FP16 and of BF16.
func widen() {
	widenLoop("widenHalfAVX2", func(src Mem, v reg.Register) { VCVTPH2PS(src, v) })
	widenLoop("widenBrainAVX2", func(src Mem, v reg.Register) {
		VPMOVZXWD(src, v)
		VPSLLD(U8(16), v, v)
	})
}

func widenLoop(name string, convert func(src Mem, v reg.Register)) {
	TEXT(name, NOSPLIT, "func(x *Widen)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, dst, n := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64()), Load(x.Field("N"), GP64())
	SHRQ(U8(3), n)
	abs, small := YMM(), YMM()
	VMOVUPS(mem(x, "Abs"), abs)
	VMOVUPS(mem(x, "Small"), small)
	loop("codes", n, func() {
		v, mag := YMM(), YMM()
		convert(Mem{Base: src}, v)
		VANDPS(abs, v, mag)
		VPCMPGTD(small, mag, mag)
		VANDPS(mag, v, v)
		VMOVUPS(v, Mem{Base: dst})
		ADDQ(U8(16), src)
		ADDQ(U8(32), dst)
	})
	VZEROUPPER()
	RET()
}
