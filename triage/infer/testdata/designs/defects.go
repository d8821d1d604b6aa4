package main

import (
	"math/bits"
	"math/rand/v2"
)

// defects are units of which one part is deliberately broken.
var defects = []*unit{
	{
		name: "stuck-bit", follows: "an FP32 chain", defect: "bit 3 of the result is stuck at 0: any result that has it",
		k: 4, formats: brainSingle,
		dot: func(d *dot) uint64 { return chain(d) &^ 8 },
	},
	{
		name: "missing-carry", follows: "a fused sum of 24 bits", defect: "no carry from bit 15 to bit 16 between the two halves of the adder: c and one product",
		k: 1, formats: halfSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero}
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return t.code(s)
			}
			q := maxX(terms, -300) - 24
			x, y := cut(terms[0], q, zero), cut(terms[1], q, zero)
			return t.code(fixed(x&^0xffff+y&^0xffff+(x+y)&0xffff, q))
		},
	},
	{
		name: "wrong-table-entry", follows: "a fused sum of 25 bits", defect: "where the largest exponent is 3, terms are aligned one place too low",
		k: 4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero}
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return t.code(s)
			}
			e := maxX(terms, -300)
			if e == 3 {
				e--
			}
			return t.code(cutSum(terms, e-24, zero))
		},
	},
	{
		name: "lane-ignored", follows: "an exact sum", defect: "the last product is lost if all others are zero and c is",
		k: 8, formats: halfSingle,
		dot: func(d *dot) uint64 {
			p := d.products()
			quiet := d.C().zero()
			for _, x := range p[:d.k-1] {
				quiet = quiet && x.zero()
			}
			if quiet {
				p = p[:d.k-1]
			}
			return single.code(sumOf(append(p, d.C())))
		},
		aim: func(r *rand.Rand, d *dot) {
			clear(d.a[:d.k-1])
			d.c = 0
		},
	},
	{
		name: "rare-slip", follows: "an FP32 chain", defect: "the last bit flips where the low seven bits of a0 and of b0 are 55 and 2a: one input in 16384",
		k: 4, formats: brainSingle,
		dot: func(d *dot) uint64 {
			if d.a[0]&0x7f == 0x55 && d.b[0]&0x7f == 0x2a {
				return chain(d) ^ 1
			}
			return chain(d)
		},
		aim: func(r *rand.Rand, d *dot) {
			d.a[0], d.b[0] = d.a[0]&^0x7f|0x55, d.b[0]&^0x7f|0x2a
		},
	},
	{
		name: "remembers", follows: "an FP32 chain", defect: "a negative result flips the last bit of the next one: unstable",
		k: 4, formats: brainSingle, unstable: true,
		dot: func() func(d *dot) uint64 {
			var last uint64
			return func(d *dot) uint64 {
				r := chain(d)
				r, last = r^last>>31, r
				return r
			}
		}(),
	},
	{
		name: "anticipator", follows: "an FMA", defect: "after a cancellation of exactly twelve places the leading-zero anticipator is off by one and the first bit is lost",
		k: 1, formats: allSingle,
		dot: func(d *dot) uint64 {
			p, c := d.P(0), d.C()
			s := add(p, c)
			if s.kind == finite && s.m != 0 && p.m != 0 && c.m != 0 && max(p.top(), c.top())-s.top() == 12 {
				s.m &^= 1 << (bits.Len64(s.m) - 1)
			}
			return single.code(s)
		},
	},
	{
		name: "sticky-of-32", follows: "a truncated sum of a product and c", defect: "a product shifted by exactly 32 places is not in the sticky bit, which decides where it has the other sign",
		k: 1, formats: brainSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero}
			p, c := d.P(0), d.C()
			if p.kind == finite && c.kind == finite && p.m != 0 && c.m != 0 && c.x-p.x == 32 {
				return t.code(c)
			}
			return t.code(add(p, c))
		},
		aim: func(r *rand.Rand, d *dot) {
			// c is a power of two, the product lies 32 binary places below it.
			d.a[0], d.b[0] = 0x3f80|d.a[0]&0x807f, 0x3f80|d.b[0]&0x807f
			d.c = (127 + 32) << 23
		},
	},
	{
		name: "nan-without-quiet-bit", follows: "an FP32 chain", defect: "NaNs of a and b whose first fraction bit is not set count as infinities",
		k: 2, formats: halfSingle,
		dot: func(d *dot) uint64 {
			value := func(x num) num {
				if x.kind == nan && x.m>>51 == 0 {
					x.kind = infinite
				}
				return x
			}
			s := d.C()
			for i := range d.k {
				s = single.fma(value(d.A(i)), value(d.B(i)), s)
			}
			return single.code(s)
		},
	},
	{
		name: "both-subnormal", follows: "an FP32 chain of FP16", defect: "the product of two subnormal numbers is half of what it should be",
		k: 4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				p := d.P(i)
				if d.a[i]&0x7c00 == 0 && d.b[i]&0x7c00 == 0 {
					p.e--
				}
				s = single.sum(s, p)
			}
			return single.code(s)
		},
	},
	{
		name: "no-top-bit", follows: "a fused sum of four products and c", defect: "the adder lacks its top bit: sums of eight times the largest term's power of two and more wrap",
		k: 4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero}
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return t.code(s)
			}
			q := maxX(terms, -300) - 24
			s := cutSum(terms, q, zero).signed()
			const width = 28 // a sign, three bits above the point and 24 below it; four products near 4 need one more
			return t.code(fixed(s<<(64-width)>>(64-width), q))
		},
		aim: func(r *rand.Rand, d *dot) {
			for i := range d.k { // four products near 4
				d.a[i], d.b[i] = 0x3c00|0x300|d.a[i]&0xff, 0x3c00|0x300|d.b[i]&0xff
			}
			d.c = 0
		},
	},
	{
		name: "complement-without-one", follows: "a fused sum whose negative terms have their bits flipped and nothing added",
		defect: "every negative term is too low by its last place",
		k:      4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero}
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return t.code(s)
			}
			q := maxX(terms, -300) - 25
			var s int64
			for _, x := range terms {
				n := cut(x, q, zero)
				if x.neg {
					n = ^-n
				}
				s += n
			}
			return t.code(fixed(s, q))
		},
	},
	{
		name: "half-up", follows: "an exact sum rounded by adding half and cutting", defect: "ties go up, of negative results too: towards plus infinity",
		k: 4, formats: allHalf,
		dot: func(d *dot) uint64 {
			s := sumOf(append(d.products(), d.C()))
			if s.kind != finite || s.zero() {
				return half.code(s)
			}
			if s.neg {
				_, h, m := split(s, max(s.top()-11, fp16.emin()-10))
				if h && !m {
					return to{format: fp16, by: zero, over: toInf}.code(s)
				}
			}
			return to{format: fp16, by: away}.code(s)
		},
	},
	{
		name: "ties-of-products", follows: "FP32 products that are rounded, then added", defect: "ties of negative products from 2^-33 to 2^-32 go away from zero",
		k: 2, formats: allSingle,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				p := single.tiesAway(d.P(i), func(p num) bool { return p.neg && p.top() == -32 })
				s = single.sum(s, p)
			}
			return single.code(s)
		},
	},
	{
		name: "ties-inside", follows: "FP32 sums in an FP64 accumulator", defect: "ties of the accumulator go away from zero where it is negative and c is",
		k: 1, formats: allSingle,
		dot: func(d *dot) uint64 {
			c := d.C()
			s := add(d.P(0), c)
			return single.code(double.tiesAway(s, func(s num) bool { return s.neg && c.neg }))
		},
	},
	{
		name: "subnormal-exponent", follows: "an exact sum", defect: "subnormal operands are taken with the exponent that their field of zero would have: half of their value",
		k: 4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			p := d.products()
			for i := range p {
				for _, code := range []uint64{d.a[i], d.b[i]} {
					if code&0x7c00 == 0 {
						p[i].e--
					}
				}
			}
			return single.code(sumOf(append(p, d.C())))
		},
	},
	{
		name: "denormal-result", follows: "an FMA", defect: "a subnormal result is cut instead of rounded",
		k: 1, formats: allSingle,
		dot: func(d *dot) uint64 {
			s := add(d.P(0), d.C())
			if s.kind == finite && !s.zero() && s.top() <= fp32.emin() {
				return to{format: fp32, by: zero}.code(s)
			}
			return single.code(s)
		},
	},
	{
		name: "operand-seven", follows: "an exact sum", defect: "the E4M3 operand 0x47 (3.75) is read as 0x46 in the last lane",
		k: 8, formats: fp8Single,
		dot: func(d *dot) uint64 {
			p := d.products()
			if d.a[d.k-1] == 0x47 {
				p[d.k-1] = mul(e4m3.decode(0x46), d.B(d.k-1))
			}
			return single.code(sumOf(append(p, d.C())))
		},
		aim: func(r *rand.Rand, d *dot) { d.a[d.k-1] = 0x47 },
	},
	{
		name: "one-pair", follows: "a multiplier by table (Pentium FDIV's kind of defect)", defect: "of 65536 pairs of E4M3 operands one, 39 * 5d, has a wrong product",
		k: 4, formats: fp8Single,
		dot: func(d *dot) uint64 {
			p := d.products()
			for i := range p {
				if d.a[i] == 0x39 && d.b[i] == 0x5d {
					p[i].m++
				}
			}
			return single.code(sumOf(append(p, d.C())))
		},
		aim: func(r *rand.Rand, d *dot) {
			i := r.IntN(d.k)
			d.a[i], d.b[i] = 0x39, 0x5d
		},
	},
}

// chain is a chain of FP32 FMAs from c on.
func chain(d *dot) uint64 {
	s := d.C()
	for i := range d.k {
		s = single.fma(d.A(i), d.B(i), s)
	}
	return single.code(s)
}

// tiesAway rounds to nearest, ties away from zero where a rule says so, else to even.
func (t to) tiesAway(x num, rule func(x num) bool) num {
	if x.kind == finite && !x.zero() {
		_, half, more := split(x, max(x.top()-t.man-1, t.emin()-t.man))
		if half && !more && rule(x) {
			t.by = away
		}
	}
	return t.round(x)
}
