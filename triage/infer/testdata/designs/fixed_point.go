package main

// fixedPoint are accumulators whose bits have fixed weights.
var fixedPoint = []*unit{
	{
		name: "kulisch-fp16", follows: "a Kulisch accumulator for FP16, exact, rounded once",
		k: 32, formats: halfSingle,
		dot: func(d *dot) uint64 { return single.code(sumOf(append(d.products(), d.C()))) },
	},
	{
		name: "kulisch-bf16-truncated", follows: "a Kulisch accumulator whose output is truncated",
		k: 8, formats: brainSingle,
		dot: func(d *dot) uint64 {
			return to{format: fp32, by: zero, over: toInf}.code(sumOf(append(d.products(), d.C())))
		},
	},
	{
		name: "kulisch-fp32", follows: "an exact dot product of four FP32 numbers, ties away from zero",
		k: 4, formats: allSingle,
		dot: func(d *dot) uint64 {
			return to{format: fp32, by: away, nan: 0x7fffffff}.code(sumOf(append(d.products(), d.C())))
		},
	},
	{
		name: "kulisch-fp8-fp16", follows: "FP8 products in 48 bits, which hold all of them, truncated to FP16",
		k: 16, formats: [4]*format{e4m3, e5m2, fp16, fp16},
		dot: func(d *dot) uint64 {
			return to{format: fp16, by: zero}.code(sumOf(append(d.products(), d.C())))
		},
	},
	{
		name: "fixed-wraps", follows: "an accumulator of 32 bits, 2^-16 and up, that wraps",
		k: 8, formats: [4]*format{e4m3, e4m3, nil, fp32},
		dot: func(d *dot) uint64 {
			p := d.products()
			if s, yes := exceptional(p); yes {
				return single.code(s)
			}
			return single.code(fixed(int64(int32(cutSum(p, -16, zero).signed())), -16))
		},
	},
	{
		name: "fixed-saturates", follows: "an accumulator of 24 bits, 2^-12 and up, that saturates after each product",
		k: 4, formats: [4]*format{e4m3, e4m3, nil, fp32},
		dot: func(d *dot) uint64 {
			p := d.products()
			if s, yes := exceptional(p); yes {
				return single.code(s)
			}
			var s int64
			for _, x := range p {
				s = min(max(s+cut(x, -12, down), -1<<23), 1<<23-1)
			}
			return single.code(fixed(s, -12))
		},
	},
	{
		name: "fixed-40", follows: "an NPU's accumulator of 40 bits, 2^-24 and up, products rounded to it, wide enough not to overflow",
		k: 8, formats: [4]*format{fp16, fp16, nil, fp16},
		dot: func(d *dot) uint64 {
			p := d.products()
			if s, yes := exceptional(p); yes {
				return half.code(s)
			}
			return half.code(cutSum(p, -24, nearest))
		},
	},
	{
		name: "fp4-integers", follows: "FP4 as integers of halves: exact in 16 bits, then added to c in FP32",
		k: 32, formats: [4]*format{e2m1, e2m1, fp32, fp32},
		dot: func(d *dot) uint64 {
			return single.code(single.sum(cutSum(d.products(), -2, zero), d.C()))
		},
	},
	{
		name: "fp4-integers-fused", follows: "the same, but c is truncated to eighths and is part of the integer sum if it is small",
		k: 16, formats: [4]*format{e2m1, e2m1, fp32, fp32},
		dot: func(d *dot) uint64 {
			c := d.C()
			if c.kind != finite || c.m != 0 && c.top() > 16 {
				return single.code(single.sum(cutSum(d.products(), -2, zero), c))
			}
			return single.code(cutSum(append(d.products(), c), -3, zero))
		},
	},
	{
		name: "grid-of-c", follows: "products are rounded to the last bit of c before they are added, as in a counter with a fixed point",
		k: 4, formats: brainSingle,
		dot: func(d *dot) uint64 {
			p, c := d.products(), d.C()
			if s, yes := exceptional(append(p, c)); yes {
				return single.code(s)
			}
			room32.clear().add(c)
			for _, x := range p {
				if x.top() >= c.e-1 {
					whole, h, m := split(x, max(c.e, x.e))
					if nearest.up(x.neg, whole&1 != 0, h, m) {
						whole++
					}
					room32.add(num{neg: x.neg, m: whole, e: max(c.e, x.e)})
				}
			}
			return single.code(room32.num())
		},
	},
	{
		name: "window-from-top", follows: "a fixed-point window of 2^-20 to 2^40 for BF16, truncated below; larger sums are infinite",
		k: 4, formats: [4]*format{bf16, bf16, nil, bf16},
		dot: func(d *dot) uint64 {
			p := d.products()
			s, yes := exceptional(p)
			if !yes {
				for i, x := range p {
					if x.m != 0 && x.top() > 40 {
						return brain.code(num{kind: infinite, neg: x.neg})
					}
					p[i] = fixed(cut(x, -20, zero), -20)
				}
				s = cutSum(p, -20, zero)
			}
			return brain.code(s)
		},
	},
}
