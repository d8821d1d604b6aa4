package main

// chains add one product after another to an accumulator.
var chains = []*unit{
	{
		name: "fma-ascending", follows: "VFMADD231PS in a loop over k, any BLAS on AVX2",
		k: 4, formats: allSingle,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				s = single.fma(d.A(i), d.B(i), s)
			}
			return single.code(s)
		},
	},
	{
		name: "fma-descending", follows: "a loop that counts k down to zero",
		k: 5, formats: brainSingle,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := d.k - 1; i >= 0; i-- {
				s = single.fma(d.A(i), d.B(i), s)
			}
			return single.code(s)
		},
	},
	{
		name: "mul-then-add", follows: "MULPS and ADDPS of SSE: two roundings for each product",
		k: 4, formats: allSingle,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				s = single.sum(s, single.product(d.A(i), d.B(i)))
			}
			return single.code(s)
		},
	},
	{
		name: "four-lanes-halves", follows: "a NEON kernel with one accumulator of four lanes, added by halves, then to c",
		k: 16, formats: halfSingle,
		dot: func(d *dot) uint64 {
			l := lanes(d, 4, single)
			return single.code(single.sum(single.sum(single.sum(l[0], l[2]), single.sum(l[1], l[3])), d.C()))
		},
	},
	{
		name: "four-lanes-neighbours", follows: "HADDPS at the end of an SSE kernel whose first lane began with c",
		k: 8, formats: brainSingle,
		dot: func(d *dot) uint64 {
			l := lanes(d, 4, single, d.C())
			return single.code(single.sum(single.sum(l[0], l[1]), single.sum(l[2], l[3])))
		},
	},
	{
		name: "lanes-one-by-one", follows: "a kernel for any vector length (RVV, vfredosum): the lanes are added to c in order",
		k: 12, formats: halfSingle,
		dot: func(d *dot) uint64 {
			s := d.C()
			for _, l := range lanes(d, 4, single) {
				s = single.sum(s, l)
			}
			return single.code(s)
		},
	},
	{
		name: "even-odd-accumulators", follows: "a loop unrolled twice to hide the latency of the FMA",
		k: 8, formats: allSingle,
		dot: func(d *dot) uint64 {
			l := lanes(d, 2, single)
			return single.code(single.sum(single.sum(l[0], l[1]), d.C()))
		},
	},
	{
		name: "fp16-fma", follows: "FMLA of Armv8.2-FP16: accumulation in half precision",
		k: 4, formats: allHalf,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				s = half.fma(d.A(i), d.B(i), s)
			}
			return half.code(s)
		},
	},
	{
		name: "fp16-in-fp32", follows: "F16C: converted to FP32, FMAs, converted back",
		k: 8, formats: allHalf,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				s = single.fma(d.A(i), d.B(i), s)
			}
			return half.code(s)
		},
	},
	{
		name: "bf16-upper-half", follows: "early BF16 libraries: an FP32 chain, of which the upper 16 bits are kept",
		k: 8, formats: allBrain,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				s = single.fma(d.A(i), d.B(i), s)
			}
			return single.code(s) >> 16
		},
	},
	{
		name: "fp64-fma", follows: "DFMA of GPUs, FMA3 in double precision",
		k: 3, formats: allDouble,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				s = fma64(d.A(i), d.B(i), s)
			}
			return double.code(s)
		},
	},
	{
		name: "x87", follows: "the x87 stack: registers of 64 significant bits, rounded to FP32 when stored",
		k: 4, formats: allSingle,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				s = extended(s, d.P(i))
			}
			return single.code(s)
		},
	},
	{
		name: "double-accumulator", follows: "a reference in C that sums float products in a double (DSDOT of BLAS)",
		k: 8, formats: [4]*format{fp32, fp32, nil, fp32},
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				s = double.sum(s, d.P(i)) // the products are exact
			}
			return single.code(s)
		},
	},
	{
		name: "spe", follows: "the Cell SPE's FP32: truncation, no subnormals, and the largest exponent is a number like others",
		k: 2, formats: allSingle,
		dot: func(d *dot) uint64 {
			all := &format{exp: 8, man: 23, bias: 127, bytes: 4, special: none}
			t := to{format: all, by: zero, over: saturate, tiny: flushPlus}
			value := func(code uint64) num {
				n := all.daz(all.decode(code))
				n.neg = n.neg && n.m != 0
				return n
			}
			s := value(d.c)
			for i := range d.k {
				s = t.fma(value(d.a[i]), value(d.b[i]), s)
			}
			return t.code(s)
		},
	},
	{
		name: "fma-flushed", follows: "GPU code compiled with -ftz=true: subnormals are zeros on both sides of each FMA",
		k: 4, formats: allSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, tiny: flush, nan: 0x7fffffff}
			s := fp32.daz(d.C())
			for i := range d.k {
				s = t.fma(fp32.daz(d.A(i)), fp32.daz(d.B(i)), s)
			}
			return t.code(s)
		},
	},
	{
		name: "pairs-rounded-to-odd", follows: "BFDOT of Armv8.6: two products at a time, rounded to odd, without subnormals",
		k: 2, formats: brainSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: odd, tiny: flush, over: toInf}
			pair := t.sum(t.product(bf16.daz(d.A(0)), bf16.daz(d.B(0))), t.product(bf16.daz(d.A(1)), bf16.daz(d.B(1))))
			return t.code(t.sum(fp32.daz(d.C()), pair))
		},
	},
	{
		name: "fma-truncated", follows: "a small accelerator whose FMAs have no rounding logic",
		k: 4, formats: brainSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: zero}
			s := d.C()
			for i := range d.k {
				s = t.fma(d.A(i), d.B(i), s)
			}
			return t.code(s)
		},
	},
	{
		name: "kahan", follows: "Kahan's compensated summation in software",
		k: 3, formats: allSingle,
		dot: func(d *dot) uint64 {
			s, lost := d.C(), num{}
			for i := range d.k {
				y := single.sum(single.product(d.A(i), d.B(i)), lost.negated(true))
				t := single.sum(s, y)
				lost = single.sum(single.sum(t, s.negated(true)), y.negated(true))
				s = t
			}
			return single.code(s)
		},
	},
	{
		name: "promoted-every-four", follows: "FP8 training kernels: four products in a register of 14 bits, truncated, then FP32",
		k: 16, formats: fp8Single,
		dot: func(d *dot) uint64 {
			short := to{format: register(14), by: zero}
			s := d.C()
			for i := 0; i < d.k; i += 4 {
				var part num
				for j := i; j < i+4; j++ {
					part = short.fma(d.A(j), d.B(j), part)
				}
				s = single.sum(s, part)
			}
			return single.code(s)
		},
	},
	{
		name: "round-down", follows: "interval arithmetic: FMAs with the rounding mode set towards minus infinity",
		k: 3, formats: halfSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, by: down}
			s := d.C()
			for i := range d.k {
				s = t.fma(d.A(i), d.B(i), s)
			}
			return t.code(s)
		},
	},
	{
		name: "negative-ties", follows: "an FP32 chain whose adder has flipped the bits of a negative sum when it rounds: its ties go away from zero",
		k: 4, formats: brainSingle,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				s = single.tiesAway(add(s, d.P(i)), func(s num) bool { return s.neg })
			}
			return single.code(s)
		},
	},
}

// lanes returns the sums of n interleaved chains of FMAs, which begin with what is given
// or +0.
func lanes(d *dot, n int, t to, begin ...num) []num {
	l := make([]num, n)
	copy(l, begin)
	for i := range d.k {
		l[i%n] = t.fma(d.A(i), d.B(i), l[i%n])
	}
	return l
}

// fma64 rounds the exact a * b + c to FP64.
func fma64(a, b, c num) num {
	p := mul(a, b)
	switch {
	case p.kind != finite:
		return add(p, c)
	case c.kind != finite:
		return c
	case a.zero() || b.zero():
		p.m = 0
		return add(p, c)
	}
	return double.round(room64.clear().addProduct(a, b).add(c).num())
}

// extended rounds the sum of a product and a register to 64 bits.
func extended(s, p num) num {
	if s.kind != finite || p.kind != finite || s.zero() || p.zero() {
		return add(s, p)
	}
	n := room32.clear().add(s).add(p).num()
	if !n.rest {
		return n
	}
	n.rest = false
	below := room32.add(n.negated(true)).num() // of the sign of n, less than its last bit
	if below.top() == n.e && (below.m&(below.m-1) != 0 || below.rest || n.m&1 != 0) {
		n.m++
		if n.m == 0 {
			n.m, n.e = 1<<63, n.e+1
		}
	}
	return n
}
