package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// round emits the routine that rounds float64 to a format, in the mode of MXCSR, by adding
// 2^52 units of the last place and subtracting them.
func (i isa) round() {
	x := i.routine("round", "Round")
	src, dst, n := x.load("Src"), x.load("Dst"), x.load("N")
	restore := control(x.mem("Control"))
	expMask, sign, emin := x.constant("ExpMask"), x.constant("Sign"), x.constant("Emin")
	shift, over, tiny := x.constant("Shift"), x.constant("Over"), x.constant("TinySign")
	z := i.zero()
	loop("numbers", n, uint8(i.lanes()), []move{{src, i.bytes()}, {dst, i.bytes()}}, func() {
		v, s, t, y := i.vec(), i.vec(), i.vec(), i.vec()
		VMOVUPD(Mem{Base: src}, v)
		VANDPD(v, sign, s)
		VANDPD(v, expMask, t)
		VMAXPD(emin, t, t)
		VPADDQ(shift, t, t)
		VORPD(s, t, t)
		VADDPD(t, v, y)
		VSUBPD(t, y, y)
		VANDNPD(y, sign, y)
		VORPD(tiny, y, t) // a result of zero keeps its sign if TinySign says so
		some := i.notZero(t, z)
		i.only(some, s, s)
		i.choose(i.compare(cmpGE, y, over), expMask, y)
		VORPD(s, y, y)
		i.choose(i.special(v, expMask), v, y)
		VMOVUPD(y, Mem{Base: dst})
	})
	restore()
	end()
}

// notZero returns a mask of the integers of 8 bytes that are not zero; z is zero (AVX2 only).
func (i isa) notZero(v, z vec) register {
	if i == avx512 {
		m := K()
		VPTESTMQ(v, v, m)
		return m
	}
	m, ones := YMM(), YMM()
	VPCMPEQQ(z, v, m)
	VPCMPEQQ(ones, ones, ones)
	VPXOR(ones, m, m)
	return m
}

// fromFloat32 emits the routine that converts FP32 to float64.
func (i isa) fromFloat32() {
	x := i.routine("fromFloat32", "Convert")
	src, dst, n := x.load("Src"), x.load("Dst"), x.load("N")
	loop("numbers", n, uint8(i.lanes()), []move{{src, i.bytes() / 2}, {dst, i.bytes()}}, func() {
		v := i.vec()
		VCVTPS2PD(Mem{Base: src}, v)
		VMOVUPD(v, Mem{Base: dst})
	})
	end()
}

// toFloat32 emits the routine that converts float64 to FP32: numbers that FP32 has, and NaNs
// to one code.
func (i isa) toFloat32() {
	x := i.routine("toFloat32", "Convert")
	src, dst, n := x.load("Src"), x.load("Dst"), x.load("N")
	code := YMM()
	VPBROADCASTD(x.mem("QNaN"), code)
	loop("numbers", n, 8, []move{{src, 64}, {dst, 32}}, func() {
		v := YMM()
		if i == avx512 {
			VCVTPD2PS(Mem{Base: src}, v)
		} else {
			VCVTPD2PSY(Mem{Base: src}, v.AsX())
			upper := XMM()
			VCVTPD2PSY(Mem{Base: src, Disp: 32}, upper)
			VINSERTF128(U8(1), upper, v, v)
		}
		avx2.setNaN(code, v)
		VMOVUPS(v, Mem{Base: dst})
	})
	end()
}

// narrowHalf emits the routine that converts FP32 to FP16: numbers that FP16 has.
func narrowHalf() {
	x := avx2.routine("narrowHalf", "Convert")
	src, dst, n := x.load("Src"), x.load("Dst"), x.load("N")
	loop("numbers", n, 8, []move{{src, 32}, {dst, 16}}, func() {
		v := YMM()
		VMOVUPS(Mem{Base: src}, v)
		VCVTPS2PH(U8(0), v, Mem{Base: dst})
	})
	end()
}

// subnormalHalf emits the routine that converts FP16 to FP32 and back where subnormal
// operands and results are zeros.
func subnormalHalf() {
	x := avx2.routine("subnormalHalf", "subnormal")
	code, v := x.mem("Code"), XMM()
	restore := control(U32(ftzDAZ))
	VCVTPH2PS(code, v)
	VCVTPS2PH(U8(0), v, code)
	restore()
	end()
}
