package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// cutter cuts numbers by MXCSR's mode: an addition of 1.5 * 2^52 units, which no
// number of either sign takes out of its binade, and its inverse.
type cutter struct {
	isa
	shift reg.VecVirtual // from a power of two to 1.5 * 2^52 units
}

// cut cuts v at a distance below a power of two.
func (c cutter) cut(v, top reg.VecVirtual) {
	u := c.vec()
	VPADDQ(c.shift, top, u)
	VADDPD(u, v, v)
	VSUBPD(u, v, v)
}

// cutZero is cut, and what becomes zero is +0.
func (c cutter) cutZero(v, top, z reg.VecVirtual) {
	if !c.wide {
		c.cut(v, top)
		c.only(c.compare(cmpNEQ, v, z), v, v)
		return
	}
	u := c.vec()
	VPADDQ(c.shift, top, u)
	VADDPD(u, v, v)
	VSUBPD_RN_SAE(u, v, v) // which is exact, and +0 if it is zero
}

// join emits CDNA3's addition of C by rounding down (arXiv:2511.10909, Alg. 10 and
// 11), of one sum of products or of two.
func (i isa) join(two bool) {
	name := "join"
	if two {
		name = "joinTwo"
	}
	TEXT(name+i.suffix, NOSPLIT, "func(x *Join)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	restore := control(U32(roundDown))
	e, sum, odd := Load(x.Field("E"), GP64()), Load(x.Field("Sum"), GP64()), Load(x.Field("Odd"), GP64())
	acc, d, n := Load(x.Field("Acc"), GP64()), Load(x.Field("D"), GP64()), Load(x.Field("N"), GP64())
	k := func(name string) reg.VecVirtual { return i.broadcast(mem(x, name)) }
	expMask, emin, floor, drop := k("ExpMask"), k("Emin"), k("Floor"), k("Drop")
	terms, c, post := cutter{i, k("Terms")}, cutter{i, k("C")}, cutter{i, k("Post")}
	var sums cutter
	if two {
		sums = cutter{i, k("Sums")}
	}
	z := i.zero()
	Label("outputs")
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
	if some := i.compare(cmpNEQ, v, z); i.wide {
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
	if i.wide {
		VADDPD(v, s, i.compare(cmpGE, ec, t), s)
	} else {
		i.choose(i.compare(cmpLT, ec, t), z, v)
		VADDPD(v, s, s)
	}
	VANDPD(expMask, s, t)
	VMAXPD(emin, t, t)
	post.cutZero(s, t, z)
	VMOVUPD(s, Mem{Base: d})
	ADDQ(U8(uint8(2*i.lanes())), e)
	ADDQ(U8(uint8(8*i.lanes())), sum)
	ADDQ(U8(uint8(8*i.lanes())), odd)
	ADDQ(U8(uint8(4*i.lanes())), acc)
	ADDQ(U8(uint8(8*i.lanes())), d)
	SUBQ(U8(uint8(i.lanes())), n)
	JG(LabelRef("outputs"))
	restore()
	VZEROUPPER()
	RET()
}

// closing emits the conversion of sums to FP32, to nearest. Where the accumulator is
// Inf or NaN so is the result, and where bit 13 of E is set: NaN, or if it is special
// what the kinds tell.
func (i isa) closing(special bool) {
	TEXT(named("closing", false, special)+i.suffix, NOSPLIT, "func(x *Sums)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	s := i.sums(x, true)
	s.stride = 64
	nan := i.half(i.vec())
	VPBROADCASTD(mem(x, "QNaN"), nan)
	s.loop(func(col int) {
		h := i.half(i.vec())
		from := Mem{Base: s.parts, Disp: 8 * col}
		if i.wide {
			VCVTPD2PS(from, h)
		} else {
			VCVTPD2PSY(from, h)
		}
		s.exceptions32(h, nan, col, special)
		VMOVUPS(h, Mem{Base: s.sum, Disp: 4 * col})
	})
	VZEROUPPER()
	RET()
}

// sumOver emits the sums of products that are Inf or NaN as FP32, in the rows where
// bit 13 of some E is set: finite products count as little or nothing.
func (i isa) sumOver() {
	i.rowsOfKinds("sumOver", func(x *kindsCode, a Mem, sum reg.VecVirtual) {
		p, q := YMM(), YMM()
		if i.wide {
			VMULPS_BCST(a, x.b, p)
			VFMADD231PS(x.little, p, sum) // of products of 1 at least: not subnormal
			return
		}
		VBROADCASTSS(a, p)
		VMULPS(x.b, p, p)
		VMINPS(x.most, p, q)
		VMAXPS(x.least, q, q)
		VSUBPS(q, p, p)
		VADDPS(p, sum, sum)
	})
}

// shuffle emits a permutation of the bytes of each 16, and then of the halves of each
// 32: the lower halves of both come first.
func shuffle() {
	for _, cross := range []bool{false, true} {
		name := "shuffleAVX2"
		if cross {
			name = "shuffleCrossAVX2"
		}
		TEXT(name, NOSPLIT, "func(x *Shuffle)")
		Pragma("noescape")
		x := Dereference(Param("x"))
		src, dst, n := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64()), Load(x.Field("N"), GP64())
		pattern := YMM()
		VMOVDQU(mem(x, "Pattern"), pattern)
		Label("bytes")
		v := YMM()
		VMOVDQU(Mem{Base: src}, v)
		VPSHUFB(pattern, v, v)
		if cross {
			VPERMQ(U8(0xd8), v, v)
		}
		VMOVDQU(v, Mem{Base: dst})
		ADDQ(U8(32), src)
		ADDQ(U8(32), dst)
		SUBQ(U8(32), n)
		JG(LabelRef("bytes"))
		VZEROUPPER()
		RET()
	}
}
