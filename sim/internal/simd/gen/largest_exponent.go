package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// largestCode holds the registers of the search for the largest exponent codes of
// products, four rows by 8 columns at a time. A vector holds 8 columns of as many consecutive
// k as fit: the codes of a row are broadcast to the columns, and those of B added.
type largestCode struct {
	code
	width     int // of a code, in bytes
	b, row, l register
	pattern   vec // of VPSHUFB, which spreads codes of A over the 8 columns
}

// largest emits a routine: for codes of one byte and all steps, or for codes of two
// bytes and one step.
func (i isa) largest(width int) {
	typ, table, together := "Largest", "spreadBytes", 1 // values of k that stand together in B
	if width == 2 {
		typ, table = "Largest16", "spreadWords"+i.suffix()
	} else if i == avx512 {
		table, together = "spreadPairs", 2
	}
	together *= width // bytes
	spread := constants(table, i.bytes(), func(n int) uint8 { return uint8(n/(8*together)*together + n%together) })
	x := i.routine(fmt.Sprint("largest", 8*width), typ)
	a, b, e := x.load("A"), x.load("B"), x.load("E")
	c := &largestCode{code: x, width: width, b: b, row: x.load("ARow"), l: x.load("L"), pattern: i.vec()}
	if width == 2 {
		ADDQ(c.l, c.l) // bytes
	}
	VMOVUPD(spread, c.pattern)
	switch {
	case width == 2:
		finish := c.finishWords()
		x.grid(a, b, 4, func(from register) { c.fourRows(from, e, finish) })
	case i == avx512:
		finish, storeAnyNull := c.finishBytes512()
		c.steps(a, e, finish)
		storeAnyNull()
	default:
		c.steps(a, e, c.finishBytes2)
	}
	end()
}

// finisher stores the largest codes of four rows, given as a vector for each row.
type finisher func(top [4]vec, to Mem)

// steps emits the loops over the grid and the steps.
func (c *largestCode) steps(a, e register, finish finisher) {
	c.times("tiles", "Tiles", func() {
		c.times("groups", "Groups", func() {
			as, es := GP64(), GP64()
			MOVQ(a, as)
			MOVQ(e, es)
			c.times("steps", "Steps", func() {
				rows, from, to := c.load("Rows"), GP64(), GP64()
				MOVQ(as, from)
				MOVQ(es, to)
				loop("rows", rows, 4, nil, func() { c.fourRows(from, to, finish) })
				LEAQ(Mem{Base: c.b, Index: c.l, Scale: 8}, c.b)
				ADDQ(c.l, as)
				ADDQ(c.mem("EStep"), es)
			})
			rows := c.load("Rows")
			LEAQ(Mem{Base: e, Index: rows, Scale: 8}, e)
		})
		ADDQ(c.mem("ATile"), a)
	})
}

// fourRows emits the search in four rows, and moves on to the next.
func (c *largestCode) fourRows(from, to register, finish finisher) {
	rows, row3 := fourRows(from, c.row)
	k := GP64() // in bytes
	var top [4]vec
	for r := range top {
		top[r] = c.vec()
	}
	values := func(first bool, bytes int) {
		for at := 0; at < bytes; at += c.lanes() {
			for r, m := range rows {
				v := top[r]
				if !first || at > 0 {
					v = c.vec()
				}
				m.Disp = at
				c.sums(m, Mem{Base: c.b, Index: k, Scale: 8, Disp: 8 * at}, v, bytes)
				if !first || at > 0 {
					c.larger(v, top[r], top[r])
				}
			}
		}
		advance(move{from, bytes}, move{row3, bytes}, move{k, bytes})
	}
	XORQ(k, k)
	most := max(c.lanes(), 4*c.width)
	if most > 4*c.width { // L may be an odd multiple of 4: begin with 4 values
		TESTQ(U32(4), c.l)
		JZ(LabelRef("even"))
		values(true, 4)
		JMP(LabelRef("more"))
		Label("even")
	}
	values(true, most)
	Label("more")
	CMPQ(k, c.l)
	JAE(LabelRef("last"))
	Label("k")
	values(false, most)
	CMPQ(k, c.l)
	JB(LabelRef("k"))
	Label("last")
	finish(top, Mem{Base: to})
	ADDQ(U8(uint8(32*c.width)), to)
	SUBQ(c.l, from)
	LEAQ(Mem{Base: from, Index: c.row, Scale: 4}, from)
}

// sums computes the codes of products, of as many values of k as a vector has, or its lower
// half if there are fewer bytes.
func (c *largestCode) sums(a, b Mem, v vec, bytes int) {
	var dst, pattern Op = v, c.pattern
	switch {
	case bytes < c.lanes():
		dst, pattern = v.AsY(), c.pattern.AsY()
		VPBROADCASTD(a, dst)
	case c.isa == avx512:
		VPBROADCASTQ(a, dst)
	default:
		VPBROADCASTD(a, dst)
	}
	VPSHUFB(pattern, dst, dst)
	if c.width == 1 {
		VPADDB(b, dst, dst)
	} else {
		VPADDW(b, dst, dst)
	}
}

// larger takes the larger codes.
func (c *largestCode) larger(x, y, dst Op) {
	if c.width == 1 {
		VPMAXUB(x, y, dst)
	} else {
		VPMAXUW(x, y, dst)
	}
}

// allRows512 brings the largest codes of four rows into one vector: after the first step
// a vector has two rows, after the second all rows.
func (c *largestCode) allRows512(top [4]vec) (u, v vec) {
	u, v = ZMM(), ZMM()
	for r := 0; r < 4; r += 2 {
		VSHUFI64X2(U8(0x44), top[r+1], top[r], u)
		VSHUFI64X2(U8(0xee), top[r+1], top[r], v)
		c.larger(u, v, top[r])
	}
	VSHUFI64X2(U8(0x88), top[2], top[0], u)
	VSHUFI64X2(U8(0xdd), top[2], top[0], v)
	c.larger(u, v, u)
	return u, v
}

// twoRows2 brings the larger codes of the halves of x and of y into one vector.
func (c *largestCode) twoRows2(x, y, u, v vec) {
	VINSERTI128(U8(1), y.AsX(), x, u)
	VPERM2I128(U8(0x31), y, x, v)
	c.larger(u, v, u)
}

func (c *largestCode) finishBytes2(top [4]vec, to Mem) {
	u, v := YMM(), YMM()
	for i := 0; i < 4; i += 2 {
		VPUNPCKLQDQ(top[i+1], top[i], u)
		VPUNPCKHQDQ(top[i+1], top[i], v)
		VPMAXUB(u, v, top[i])
	}
	c.twoRows2(top[0], top[2], u, v)
	VPADDUSB(c.mem("Bias"), u, u)
	VMOVDQU(u, to)
}

// finishBytes512 is as finishBytes2, and keeps the least of all that is stored; storeAnyNull
// sets AnyNull if that is below Null.
func (c *largestCode) finishBytes512() (finish finisher, storeAnyNull func()) {
	bias, least := YMM(), YMM()
	VPCMPEQB(least, least, least)
	VMOVDQU(c.mem("Bias"), bias)
	finish = func(top [4]vec, to Mem) {
		u, v := c.allRows512(top)
		VPSRLW(U8(8), u, v) // of the two values of k that stand together
		VPMAXUB(u, v, u)
		VPMOVWB(u, u.AsY())
		VPADDUSB(bias, u.AsY(), u.AsY())
		VPMINUB(u.AsY(), least, least)
		VMOVDQU(u.AsY(), to)
	}
	return finish, func() {
		null := K()
		VPCMPUB(U8(1), c.mem("Null"), least, null)
		c.store1Unless0("AnyNull", func() { KORTESTD(null, null) })
	}
}

// finishWords adds Bias to codes above Null and replaces others, where no product counts, by
// 0. It raises all to Floor at least, sets bit 13 of those above Over, and limits them to Cap.
// See Largest16.
func (c *largestCode) finishWords() finisher {
	null, bias, floor := c.words("Null"), c.words("Bias"), c.words("Floor")
	over, bit13, most := c.words("Over"), c.words("Bit13"), c.words("Cap")
	if c.isa == avx512 {
		return func(top [4]vec, to Mem) {
			u, v := c.allRows512(top)
			is := K()
			VPCMPGTW(null, u, is)
			VPADDW_Z(bias, u, is, u)
			VPMAXUW(floor, u, u)
			VPCMPGTW(over, u, is)
			VPORD(bit13, u, v)
			VMOVDQU16(v, is, u)
			VPMINUW(most, u, u)
			VMOVDQU16(u, to)
		}
	}
	return func(top [4]vec, to Mem) {
		for r := 0; r < 4; r += 2 {
			u, v := YMM(), YMM()
			c.twoRows2(top[r], top[r+1], u, v)
			VPCMPGTW(null, u, v)
			VPADDW(bias, u, u)
			VPAND(v, u, u)
			VPMAXUW(floor, u, u)
			VPCMPGTW(over, u, v)
			VPAND(bit13, v, v)
			VPOR(v, u, u)
			VPMINUW(most, u, u)
			VMOVDQU(u, to.Offset(16*r))
		}
	}
}
