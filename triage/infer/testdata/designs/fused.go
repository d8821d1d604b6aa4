package main

// fused align all terms with the largest one and add them up as integers.
var fused = []*unit{
	{
		name: "fused-24", follows: "the first tensor cores as measured: 24 bits, truncated, and truncated again",
		k: 4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero, over: toInf, nan: 0x7fffffff}
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return t.code(s)
			}
			return t.code(cutSum(terms, maxX(terms, -300)-23, zero))
		},
	},
	{
		name: "fused-nearest-terms", follows: "each shifter rounds to nearest even, the result too",
		k: 4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return single.code(s)
			}
			return single.code(cutSum(terms, maxX(terms, -300)-26, nearest))
		},
	},
	{
		name: "fused-jam", follows: "each shifter keeps a sticky bit of its own (SoftFloat's shiftRightJam)",
		k: 4, formats: brainSingle,
		dot: func(d *dot) uint64 {
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return single.code(s)
			}
			return single.code(cutSum(terms, maxX(terms, -600)-27, odd))
		},
	},
	{
		name: "fused-floor", follows: "terms are negated before the shifters, which drop bits of two's complements",
		k: 4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero}
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return t.code(s)
			}
			return t.code(cutSum(terms, maxX(terms, -300)-25, down))
		},
	},
	{
		name: "fused-floor-all", follows: "as above, and the result drops bits of its two's complement too",
		k: 8, formats: [4]*format{e5m2, e5m2, fp32, fp32},
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: down}
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return t.code(s)
			}
			return t.code(cutSum(terms, maxX(terms, -300)-25, down))
		},
	},
	{
		name: "fused-one-sticky", follows: "a fused adder that ORs all that is lost into one sticky bit, then rounds to nearest",
		k: 4, formats: brainSingle,
		dot: func(d *dot) uint64 {
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return single.code(s)
			}
			q, lost := maxX(terms, -600)-27, false
			for _, t := range terms {
				_, h, m := split(t, q)
				lost = lost || h || m
			}
			s := cutSum(terms, q, down)
			s.m, s.e = s.m<<1, s.e-1
			if lost && s.neg { // what is lost lies above the floor
				s.m--
			} else if lost {
				s.m++
			}
			return single.code(s)
		},
	},
	{
		name: "fused-c-beside", follows: "products aligned among themselves; c is shifted to them, and replaces them if it is too large",
		k: 4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			p, c := d.products(), d.C()
			if s, yes := exceptional(append(p, c)); yes {
				return single.code(s)
			}
			e := maxX(p, -300)
			if e == -300 || c.m != 0 && c.top() > e+32 {
				return single.code(c)
			}
			q := e - 28
			return single.code(fixed(cut(c, q, zero)+int64(cutSum(p, q, zero).signed()), q))
		},
	},
	{
		name: "fused-leading-bit", follows: "products are normalised before they are aligned",
		k: 4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero}
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return t.code(s)
			}
			return t.code(cutSum(terms, maxTop(terms, -300)-24, zero))
		},
	},
	{
		name: "fused-carry-exponent", follows: "the exponent of a product is ea+eb+1, that of c its own",
		k: 8, formats: brainSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero}
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return t.code(s)
			}
			e := max(maxX(terms[:d.k], -600)+1, maxX(terms[d.k:], -600))
			return t.code(cutSum(terms, e-24, zero))
		},
	},
	{
		name: "fused-zeros-align", follows: "the exponents of zeros take part: that of c=0 is -126, of 0*b it is -14 and b's",
		k: 4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero}
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return t.code(s)
			}
			e := -126
			for _, x := range terms {
				e = max(e, x.x)
			}
			return t.code(cutSum(terms, e-24, zero))
		},
	},
	{
		name: "fused-fp8-13", follows: "FP8 products with 13 bits below the largest exponent, as on Hopper",
		k: 32, formats: fp8Single,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero}
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return t.code(s)
			}
			return t.code(cutSum(terms, maxX(terms, -300)-13, zero))
		},
	},
	{
		name: "fused-tf32", follows: "a TF32 unit with two guard bits whose result is rounded to nearest",
		k: 4, formats: [4]*format{tf32, tf32, fp32, fp32},
		dot: func(d *dot) uint64 {
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return single.code(s)
			}
			return single.code(cutSum(terms, maxX(terms, -600)-25, zero))
		},
	},
	{
		name: "fused-fp16-out", follows: "an FP16 result from a sum of 24 bits, to nearest",
		k: 8, formats: allHalf,
		dot: func(d *dot) uint64 {
			t := to{format: fp16, nan: 0x7fff}
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return t.code(s)
			}
			return t.code(cutSum(terms, maxX(terms, -300)-24, zero))
		},
	},
	{
		name: "fused-c-after", follows: "the products fused in 30 bits; c is added by an FP32 adder of its own",
		k: 8, formats: brainSingle,
		dot: func(d *dot) uint64 {
			p := d.products()
			s, yes := exceptional(p)
			if !yes {
				s = cutSum(p, maxX(p, -600)-30, zero)
			}
			return single.code(single.sum(single.round(s), d.C()))
		},
	},
	{
		name: "fused-signs-apart", follows: "positive and negative terms are summed apart, each sum is truncated, then subtracted",
		k: 8, formats: halfSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero}
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return t.code(s)
			}
			var plus, minus int64
			q := maxX(terms, -300) - 30
			for _, x := range terms {
				if n := cut(x, q, zero); n > 0 {
					plus += n
				} else {
					minus -= n
				}
			}
			return t.code(t.sum(t.round(fixed(plus, q)), t.round(fixed(-minus, q))))
		},
	},
	{
		name: "fused-short-shifter", follows: "the shift distance has five bits: terms 32 places and more below are dropped, even of a sum of 40 bits",
		k: 4, formats: brainSingle,
		dot: func(d *dot) uint64 {
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return single.code(s)
			}
			e := maxX(terms, -600)
			var s int64
			for _, x := range terms {
				if e-x.x < 32 {
					s += cut(x, e-40, zero)
				}
			}
			return single.code(fixed(s, e-40))
		},
	},
	{
		name: "fused-no-c", follows: "a unit without an accumulator: 16 products, 20 bits, to nearest even, subnormal results flushed",
		k: 16, formats: [4]*format{bf16, bf16, nil, fp32},
		dot: func(d *dot) uint64 {
			t := to{format: fp32, tiny: flush}
			p := d.products()
			if s, yes := exceptional(p); yes {
				return t.code(s)
			}
			return t.code(cutSum(p, maxX(p, -600)-20, zero))
		},
	},
	{
		name: "fused-single-product", follows: "an FMA built from a fused adder: 48 bits below the larger exponent, truncated",
		k: 1, formats: brainSingle,
		dot: func(d *dot) uint64 {
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return single.code(s)
			}
			return single.code(cutSum(terms, maxX(terms, -600)-48, zero))
		},
	},
	{
		name: "fused-two-products", follows: "a dot product of two with three guard bits, away from zero on ties",
		k: 2, formats: halfSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: away}
			terms := append(d.products(), d.C())
			if s, yes := exceptional(terms); yes {
				return t.code(s)
			}
			return t.code(cutSum(terms, maxX(terms, -300)-26, zero))
		},
	},
}

// signed returns the integer of which fixed made x.
func (x num) signed() int64 {
	if x.neg {
		return -int64(x.m)
	}
	return int64(x.m)
}
