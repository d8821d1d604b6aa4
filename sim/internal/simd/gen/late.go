package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// halves emits the routine that makes FP16 of formats of one byte, 16 at a time.
func halves() {
	TEXT("halvesAVX2", NOSPLIT, "func(x *Halves)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	y := x.Field("Byte")
	src, dst, n := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64()), Load(x.Field("N"), GP64())
	SHRQ(U8(4), n)
	left, signLeft, factor := XMM(), XMM(), YMM()
	VMOVQ(mem(y, "Left"), left)
	VMOVQ(mem(y, "SignLeft"), signLeft)
	VMOVUPS(mem(y, "Factor"), factor)
	loop("codes", n, func() {
		s, mag, nan, upper := YMM(), YMM(), YMM(), XMM()
		VPMOVZXBW(Mem{Base: src}, s)
		VPAND(mem(y, "Magnitude"), s, mag)
		VPCMPGTW(mem(y, "Top"), mag, nan)
		VPSLLW(left, mag, mag)
		VPSLLW(signLeft, s, s)
		VPAND(mem(y, "SignBit"), s, s)
		VPOR(mag, s, s)
		VPOR(nan, s, s) // all bits of FP16: NaN, too
		VEXTRACTI128(U8(1), s, upper)
		for i, half := range []reg.Register{s.AsX(), upper} {
			f := YMM()
			VCVTPH2PS(half, f)
			VMULPS(factor, f, f)
			VCVTPS2PH(U8(0), f, Mem{Base: dst, Disp: 16 * i})
		}
		ADDQ(U8(16), src)
		ADDQ(U8(32), dst)
	})
	VZEROUPPER()
	RET()
}

// late emits the addition of C in the end.
func late() {
	for _, half := range []bool{false, true} {
		name, width := "late32AVX2", 4
		if half {
			name, width = "late16AVX2", 2
		}
		TEXT(name, NOSPLIT, "func(x *Late)")
		Pragma("noescape")
		x := Dereference(Param("x"))
		sum, c, d := Load(x.Field("Sum"), GP64()), Load(x.Field("C"), GP64()), Load(x.Field("D"), GP64())
		n := Load(x.Field("N"), GP64())
		SHRQ(U8(3), n)
		zero, nan := YMM(), YMM()
		VMOVUPS(mem(x, "Zero"), zero)
		VMOVUPS(mem(x, "QNaN"), nan)
		loop("outputs", n, func() {
			v, w, is := YMM(), YMM(), YMM()
			if half {
				VCVTPH2PS(Mem{Base: sum}, v)
				VCVTPH2PS(Mem{Base: c}, w)
				VADDPS(w, v, v)
			} else {
				VMOVUPS(Mem{Base: sum}, v)
				VADDPS(Mem{Base: c}, v, v)
			}
			VADDPS(zero, v, v)
			VCMPPS(U8(cmpUnord), v, v, is)
			VBLENDVPS(is, nan, v, v)
			if half {
				VCVTPS2PH(U8(0), v, Mem{Base: d})
			} else {
				VMOVUPS(v, Mem{Base: d})
			}
			for _, p := range []reg.Register{sum, c, d} {
				ADDQ(U8(uint8(8*width)), p)
			}
		})
		VZEROUPPER()
		RET()
	}
}
