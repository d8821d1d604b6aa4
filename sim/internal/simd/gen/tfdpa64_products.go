package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// dotCode holds the registers of the addition of products to accumulators, some rows at a
// time: four, or two with AVX2, so that these hide the latency of the additions.
type dotCode struct {
	code
	count         int // rows that are done at once
	b             register
	rows, signs   [4]register
	a, sign, left Mem
}

func newDot(x code) *dotCode {
	d := &dotCode{code: x, count: 2, b: x.load("B")}
	if x.isa == avx512 {
		d.count = 4
	}
	return d
}

// locals puts on the stack what the loops over the grid move on and count.
func (d *dotCode) locals() {
	d.a, d.sign, d.left = d.local("A"), d.local("Sign"), AllocLocal(8)
}

// grid emits the loops over the grid around some rows.
func (d *dotCode) grid(rows func()) {
	restore := control(U32(roundZero))
	d.times("tiles", "Tiles", func() {
		d.times("groups", "Groups", func() {
			MOVQ(d.load("Rows"), d.left)
			d.rows[0], d.signs[0] = GP64(), GP64()
			MOVQ(d.a, d.rows[0])
			MOVQ(d.sign, d.signs[0])
			loop("rows", d.left, uint8(d.count), nil, rows)
			ADDQ(d.mem("BGroup"), d.b)
		})
		ADDQ(d.load("ATile"), d.a)
		ADDQ(d.load("SignTile"), d.sign)
	})
	restore()
	end()
}

// dot emits the routine that adds the products to the accumulators. Which magnitudes of B
// make negative products with a value of A depends on that value's sign, which selects one
// of two parts of B.
func (i isa) dot() {
	d := newDot(i.routine("dot", "Dot"))
	parts := d.load("Parts")
	d.locals()
	d.grid(func() {
		vectors := 8 / d.lanes()
		all, neg := make([][]vec, d.count), make([][]vec, d.count)
		part := func(r, part, v int) Mem { return Mem{Base: parts, Disp: sumBytes*r + part + d.bytes()*v} }
		d.startRows()
		for r := range d.count {
			for v := range vectors {
				all[r], neg[r] = append(all[r], d.vec()), append(neg[r], d.vec())
				VMOVUPD(part(r, partAll, v), all[r][v])
				VMOVUPD(part(r, partNeg, v), neg[r][v])
			}
		}
		d.products(all, neg)
		for r := range d.count {
			for v := range vectors {
				VMOVUPD(all[r][v], part(r, partAll, v))
				VMOVUPD(neg[r][v], part(r, partNeg, v))
			}
		}
		d.nextRows()
		advance(move{parts, sumBytes * d.count})
	})
}

// startRows computes the addresses of the rows that follow the first.
func (d *dotCode) startRows() {
	aRow, signRow := d.load("ARow"), d.load("SignRow")
	for r := 1; r < d.count; r++ {
		d.rows[r], d.signs[r] = GP64(), GP64()
		LEAQ(Mem{Base: d.rows[r-1], Index: aRow, Scale: 1}, d.rows[r])
		LEAQ(Mem{Base: d.signs[r-1], Index: signRow, Scale: 1}, d.signs[r])
	}
}

// nextRows moves on to the next rows.
func (d *dotCode) nextRows() {
	MOVQ(d.rows[d.count-1], d.rows[0])
	ADDQ(d.mem("ARow"), d.rows[0])
	MOVQ(d.signs[d.count-1], d.signs[0])
	ADDQ(d.mem("SignRow"), d.signs[0])
}

// products adds products, four values of k at a time, to accumulators by row and vector.
func (d *dotCode) products(all, neg [][]vec) {
	k, b := GP64(), GP64()
	XORQ(k, k)
	MOVQ(d.b, b)
	Label("k")
	for i := range 4 {
		vectors := make([]vec, 8/d.lanes())
		for p := range vectors {
			vectors[p] = d.vec()
			VMOVUPD(Mem{Base: b, Disp: 192*i + d.bytes()*p}, vectors[p])
		}
		for r := range d.count {
			a, s := d.vec(), GP64()
			VBROADCASTSD(Mem{Base: d.rows[r], Index: k, Scale: 8, Disp: 8 * i}, a)
			MOVBLZX(Mem{Base: d.signs[r], Index: k, Scale: 1, Disp: i}, s.As32())
			for p, v := range vectors {
				VFMADD231PD(v, a, all[r][p])
				VFMADD231PD(Mem{Base: b, Index: s, Scale: 8, Disp: 192*i + 64 + d.bytes()*p}, a, neg[r][p])
			}
		}
	}
	advance(move{k, 4}, move{b, 4 * 192})
	CMPQ(k, d.mem("L"))
	JB(LabelRef("k"))
}
