package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chains emits the routines of native arithmetic: 4 rows by 8 columns at a time,
// so that their accumulators hide the latency of the additions.
func chains() {
	chain("fma32AVX2", 4, 1, func(c *chainCode) { c.fma(VBROADCASTSS, VFMADD231PS) })
	chain("fma64AVX2", 8, 1, func(c *chainCode) { c.fma(VBROADCASTSD, VFMADD231PD) })
	chain("addMul2AVX2", 4, 2, func(c *chainCode) { c.addMul(2) })
	chain("addMul4AVX2", 4, 4, func(c *chainCode) { c.addMul(4) })
}

// chainCode is what the code of a chain refers to.
type chainCode struct {
	x                gotypes.Component
	width            int  // of an element
	flushC           bool // small accumulators become +0
	rows             [4]reg.Register
	b, k, order, end reg.Register
	acc              [4][]reg.VecVirtual // [row][part of 8 columns]
}

// chain emits a routine: the loops over tiles, groups and rows around steps of l
// products.
func chain(name string, width, l int, step func(c *chainCode)) {
	TEXT(name, NOSPLIT, "func(x *Chain)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	c := &chainCode{x: x, width: width, flushC: l > 1, b: Load(x.Field("B"), GP64())}
	restore := control(mem(x, "Control"))
	a, from, to := Load(x.Field("A"), GP64()), Load(x.Field("C"), GP64()), Load(x.Field("D"), GP64())
	times("tiles", x, "Tiles", func() {
		times("groups", x, "Groups", func() {
			left := Load(x.Field("Rows"), GP64())
			c.rows[0] = GP64()
			MOVQ(a, c.rows[0])
			Label("rows")
			stride := Load(x.Field("ARow"), GP64())
			for i := 1; i < 4; i++ {
				c.rows[i] = GP64()
				LEAQ(Mem{Base: c.rows[i-1], Index: stride, Scale: 1}, c.rows[i])
			}
			c.load(from)
			n := Load(x.Field("N"), GP64())
			c.order, c.end, c.k = Load(x.Field("Order"), GP64()), GP64(), GP64()
			LEAQ(Mem{Base: c.order, Index: n, Scale: 4}, c.end)
			Label("k")
			step(c)
			CMPQ(c.order, c.end)
			JB(LabelRef("k"))
			c.store(to)
			ADDQ(U32(uint32(4*8*width)), from)
			ADDQ(U32(uint32(4*8*width)), to)
			ADDQ(mem(x, "ARow"), c.rows[3])
			MOVQ(c.rows[3], c.rows[0])
			SUBQ(U8(4), left)
			JG(LabelRef("rows"))
			ADDQ(mem(x, "BGroup"), c.b)
		})
		ADDQ(mem(x, "ATile"), a)
	})
	restore()
	VZEROUPPER()
	RET()
}

// load takes the accumulators.
func (c *chainCode) load(from reg.Register) {
	for i := range c.acc {
		c.acc[i] = nil
		for p := 0; p < 8*c.width; p += 32 {
			v := YMM()
			VMOVUPS(Mem{Base: from, Disp: 8*c.width*i + p}, v)
			if c.flushC {
				mag := YMM()
				VANDPS(mem(c.x, "Abs"), v, mag)
				VPCMPGTD(mem(c.x, "SmallC"), mag, mag)
				VANDPS(mag, v, v)
			}
			c.acc[i] = append(c.acc[i], v)
		}
	}
}

// store writes the accumulators with the code of NaN.
func (c *chainCode) store(to reg.Register) {
	for i := range c.acc {
		for p, v := range c.acc[i] {
			nan := YMM()
			if c.width == 4 {
				VCMPPS(U8(3), v, v, nan)
				VBLENDVPS(nan, mem(c.x, "QNaN"), v, v)
			} else {
				VCMPPD(U8(3), v, v, nan)
				VBLENDVPD(nan, mem(c.x, "QNaN"), v, v)
			}
			VMOVUPS(v, Mem{Base: to, Disp: 8*c.width*i + 32*p})
		}
	}
}

// next moves k to the next product of the sequence.
func (c *chainCode) next() {
	MOVLQZX(Mem{Base: c.order}, c.k)
	ADDQ(U8(4), c.order)
}

// value is element k of a row.
func (c *chainCode) value(row int) Mem {
	return Mem{Base: c.rows[row], Index: c.k, Scale: uint8(c.width)}
}

// columns are part p of element k of the columns; k counts elements, 8 of which
// are k8 bytes.
func (c *chainCode) columns(k8 reg.Register, p int) Mem {
	return Mem{Base: c.b, Index: k8, Scale: uint8(c.width), Disp: 32 * p}
}

// fma is a step of one fused multiply-add.
func (c *chainCode) fma(broadcast, fma func(ops ...Op)) {
	c.next()
	k8 := GP64()
	LEAQ(Mem{Base: c.k, Index: c.k, Scale: 1}, k8)
	SHLQ(U8(2), k8)
	for p := range c.acc[0] {
		v := YMM()
		VMOVUPS(c.columns(k8, p), v)
		for i := range c.acc {
			a := YMM()
			broadcast(c.value(i), a)
			fma(v, a, c.acc[i][p])
		}
	}
}

// addMul is a step of n rounded products, added in pairs, and the addition to the
// accumulator.
func (c *chainCode) addMul(n int) {
	var sums [4][]reg.VecVirtual
	for j := range n {
		c.next()
		k8 := GP64()
		LEAQ(Mem{Base: c.k, Index: c.k, Scale: 1}, k8)
		SHLQ(U8(2), k8)
		for i := range c.acc {
			p := YMM()
			VBROADCASTSS(c.value(i), p)
			VMULPS(c.columns(k8, 0), p, p)
			if j%2 == 0 {
				sums[i] = append(sums[i], p)
			} else {
				VADDPS(p, sums[i][j/2], sums[i][j/2])
			}
		}
	}
	for i, s := range sums {
		if len(s) == 2 {
			VADDPS(s[1], s[0], s[0])
		}
		VADDPS(s[0], c.acc[i][0], c.acc[i][0])
	}
}
