package main

// narrowed work with fewer bits of the operands or of the products than there are.
var narrowed = []*unit{
	{
		name: "fp32-as-tf32", follows: "FP32 operands rounded to TF32 (ties away, cvt.rna), then an FP32 chain",
		k: 4, formats: allSingle,
		dot: func(d *dot) uint64 {
			t := to{format: tf32, by: away}
			s := d.C()
			for i := range d.k {
				s = single.fma(t.round(d.A(i)), t.round(d.B(i)), s)
			}
			return single.code(s)
		},
	},
	{
		name: "fp32-as-bf16-truncated", follows: "--fast-math of a BF16 unit: the upper halves of FP32 operands, exact sum of four",
		k: 4, formats: allSingle,
		dot: func(d *dot) uint64 {
			terms := append(d.terms[:0], d.C())
			for i := range d.k {
				terms = append(terms, mul(bf16.decode(d.a[i]>>16), bf16.decode(d.b[i]>>16)))
			}
			return single.code(sumOf(terms))
		},
	},
	{
		name: "fp32-upper-16", follows: "a multiplier of 16 by 16 bits for FP32, then an FP32 adder",
		k: 2, formats: allSingle,
		dot: func(d *dot) uint64 {
			t := to{format: register(16), by: zero}
			s := d.C()
			for i := range d.k {
				s = single.sum(s, single.product(t.round(d.A(i)), t.round(d.B(i))))
			}
			return single.code(s)
		},
	},
	{
		name: "bf16x3", follows: "FP32 as two BF16 numbers each: three passes, small ones first (oneMKL's FLOAT_TO_BF16X2)",
		k: 2, formats: allSingle,
		dot: func(d *dot) uint64 { return passes(d, brain, [][2]int{{1, 0}, {0, 1}, {0, 0}}) },
	},
	{
		name: "bf16x6", follows: "FP32 as three BF16 numbers each: six passes (oneMKL's FLOAT_TO_BF16X3)",
		k: 1, formats: allSingle,
		dot: func(d *dot) uint64 {
			return passes(d, brain, [][2]int{{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}})
		},
	},
	{
		name: "tf32x3", follows: "CUTLASS's 3xTF32",
		k: 4, formats: allSingle,
		dot: func(d *dot) uint64 {
			return passes(d, to{format: tf32, by: away}, [][2]int{{1, 0}, {0, 1}, {0, 0}})
		},
	},
	{
		name: "fp16-without-subnormals", follows: "FP16 operands flushed to zero, then a fused sum",
		k: 4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			p := d.terms
			for i := range p {
				p[i] = mul(fp16.daz(d.A(i)), fp16.daz(d.B(i)))
			}
			return to{format: fp32, by: zero}.code(alignedSum(append(p, d.C()), 25, zero))
		},
	},
	{
		name: "products-of-16-bits", follows: "a truncated multiplier array: products keep 16 bits, rounded to odd, then FP32 adders",
		k: 4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			t := to{format: register(16), by: odd}
			s := d.C()
			for _, p := range d.products() {
				s = single.sum(s, t.round(p))
			}
			return single.code(s)
		},
	},
	{
		name: "truncated-columns", follows: "a multiplier without its eight lowest columns, in FP16 (a usual saving of area)",
		k: 2, formats: halfSingle,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				a, b := normal(d.A(i), 11), normal(d.B(i), 11)
				p := mul(a, b)
				if p.kind == finite {
					p.m = 0
					for bit := range 11 {
						if b.m>>bit&1 != 0 {
							p.m += a.m << bit &^ 0xff
						}
					}
				}
				s = single.sum(s, p)
			}
			return single.code(s)
		},
	},
	{
		name: "mitchell", follows: "Mitchell's logarithmic multiplier (1962) for BF16: significands are added",
		k: 2, formats: brainSingle,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				a, b := normal(bf16.daz(d.A(i)), 8), normal(bf16.daz(d.B(i)), 8)
				p := mul(a, b)
				if p.kind == finite && p.m != 0 {
					p.m, p.e = a.m+b.m-128, a.e+b.e+7
					if p.m >= 256 {
						p.m = 2 * (p.m - 128)
					}
				}
				s = single.sum(s, p)
			}
			return single.code(s)
		},
	},
	{
		name: "fp64-in-fp32", follows: "FP64 operands converted to FP32 first, FP32 FMAs, the result widened",
		k: 2, formats: allDouble,
		dot: func(d *dot) uint64 {
			s := single.round(d.C())
			for i := range d.k {
				s = single.fma(single.round(d.A(i)), single.round(d.B(i)), s)
			}
			return double.code(s)
		},
	},
	{
		name: "bf16-products", follows: "each product is rounded to BF16, the sum is exact until the end",
		k: 8, formats: brainSingle,
		dot: func(d *dot) uint64 {
			return single.code(sumOf(append(rounded(d.products(), brain), d.C())))
		},
	},
	{
		name: "c-as-bf16", follows: "the accumulator port has 16 bits: c is truncated to BF16, the result is FP32",
		k: 4, formats: brainSingle,
		dot: func(d *dot) uint64 {
			s := to{format: bf16, by: zero}.round(d.C())
			for i := range d.k {
				s = single.fma(d.A(i), d.B(i), s)
			}
			return single.code(s)
		},
	},
}

// passes splits each operand into parts, each of which rounds what the parts before it have
// left, and adds up the products of the listed pairs of parts, one pass over k for each.
func passes(d *dot, t to, list [][2]int) uint64 {
	parts := func(x num) (p [3]num) {
		for i := range p {
			p[i] = t.round(x)
			if x = add(x, p[i].negated(true)); x.kind == nan {
				x = num{} // of infinities nothing is left
			}
		}
		return p
	}
	s := d.C()
	for _, pass := range list {
		for i := range d.k {
			s = single.fma(parts(d.A(i))[pass[0]], parts(d.B(i))[pass[1]], s)
		}
	}
	return single.code(s)
}

// normal returns a finite x != 0 with a significand of exactly n bits.
func normal(x num, n int) num {
	for x.kind == finite && x.m != 0 && x.m>>(n-1) == 0 {
		x.m, x.e = x.m<<1, x.e-1
	}
	return x
}
