package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A sum of products that are cut toward zero takes three routines.
//
// An accumulator at U = 2^52 units, U to 2U, has that unit as its last place, and
// with MXCSR rounding toward zero a fused multiply-add of a magnitude adds as many
// whole units as that has. One accumulator takes the magnitudes of all products,
// another those of the negative products, twice of which is subtracted in the end.
// Prepare makes both for each output, dot adds the products, finish makes the sum.
//
// The three numbers of 8 outputs stand together.
const (
	partU    = 0
	partAll  = 64
	partNeg  = 128
	sumBytes = 192
)

// prepare emits the routine that makes U and the accumulators, which have the parts
// of C.
func (i isa) prepare(fp32 bool) {
	TEXT(named("prepare", fp32, false)+i.suffix, NOSPLIT, "func(x *Sums)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	s := i.sums(x, fp32)
	restore := control(U32(roundZero))
	p := s.preparation()
	s.loop(func(col int) {
		u, all, neg := p.parts(col)
		VMOVUPD(u, Mem{Base: s.parts, Disp: partU + 8*col})
		VMOVUPD(all, Mem{Base: s.parts, Disp: partAll + 8*col})
		VMOVUPD(neg, Mem{Base: s.parts, Disp: partNeg + 8*col})
	})
	restore()
	VZEROUPPER()
	RET()
}

// preparation is the constants with which sums begin.
type preparation struct {
	*sumsCode
	expMask, abs, shift, least, z reg.VecVirtual
	most                          reg.VecVirtual // instead of abs, where infinities count as it
}

func (s *sumsCode) preparation() *preparation {
	k := func(name string) reg.VecVirtual { return s.broadcast(mem(s.x, name)) }
	p := &preparation{sumsCode: s, expMask: k("ExpMask"), shift: k("Shift"), least: k("Least"), z: s.zero()}
	if s.wide && s.fp32 {
		p.most = k("Most")
	} else {
		p.abs = k("Abs")
	}
	return p
}

// parts makes U and the accumulators. With AVX-512 sums of FP32 become Inf or NaN by
// themselves. Where E is special it is such that U is Inf, and so are both. Where C is
// Inf all magnitudes have Most of it, which is below that U, and the negative ones Inf
// if it is negative. Where it is NaN these are.
func (p *preparation) parts(col int) (u, all, neg reg.VecVirtual) {
	e := p.vec()
	u, all, neg = p.vec(), p.vec(), p.vec()
	acc := p.accumulator(col, func(acc reg.VecVirtual, small bool) {
		if p.most != nil {
			VRANGEPD(U8(0x0a), p.most, acc, all) // the lesser magnitude, or what is no NaN
		} else {
			VANDPD(p.abs, acc, all)
		}
		VANDPD(p.expMask, all, e)
		if small {
			p.only(p.compare(cmpNEQ, acc, p.z), p.least, neg)
			VMAXPD(neg, e, e)
		}
	})
	VPMOVZXWQ(Mem{Base: p.e, Disp: 2 * col}, u)
	VPSLLQ(U8(52), u, u)
	VMAXPD(e, u, u)
	VPADDQ(p.shift, u, u)
	VADDPD(u, all, all)
	VMINPD(acc, p.z, neg)
	VSUBPD(neg, u, neg)
	return u, all, neg
}

// named adds the variant to the name of a routine.
func named(name string, fp32, special bool) string {
	if fp32 {
		name += "FP32"
	}
	if special {
		name += "Special"
	}
	return name
}

// sumsCode is what the code of prepare and finish refers to.
type sumsCode struct {
	isa
	x                            gotypes.Component
	fp32                         bool
	stride                       uint32 // of parts, for 8 outputs
	e, parts, acc, sum, kinds, n reg.Register
}

func (i isa) sums(x gotypes.Component, fp32 bool) *sumsCode {
	return &sumsCode{
		isa: i, x: x, fp32: fp32, stride: sumBytes,
		e: Load(x.Field("E"), GP64()), parts: Load(x.Field("Parts"), GP64()), acc: Load(x.Field("Acc"), GP64()),
		sum: Load(x.Field("Sum"), GP64()), kinds: Load(x.Field("Kinds"), GP64()), n: Load(x.Field("N"), GP64()),
	}
}

// loop does 8 outputs at a time, a vector from a column on.
func (s *sumsCode) loop(vector func(col int)) {
	Label("outputs")
	for col := 0; col < 8; col += s.lanes() {
		vector(col)
	}
	width := uint32(64)
	if s.fp32 {
		width = 32
	}
	ADDQ(U8(16), s.e)
	ADDQ(U32(s.stride), s.parts)
	ADDQ(U8(uint8(width)), s.acc)
	ADDQ(U8(uint8(width)), s.sum)
	ADDQ(U8(32), s.kinds)
	SUBQ(U8(8), s.n)
	JG(LabelRef("outputs"))
}

// accumulator loads C. A conversion of a subnormal number is slow, and there are
// some in most grids of raw bits: where they are, integers make it, and with AVX2
// something of Inf and NaN.
//
// What each emits is done with it; small says that it may be below 2^-126 and not zero.
func (s *sumsCode) accumulator(col int, each func(acc reg.VecVirtual, small bool)) reg.VecVirtual {
	acc := s.vec()
	if !s.fp32 {
		VMOVUPD(Mem{Base: s.acc, Disp: 8 * col}, acc)
		each(acc, true)
		return acc
	}
	from := Mem{Base: s.acc, Disp: 4 * col}
	normal, done := fmt.Sprint("normal", col), fmt.Sprint("converted", col)
	s.testSubnormal(from)
	JZ(LabelRef(normal))
	k := func(name string) reg.VecVirtual { return s.broadcast(mem(s.x, name)) }
	sign, t := s.vec(), s.vec()
	VPMOVZXDQ(from, acc)
	VPSLLQ(U8(32), acc, sign)
	VANDPD(k("SignBit"), sign, sign)
	VPSLLQ(U8(33), acc, acc)
	VPSRLQ(U8(4), acc, acc)
	sub := s.greater(k("Hidden"), acc)
	VPADDQ(k("Rebias"), acc, acc)
	VMOVUPD(acc, t)
	VFMSUB213PD(k("Emin"), k("Two"), t)
	s.choose(sub, t, acc)
	if s.wide {
		special := K()
		VFPCLASSPSY(U8(0x99), from, special)
		VORPD(k("ExpMask"), acc, special, acc)
	}
	VORPD(sign, acc, acc)
	each(acc, true)
	JMP(LabelRef(done))
	Label(normal)
	VCVTPS2PD(from, acc)
	each(acc, false)
	Label(done)
	return acc
}

// testSubnormal clears the zero flag if some FP32 is subnormal.
func (s *sumsCode) testSubnormal(from Mem) {
	if s.wide {
		m := K()
		VFPCLASSPSY(U8(0x20), from, m)
		KTESTB(m, m)
		return
	}
	fraction, exponent, zero := XMM(), XMM(), XMM()
	VPXOR(zero, zero, zero)
	VPBROADCASTD(mem(s.x, "Inf32"), exponent)
	VPAND(from, exponent, exponent)
	VPCMPEQD(zero, exponent, exponent)
	VPBROADCASTD(mem(s.x, "Fraction32"), fraction)
	VPAND(from, fraction, fraction)
	VPTEST(fraction, exponent) // all bits where the exponent field is 0
}

// finish emits the routine that makes the sums: FP32 rounded toward zero, or
// float64. Where the accumulator is Inf or NaN so is the sum, and where some factor
// is, which bit 13 of E says, the kinds of the factors tell. If it is not special no
// factor is Inf: FP32 sums are NaN there, and float64 sums anything.
func (i isa) finish(fp32, special bool) {
	TEXT(named("finish", fp32, special)+i.suffix, NOSPLIT, "func(x *Sums)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	s := i.sums(x, fp32)
	restore := control(U32(roundZero))
	expMask := i.broadcast(mem(x, "ExpMask"))
	var t *truncation
	if fp32 {
		t = i.truncation(x)
	}
	s.loop(func(col int) {
		sum, n := i.vec(), i.vec()
		VMOVUPD(Mem{Base: s.parts, Disp: partNeg + 8*col}, n)
		VMOVUPD(Mem{Base: s.parts, Disp: partAll + 8*col}, sum)
		VSUBPD(n, sum, sum)
		VSUBPD(Mem{Base: s.parts, Disp: partU + 8*col}, n, n)
		VSUBPD(n, sum, sum)
		if fp32 {
			t.truncate(sum)
			h := t.convert(sum)
			s.exceptions32(h, t.nan, col, special)
			VMOVUPS(h, Mem{Base: s.sum, Disp: 4 * col})
			return
		}
		acc := s.accumulator(col, func(reg.VecVirtual, bool) {})
		i.choose(i.special(acc, expMask), acc, sum)
		if special {
			kind, e := i.vec(), i.vec()
			VCVTPS2PD(Mem{Base: s.kinds, Disp: 4 * col}, kind)
			VADDPD(acc, kind, kind)
			VPMOVZXWQ(Mem{Base: s.e, Disp: 2 * col}, e)
			VPSLLQ(U8(63-13), e, e)
			i.choose(i.negative(e), kind, sum)
		}
		VMOVUPD(sum, Mem{Base: s.sum, Disp: 8 * col})
	})
	restore()
	VZEROUPPER()
	RET()
}

// exceptions32 replaces FP32 sums of accumulators or factors that are Inf or NaN. If
// it is not special no factor is Inf, and what E marks is NaN.
func (s *sumsCode) exceptions32(h, nan reg.Register, col int, special bool) {
	acc := Mem{Base: s.acc, Disp: 4 * col}
	if s.wide {
		m := K()
		VFPCLASSPSY(U8(0x99), acc, m)
		VMOVUPS(acc, m, h)
		if special {
			kind, bit, f := YMM(), XMM(), K()
			VMOVUPS(acc, kind)
			VADDPS(Mem{Base: s.kinds, Disp: 4 * col}, kind, kind)
			VPBROADCASTW(mem(s.x, "Bit13"), bit)
			VPTESTMW(Mem{Base: s.e, Disp: 2 * col}, bit, f)
			VFPCLASSPSY(U8(0x99), kind, f, f)
			VMOVAPS(kind, f, h)
		}
		VCMPPS(U8(cmpUnord), h, h, m)
		if !special {
			bit, f := XMM(), K()
			VPBROADCASTW(mem(s.x, "Bit13"), bit)
			VPTESTMW(Mem{Base: s.e, Disp: 2 * col}, bit, f)
			KORW(f, m, m)
		}
		VMOVAPS(nan, m, h)
		return
	}
	v, inf, m := XMM(), XMM(), XMM()
	VPBROADCASTD(mem(s.x, "Inf32"), inf)
	VMOVUPS(acc, v)
	VANDPS(inf, v, m)
	VPCMPEQD(inf, m, m)
	VBLENDVPS(m, v, h, h)
	if special {
		is := XMM()
		VADDPS(Mem{Base: s.kinds, Disp: 4 * col}, v, v)
		VANDPS(inf, v, is)
		VPCMPEQD(inf, is, is)
		VPMOVZXWD(Mem{Base: s.e, Disp: 2 * col}, m)
		VPSLLD(U8(31-13), m, m)
		VPAND(is, m, m)
		VBLENDVPS(m, v, h, h)
	}
	VCMPPS(U8(cmpUnord), h, h, m)
	if !special {
		VPMOVZXWD(Mem{Base: s.e, Disp: 2 * col}, v)
		VPSLLD(U8(31-13), v, v)
		VPOR(v, m, m)
	}
	VBLENDVPS(m, nan, h, h)
}

// truncation is the rounding toward zero to FP32.
type truncation struct {
	isa
	expMask, sign, emin, last, over reg.VecVirtual
	nan                             reg.Register
}

func (i isa) truncation(x gotypes.Component) *truncation {
	t := &truncation{
		isa: i, expMask: i.broadcast(mem(x, "ExpMask")), sign: i.broadcast(mem(x, "SignBit")), emin: i.broadcast(mem(x, "Emin")),
		last: i.broadcast(mem(x, "Last")), over: i.broadcast(mem(x, "Over")),
	}
	t.nan = i.half(i.vec())
	VPBROADCASTD(mem(x, "QNaN"), t.nan)
	return t
}

// truncate rounds by an addition of 2^52 units of the last place and its inverse.
func (t *truncation) truncate(v reg.VecVirtual) {
	u, s := t.vec(), t.vec()
	VANDPD(t.expMask, v, u)
	VMAXPD(t.emin, u, u)
	VPADDQ(t.last, u, u)
	if t.wide {
		VPTERNLOGQ(U8(0xf8), t.sign, v, u) // u | v & sign
	} else {
		VANDPD(t.sign, v, s)
		VORPD(s, u, u)
	}
	VADDPD(u, v, v)
	VSUBPD(u, v, v)
}

// convert converts to FP32, whose infinities are the numbers from 2^128 on.
func (t *truncation) convert(v reg.VecVirtual) reg.Register {
	h := t.half(t.vec())
	if t.wide {
		VCVTPD2PS_RN_SAE(v, h)
		return h
	}
	s, mag := t.vec(), t.vec()
	VANDPD(t.sign, v, s)
	VANDNPD(v, t.sign, mag)
	VORPD(t.expMask, s, s)
	t.choose(t.compare(cmpGE, mag, t.over), s, v)
	VCVTPD2PSY(v, h)
	return h
}

// dot emits the routine that adds the products to the accumulators: four rows at a
// time (AVX2: two), so that these hide the latency of the additions. Which
// magnitudes of B make negative products with a value of A is up to that value's
// sign, which selects between two parts of B.
func (i isa) dot() {
	TEXT("dot"+i.suffix, NOSPLIT, "func(x *Dot)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	d := &dotCode{isa: i, x: x, count: 2, b: Load(x.Field("B"), GP64()), parts: Load(x.Field("Parts"), GP64())}
	if i.wide {
		d.count = 4
	}
	a, s, left := AllocLocal(8), AllocLocal(8), AllocLocal(8)
	local := func(m Mem, field string) { MOVQ(Load(x.Field(field), GP64()), m) }
	local(a, "A")
	local(s, "Sign")
	add := func(m Mem, field string) { ADDQ(Load(x.Field(field), GP64()), m) }
	restore := control(U32(roundZero))
	times("tiles", x, "Tiles", func() {
		times("groups", x, "Groups", func() {
			local(left, "Rows")
			d.rows[0], d.signs[0] = GP64(), GP64()
			MOVQ(a, d.rows[0])
			MOVQ(s, d.signs[0])
			Label("rows")
			d.someRows()
			SUBQ(U8(uint8(d.count)), left)
			JG(LabelRef("rows"))
			ADDQ(mem(x, "BGroup"), d.b)
		})
		add(a, "ATile")
		add(s, "SignTile")
	})
	restore()
	VZEROUPPER()
	RET()
}

// fused emits the routine that does the work of prepare, dot and finish in one, four
// rows at a time, whose sums stay in registers (AVX-512): of FP32, or without
// accumulators, of float64.
func (i isa) fused(fp32, special bool) {
	TEXT(named("fused", fp32, special)+i.suffix, NOSPLIT, "func(x *Fused)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	f := &fusedCode{special: special}
	s := &sumsCode{isa: i, x: x.Field("Sums"), fp32: fp32}
	f.two, f.shift = i.broadcast(mem(s.x, "Two")), i.broadcast(mem(s.x, "Shift"))
	if fp32 {
		f.begin, f.keep = s.preparation(), i.broadcast(mem(s.x, "Keep"))
	}
	i.fourRows(s.x, x.Field("Dot"), fp32, f.rows)
}

// fourRows emits the rest of a routine that does four rows at a time, whose results are
// FP32 or float64. load loads the registers of what is not products, which do not last
// while these are added.
func (i isa) fourRows(sx, dx gotypes.Component, fp32 bool, rows func(d *dotCode, load func() *sumsCode)) {
	d := &dotCode{isa: i, x: dx, count: 4, b: Load(dx.Field("B"), GP64())}
	a, sign, left := AllocLocal(8), AllocLocal(8), AllocLocal(8)
	e, acc, sum, kinds := AllocLocal(8), AllocLocal(8), AllocLocal(8), AllocLocal(8)
	local := func(m Mem, c gotypes.Component, field string) { MOVQ(Load(c.Field(field), GP64()), m) }
	local(a, dx, "A")
	local(sign, dx, "Sign")
	local(e, sx, "E")
	local(acc, sx, "Acc")
	local(sum, sx, "Sum")
	local(kinds, sx, "Kinds")
	add := func(m Mem, field string) { ADDQ(Load(dx.Field(field), GP64()), m) }
	register := func(m Mem) reg.Register {
		r := GP64()
		MOVQ(m, r)
		return r
	}
	restore := control(U32(roundZero))
	times("tiles", dx, "Tiles", func() {
		times("groups", dx, "Groups", func() {
			local(left, dx, "Rows")
			d.rows[0], d.signs[0] = GP64(), GP64()
			MOVQ(a, d.rows[0])
			MOVQ(sign, d.signs[0])
			Label("rows")
			rows(d, func() *sumsCode {
				return &sumsCode{isa: i, x: sx, fp32: fp32, e: register(e), acc: register(acc), sum: register(sum), kinds: register(kinds)}
			})
			ADDQ(U32(4*16), e)
			if fp32 {
				ADDQ(U32(4*32), acc)
				ADDQ(U32(4*32), kinds)
				ADDQ(U32(4*32), sum)
			} else {
				ADDQ(U32(4*64), sum)
			}
			SUBQ(U8(4), left)
			JG(LabelRef("rows"))
			ADDQ(mem(dx, "BGroup"), d.b)
		})
		add(a, "ATile")
		add(sign, "SignTile")
	})
	restore()
	VZEROUPPER()
	RET()
}

// fusedCode is the constants of fused.
type fusedCode struct {
	special          bool
	begin            *preparation // of FP32
	two, shift, keep reg.VecVirtual
}

// rows does four rows.
func (f *fusedCode) rows(d *dotCode, load func() *sumsCode) {
	s := load()
	u, all, neg := make([]reg.VecVirtual, 4), make([][]reg.VecVirtual, 4), make([][]reg.VecVirtual, 4)
	for r := range 4 {
		var x, y reg.VecVirtual
		if s.fp32 {
			f.begin.sumsCode = s
			u[r], x, y = f.begin.parts(8 * r)
		} else {
			u[r], x, y = f.empty(s, r)
		}
		all[r], neg[r] = []reg.VecVirtual{x}, []reg.VecVirtual{y}
	}
	d.startRows()
	d.products(all, neg)
	d.nextRows()
	s = load()
	for r := range 4 {
		sum := all[r][0]
		VFNMADD231PD(f.two, neg[r][0], sum) // all - U - 2 (neg - U), less U
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

// finish makes FP32 of the sums of four rows: toward zero, which is to drop digits if
// none is subnormal.
func (f *fusedCode) finish(s *sumsCode, sums []reg.VecVirtual) {
	least, least2, nan := s.vec(), s.vec(), YMM()
	VRANGEPD(U8(0x0a), sums[1], sums[0], least) // the lesser magnitude
	VRANGEPD(U8(0x0a), sums[3], sums[2], least2)
	VRANGEPD(U8(0x0a), least2, least, least)
	small := K()
	VCMPPD_BCST(U8(cmpLT), mem(s.x, "Emin"), least, small)
	KTESTB(small, small)
	JZ(LabelRef("rounded"))
	t := s.truncation(s.x)
	for _, sum := range sums {
		t.truncate(sum)
	}
	Label("rounded")
	VPBROADCASTD(mem(s.x, "QNaN"), nan)
	for r, sum := range sums {
		h, is := YMM(), K()
		VANDPD(f.keep, sum, sum)
		VCVTPD2PS_RN_SAE(sum, h) // Inf from 2^128 on
		if f.special {
			s.exceptions32(h, nan, 8*r, true)
		} else {
			VCMPPS(U8(cmpUnord), h, h, is)
			VMOVAPS(nan, is, h)
		}
		VMOVUPS(h, Mem{Base: s.sum, Disp: 32 * r})
	}
}

// empty makes U and the accumulators of nothing.
func (f *fusedCode) empty(s *sumsCode, row int) (u, all, neg reg.VecVirtual) {
	u, all, neg = s.vec(), s.vec(), s.vec()
	VPMOVZXWQ(Mem{Base: s.e, Disp: 16 * row}, u)
	VPSLLQ(U8(52), u, u)
	VPADDQ(f.shift, u, u)
	VMOVAPD(u, all)
	VMOVAPD(u, neg)
	return u, all, neg
}

// dotCode is what the code of a dot refers to.
type dotCode struct {
	isa
	x           gotypes.Component
	count       int // rows that are done at once
	b, parts    reg.Register
	rows, signs [4]reg.Register
}

// someRows adds the products of some rows.
func (d *dotCode) someRows() {
	vectors := 8 / d.lanes()
	all, neg := make([][]reg.VecVirtual, d.count), make([][]reg.VecVirtual, d.count)
	d.startRows()
	for r := range d.count {
		for p := range vectors {
			all[r], neg[r] = append(all[r], d.vec()), append(neg[r], d.vec())
			VMOVUPD(d.part(r, partAll, p), all[r][p])
			VMOVUPD(d.part(r, partNeg, p), neg[r][p])
		}
	}
	d.products(all, neg)
	for r := range d.count {
		for p := range vectors {
			VMOVUPD(all[r][p], d.part(r, partAll, p))
			VMOVUPD(neg[r][p], d.part(r, partNeg, p))
		}
	}
	d.nextRows()
	ADDQ(U32(uint32(sumBytes*d.count)), d.parts)
}

// startRows makes the addresses of the rows that follow the first.
func (d *dotCode) startRows() {
	aRow, signRow := Load(d.x.Field("ARow"), GP64()), Load(d.x.Field("SignRow"), GP64())
	for r := 1; r < d.count; r++ {
		d.rows[r], d.signs[r] = GP64(), GP64()
		LEAQ(Mem{Base: d.rows[r-1], Index: aRow, Scale: 1}, d.rows[r])
		LEAQ(Mem{Base: d.signs[r-1], Index: signRow, Scale: 1}, d.signs[r])
	}
}

// nextRows goes on to the next rows.
func (d *dotCode) nextRows() {
	MOVQ(d.rows[d.count-1], d.rows[0])
	ADDQ(mem(d.x, "ARow"), d.rows[0])
	MOVQ(d.signs[d.count-1], d.signs[0])
	ADDQ(mem(d.x, "SignRow"), d.signs[0])
}

// part is a vector of a part of a row's sums.
func (d *dotCode) part(row, part, vector int) Mem {
	return Mem{Base: d.parts, Disp: sumBytes*row + part + 8*d.lanes()*vector}
}

// products adds products, four values of k at a time.
func (d *dotCode) products(all, neg [][]reg.VecVirtual) {
	k, b := GP64(), GP64()
	XORQ(k, k)
	MOVQ(d.b, b)
	Label("k")
	for i := range 4 {
		vectors := make([]reg.VecVirtual, 8/d.lanes())
		for p := range vectors {
			vectors[p] = d.vec()
			VMOVUPD(Mem{Base: b, Disp: 192*i + 8*d.lanes()*p}, vectors[p])
		}
		for r := range d.count {
			a, s := d.vec(), GP64()
			VBROADCASTSD(Mem{Base: d.rows[r], Index: k, Scale: 8, Disp: 8 * i}, a)
			MOVBLZX(Mem{Base: d.signs[r], Index: k, Scale: 1, Disp: i}, s.As32())
			for p, v := range vectors {
				VFMADD231PD(v, a, all[r][p])
				VFMADD231PD(Mem{Base: b, Index: s, Scale: 8, Disp: 192*i + 64 + 8*d.lanes()*p}, a, neg[r][p])
			}
		}
	}
	ADDQ(U8(4), k)
	ADDQ(U32(4*192), b)
	CMPQ(k, mem(d.x, "L"))
	JB(LabelRef("k"))
}

// sumKinds emits the routine that sums the kinds of products, for the rows of
// outputs in which some factor is Inf or NaN: bit 13 of E says so.
func (i isa) sumKinds() {
	i.rowsOfKinds("sumKinds", func(x *kindsCode, a Mem, sum reg.VecVirtual) {
		if i.wide {
			VFMADD231PS_BCST(a, x.b, sum)
			return
		}
		v := YMM()
		VBROADCASTSS(a, v)
		VFMADD231PS(x.b, v, sum)
	})
}

// kindsCode is what the code of a sum of kinds refers to.
type kindsCode struct {
	b           reg.VecVirtual // 8 columns
	least, most reg.VecVirtual // the finite numbers of FP32
	little      reg.VecVirtual // 2^-100
}

// rowsOfKinds emits a sum of FP32, four rows at a time: those where bit 13 of some E
// is set. add adds the product of the columns with a value of a row.
func (i isa) rowsOfKinds(name string, add func(x *kindsCode, a Mem, sum reg.VecVirtual)) {
	name += i.suffix
	mask := GLOBL(name+"Bit13", RODATA|NOPTR)
	for n := range 16 {
		DATA(2*n, U16(1<<13))
	}
	limits := GLOBL(name+"Limits", RODATA|NOPTR)
	DATA(0, U32(0x7f7fffff))
	DATA(4, U32(0xff7fffff))
	DATA(8, U32((127-100)<<23))
	TEXT(name, NOSPLIT, "func(x *SumKinds)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	a, b := Load(x.Field("A"), GP64()), Load(x.Field("B"), GP64())
	e, d := Load(x.Field("E"), GP64()), Load(x.Field("D"), GP64())
	row, l := Load(x.Field("ARow"), GP64()), Load(x.Field("L"), GP64())
	bit := YMM()
	c := &kindsCode{b: YMM(), least: YMM(), most: YMM(), little: YMM()}
	VMOVDQU(mask, bit)
	VBROADCASTSS(limits, c.most)
	VBROADCASTSS(limits.Offset(4), c.least)
	VBROADCASTSS(limits.Offset(8), c.little)
	times("tiles", x, "Tiles", func() {
		times("groups", x, "Groups", func() {
			left, from := Load(x.Field("Rows"), GP64()), GP64()
			MOVQ(a, from)
			Label("rows")
			some := YMM()
			VMOVDQU(Mem{Base: e}, some)
			VPOR(Mem{Base: e, Disp: 32}, some, some)
			VPTEST(some, bit)
			JZ(LabelRef("none"))
			row3, k, bk := GP64(), GP64(), GP64()
			LEAQ(Mem{Base: row, Index: row, Scale: 2}, row3)
			ADDQ(from, row3)
			rows := []Mem{{Base: from}, {Base: from, Index: row, Scale: 1}, {Base: from, Index: row, Scale: 2}, {Base: row3}}
			var sums [4]reg.VecVirtual
			for r := range sums {
				sums[r] = YMM()
				VXORPS(sums[r], sums[r], sums[r])
			}
			MOVQ(b, bk)
			MOVQ(l, k)
			Label("k")
			for n := range 4 {
				VMOVUPS(Mem{Base: bk, Disp: 32 * n}, c.b)
				for r, m := range rows {
					m.Disp = 4 * n
					add(c, m, sums[r])
				}
			}
			ADDQ(U8(16), from)
			ADDQ(U8(16), row3)
			ADDQ(U8(128), bk)
			SUBQ(U8(4), k)
			JG(LabelRef("k"))
			for r := range sums {
				VMOVUPS(sums[r], Mem{Base: d, Disp: 32 * r})
			}
			MOVQ(l, k)
			SHLQ(U8(2), k)
			SUBQ(k, from)
			Label("none")
			LEAQ(Mem{Base: from, Index: row, Scale: 4}, from)
			ADDQ(U8(64), e)
			ADDQ(U32(128), d)
			SUBQ(U8(4), left)
			JG(LabelRef("rows"))
			ADDQ(mem(x, "BGroup"), b)
		})
		ADDQ(mem(x, "ATile"), a)
	})
	VZEROUPPER()
	RET()
}
