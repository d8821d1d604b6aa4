package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// exactCode holds the registers of an exact sum.
type exactCode struct {
	code
	l                         int
	b                         register
	expMask, one, split, zero vec
}

// exact emits the routine that adds l products at a time to C exactly and rounds each such
// sum to nearest (arXiv:2511.10909, Alg. 6): 2 products, or 4 whose bits lie between 2^-48
// and 2^34.
//
// Four products are split at 2^-10 into two sums that are exact. Two numbers and C are
// added as in S. Boldo and G. Melquiond, Emulation of FMA and correctly rounded sums (IEEE
// Trans. Comput. 57:4, 2008): with two exact sums and their errors, and two sums rounded
// to odd, of which the last, in float64, is rounded to FP32 as if it were exact.
func (i isa) exact(l int) {
	x := i.routine(fmt.Sprint("exact", l), "Exact")
	c := &exactCode{code: x, l: l, b: x.load("B")}
	a, from, to := x.load("A"), x.load("C"), x.load("D")
	c.expMask, c.one, c.split, c.zero = x.constant("ExpMask"), x.constant("One"), x.constant("Split"), i.zero()
	x.grid(a, c.b, 1, func(row register) {
		for col := 0; col < 8; col += i.lanes() {
			c.outputs(row, col, Mem{Base: from, Disp: 4 * col}, Mem{Base: to, Disp: 4 * col})
		}
		advance(move{from, 32}, move{to, 32})
		ADDQ(x.mem("ARow"), row)
	})
	end()
}

// outputs emits all products of a vector of outputs.
func (c *exactCode) outputs(row register, col int, from, to Mem) {
	acc, k, b := c.vec(), GP64(), GP64()
	VCVTPS2PD(from, acc)
	XORQ(k, k)
	MOVQ(c.b, b)
	next := fmt.Sprint("k", col)
	Label(next)
	var p []vec
	for i := range c.l {
		v := c.vec()
		VBROADCASTSD(Mem{Base: row, Index: k, Scale: 8, Disp: 8 * i}, v)
		VMULPD(Mem{Base: b, Disp: 64*i + 8*col}, v, v)
		p = append(p, v)
	}
	// Where this is Inf or NaN it is the sum.
	plain := c.vec()
	VADDPD(p[0], acc, plain)
	for _, v := range p[1:] {
		VADDPD(v, plain, plain)
	}
	x, y := p[0], p[1]
	if c.l == 4 {
		x, y = c.splitSums(p)
	}
	uh, ul := c.twoSum(x, y)
	th, tl := c.twoSum(acc, uh)
	z := c.oddSum(th, c.oddSum(tl, ul))
	VADDPD(c.zero, z, z) // +0 of both zeros
	c.choose(c.special(plain, c.expMask), plain, z)
	f := c.narrow(z)
	VCVTPS2PD(f, acc)
	advance(move{k, c.l}, move{b, 64 * c.l})
	CMPQ(k, c.mem("K"))
	JB(LabelRef(next))
	c.setNaN(c.codeNaN(), f)
	VMOVUPS(f, to)
}

// splitSums returns the sums of the parts of products above and below 2^-10.
func (c *exactCode) splitSums(p []vec) (high, low vec) {
	high, low = c.vec(), c.vec()
	for i, v := range p {
		h := c.vec()
		VADDPD(c.split, v, h)
		VSUBPD(c.split, h, h)
		VSUBPD(h, v, v)
		if i == 0 {
			high, low = h, v
			continue
		}
		VADDPD(h, high, high)
		VADDPD(v, low, low)
	}
	return high, low
}

// twoSum returns the sum of two numbers and its error.
func (c *exactCode) twoSum(x, y vec) (s, e vec) {
	s, e = c.vec(), c.vec()
	t := c.vec()
	VADDPD(y, x, s)
	VSUBPD(x, s, t) // what s has of y
	VSUBPD(t, s, e) // what s has of x
	VSUBPD(e, x, e)
	VSUBPD(t, y, t)
	VADDPD(t, e, e)
	return s, e
}

// oddSum returns the sum of two numbers rounded to odd.
func (c *exactCode) oddSum(x, y vec) vec {
	if c.isa == avx512 {
		down, up, s, inexact := c.vec(), c.vec(), c.vec(), K()
		VADDPD_RD_SAE(y, x, down)
		VADDPD_RU_SAE(y, x, up)
		VADDPD_RZ_SAE(y, x, s)
		VCMPPD(U8(cmpNEQ), up, down, inexact)
		VPORQ(c.one, s, inexact, s)
		return s
	}
	s, e := c.twoSum(x, y)
	// One unit towards the error, if there is one and s is even.
	change, m := c.vec(), c.vec()
	VXORPD(s, e, change)
	VPCMPGTQ(change, c.zero, change)
	VPOR(c.one, change, change) // -1 if the signs differ, else 1
	VCMPPD(U8(cmpNEQ), c.zero, e, m)
	VANDPD(m, change, change)
	VANDPD(c.one, s, m)
	VPCMPEQQ(c.zero, m, m)
	VANDPD(m, change, change)
	VPADDQ(change, s, s)
	return s
}
