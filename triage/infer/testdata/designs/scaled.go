package main

// scaled lists units that multiply blocks of products by scales.
var scaled = []*unit{
	{
		name: "mx-exact-blocks", follows: "OCP MX: the exact sum of each block times its scales, added up in FP32",
		k: 16, formats: fp8Single, scale: ue8m0, block: 8,
		dot: func(d *dot) uint64 {
			s := d.C()
			for g := range d.k / d.block {
				s = single.sum(s, single.round(mul(sumOf(block(d, g)), mul(d.SA(g), d.SB(g)))))
			}
			return single.code(s)
		},
	},
	{
		name: "mx-fused", follows: "scales change the exponents of the products, then one fused sum",
		k: 8, formats: [4]*format{e5m2, e5m2, fp32, fp32}, scale: ue8m0, block: 4,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero, nan: 0x7fffffff}
			p := d.products()
			for i := range p {
				p[i] = mul(p[i], mul(d.SA(i/d.block), d.SB(i/d.block)))
			}
			return t.code(alignedSum(append(p, d.C()), 25, zero))
		},
	},
	{
		name: "nvfp4-integers", follows: "FP4 blocks as integers, times UE4M3 scales, exact, then one rounding with c",
		k: 32, formats: [4]*format{e2m1, e2m1, fp32, fp32}, scale: ue4m3, block: 16,
		dot: func(d *dot) uint64 {
			p := d.products()
			terms := make([]num, 0, 3)
			for g := range d.k / d.block {
				terms = append(terms, mul(cutSum(p[g*d.block:(g+1)*d.block], -2, zero), mul(d.SA(g), d.SB(g))))
			}
			return single.code(sumOf(append(terms, d.C())))
		},
	},
	{
		name: "dequantised-operands", follows: "software: operands times their scales are rounded to BF16, then FMAs",
		k: 8, formats: fp8Single, scale: ue4m3, block: 4,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				s = single.fma(brain.product(d.A(i), d.SA(i/4)), brain.product(d.B(i), d.SB(i/4)), s)
			}
			return single.code(s)
		},
	},
	{
		name: "dequantised-sums", follows: "software: an FP32 sum of each block times the product of the scales in FP32, by an FMA",
		k: 16, formats: fp8Single, scale: ue8m0, block: 8,
		dot: func(d *dot) uint64 {
			s := d.C()
			for g := range d.k / d.block {
				part := num{}
				for _, p := range block(d, g) {
					part = single.sum(part, p)
				}
				s = single.fma(part, single.product(d.SA(g), d.SB(g)), s)
			}
			return single.code(s)
		},
	},
	{
		name: "scale-clamped", follows: "the sum of two scale exponents saturates in eight bits",
		k: 4, formats: fp8Single, scale: ue8m0, block: 4,
		dot: func(d *dot) uint64 {
			e := mul(d.SA(0), d.SB(0))
			e.e = min(max(e.e, -127), 127)
			return single.code(single.sum(single.round(mul(sumOf(block(d, 0)), e)), d.C()))
		},
		defect: "large and small scales together: sa+sb beyond [-127, 127]",
	},
	{
		name: "scale-ignores-nan", follows: "the scale ff is not taken for a NaN but for 2^128",
		k: 4, formats: fp8Single, scale: ue8m0, block: 2,
		dot: func(d *dot) uint64 {
			p := d.products()
			for i := range p {
				p[i] = mul(p[i], num{m: 1, e: int(d.sa[i/2]) + int(d.sb[i/2]) - 254})
			}
			return single.code(sumOf(append(p, d.C())))
		},
		defect: "a scale of ff",
	},
	{
		name: "scale-rounded", follows: "the product of UE4M3 scales is rounded to UE4M3 again",
		k: 16, formats: [4]*format{e2m1, e2m1, fp32, fp32}, scale: ue4m3, block: 16,
		dot: func(d *dot) uint64 {
			s := to{format: ue4m3, over: saturate}.product(d.SA(0), d.SB(0))
			return single.code(single.sum(mul(cutSum(d.products(), -2, zero), s), d.C()))
		},
	},
}

// block returns the exact products of a block.
func block(d *dot, g int) []num { return d.products()[g*d.block : (g+1)*d.block] }
