package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// joinCode holds the constants of fusedJoin.
type joinCode struct {
	code
	two, shift, expMask, least, floor, c, terms, less, post vec
}

// fusedJoin emits the routine that does the work of fused without accumulators, join of one
// sum and toNearest in one, four rows at a time (AVX-512).
func fusedJoin(special bool) {
	x := avx512.routine(named("joined", false, special), "Joined")
	sums := x.block("Sums")
	j := &joinCode{
		code: x, two: sums.constant("Two"), shift: sums.constant("Shift"), expMask: sums.constant("ExpMask"), least: sums.constant("Least"),
		floor: x.constant("Floor"), c: x.constant("C"), terms: x.constant("Terms"), less: x.constant("Less"), post: x.constant("Post"),
	}
	fusedGrid(x, true, func(d *dotCode, load func() *sumsCode) { j.rows(d, special, load) })
}

// rows emits four rows.
func (j *joinCode) rows(d *dotCode, special bool, load func() *sumsCode) {
	s := load()
	var top, u, sums [4]vec
	all, neg := make([][]vec, 4), make([][]vec, 4)
	for r := range 4 {
		top[r], u[r] = ZMM(), ZMM()
		n, m := ZMM(), ZMM()
		all[r], neg[r] = []vec{n}, []vec{m}
		VPMOVZXWQ(Mem{Base: s.e, Disp: 16 * r}, top[r])
		VPSLLQ(U8(52), top[r], top[r])
		VPADDQ(j.shift, top[r], u[r])
		VMOVAPD(u[r], n)
		VMOVAPD(u[r], m)
	}
	d.startRows()
	d.products(all, neg)
	d.nextRows()
	s = load()
	for r := range sums {
		sums[r] = all[r][0]
		VFNMADD231PD(j.two, neg[r][0], sums[r])
	}
	for r, sum := range sums {
		VADDPD(u[r], sum, sum)
	}
	sums = j.join(s, sums, top)
	for r := 0; r < 4; r += 2 {
		j.storeTwo(s, sums[r], sums[r+1], r, special)
	}
}

// join adds C to the sums of four rows by rounding down. First C is cut by adding 1.5 *
// 2^52 of the units in which it counts, a multiple of the largest exponent's power of 2.
// That number is then replaced by as many of the smaller units in which the sum counts, and
// the sum is added to it. Each instruction is emitted for all rows in turn, so that these
// hide its latency.
func (j *joinCode) join(s *sumsCode, sums, top [4]vec) [4]vec {
	var v, unit [4]vec
	each := func(do func(r int)) {
		for r := range 4 {
			do(r)
		}
	}
	each(func(r int) {
		v[r], unit[r] = ZMM(), ZMM()
		VCVTPS2PD(Mem{Base: s.acc, Disp: 32 * r}, v[r])
	})
	each(func(r int) { VANDPD(j.expMask, v[r], unit[r]) })
	each(func(r int) { VMAXPD(unit[r], top[r], unit[r]) })
	each(func(r int) { VMAXPD(j.floor, unit[r], unit[r]) })
	each(func(r int) { VFMADD231PD_RD_SAE(j.c, unit[r], v[r]) })
	each(func(r int) { VFMADD231PD(j.less, unit[r], v[r]) })
	each(func(r int) { VADDPD_RD_SAE(sums[r], v[r], v[r]) })
	each(func(r int) { VFNMADD231PD(j.terms, unit[r], v[r]) })
	each(func(r int) { VANDPD(j.expMask, v[r], unit[r]) })
	each(func(r int) { VMAXPD(j.least, unit[r], unit[r]) })
	each(func(r int) { VFMADD231PD_RD_SAE(j.post, unit[r], v[r]) })
	each(func(r int) { VFNMADD231PD(j.post, unit[r], v[r]) }) // which is exact, and +0 if it is zero
	return v
}

// storeTwo converts the sums of two rows to FP32, to nearest, with the exceptions of
// storeFP32, and stores them.
func (j *joinCode) storeTwo(s *sumsCode, sum, next vec, row int, special bool) {
	h, upper, t := ZMM(), YMM(), ZMM()
	VCVTPD2PS_RN_SAE(sum, h.AsY())
	VCVTPD2PS_RN_SAE(next, upper)
	VINSERTF64X4(U8(1), upper, h, h)
	VMOVUPS(Mem{Base: s.acc, Disp: 32 * row}, t)
	marked, bit, quiet := K(), YMM(), ZMM()
	VPBROADCASTW(s.mem("Bit13"), bit)
	VPTESTMW(Mem{Base: s.e, Disp: 16 * row}, bit, marked)
	if special {
		VADDPS(Mem{Base: s.kinds, Disp: 32 * row}, t, marked, t)
	}
	VFIXUPIMMPS_BCST(U8(0), j.mem("Replace"), t, h)
	VPBROADCASTD(s.mem("QNaN"), quiet)
	VFIXUPIMMPS_BCST(U8(0), j.mem("Quiet"), h, quiet)
	if !special {
		VPBROADCASTD(s.mem("QNaN"), marked, quiet)
	}
	VMOVUPS(quiet, Mem{Base: s.sum, Disp: 32 * row})
}
