package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// This file emits the routines of sim's kernel "integer", which add products of integers to C.
// None uses the instruction of a processor that it models, so that both are not wrong alike.

// integers emits the routines for dot products whose operands fill one element of a vector.
func (i isa) integers() {
	for _, end := range []string{"", "Saturated"} {
		i.integerDots("integerBytes"+end, end != "", false, (*integerCode).ofBytes)
		i.integerDots("integerWords"+end, end != "", false, (*integerCode).ofWords)
	}
	i.integerDots("integerPairs", false, false, (*integerCode).ofPairs)
	i.integerPair("integerPair", false)
	i.integerDots("mixedBytes", false, true, (*integerCode).ofBytes)
	i.integerDots("mixedBytesSaturated", true, true, (*integerCode).ofBytes)
	i.integerDots("mixedPairs", false, true, (*integerCode).ofPairs)
	i.integerPair("mixedPair", true)
}

// integerCode holds the registers of sums of products of integers.
type integerCode struct {
	code
	a, b, n                    register
	mixed                      bool // bytes of a are unsigned, those of b signed
	maskA, signA, maskB, signB Op
	ones, most                 vec // -1 and the largest integer
}

// integerDots emits the loop around dot, which returns the sums of products of a vector.
func (i isa) integerDots(name string, saturates, mixed bool, dot func(c *integerCode) vec) {
	c := i.integerRoutine(name, mixed)
	from, to := c.load("C"), c.load("D")
	if saturates {
		c.extremes()
	}
	c.loop([]move{{from, i.bytes()}, {to, i.bytes()}}, func() {
		sum, acc := dot(c), i.vec()
		i.moveWords(Mem{Base: from}, acc)
		if saturates {
			sum = c.saturated(sum, acc)
		} else {
			VPADDD(acc, sum, sum)
		}
		i.moveWords(sum, Mem{Base: to})
	})
}

// integerPair emits the routine for two products of bytes whose sum saturates in 16 bits, without C.
func (i isa) integerPair(name string, mixed bool) {
	c := i.integerRoutine(name, mixed)
	to := c.load("D")
	c.loop([]move{{to, i.bytes()}}, func() { i.moveWords(c.ofPair(), Mem{Base: to}) })
}

func (i isa) integerRoutine(name string, mixed bool) *integerCode {
	x := i.routine(name, "Integers")
	c := &integerCode{code: x, a: x.load("A"), b: x.load("B"), n: x.load("N"), mixed: mixed, maskA: x.words("MaskA")}
	if !mixed {
		c.signA, c.maskB, c.signB = x.words("SignA"), x.words("MaskB"), x.words("SignB")
	}
	return c
}

func (c *integerCode) loop(moves []move, body func()) {
	loop("vectors", c.n, uint8(c.isa.bytes()), append(moves, move{c.a, c.isa.bytes()}, move{c.b, c.isa.bytes()}), body)
	end()
}

// ofBytes returns the sums of four products of bytes.
func (c *integerCode) ofBytes() vec {
	even, odd := c.multiplied(VPMADDWD)
	VPADDD(odd, even, even)
	return even
}

// ofPair returns the sums of two products of bytes, which saturate in words.
func (c *integerCode) ofPair() vec {
	even, odd := c.multiplied(VPMULLW)
	VPADDSW(odd, even, even)
	return even
}

// ofPairs returns the sums of two such sums.
func (c *integerCode) ofPairs() vec {
	sum, upper := c.parts(c.ofPair())
	VPADDD(upper, sum, sum)
	return sum
}

// ofWords returns the sums of two products of words.
func (c *integerCode) ofWords() vec {
	a, b := c.vec(), c.vec()
	c.moveWords(Mem{Base: c.a}, a)
	c.moveWords(Mem{Base: c.b}, b)
	evenA, oddA := c.parts(a)
	evenB, oddB := c.parts(b)
	VPMULLD(evenB, evenA, evenA)
	VPMULLD(oddB, oddA, oddA)
	VPADDD(oddA, evenA, evenA)
	return evenA
}

// parts returns the words of a vector at even and at odd places, as integers of 32 bits.
func (c *integerCode) parts(v vec) (even, odd vec) {
	even = c.vec()
	VPSLLD(U8(16), v, even)
	VPSRAD(U8(16), even, even)
	VPSRAD(U8(16), v, v)
	return even, v
}

// multiplied returns what an instruction makes of the bytes of A and B at even places and of those
// at odd ones, as words.
func (c *integerCode) multiplied(by instruction) (even, odd vec) {
	var evenB, oddB vec
	if c.mixed {
		even, odd, evenB, oddB = c.splitMixed()
	} else {
		even, odd = c.split(c.a, c.maskA, c.signA)
		evenB, oddB = c.split(c.b, c.maskB, c.signB)
	}
	by(evenB, even, even)
	by(oddB, odd, odd)
	return even, odd
}

// split loads codes of one byte, and returns the integers at even and at odd places as words.
func (c *integerCode) split(from register, mask, sign Op) (even, odd vec) {
	even, odd = c.vec(), c.vec()
	c.moveWords(Mem{Base: from}, even)
	VPSRLW(U8(8), even, odd)
	c.integer(even, mask, sign)
	c.integer(odd, mask, sign)
	return even, odd
}

// splitMixed is split of unsigned bytes of A and signed ones of B.
func (c *integerCode) splitMixed() (evenA, oddA, evenB, oddB vec) {
	evenA, oddA, evenB, oddB = c.vec(), c.vec(), c.vec(), c.vec()
	c.moveWords(Mem{Base: c.a}, evenA)
	c.moveWords(Mem{Base: c.b}, evenB)
	VPSRLW(U8(8), evenA, oddA)
	VPSRAW(U8(8), evenB, oddB)
	VPSLLW(U8(8), evenB, evenB)
	VPSRAW(U8(8), evenB, evenB)
	if c.isa == avx512 {
		VPANDD(c.maskA, evenA, evenA)
	} else {
		VPAND(c.maskA, evenA, evenA)
	}
	return evenA, oddA, evenB, oddB
}

// integer makes integers of the codes in words: mask has the bits of a code, sign that of the sign.
func (i isa) integer(code vec, mask, sign Op) {
	if i == avx512 {
		VPTERNLOGD(U8(0x6a), sign, mask, code) // code & mask ^ sign
	} else {
		VPAND(mask, code, code)
		VPXOR(sign, code, code)
	}
	VPSUBW(sign, code, code)
}

// extremes sets what saturated needs.
func (c *integerCode) extremes() {
	c.ones, c.most = c.vec(), c.vec()
	if c.isa == avx512 {
		VPTERNLOGD(U8(0xff), c.ones, c.ones, c.ones)
	} else {
		VPCMPEQD(c.ones, c.ones, c.ones)
	}
	VPSRLD(U8(1), c.ones, c.most)
}

// saturated adds sums of products and accumulators. The least integer of 32 bits stands for a sum
// of 2^31, which two products of words can have; no sum is -2^31. So the sign of a sum less 1 is
// that of what is added.
func (c *integerCode) saturated(sum, acc vec) vec {
	d, over := c.vec(), c.vec()
	VPADDD(acc, sum, d)
	VPADDD(c.ones, sum, sum)
	if c.isa == avx512 {
		m := K()
		VMOVDQA32(d, over)
		VPTERNLOGD(U8(0x18), sum, acc, over) // what differs from both
		VPMOVD2M(over, m)
		VPSRAD(U8(31), acc, acc)
		VPXORD(c.most, acc, m, d)
		return d
	}
	VPXOR(d, sum, sum)
	VPXOR(d, acc, over)
	VPAND(sum, over, over)
	VPSRAD(U8(31), acc, acc)
	VPXOR(c.most, acc, acc)
	VBLENDVPS(over, acc, d, d)
	return d
}

// widenIntegers emits the routine that makes words of the codes of one byte, 16 at a time.
func widenIntegers() {
	x := avx2.routine("widenIntegers", "IntegerCodes")
	src, dst, n := x.load("Src"), x.load("Dst"), x.load("N")
	loop("codes", n, 16, []move{{src, 16}, {dst, 32}}, func() {
		v := YMM()
		VPMOVZXBW(Mem{Base: src}, v)
		avx2.integer(v, x.mem("Mask"), x.mem("Sign"))
		VMOVDQU(v, Mem{Base: dst})
	})
	end()
}

// integerTiles emits the routine for operands in words: 4 rows by 8 columns at a time.
func integerTiles(name string, saturates, xor bool) {
	c := &integerCode{code: avx2.routine(name, "IntegerTiles")}
	c.a, c.b = c.load("A"), c.load("B")
	from, to := c.load("C"), c.load("D")
	if saturates {
		c.extremes()
	}
	one := YMM()
	if xor {
		VPCMPEQW(one, one, one)
		VPSRLW(U8(15), one, one)
	}
	c.grid(c.a, c.b, 4, func(row register) {
		stride, next, column := c.load("ARow"), GP64(), GP64()
		rows, fourth := fourRows(row, stride)
		LEAQ(Mem{Base: row, Index: stride, Scale: 4}, next)
		MOVQ(c.b, column)
		var sums [4]vec
		for i := range sums {
			sums[i] = YMM()
			VPXOR(sums[i], sums[i], sums[i])
		}
		loop("pairs", c.load("Pairs"), 1, []move{{row, 4}, {fourth, 4}, {column, 32}}, func() {
			v := YMM()
			VMOVDQU(Mem{Base: column}, v)
			for i, sum := range sums {
				p := YMM()
				VPBROADCASTD(rows[i], p)
				if xor {
					VPXOR(v, p, p)
					VPMADDWD(one, p, p)
				} else {
					VPMADDWD(v, p, p)
				}
				VPADDD(p, sum, sum)
			}
		})
		for i, sum := range sums {
			acc := YMM()
			VMOVDQU(Mem{Base: from, Disp: 32 * i}, acc)
			if saturates {
				sum = c.saturated(sum, acc)
			} else {
				VPADDD(acc, sum, sum)
			}
			VMOVDQU(sum, Mem{Base: to, Disp: 32 * i})
		}
		advance(move{from, 128}, move{to, 128})
		MOVQ(next, row)
	})
	end()
}
