package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// steps512 emits the steps with AVX-512: a vector of outputs is two rows by 8 columns,
// one of products two values of k by 8 columns of a row.
func steps512() {
	c := stepConsts{
		scales: [2]Mem{lanes("stepFirst", func(i int) int { return i / 2 }), lanes("stepSecond", func(i int) int { return 8 + i/2 })},
		even:   lanes("stepEven", func(i int) int { return 2 * i }), odd: lanes("stepOdd", func(i int) int { return 2*i + 1 }),
	}
	for _, kind := range stepKinds("AVX512") {
		step(kind, 2, func(s *stepCode) { s.load512(&c) }, (*stepCode).rows512)
	}
}

// lanes returns a vector of 16 numbers of lanes.
func lanes(name string, of func(i int) int) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(uint32(of(i))))
	}
	return m
}

// stepConsts says which lanes of outputs, two of products each, a row has, and which
// lanes of the products of two rows are the outputs', of even k and of odd k.
type stepConsts struct {
	scales    [2]Mem
	even, odd Mem
}

// load512 loads constants.
func (s *stepCode) load512(c *stepConsts) {
	s.vectors = map[string]reg.VecVirtual{}
	for _, name := range []string{"Exponent", "Unit", "Inverse"} {
		v := ZMM()
		VPBROADCASTD(s.k(name), v)
		s.vectors[name] = v
	}
	load := func(m Mem) reg.VecVirtual {
		v := ZMM()
		VMOVDQU32(m, v)
		return v
	}
	s.scales = [2]reg.VecVirtual{load(c.scales[0]), load(c.scales[1])}
	s.even, s.odd = load(c.even), load(c.odd)
}

// rows512 is a step of the outputs of two rows and a group.
func (s *stepCode) rows512() {
	width := 64
	acc, ec, code, scale, ci, r := ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	if s.half {
		width = 32
		VCVTPH2PS(Mem{Base: s.c}, acc)
	} else {
		VMOVUPS(Mem{Base: s.c}, acc)
	}
	VPMOVZXBD(Mem{Base: s.e}, code)
	VPSLLD(U8(23), code, code)
	VPANDD(s.vectors["Exponent"], acc, ec)
	s.scale512(ec, code, scale)
	VMULPS(scale, acc, ci)
	VCVTTPS2DQ(ci, ci)
	sums, floats := s.products512(scale)
	even, odd := s.outputs512(sums, VPERMT2D)
	VPADDD(odd, ci, ci)
	s.round512(even, ci, scale, r)
	d, finite := ZMM(), K()
	if s.special {
		s.infinite512(acc, floats, d, finite)
	} else {
		s.finite512(acc, ec, code, d, finite)
	}
	VMOVAPS(r, finite, d)
	s.null512(acc, code, d)
	if s.half {
		VCVTPS2PH(U8(0), d, Mem{Base: s.d})
	} else {
		VMOVUPS(d, Mem{Base: s.d})
	}
	stride := Load(s.x.Field("ARow"), GP64())
	LEAQ(Mem{Base: s.row, Index: stride, Scale: 2}, s.row)
	ADDQ(U8(16), s.e)
	ADDQ(U32(uint32(width)), s.c)
	ADDQ(U32(uint32(width)), s.d)
}

// scale512 is scale2.
func (s *stepCode) scale512(ec, code, scale reg.VecVirtual) {
	top := ZMM()
	if s.half { // an accumulator that is not zero has Emin at least
		some := K()
		VPTESTMD(ec, ec, some)
		VPMAXSD_BCST(s.k("Emin"), ec, some, ec)
	}
	VPMAXSD(ec, code, top)
	if !s.fits {
		VPMAXSD_BCST(s.k("Floor"), top, top)
	}
	VPSUBD(top, s.vectors["Unit"], scale)
}

// products512 is products2 for two rows: the sums of products of even k and of odd k,
// and for special steps also as floats.
func (s *stepCode) products512(scale reg.VecVirtual) (sums, floats [2]reg.VecVirtual) {
	var scales [2]reg.VecVirtual
	for i := range scales {
		scales[i], sums[i], floats[i] = ZMM(), ZMM(), ZMM()
		VPERMPS(scale, s.scales[i], scales[i])
	}
	rows := [2]reg.Register{s.row, GP64()}
	stride, k := Load(s.x.Field("ARow"), GP64()), GP64()
	LEAQ(Mem{Base: s.row, Index: stride, Scale: 1}, rows[1])
	four := func(first bool, from int) {
		var p [2][2]reg.VecVirtual
		for i := range 2 {
			q := ZMM()
			VMOVUPS(Mem{Base: s.b, Index: k, Scale: 8, Disp: 32*from + 64*i}, q)
			for r := range rows {
				p[r][i] = ZMM()
				VBROADCASTSD(Mem{Base: rows[r], Index: k, Scale: 1, Disp: 4*from + 8*i}, p[r][i])
				VMULPS(q, p[r][i], p[r][i])
			}
		}
		for r, p := range p {
			if s.special {
				s.add(first, VADDPS, p, floats[r])
			}
			for _, p := range p {
				VMULPS(scales[r], p, p)
				VCVTTPS2DQ(p, p)
			}
			s.add(first, VPADDD, p, sums[r])
		}
	}
	XORQ(k, k)
	four(true, 0)
	TESTQ(U32(16), s.arg("L4"))
	JNZ(LabelRef("odd"))
	four(false, 4)
	ADDQ(U8(16), k)
	Label("odd")
	ADDQ(U8(16), k)
	CMPQ(k, s.arg("L4"))
	JGE(LabelRef("summed"))
	Label("k")
	four(false, 0)
	four(false, 4)
	ADDQ(U8(32), k)
	CMPQ(k, s.arg("L4"))
	JL(LabelRef("k"))
	Label("summed")
	return sums, floats
}

// add adds two vectors to sum, which has nothing yet the first time.
func (s *stepCode) add(first bool, add func(ops ...Op), v [2]reg.VecVirtual, sum reg.VecVirtual) {
	if first {
		add(v[1], v[0], sum)
		return
	}
	t := ZMM()
	add(v[1], v[0], t)
	add(t, sum, sum)
}

// outputs512 turns the sums of two rows into those of even k and of odd k.
func (s *stepCode) outputs512(rows [2]reg.VecVirtual, permute func(ops ...Op)) (even, odd reg.VecVirtual) {
	even, odd = rows[0], ZMM()
	VMOVAPS(rows[0], odd)
	permute(rows[1], s.even, even)
	permute(rows[1], s.odd, odd)
	return even, odd
}

// round512 rounds sum + ci, of 32 bits and a sign, and multiplies it by 2^(E-F):
// toward zero, or for FP16 to odd, which the conversion to FP16 then rounds as if
// it were exact.
func (s *stepCode) round512(sum, ci, scale, r reg.VecVirtual) {
	m, inverse := ZMM(), ZMM()
	VPSUBD(scale, s.vectors["Inverse"], inverse)
	if s.fits { // one sum
		VPADDD(ci, sum, r)
		VCVTDQ2PS_RZ_SAE(r, r)
		VMULPS(inverse, r, r)
		return
	}
	VPADDD(ci, sum, m)
	// The sum of two int32 that overflows has the sign of both: the majority.
	neg, negative, zero := sum, K(), ZMM()
	VPTERNLOGD(U8(0xe8), m, ci, neg)
	VPMOVD2M(neg, negative)
	VPXORD(zero, zero, zero)
	VPSUBD(m, zero, negative, m)
	VCVTUDQ2PS_RZ_SAE(m, r)
	if s.half {
		back, inexact := ZMM(), K()
		VCVTTPS2UDQ(r, back)
		VPCMPD(U8(4), m, back, inexact)
		VPORD_BCST(s.k("One"), r, inexact, r)
	}
	VMULPS(inverse, r, r)
	if s.half { // what would round to zero is +0
		some := K()
		VPCMPGTD_BCST(s.k("Small"), r, some)
		VMOVAPS_Z(r, some, r)
		VPANDD_BCST_Z(s.k("Sign"), neg, some, neg)
		VPORD(neg, r, r)
		return
	}
	VPTERNLOGD_BCST(U8(0xf8), s.k("Sign"), neg, r) // r | neg & Sign
	VPANDD_BCST(s.k("Keep"), r, r)
}

// finite512 says which results are finite, and makes the others: the accumulator if it
// is Inf, else NaN.
func (s *stepCode) finite512(acc, ec, code, d reg.VecVirtual, finite reg.Register) {
	numbers := K()
	VPCMPD_BCST(U8(2), s.k("Special"), code, numbers)
	VPBROADCASTD(s.k("QNaN"), d)
	VFIXUPIMMPS_BCST(U8(0), s.k("Infinite"), acc, numbers, d)
	VPCMPD_BCST(U8(2), s.k("Finite"), ec, numbers, finite)
}

// infinite512 does the same for special steps, where the sum as floats decides.
func (s *stepCode) infinite512(acc reg.VecVirtual, floats [2]reg.VecVirtual, d reg.VecVirtual, finite reg.Register) {
	even, odd := s.outputs512(floats, VPERMT2PS)
	VADDPS(even, acc, even)
	VADDPS(odd, even, even)
	VPBROADCASTD(s.k("QNaN"), d)
	VFIXUPIMMPS_BCST(U8(0), s.k("Infinite"), even, d)
	VFPCLASSPSZ(U8(0x99), even, finite) // Inf or NaN
	KNOTW(finite, finite)
}

// null512 leaves finite accumulators of outputs without products that count.
func (s *stepCode) null512(acc, code, d reg.VecVirtual) {
	CMPQ(s.arg("AnyNull"), U8(0))
	JE(LabelRef("some"))
	null, some, value := K(), K(), ZMM()
	VPANDD_BCST(s.k("Abs"), acc, value)
	VPCMPD_BCST(U8(2), s.k("Finite"), value, null)
	VPCMPD_BCST(U8(1), s.k("Null"), code, null, null)
	VPANDD_BCST(s.k("Keep"), acc, value)
	VPTESTMD_BCST(s.k("Abs"), value, some)
	VMOVDQA32_Z(value, some, value) // +0 of both zeros
	VMOVDQA32(value, null, d)
	Label("some")
}
