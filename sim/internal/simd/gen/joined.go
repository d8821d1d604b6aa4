package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// joined emits the routine that does the work of fused without accumulators, join of
// one sum and closing, four rows at a time (AVX-512).
func (i isa) joined(special bool) {
	TEXT(named("joined", false, special)+i.suffix, NOSPLIT, "func(x *Joined)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	sums := x.Field("Sums")
	own := func(name string) reg.VecVirtual { return i.broadcast(mem(x, name)) }
	of := func(name string) reg.VecVirtual { return i.broadcast(mem(sums, name)) }
	j := &joinCode{
		x: x, two: of("Two"), shift: of("Shift"), expMask: of("ExpMask"), least: of("Least"), floor: own("Floor"),
		c: own("C"), terms: own("Terms"), less: own("Less"), post: own("Post"),
	}
	i.fourRows(sums, x.Field("Dot"), true, func(d *dotCode, load func() *sumsCode) { j.rows(d, special, load) })
}

// joinCode is what the code of joined refers to: constants of Joined.
type joinCode struct {
	x                                                       gotypes.Component
	two, shift, expMask, least, floor, c, terms, less, post reg.VecVirtual
}

// rows does four rows.
func (j *joinCode) rows(d *dotCode, special bool, load func() *sumsCode) {
	s := load()
	var top, u, sums [4]reg.VecVirtual
	all, neg := make([][]reg.VecVirtual, 4), make([][]reg.VecVirtual, 4)
	for r := range 4 {
		top[r], u[r] = ZMM(), ZMM()
		n, m := ZMM(), ZMM()
		VPMOVZXWQ(Mem{Base: s.e, Disp: 16 * r}, top[r])
		VPSLLQ(U8(52), top[r], top[r])
		VPADDQ(j.shift, top[r], u[r])
		VMOVAPD(u[r], n)
		VMOVAPD(u[r], m)
		all[r], neg[r] = []reg.VecVirtual{n}, []reg.VecVirtual{m}
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
		j.closeTwo(s, sums[r], sums[r+1], r, special)
	}
}

// join adds C to the sums of four rows by rounding down. C is cut first, by adding 1.5 *
// 2^52 of its units, a multiple of the largest exponent's power of 2. These become as
// many of the smaller units in which the sum counts, which comes to them then. What each
// instruction does for all rows comes together, so that these hide its latency.
func (j *joinCode) join(s *sumsCode, sums, top [4]reg.VecVirtual) [4]reg.VecVirtual {
	var v, unit [4]reg.VecVirtual
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

// closeTwo converts the sums of two rows to FP32 to nearest, with the exceptions of
// closing.
func (j *joinCode) closeTwo(s *sumsCode, sum, next reg.VecVirtual, row int, special bool) {
	h, upper, t := ZMM(), YMM(), ZMM()
	VCVTPD2PS_RN_SAE(sum, h.AsY())
	VCVTPD2PS_RN_SAE(next, upper)
	VINSERTF64X4(U8(1), upper, h, h)
	VMOVUPS(Mem{Base: s.acc, Disp: 32 * row}, t)
	marked, bit, quiet := K(), YMM(), ZMM()
	VPBROADCASTW(mem(s.x, "Bit13"), bit)
	VPTESTMW(Mem{Base: s.e, Disp: 16 * row}, bit, marked)
	if special {
		VADDPS(Mem{Base: s.kinds, Disp: 32 * row}, t, marked, t)
	}
	VFIXUPIMMPS_BCST(U8(0), mem(j.x, "Replace"), t, h)
	VPBROADCASTD(mem(s.x, "QNaN"), quiet)
	VFIXUPIMMPS_BCST(U8(0), mem(j.x, "Quiet"), h, quiet)
	if !special {
		VPBROADCASTD(mem(s.x, "QNaN"), marked, quiet)
	}
	VMOVUPS(quiet, Mem{Base: s.sum, Disp: 32 * row})
}
