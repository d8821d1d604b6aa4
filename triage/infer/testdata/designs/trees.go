package main

// trees round at each node of a tree of adders.
var trees = []*unit{
	{
		name: "tree-8", follows: "eight multipliers and three levels of FP32 adders; c at the root",
		k: 8, formats: halfSingle,
		dot: func(d *dot) uint64 {
			return single.code(single.sum(tree(d.products(), single), d.C()))
		},
	},
	{
		name: "tree-c-leaf", follows: "as above with seven products, and c at the last leaf",
		k: 7, formats: halfSingle,
		dot: func(d *dot) uint64 {
			return single.code(tree(append(d.products(), d.C()), single))
		},
	},
	{
		name: "tree-c-first", follows: "a node for c and the first product, then a tree of what is left",
		k: 4, formats: brainSingle,
		dot: func(d *dot) uint64 {
			p := d.products()
			p[0] = single.sum(d.C(), p[0])
			return single.code(tree(p, single))
		},
	},
	{
		name: "tree-truncated", follows: "an accelerator for inference: adders without rounding and without subnormals, K=16",
		k: 16, formats: brainSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero, tiny: flush}
			return t.code(t.sum(tree(rounded(d.products(), t), t), fp32.daz(d.C())))
		},
	},
	{
		name: "tree-halves", follows: "a vector register folded in half again and again",
		k: 8, formats: allSingle,
		dot: func(d *dot) uint64 {
			p := rounded(d.products(), single)
			for n := d.k / 2; n > 0; n /= 2 {
				for i := range n {
					p[i] = single.sum(p[i], p[i+n])
				}
			}
			return single.code(single.sum(p[0], d.C()))
		},
	},
	{
		name: "tree-fp16", follows: "half precision all through: products and nodes are FP16",
		k: 4, formats: allHalf,
		dot: func(d *dot) uint64 {
			return half.code(half.sum(tree(rounded(d.products(), half), half), d.C()))
		},
	},
	{
		name: "tree-widening", follows: "an FP8 unit whose adders widen: FP16, then 16 bits, then FP32",
		k: 8, formats: fp8Single,
		dot: func(d *dot) uint64 {
			p := d.products()
			for n, t := range []to{half, {format: register(16)}, single} {
				for i := range d.k >> (n + 1) {
					p[i] = t.sum(p[2*i], p[2*i+1])
				}
			}
			return single.code(single.sum(p[0], d.C()))
		},
	},
	{
		name: "tree-of-threes", follows: "three-input adders (carry-save), each rounded once, K=9",
		k: 9, formats: halfSingle,
		dot: func(d *dot) uint64 {
			p := d.products()
			for n := 3; n > 0; n /= 3 {
				for i := range n {
					p[i] = single.round(sumOf(p[3*i : 3*i+3]))
				}
			}
			return single.code(single.sum(p[0], d.C()))
		},
	},
	{
		name: "tree-odd", follows: "round to odd inside, to nearest at the root: no double rounding",
		k: 4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			return single.code(add(tree(d.products(), to{format: register(26), by: odd}), d.C()))
		},
	},
	{
		name: "tree-fp22", follows: "nodes of 1+8+13 bits, truncated, as FP22 accumulators of FP8 units are described",
		k: 8, formats: [4]*format{e5m2, e5m2, fp32, fp32},
		dot: func(d *dot) uint64 {
			t := to{format: &format{exp: 8, man: 13, bias: 127, bytes: 4}, by: zero}
			return single.code(t.sum(tree(d.products(), t), t.round(d.C())))
		},
	},
	{
		name: "tree-fp64", follows: "a double-precision tree over four products, c last",
		k: 4, formats: allDouble,
		dot: func(d *dot) uint64 {
			p := d.terms
			for i := range p {
				p[i] = double.product(d.A(i), d.B(i))
			}
			return double.code(double.sum(tree(p, double), d.C()))
		},
	},
	{
		name: "tree-exact-products", follows: "the products are exact, the nodes BF16, to nearest with ties away from zero",
		k: 4, formats: brainSingle,
		dot: func(d *dot) uint64 {
			t := to{format: bf16, by: away}
			return single.code(single.sum(tree(d.products(), t), d.C()))
		},
	},
	{
		name: "skewed-tree", follows: "a tree balanced for timing: (((p0+p1)+(p2+p3))+p4)+c",
		k: 5, formats: halfSingle,
		dot: func(d *dot) uint64 {
			p := d.products()
			return single.code(single.sum(single.sum(tree(p[:4], single), p[4]), d.C()))
		},
	},
}

// tree adds neighbours until one term is left; an odd last one goes up unchanged.
func tree(p []num, t to) num {
	for len(p) > 1 {
		for i := range len(p) / 2 {
			p[i] = t.sum(p[2*i], p[2*i+1])
		}
		if len(p)%2 != 0 {
			p[len(p)/2] = p[len(p)-1]
		}
		p = p[:(len(p)+1)/2]
	}
	return p[0]
}

func rounded(p []num, t to) []num {
	for i := range p {
		p[i] = t.round(p[i])
	}
	return p
}

// sumOf is the exact sum, as one adder of many inputs has it: a zero is negative if all
// terms are.
func sumOf(terms []num) num {
	if s, yes := exceptional(terms); yes {
		return s
	}
	s := exact(terms)
	if s.zero() {
		s.neg = true
		for _, t := range terms {
			s.neg = s.neg && t.neg && t.m == 0
		}
	}
	return s
}
