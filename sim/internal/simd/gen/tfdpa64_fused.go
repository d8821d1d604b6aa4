package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// fusedCode holds the constants of fused.
type fusedCode struct {
	special          bool
	begin            *preparation // nil unless sums are FP32
	two, shift, keep vec
}

// fused emits the AVX-512 routine that does prepare, dot and finish in one pass over four
// rows at a time, with the sums in registers. Sums are FP32, or float64 without accumulators.
func fused(fp32, special bool) {
	x := avx512.routine(named("fused", fp32, special), "Fused")
	f, sums := &fusedCode{special: special}, x.block("Sums")
	f.two, f.shift = sums.constant("Two"), sums.constant("Shift")
	if fp32 {
		f.begin, f.keep = (&sumsCode{code: sums, fp32: fp32}).preparation(), sums.constant("Keep")
	}
	fusedGrid(x, fp32, f.rows)
}

// fusedGrid emits the rest of a routine that does four rows at a time, whose results are
// FP32 or float64. load emits the loading of all pointers except those of the products. It
// is called again after the products, which use these registers.
func fusedGrid(x code, fp32 bool, rows func(d *dotCode, load func() *sumsCode)) {
	sums, d := x.block("Sums"), newDot(x.block("Dot"))
	d.locals()
	e, acc, sum, kinds := sums.local("E"), sums.local("Acc"), sums.local("Sum"), sums.local("Kinds")
	register := func(m Mem) register {
		r := GP64()
		MOVQ(m, r)
		return r
	}
	d.grid(func() {
		rows(d, func() *sumsCode {
			return &sumsCode{code: sums, fp32: fp32, e: register(e), acc: register(acc), sum: register(sum), kinds: register(kinds)}
		})
		ADDQ(U32(4*16), e)
		if fp32 {
			ADDQ(U32(4*32), acc)
			ADDQ(U32(4*32), kinds)
			ADDQ(U32(4*32), sum)
		} else {
			ADDQ(U32(4*64), sum)
		}
	})
}

// empty sets U and the accumulators of an empty sum.
func (s *sumsCode) empty(shift vec, row int) (u, all, neg vec) {
	u, all, neg = s.vec(), s.vec(), s.vec()
	VPMOVZXWQ(Mem{Base: s.e, Disp: 16 * row}, u)
	VPSLLQ(U8(52), u, u)
	VPADDQ(shift, u, u)
	VMOVAPD(u, all)
	VMOVAPD(u, neg)
	return u, all, neg
}

// rows emits four rows.
func (f *fusedCode) rows(d *dotCode, load func() *sumsCode) {
	s := load()
	u, all, neg := make([]vec, 4), make([][]vec, 4), make([][]vec, 4)
	for r := range 4 {
		var x, y vec
		if s.fp32 {
			f.begin.sumsCode = s
			u[r], x, y = f.begin.parts(8 * r)
		} else {
			u[r], x, y = s.empty(f.shift, r)
		}
		all[r], neg[r] = []vec{x}, []vec{y}
	}
	d.startRows()
	d.products(all, neg)
	d.nextRows()
	s = load()
	for r := range 4 {
		sum := all[r][0]
		VFNMADD231PD(f.two, neg[r][0], sum) // all - 2 neg, which is the sum minus U; the sum is (all - U) - 2 (neg - U)
		VADDPD(u[r], sum, sum)
		u[r] = sum
		if !s.fp32 {
			VMOVUPD(sum, Mem{Base: s.sum, Disp: 64 * r})
		}
	}
	if s.fp32 {
		f.finish(s, u)
	}
}

// finish converts the sums of four rows to FP32, toward zero, by dropping bits; first, if
// some sum is below the normal range or zero, by truncate.
func (f *fusedCode) finish(s *sumsCode, sums []vec) {
	least, least2, nan, small := s.vec(), s.vec(), YMM(), K()
	VRANGEPD(U8(rangeMinAbs), sums[1], sums[0], least)
	VRANGEPD(U8(rangeMinAbs), sums[3], sums[2], least2)
	VRANGEPD(U8(rangeMinAbs), least2, least, least)
	VCMPPD_BCST(U8(cmpLT), s.mem("Emin"), least, small)
	KTESTB(small, small)
	JZ(LabelRef("rounded"))
	t := newTruncation(s.code)
	for _, sum := range sums {
		t.truncate(sum)
	}
	Label("rounded")
	VPBROADCASTD(s.mem("QNaN"), nan)
	for r, sum := range sums {
		h := YMM()
		VANDPD(f.keep, sum, sum)
		VCVTPD2PS_RN_SAE(sum, h) // Inf from 2^128 on
		if f.special {
			s.storeFP32(h, nan, 8*r, true)
			continue
		}
		s.setNaN(nan, h)
		VMOVUPS(h, Mem{Base: s.sum, Disp: 32 * r})
	}
}
