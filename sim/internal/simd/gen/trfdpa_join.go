package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// This file has how a step of TR-FDPA and GTR-FDPA (kernel trfdpa) adds C to the sums of its
// products. The routines of tfdpa64_*.go make those sums, and round the result;
// trfdpa_fused.go does it all in one routine.

// cutter rounds numbers to a multiple of a unit, in MXCSR's rounding mode, by adding and
// subtracting 1.5 * 2^52 units. The factor 1.5 keeps the sum in one binade for either sign.
type cutter struct {
	isa
	shift vec // from a power of two to 1.5 * 2^52 units
}

// cut cuts v at a distance below a power of two.
func (c cutter) cut(v, top vec) {
	u := c.vec()
	VPADDQ(c.shift, top, u)
	VADDPD(u, v, v)
	VSUBPD(u, v, v)
}

// cutZero is cut, but what becomes zero is +0.
func (c cutter) cutZero(v, top, z vec) {
	if c.isa == avx2 {
		c.cut(v, top)
		c.only(c.compare(cmpNEQ, v, z), v, v)
		return
	}
	u := c.vec()
	VPADDQ(c.shift, top, u)
	VADDPD(u, v, v)
	VSUBPD_RN_SAE(u, v, v) // which is exact, and +0 if it is zero
}

// join emits CDNA3's addition of C by rounding down (arXiv:2511.10909, Alg. 10 and 11), to
// one sum of products or to two.
func (i isa) join(two bool) {
	name := "join"
	if two {
		name = "joinTwo"
	}
	x := i.routine(name, "Join")
	restore := control(U32(roundDown))
	e, sum, odd, acc, d, n := x.load("E"), x.load("Sum"), x.load("Odd"), x.load("Acc"), x.load("D"), x.load("N")
	expMask, emin, floor, drop := x.constant("ExpMask"), x.constant("Emin"), x.constant("Floor"), x.constant("Drop")
	terms, c, post := cutter{i, x.constant("Terms")}, cutter{i, x.constant("C")}, cutter{i, x.constant("Post")}
	var sums cutter
	if two {
		sums = cutter{i, x.constant("Sums")}
	}
	z, moves := i.zero(), []move{{e, 2 * i.lanes()}, {sum, i.bytes()}, {odd, i.bytes()}, {acc, i.bytes() / 2}, {d, i.bytes()}}
	loop("outputs", n, uint8(i.lanes()), moves, func() {
		top, s, v, ec, t := i.vec(), i.vec(), i.vec(), i.vec(), i.vec()
		VPMOVZXWQ(Mem{Base: e}, top)
		VPSLLQ(U8(52), top, top)
		VMOVUPD(Mem{Base: sum}, s)
		if two {
			VMOVUPD(Mem{Base: odd}, t)
			sums.cut(s, top)
			sums.cut(t, top)
			VADDPD(t, s, s)
		}
		VCVTPS2PD(Mem{Base: acc}, v)
		VANDPD(expMask, v, ec)
		if some := i.compare(cmpNEQ, v, z); i == avx512 {
			VMAXPD_Z(emin, ec, some, ec)
		} else {
			i.only(some, emin, t)
			VMAXPD(t, ec, ec)
		}
		VMAXPD(ec, top, top)
		VMAXPD(floor, top, top)
		terms.cut(s, top)
		c.cut(v, top)
		VPSUBQ(drop, top, t)
		if i == avx512 {
			VADDPD(v, s, i.compare(cmpGE, ec, t), s)
		} else {
			i.choose(i.compare(cmpLT, ec, t), z, v)
			VADDPD(v, s, s)
		}
		VANDPD(expMask, s, t)
		VMAXPD(emin, t, t)
		post.cutZero(s, t, z)
		VMOVUPD(s, Mem{Base: d})
	})
	restore()
	end()
}

// larger16 emits the routine that takes the larger of each two words, 16 pairs at a time.
// It joins the largest exponents of the two parts of a step.
func larger16() {
	x := avx2.routine("larger16", "Larger16")
	a, b, d, n := x.load("A"), x.load("B"), x.load("D"), x.load("N")
	loop("words", n, 16, []move{{a, 32}, {b, 32}, {d, 32}}, func() {
		v := YMM()
		VMOVDQU(Mem{Base: a}, v)
		VPMAXUW(Mem{Base: b}, v, v)
		VMOVDQU(v, Mem{Base: d})
	})
	end()
}
