package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exact emits the exact sum of C and of l products, rounded once to nearest, for
// each l of the products (arXiv:2511.10909, Alg. 6): 2, or 4 whose bits lie between
// 2^-48 and 2^34.
//
// Four products are split at 2^-10 into two sums that are exact. Two numbers and C
// are added as in S. Boldo and G. Melquiond, Emulation of FMA and correctly rounded
// sums (IEEE Trans. Comput. 57:4, 2008): with two exact sums and their errors, and
// two sums rounded to odd, of which the last, in float64, is rounded to FP32 as if
// it were exact.
func (i isa) exact(l int) {
	TEXT(fmt.Sprint("exact", l, i.suffix), NOSPLIT, "func(x *Exact)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	c := &exactCode{isa: i, x: x, l: l, b: Load(x.Field("B"), GP64())}
	a, from, to := Load(x.Field("A"), GP64()), Load(x.Field("C"), GP64()), Load(x.Field("D"), GP64())
	c.expMask, c.one, c.split, c.zero = i.broadcast(mem(x, "ExpMask")), i.broadcast(mem(x, "One")), i.broadcast(mem(x, "Split")), i.zero()
	times("tiles", x, "Tiles", func() {
		times("groups", x, "Groups", func() {
			left := Load(x.Field("Rows"), GP64())
			c.row = GP64()
			MOVQ(a, c.row)
			Label("rows")
			for col := 0; col < 8; col += i.lanes() {
				c.outputs(col, Mem{Base: from, Disp: 4 * col}, Mem{Base: to, Disp: 4 * col})
			}
			ADDQ(U8(32), from)
			ADDQ(U8(32), to)
			ADDQ(mem(x, "ARow"), c.row)
			DECQ(left)
			JNZ(LabelRef("rows"))
			ADDQ(mem(x, "BGroup"), c.b)
		})
		ADDQ(mem(x, "ATile"), a)
	})
	VZEROUPPER()
	RET()
}

// exactCode is what the code of an exact sum refers to.
type exactCode struct {
	isa
	x                         gotypes.Component
	l                         int
	b, row                    reg.Register
	expMask, one, split, zero reg.VecVirtual
}

// outputs does all products of a vector of outputs.
func (c *exactCode) outputs(col int, from, to Mem) {
	acc, k, b := c.vec(), GP64(), GP64()
	VCVTPS2PD(from, acc)
	XORQ(k, k)
	MOVQ(c.b, b)
	next := fmt.Sprint("k", col)
	Label(next)
	var p []reg.VecVirtual
	for i := range c.l {
		v := c.vec()
		VBROADCASTSD(Mem{Base: c.row, Index: k, Scale: 8, Disp: 8 * i}, v)
		VMULPD(Mem{Base: b, Disp: 64*i + 8*col}, v, v)
		p = append(p, v)
	}
	// What Inf and NaN make of the sum, and of nothing else.
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
	c.choose(c.isa.special(plain, c.expMask), plain, z)
	f := c.half(c.vec())
	if c.wide {
		VCVTPD2PS(z, f)
	} else {
		VCVTPD2PSY(z, f)
	}
	VCVTPS2PD(f, acc)
	ADDQ(U8(uint8(c.l)), k)
	ADDQ(U32(uint32(64*c.l)), b)
	CMPQ(k, mem(c.x, "K"))
	JB(LabelRef(next))
	nan, code := c.half(c.vec()), c.half(c.vec())
	VPBROADCASTD(mem(c.x, "QNaN"), code)
	if c.wide {
		m := K()
		VCMPPS(U8(cmpUnord), f, f, m)
		VMOVAPS(code, m, f)
	} else {
		VCMPPS(U8(cmpUnord), f, f, nan)
		VBLENDVPS(nan, code, f, f)
	}
	VMOVUPS(f, to)
}

// splitSums returns the sums of the parts of products above and below 2^-10.
func (c *exactCode) splitSums(p []reg.VecVirtual) (high, low reg.VecVirtual) {
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
func (c *exactCode) twoSum(x, y reg.VecVirtual) (s, e reg.VecVirtual) {
	s, e = c.vec(), c.vec()
	t := c.vec()
	VADDPD(y, x, s)
	VSUBPD(x, s, t) // of y
	VSUBPD(t, s, e) // of x
	VSUBPD(e, x, e)
	VSUBPD(t, y, t)
	VADDPD(t, e, e)
	return s, e
}

// oddSum returns the sum of two numbers rounded to odd.
func (c *exactCode) oddSum(x, y reg.VecVirtual) reg.VecVirtual {
	if c.wide {
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
