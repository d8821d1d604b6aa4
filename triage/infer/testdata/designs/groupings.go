package main

// groupings are sums of fused sums.
var groupings = []*unit{
	{
		name: "two-steps", follows: "K=16 as two fused steps of eight, with FP32 between them",
		k: 16, formats: halfSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero}
			s := d.C()
			for i := 0; i < d.k; i += 8 {
				s = t.round(alignedSum(append(d.products()[i:i+8:i+8], s), 25, zero))
			}
			return t.code(s)
		},
	},
	{
		name: "two-groups-joined", follows: "two fused groups of four, joined with c in a third fused adder",
		k: 8, formats: halfSingle,
		dot: func(d *dot) uint64 {
			p := d.products()
			g := []num{alignedSum(p[:4], 24, zero), alignedSum(p[4:], 24, zero), d.C()}
			return single.code(topSum(g, 24, zero))
		},
	},
	{
		name: "even-odd-groups", follows: "even and odd products fused apart (CDNA3), each rounded to FP32, then added, then c",
		k: 8, formats: [4]*format{e4m3fnuz, e4m3fnuz, fp32, fp32},
		dot: func(d *dot) uint64 {
			p := d.products()
			even, odd := []num{p[0], p[2], p[4], p[6]}, []num{p[1], p[3], p[5], p[7]}
			return single.code(single.sum(single.sum(single.round(alignedSum(even, 24, zero)), single.round(alignedSum(odd, 24, zero))), d.C()))
		},
	},
	{
		name: "three-levels", follows: "pairs exact, fours truncated to 24 bits, all joined to nearest, c added last",
		k: 16, formats: brainSingle,
		dot: func(d *dot) uint64 {
			p := d.products()
			short := to{format: register(24), by: zero}
			for i := range 4 {
				p[i] = short.round(sumOf(p[4*i : 4*i+4]))
			}
			return single.code(single.sum(single.round(sumOf(p[:4])), d.C()))
		},
	},
	{
		name: "exact-pairs-chain", follows: "pairs of products exact, added to the accumulator with one rounding (VDPBF16PS with a wide adder)",
		k: 6, formats: brainSingle,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := 0; i < d.k; i += 2 {
				s = single.round(sumOf([]num{d.P(i), d.P(i + 1), s}))
			}
			return single.code(s)
		},
	},
	{
		name: "fours-then-chain", follows: "fused groups of four, to nearest, added to an FP32 accumulator one after another",
		k: 16, formats: halfSingle,
		dot: func(d *dot) uint64 {
			p, s := d.products(), d.C()
			for i := 0; i < d.k; i += 4 {
				s = single.sum(s, single.round(alignedSum(p[i:i+4], 27, zero)))
			}
			return single.code(s)
		},
	},
	{
		name: "last-group-first", follows: "the same with eight at a time, from the last to the first",
		k: 24, formats: [4]*format{e5m2, e4m3, fp32, fp32},
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero}
			p, s := d.products(), d.C()
			for i := d.k - 8; i >= 0; i -= 8 {
				s = t.sum(s, t.round(alignedSum(p[i:i+8], 24, zero)))
			}
			return t.code(s)
		},
	},
	{
		name: "bf16-between", follows: "two fused halves; the first is stored as BF16 before the second takes it in",
		k: 8, formats: allBrain,
		dot: func(d *dot) uint64 {
			p := d.products()
			first := brain.round(alignedSum(append(p[:4:4], d.C()), 26, zero))
			return brain.code(alignedSum(append(p[4:], first), 26, zero))
		},
	},
	{
		name: "strided-groups", follows: "products i, i+4, i+8, i+12 share an adder (systolic array of four columns)",
		k: 16, formats: [4]*format{fp16, fp16, nil, fp32},
		dot: func(d *dot) uint64 {
			p := d.products()
			var g [4]num
			for i := range g {
				g[i] = single.round(sumOf([]num{p[i], p[i+4], p[i+8], p[i+12]}))
			}
			return single.code(tree(g[:], single))
		},
	},
	{
		name: "half-accumulator-steps", follows: "fused steps of four, an FP16 accumulator rounded to nearest between them",
		k: 8, formats: allHalf,
		dot: func(d *dot) uint64 {
			p, s := d.products(), d.C()
			for i := 0; i < d.k; i += 4 {
				s = half.round(alignedSum(append(p[i:i+4:i+4], s), 24, zero))
			}
			return half.code(s)
		},
	},
}

// alignedSum adds up terms cut to f bits below the largest exponent of their codes.
func alignedSum(terms []num, f int, by mode) num {
	if s, yes := exceptional(terms); yes {
		return s
	}
	return cutSum(terms, maxX(terms, -600)-f, by)
}

// topSum is alignedSum with the exponents of the leading bits.
func topSum(terms []num, f int, by mode) num {
	if s, yes := exceptional(terms); yes {
		return s
	}
	return cutSum(terms, maxTop(terms, -600)-f, by)
}
