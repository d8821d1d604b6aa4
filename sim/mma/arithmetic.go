package mma

import "github.com/mmafuzz/mmafuzz/sim/fp"

// The constructors in this file are the elementary operations of
// arXiv:2511.10909, section 4, as values of Params.

// To is the rounding to a format: all its fraction bits, gradual underflow,
// overflow to infinity whatever the mode, or in a format without NaN and infinity, such as E2M1,
// to the largest number.
func To(id fp.ID, m fp.Mode) Round {
	f := id.Get()
	r := Round{Frac: Frac(f.FracBits), Mode: m, Emin: Exp(f.Emin()), Emax: Exp(f.Emax())}
	if !f.HasNaN() {
		r.Over = OverSat
	}
	return r
}

// rzE8M13 is FP32 truncated to 13 fraction bits: the output of Ada's and
// Hopper's FP8 units (Table 2).
func rzE8M13() Round {
	r := To(fp.FP32, fp.RZ)
	r.Frac = 13
	return r
}

// FMA is a chain of IEEE 754 fused multiply-adds in D's format (Alg. 3 and 4).
func FMA(d fp.ID) Params {
	return Params{L: 1, Acc: To(d, fp.RNE), Special: Special{NaN: NaNQuiet, NegZero: true, TinySign: true}}
}

// simdFMA is what libraries for processors make of a dot product: chains of IEEE 754 fused
// multiply-adds of a format in the lanes of vector registers, which are added at the end.
func simdFMA(id fp.ID, lanes uint8, m Merge) Params {
	p := FMA(id)
	p.Lanes, p.Merge, p.Late = lanes, m, p.Acc
	return p
}

// ftzAddMul is products rounded to FP32, summed pairwise p at a time (p is 2 or
// 4), every result flushed (Alg. 1 and 2; flush tested after rounding as in
// MMA-Sim).
func ftzAddMul(p uint8) Params {
	r := To(fp.FP32, fp.RNE)
	r.Flush = FlushResult
	return Params{
		In:      Input{Sub: FlushPlus, C: FlushPlus},
		Prod:    Product{Round: r},
		L:       p,
		Stage0:  Stage{Sum: Pairwise, Round: r},
		Acc:     r,
		Special: Special{NaN: NaNQuiet, NegZero: true, TinySign: true},
	}
}

// efdpa is an exact dot product with one rounding to nearest even, l at a time
// (Alg. 6).
func efdpa(l uint8) Params {
	return Params{L: l, Acc: To(fp.FP32, fp.RNE), Special: Special{NaN: NaNQuiet, TinySign: true}}
}

// TFDPA is NVIDIA's truncated fused dot product (Alg. 7): l products and c
// aligned at the largest exponent, cut to f fraction bits, summed, converted by
// rho. floor is the exponent of zero terms (e_zero), which is the same as a
// lower bound of the largest exponent.
func TFDPA(l uint8, f Frac, rho Round, floor Exp) Params {
	return Params{L: l, Join: Join{Align: Align{F: f, Mode: fp.RZ, Floor: floor}}, Acc: rho}
}

// stFDPA is TFDPA with block scales on the products (Alg. 8).
func stFDPA(l uint8, f Frac, rho Round, floor Exp) Params {
	p := TFDPA(l, f, rho, floor)
	p.Scale = ScaleProduct
	return p
}

// gstFDPA sums groups of g products in fixed point, scales each sum, and adds
// the scaled sums and c as TFDPA does (Alg. 9).
func gstFDPA(l, g uint8, f Frac, rho Round, floor Exp) Params {
	p := TFDPA(l, f, rho, floor)
	p.Scale = ScaleGroup
	p.Stage0 = Stage{Sum: Fused, Group: g, Fixed: true}
	return p
}

// trFDPA is CDNA3's truncated and rounded dot product (Alg. 10, with the later
// rule of MMA-Sim for the second rounding: the sum of the products is cut by RD
// at f2+1, the total normalised and cut by RD at f2). Products of magnitude
// 2^128 or more are infinities.
func trFDPA(l uint8, f, f2 Frac) Params {
	p := trJoin(f, f2)
	p.L = l
	p.Prod.Round = Round{Emax: 127}
	p.Stage0 = Stage{Sum: Fused, Align: Align{F: f, Mode: fp.RZ}}
	return p
}

// gtrFDPA sums even and odd products apart, then as trFDPA; an accumulator
// whose exponent is below E-f-1 is dropped (Alg. 11).
func gtrFDPA(l uint8, f, f2 Frac) Params {
	p := trJoin(f, f2)
	p.L = l
	p.Stage0 = Stage{Sum: Fused, Split: Interleaved, Group: 2, Align: Align{F: f, Mode: fp.RZ}}
	p.Stage1 = Stage{Sum: Fused, Align: Align{F: f, Mode: fp.RD}}
	p.Join.CDrop = f + 1
	return p
}

// trJoin is what trFDPA and gtrFDPA share: the addition of c by rounding down.
func trJoin(f, f2 Frac) Params {
	return Params{
		Join: Join{
			Align: Align{F: f2 + 1, Mode: fp.RD, Floor: -126},
			CF:    f,
			CMode: fp.RD,
			Post:  Round{Frac: f2, Mode: fp.RD, Emin: -126},
		},
		Acc:     To(fp.FP32, fp.RNE),
		Special: Special{NaN: NaNQuiet, TinySign: true},
	}
}

// splitHMMA is what the compiler makes of FP8 mma.sync on Hopper and Blackwell:
// operands widened to FP16, two T-FDPA of 16 products over k mod 4 in {0,1} and
// {2,3} starting from +0, and one IEEE addition of C in D's format.
func splitHMMA(f Frac, rho Round, floor Exp, d fp.ID) Params {
	p := TFDPA(16, f, rho, floor)
	p.In.Widen = fp.FP16
	p.Order = Split4
	p.Start = StartZero
	p.Late = To(d, fp.RNE)
	return p
}
