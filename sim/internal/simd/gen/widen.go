package main

import (
	"fmt"

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
	widenFromOne(2)
	widenFromOne(4)
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

// widenFromOne emits what widen does, 16 at a time: numbers but zeros become 1 at least.
func widenFromOne(width int) {
	TEXT(fmt.Sprint("widenFromOne", width, "AVX512"), NOSPLIT, "func(x *Widen)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, dst, n := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64()), Load(x.Field("N"), GP64())
	magnitude, sign, one := ZMM(), ZMM(), ZMM()
	r := GP32()
	for _, c := range []struct {
		v    reg.VecVirtual
		bits uint32
	}{{magnitude, 0x7fffe000}, {sign, 1 << 31}, {one, 127 << 23}} {
		MOVL(U32(c.bits), r)
		VPBROADCASTD(r, c.v)
	}
	Label("codes")
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
	ADDQ(U8(uint8(16*width)), src)
	ADDQ(U8(64), dst)
	SUBQ(U8(16), n)
	JG(LabelRef("codes"))
	VZEROUPPER()
	RET()
}
