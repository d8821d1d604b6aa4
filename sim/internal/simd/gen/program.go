package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// programCode holds the registers of a program's steps: the accumulators of some lanes, their
// nominal exponents as powers of two (0: none), and what is a NaN where a lane's result is not known.
type programCode struct {
	code
	term        register
	acc, e, bad vec
	labels      int
}

// roundingModes are those of VROUNDPD and VRNDSCALEPD.
const roundingModes = 4

// program emits the routine that runs the steps of a program on dot products side by side, as the
// kernel word does one by one. A term is cut at 2^(E-F) by multiplying it by 2^(F-E) and rounding it
// to an integer; sums of such integers, and numbers of so many units, are exact in float64.
func (i isa) program() {
	i.steps("program", func(c *programCode) { c.step() })
}

// exactSums is program for steps whose sums are exact: those of FP16's products, whose parts above and
// below a bit are added apart without an error, and then with the accumulator, rounded to odd before
// they are rounded.
func (i isa) exactSums() {
	i.steps("exactSums", func(c *programCode) {
		e := &exactCode{code: c.code, one: c.constantOf("One"), zero: c.zero()}
		split, high, low, minus := c.constantOf("Split"), c.zero(), c.zero(), c.vec()
		VMOVAPD(c.acc, minus)
		loop("terms", c.local("L"), 1, []move{{c.term, 2 * c.bytes()}}, func() {
			v, h := c.vec(), c.vec()
			VMOVUPD(Mem{Base: c.term}, v)
			VANDPD(v, minus, minus)
			VADDPD(split, v, h)
			VSUBPD(split, h, h)
			VSUBPD(h, v, v)
			VADDPD(h, high, high)
			VADDPD(v, low, low)
		})
		sum, rest := e.twoSum(high, low)
		all, err := e.twoSum(c.acc, sum)
		VMOVAPD(e.oddSum(all, e.oddSum(err, rest)), c.acc)
		VANDPD(c.mem("MinusZero"), minus, minus) // a sum of nothing but negative numbers and -0
		VORPD(minus, c.acc, c.acc)
		VADDPD(c.mem("Zero"), c.acc, c.acc)
		c.round(c.block("AccRound"))
	})
}

func (c *programCode) constantOf(name string) vec {
	v := c.vec()
	VMOVUPD(c.mem(name), v)
	return v
}

// steps emits a routine of this kind.
func (i isa) steps(name string, step func(c *programCode)) {
	x := i.routine(name, "Program")
	c := &programCode{code: x, term: x.load("Terms")}
	from, to := x.load("C"), x.load("D")
	x.times("groups", "Groups", func() {
		c.acc, c.e, c.bad = c.vec(), c.vec(), c.vec()
		VCVTPS2PD(Mem{Base: from}, c.acc)
		VSUBPD(c.acc, c.acc, c.bad)
		c.exponents(c.acc, c.e, x.mem("Emin"))
		x.times("steps", "Steps", func() { step(c) })
		VORPD(c.bad, c.acc, c.acc)
		VMOVUPS(c.narrow(c.acc), Mem{Base: to})
		advance(move{from, i.bytes() / 2}, move{to, i.bytes() / 2})
	})
	end()
}

// exponents puts the powers of two of v, at least least, into e, and 0 for zeros.
func (c *programCode) exponents(v, e vec, least Op) {
	VANDPD(c.mem("ExpMask"), v, e)
	VMAXPD(least, e, e)
	c.only(c.compare(cmpNEQ, v, c.zero()), e, e)
}

// step emits a step.
func (c *programCode) step() {
	// The largest exponent, with that of the accumulator unless products are summed apart.
	top, sum := c.vec(), c.vec()
	VANDPD(c.mem("WithC"), c.e, top)
	exps := GP64()
	MOVQ(c.term, exps)
	loop("largest", c.local("L"), 1, []move{{exps, 2 * c.bytes()}}, func() { VMAXPD(Mem{Base: exps, Disp: c.bytes()}, top, top) })
	some := c.compare(cmpNEQ, top, c.zero())
	scale := c.scale(top, "Floor", "Scale")
	c.only(some, top, top)
	VMOVUPD(c.mem("MinusZero"), sum)
	c.byMode(c.mem("Mode"), func(mode uint8, label string) {
		loop(label+"terms", c.local("L"), 1, []move{{c.term, 2 * c.bytes()}}, func() {
			v := c.vec()
			VMULPD(Mem{Base: c.term}, scale, v)
			c.toInteger(mode, v)
			VADDPD(v, sum, sum)
		})
	})
	c.inverse(scale)
	VMULPD(scale, sum, sum)
	VADDPD(c.mem("Zero"), sum, sum)

	join := c.block("Join")
	VMAXPD(c.e, top, top)
	some = c.compare(cmpNEQ, top, c.zero())
	scale = c.scaleOf(join, top)
	c.only(some, top, c.e)
	c.cut(join.mem("Mode"), sum, scale)
	units := c.vec()
	VMOVUPD(join.mem("CScale"), units)
	VPSUBQ(top, units, units)
	c.cut(join.mem("CMode"), c.acc, units)
	VADDPD(sum, c.acc, c.acc)
	VADDPD(c.mem("Zero"), c.acc, c.acc)

	n := GP64()
	MOVQ(c.mem("Post"), n)
	TESTQ(n, n)
	JZ(LabelRef("unrounded"))
	c.round(c.block("PostRound"))
	Label("unrounded")
	c.round(c.block("AccRound"))
}

// scale raises exponents to a floor and returns the factor by which their terms are multiplied.
func (c *programCode) scale(top vec, floor, scale string) vec {
	s := c.vec()
	VMAXPD(c.mem(floor), top, top)
	VMOVUPD(c.mem(scale), s)
	VPSUBQ(top, s, s)
	return s
}

func (c *programCode) scaleOf(b code, top vec) vec {
	return (&programCode{code: b}).scale(top, "Floor", "Scale")
}

// inverse makes a power of two its inverse.
func (c *programCode) inverse(v vec) {
	t := c.vec()
	VMOVUPD(c.mem("Inverse"), t)
	VPSUBQ(v, t, v)
}

// cut rounds v to multiples of what the power of two scale makes 1.
func (c *programCode) cut(mode Op, v, scale vec) {
	VMULPD(scale, v, v)
	c.byMode(mode, func(mode uint8, _ string) { c.toInteger(mode, v) })
	c.inverse(scale)
	VMULPD(scale, v, v)
}

// byMode emits code for each rounding mode, of which one is run.
func (c *programCode) byMode(mode Op, do func(mode uint8, label string)) {
	c.labels++
	label := fmt.Sprintf("mode%d", c.labels)
	n := GP64()
	MOVQ(mode, n)
	for m := range uint8(roundingModes) {
		next := fmt.Sprint(label, "after", m)
		if m < roundingModes-1 {
			CMPQ(n, U8(m))
			JNE(LabelRef(next))
		}
		do(m, fmt.Sprint(label, m))
		if m < roundingModes-1 {
			JMP(LabelRef(label + "end"))
			Label(next)
		}
	}
	Label(label + "end")
}

func (c *programCode) toInteger(mode uint8, v vec) {
	if c.isa == avx512 {
		VRNDSCALEPD(U8(mode), v, v)
	} else {
		VROUNDPD(U8(mode), v, v)
	}
}

// round rounds the accumulators. What may overflow or be flushed is not known.
func (c *programCode) round(r code) {
	at, scale, size, before := c.vec(), c.vec(), c.vec(), c.vec()
	VANDPD(c.mem("ExpMask"), c.acc, at)
	VMAXPD(r.mem("Emin"), at, at)
	VMOVUPD(r.mem("Scale"), scale)
	VPSUBQ(at, scale, scale)
	VANDPD(c.mem("Abs"), c.acc, before)
	some := c.compare(cmpNEQ, c.acc, c.zero())
	c.cut(r.mem("Mode"), c.acc, scale)
	VANDPD(c.mem("Abs"), c.acc, size)
	c.spoil(c.compare(cmpGE, size, r.mem("Over")), nil)
	VMINPD(before, size, size)
	c.spoil(c.compare(cmpLT, size, r.mem("Tiny")), some)
	c.exponents(c.acc, c.e, r.mem("Emin"))
}

// spoil notes lanes in both masks as not known.
func (c *programCode) spoil(mask, and register) {
	nan := c.vec()
	c.only(mask, c.mem("NaN"), nan)
	if and != nil {
		c.only(and, nan, nan)
	}
	VORPD(nan, c.bad, c.bad)
}

// chained emits the routine that adds products to C one by one, each sum rounded to FP32 in the mode
// of MXCSR.
func (i isa) chained() {
	x := i.routine("chained", "Program")
	term, from, to := x.load("Terms"), x.load("C"), x.load("D")
	restore := control(x.mem("Control"))
	half := func() register { return i.half(i.vec()) }
	x.times("groups", "Groups", func() {
		acc, size, most := half(), half(), half()
		VMOVUPS(Mem{Base: from}, acc)
		VXORPS(most, most, most)
		loop("products", x.local("Steps"), 1, []move{{term, 2 * i.bytes()}}, func() {
			VADDPS(i.narrow(Mem{Base: term}), acc, acc)
			VADDPS(x.mem("Zero32"), acc, acc)
			VANDPS(x.mem("Abs32"), acc, size)
			VMAXPS(size, most, most)
		})
		nan := half()
		if i == avx512 {
			m := K()
			VCMPPS(U8(cmpGE), x.mem("Over32"), most, m)
			VMOVUPS_Z(x.mem("Abs32"), m, nan)
		} else {
			VCMPPS(U8(cmpGE), x.mem("Over32"), most, nan)
		}
		VORPS(nan, acc, acc)
		VMOVUPS(acc, Mem{Base: to})
		advance(move{from, i.bytes() / 2}, move{to, i.bytes() / 2})
	})
	restore()
	end()
}
