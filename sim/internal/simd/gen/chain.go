package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// chains emits the routines of native arithmetic: 4 rows by 8 columns at a time, so that
// their accumulators hide the latency of the additions.
func chains() {
	chain("fma32", 4, false, func(c *chainCode) { c.fma(VBROADCASTSS, VFMADD231PS) })
	chain("fma64", 8, false, func(c *chainCode) { c.fma(VBROADCASTSD, VFMADD231PD) })
	chain("mulAdd32", 4, false, func(c *chainCode) { c.mulAdd(VBROADCASTSS, VMULPS, VADDPS) })
	chain("mulAdd64", 8, false, func(c *chainCode) { c.mulAdd(VBROADCASTSD, VMULPD, VADDPD) })
	chain("addMul1", 4, true, func(c *chainCode) { c.addMul(1) })
	chain("addMul2", 4, true, func(c *chainCode) { c.addMul(2) })
	chain("addMul4", 4, true, func(c *chainCode) { c.addMul(4) })
}

// chainCode holds the registers of a chain.
type chainCode struct {
	code
	width            int  // of an element, in bytes
	flushC           bool // small accumulators become +0
	rows             [4]register
	b, k, order, end register
	acc              [4][]vec // [row][part of 8 columns]
}

// chain emits a routine: the loops over the grid around steps of some products.
func chain(name string, width int, flushC bool, step func(c *chainCode)) {
	x := avx2.routine(name, "Chain")
	c := &chainCode{code: x, width: width, flushC: flushC, b: x.load("B")}
	restore := control(x.mem("Control"))
	a, from, to := x.load("A"), x.load("C"), x.load("D")
	x.grid(a, c.b, 4, func(row register) {
		c.rows[0] = row
		stride := x.load("ARow")
		for i := 1; i < 4; i++ {
			c.rows[i] = GP64()
			LEAQ(Mem{Base: c.rows[i-1], Index: stride, Scale: 1}, c.rows[i])
		}
		c.loadAccumulators(from)
		n := x.load("N")
		c.order, c.end, c.k = x.load("Order"), GP64(), GP64()
		LEAQ(Mem{Base: c.order, Index: n, Scale: 4}, c.end)
		Label("k")
		step(c)
		CMPQ(c.order, c.end)
		JB(LabelRef("k"))
		c.store(to)
		advance(move{from, 4 * 8 * width}, move{to, 4 * 8 * width})
		ADDQ(x.mem("ARow"), c.rows[3])
		MOVQ(c.rows[3], row)
	})
	restore()
	end()
}

// loadAccumulators loads the accumulators of four rows.
func (c *chainCode) loadAccumulators(from register) {
	for i := range c.acc {
		c.acc[i] = nil
		for p := 0; p < 8*c.width; p += 32 {
			v := YMM()
			VMOVUPS(Mem{Base: from, Disp: 8*c.width*i + p}, v)
			if c.flushC {
				mag := YMM()
				VANDPS(c.mem("Abs"), v, mag)
				VPCMPGTD(c.mem("SmallC"), mag, mag)
				VANDPS(mag, v, v)
			}
			c.acc[i] = append(c.acc[i], v)
		}
	}
}

// store stores the accumulators, NaN as the code that the program has for it.
func (c *chainCode) store(to register) {
	for i := range c.acc {
		for p, v := range c.acc[i] {
			if c.width == 4 {
				avx2.setNaN(c.mem("QNaN"), v)
			} else {
				avx2.choose(avx2.compare(cmpUnord, v, v), c.mem("QNaN"), v)
			}
			VMOVUPS(v, Mem{Base: to, Disp: 8*c.width*i + 32*p})
		}
	}
}

// next loads k of the next product in the program's order, and returns 8k, the number
// of elements of B before it.
func (c *chainCode) next() (k8 register) {
	k8 = GP64()
	MOVLQZX(Mem{Base: c.order}, c.k)
	ADDQ(U8(4), c.order)
	LEAQ(Mem{Base: c.k, Index: c.k, Scale: 1}, k8)
	SHLQ(U8(2), k8)
	return k8
}

// value is element k of a row.
func (c *chainCode) value(row int) Mem {
	return Mem{Base: c.rows[row], Index: c.k, Scale: uint8(c.width)}
}

// columns is part p of the 8 columns' elements k.
func (c *chainCode) columns(k8 register, p int) Mem {
	return Mem{Base: c.b, Index: k8, Scale: uint8(c.width), Disp: 32 * p}
}

// fma emits a step of one fused multiply-add.
func (c *chainCode) fma(broadcast, fma instruction) {
	c.each(broadcast, func(v, a, acc vec) { fma(v, a, acc) })
}

// mulAdd emits a step of one multiplication and one addition, each rounded.
func (c *chainCode) mulAdd(broadcast, mul, add instruction) {
	c.each(broadcast, func(v, a, acc vec) {
		mul(v, a, a)
		add(a, acc, acc)
	})
}

// each emits a step of one element: f gets the columns' elements, that of a row, and the
// accumulators of both.
func (c *chainCode) each(broadcast instruction, f func(v, a, acc vec)) {
	k8 := c.next()
	for p := range c.acc[0] {
		v := YMM()
		VMOVUPS(c.columns(k8, p), v)
		for i := range c.acc {
			a := YMM()
			broadcast(c.value(i), a)
			f(v, a, c.acc[i][p])
		}
	}
}

// addMul emits a step of n rounded products, which are added in pairs and then to the
// accumulator.
func (c *chainCode) addMul(n int) {
	var sums [4][]vec
	for j := range n {
		k8 := c.next()
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
