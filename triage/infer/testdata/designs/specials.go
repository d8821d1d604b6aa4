package main

// specials have rules of their own for zeros, infinities, NaNs, overflow and underflow.
var specials = []*unit{
	{
		name: "zero-times-inf", follows: "units that skip zero operands to save power: 0 * Inf is 0, and so is 0 * NaN",
		k: 4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				if a, b := d.A(i), d.B(i); !a.zero() && !b.zero() {
					s = single.fma(a, b, s)
				}
			}
			return single.code(s)
		},
	},
	{
		name: "inf-is-largest", follows: "DSP cores without infinities: they are the largest number on the way in and out",
		k: 4, formats: halfSingle,
		dot: func(d *dot) uint64 {
			t, in := to{format: fp32, over: saturate}, to{format: fp16, over: saturate}
			s := t.round(d.C())
			for i := range d.k {
				s = t.fma(in.round(d.A(i)), in.round(d.B(i)), s)
			}
			return t.code(s)
		},
	},
	{
		name: "e4m3-out", follows: "FP8 all through: an exact sum, saturated to E4M3",
		k: 8, formats: [4]*format{e4m3, e4m3, e4m3, e4m3},
		dot: func(d *dot) uint64 {
			return to{format: e4m3, over: saturate}.code(sumOf(append(d.products(), d.C())))
		},
	},
	{
		name: "e5m2-out", follows: "FP8 with infinities: FP16 FMAs, rounded to E5M2 at the end",
		k: 4, formats: [4]*format{e5m2, e5m2, e5m2, e5m2},
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				s = half.fma(d.A(i), d.B(i), s)
			}
			return to{format: e5m2}.code(s)
		},
	},
	{
		name: "nan-payload", follows: "x86: the first NaN in the order of the operands comes out, quiet; without one the default, negative NaN",
		k: 2, formats: allSingle,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				a, b := d.A(i), d.B(i)
				for _, x := range []num{a, b, s} {
					if x.kind == nan {
						s = fp32.decode(fp32.propagate(x))
						break
					}
				}
				if s.kind != nan {
					if s = single.fma(a, b, s); s.kind == nan {
						s = fp32.decode(0xffc00000)
					}
				}
			}
			if s.kind == nan {
				return fp32.propagate(s)
			}
			return single.code(s)
		},
	},
	{
		name: "nan-of-c", follows: "a bypass for NaNs of the accumulator: they come out bit for bit, even signalling ones",
		k: 4, formats: brainSingle,
		dot: func(d *dot) uint64 {
			if d.C().kind == nan {
				return d.c
			}
			return to{format: fp32, nan: 0x7fff0000}.code(sumOf(append(d.products(), d.C())))
		},
	},
	{
		name: "fp16-out-saturated", follows: "an inference unit: FP32 inside, FP16 out, saturated, but infinities pass",
		k: 4, formats: [4]*format{fp16, fp16, nil, fp16},
		dot: func(d *dot) uint64 {
			var s num
			for i := range d.k {
				s = single.fma(d.A(i), d.B(i), s)
			}
			if s.kind == infinite {
				return half.code(s)
			}
			return to{format: fp16, over: saturate}.code(s)
		},
	},
	{
		name: "fnuz-exact", follows: "FP8 with one NaN, the code of -0: exact sum with c, rounded once",
		k: 8, formats: [4]*format{e4m3fnuz, e4m3fnuz, nil, e4m3fnuz},
		dot: func(d *dot) uint64 { return to{format: e4m3fnuz}.code(sumOf(d.products())) },
	},
	{
		name: "products-flushed", follows: "products below 2^-126 are zeros of their sign, sums are not touched",
		k: 4, formats: brainSingle,
		dot: func(d *dot) uint64 {
			s := d.C()
			for _, p := range d.products() {
				s = single.sum(s, to{format: fp32, tiny: flush}.round(p))
			}
			return single.code(s)
		},
	},
	{
		name: "c-flushed-out-positive", follows: "subnormal c counts as +0, subnormal results become +0",
		k: 4, formats: brainSingle,
		dot: func(d *dot) uint64 {
			c := fp32.daz(d.C())
			c.neg = c.neg && !c.zero()
			return to{format: fp32, tiny: flushPlus}.code(sumOf(append(d.products(), c)))
		},
	},
	{
		name: "flush-before-rounding", follows: "Arm's FZ: tiny before rounding",
		k: 2, formats: allSingle,
		dot: func(d *dot) uint64 {
			t := to{format: fp32, tiny: flushBefore}
			s := fp32.daz(d.C())
			for i := range d.k {
				s = t.fma(fp32.daz(d.A(i)), fp32.daz(d.B(i)), s)
			}
			return t.code(s)
		},
	},
	{
		name: "zero-is-positive", follows: "a fused sum in two's complement: the only zero is +0; NaN for any infinity times zero, sign of the NaN set",
		k: 8, formats: [4]*format{fp16, fp16, nil, fp16},
		dot: func(d *dot) uint64 {
			s := sumOf(d.products())
			if s.zero() {
				return 0
			}
			return to{format: fp16, nan: 0xfe00}.code(s)
		},
	},
	{
		name: "nan-is-inf", follows: "a unit that has infinities only: every NaN operand counts as an infinity of its sign, Inf-Inf is +0",
		k: 2, formats: halfSingle,
		dot: func(d *dot) uint64 {
			value := func(x num) num {
				if x.kind == nan {
					x.kind = infinite
				}
				return x
			}
			s := value(d.C())
			for i := range d.k {
				p := mul(value(d.A(i)), value(d.B(i)))
				if s = single.sum(s, p); s.kind == nan {
					s = num{}
				}
			}
			return single.code(s)
		},
	},
	{
		name: "overflow-checked-late", follows: "an exponent that may leave the range inside: overflow is decided at the end alone",
		k: 4, formats: allHalf,
		dot: func(d *dot) uint64 {
			s := d.C()
			for i := range d.k {
				s = to{format: register(11)}.fma(d.A(i), d.B(i), s)
			}
			return half.code(s)
		},
	},
}
