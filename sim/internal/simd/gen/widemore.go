package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exponents emits the routine that makes exponent codes of two bytes, 16 at a
// time, and bytes that are 8 where the sign is negative, else 0.
func exponents(width int) {
	TEXT(fmt.Sprint("exponents", width, "AVX2"), NOSPLIT, "func(x *Exponents)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, code, sign, n := Load(x.Field("Src"), GP64()), Load(x.Field("Code"), GP64()), Load(x.Field("Sign"), GP64()), Load(x.Field("N"), GP64())
	zero, frac, signAt, any, anyInf := YMM(), XMM(), XMM(), YMM(), YMM()
	VMOVQ(mem(x, "SignAt"), signAt)
	VPXOR(any, any, any)
	VPXOR(anyInf, anyInf, anyInf)
	VPXOR(zero, zero, zero)
	VMOVQ(mem(x, "Frac"), frac)
	Label("codes")
	c := words16(width, src)
	mag, field, special := YMM(), YMM(), YMM()
	s := YMM()
	VPSRLW(signAt, c, s)
	VPAND(mem(x, "One"), s, s)
	VPSLLW(U8(3), s, s)
	VPACKUSWB(s, s, s)
	VPERMQ(U8(0x08), s, s)
	VMOVDQU(s.AsX(), Mem{Base: sign})
	ADDQ(U8(16), sign)
	VPAND(mem(x, "Magnitude"), c, mag)
	VPSRLW(frac, mag, field)
	VPMAXUW(mem(x, "One"), field, field)
	VPADDW(mem(x, "Base"), field, field)
	nan, inf := YMM(), YMM()
	VPCMPEQW(mem(x, "Inf"), mag, inf)
	VPOR(inf, anyInf, anyInf)
	VPCMPGTW(mem(x, "Top"), mag, special)
	VPCMPEQW(mem(x, "NaN"), c, nan)
	VPOR(nan, special, special)
	VPAND(mem(x, "Special"), special, special)
	VPOR(special, any, any)
	VPCMPEQW(zero, mag, mag)
	VPANDN(field, mag, field)
	VPOR(special, field, field)
	VMOVDQU(field, Mem{Base: code})
	ADDQ(U8(uint8(16*width)), src)
	ADDQ(U8(32), code)
	SUBQ(U8(16), n)
	JG(LabelRef("codes"))
	storeUnlessZero(x, "Any", func() { VPTEST(any, any) })
	storeUnlessZero(x, "AnyInf", func() { VPTEST(anyInf, anyInf) })
	VZEROUPPER()
	RET()
}

// words16 loads 16 codes as words. One of TF32 becomes what BF16 has of it, with a
// fraction that is not zero if the other is not.
func words16(width int, src reg.Register) reg.VecVirtual {
	c := YMM()
	switch width {
	case 1:
		VPMOVZXBW(Mem{Base: src}, c)
	case 2:
		VMOVDQU(Mem{Base: src}, c)
	case 4:
		var half [2]reg.VecVirtual
		for i := range half {
			half[i] = YMM()
			rest, zero := YMM(), YMM()
			VPXOR(zero, zero, zero)
			VMOVDQU(Mem{Base: src, Disp: 32 * i}, half[i])
			VPSLLD(U8(16), half[i], rest) // three bits, and the dropped ones below
			VPSRLD(U8(29), rest, rest)
			VPCMPGTD(zero, rest, rest)
			VPSRLD(U8(31), rest, rest)
			VPSRLD(U8(16), half[i], half[i])
			VPOR(rest, half[i], half[i])
		}
		VPACKUSDW(half[1], half[0], c)
		VPERMQ(U8(0xd8), c, c)
	}
	return c
}

// largest16 finds the largest exponent codes of two bytes, four rows at a time. A
// vector is 2 or 4 values of k by 8 columns.
func (i isa) largest16() {
	spread := GLOBL("spreadWords"+i.suffix, RODATA|NOPTR)
	for n := range 64 {
		DATA(n, U8(uint8(n/16*2+n%2)))
	}
	TEXT("largest16"+i.suffix, NOSPLIT, "func(x *Largest16)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	a, b, e := Load(x.Field("A"), GP64()), Load(x.Field("B"), GP64()), Load(x.Field("E"), GP64())
	row, l := Load(x.Field("ARow"), GP64()), Load(x.Field("L"), GP64())
	ADDQ(l, l) // bytes
	pattern := i.vec()
	VMOVUPD(spread, pattern)
	var last *last512
	if i.wide {
		last = newLast512(x)
	}
	times("tiles", x, "Tiles", func() {
		times("groups", x, "Groups", func() {
			left, from := Load(x.Field("Rows"), GP64()), GP64()
			MOVQ(a, from)
			Label("rows")
			row3, k := GP64(), GP64()
			LEAQ(Mem{Base: row, Index: row, Scale: 2}, row3)
			ADDQ(from, row3)
			var top [4]reg.VecVirtual
			four := func(first bool) {
				for n := 0; n < 4; n += i.lanes() / 2 { // values of k
					rows := []Mem{{Base: from}, {Base: from, Index: row, Scale: 1}, {Base: from, Index: row, Scale: 2}, {Base: row3}}
					for r, m := range rows {
						v := i.vec()
						m.Disp = 2 * n
						if i.wide {
							VPBROADCASTQ(m, v)
						} else {
							VPBROADCASTD(m, v)
						}
						VPSHUFB(pattern, v, v)
						VPADDW(Mem{Base: b, Index: k, Scale: 8, Disp: 16 * n}, v, v)
						if first && n == 0 {
							top[r] = v
						} else {
							VPMAXUW(v, top[r], top[r])
						}
					}
				}
				ADDQ(U8(8), from)
				ADDQ(U8(8), row3)
				ADDQ(U8(8), k)
				CMPQ(k, l)
			}
			XORQ(k, k)
			four(true)
			JAE(LabelRef("last"))
			Label("k")
			four(false)
			JB(LabelRef("k"))
			Label("last")
			if i.wide {
				last.store(top, Mem{Base: e})
			} else {
				lastTwo(x, top, e)
			}
			ADDQ(U8(64), e)
			SUBQ(l, from)
			LEAQ(Mem{Base: from, Index: row, Scale: 4}, from)
			SUBQ(U8(4), left)
			JG(LabelRef("rows"))
			ADDQ(mem(x, "BGroup"), b)
		})
		ADDQ(mem(x, "ATile"), a)
	})
	VZEROUPPER()
	RET()
}

// lastTwo stores the largest of two values of k of four rows.
func lastTwo(x gotypes.Component, top [4]reg.VecVirtual, e reg.Register) {
	// The largest of both values of k, in two rows; 0 where no product counts.
	for r := 0; r < 4; r += 2 {
		u, v := YMM(), YMM()
		VINSERTI128(U8(1), top[r+1].AsX(), top[r], u)
		VPERM2I128(U8(0x31), top[r+1], top[r], v)
		VPMAXUW(u, v, u)
		VPCMPGTW(mem(x, "Null"), u, v)
		VPADDW(mem(x, "Bias"), u, u)
		VPAND(v, u, u)
		VPMAXUW(mem(x, "Floor"), u, u)
		VPCMPGTW(mem(x, "Over"), u, v)
		VPAND(mem(x, "Bit13"), v, v)
		VPOR(v, u, u)
		VPMINUW(mem(x, "Cap"), u, u)
		VMOVDQU(u, Mem{Base: e, Disp: 16 * r})
	}
}

// last512 is the constants of the end of largest16 with AVX-512.
type last512 struct{ null, bias, floor, over, bit13, cap reg.VecVirtual }

func newLast512(x gotypes.Component) *last512 {
	word := func(name string) reg.VecVirtual {
		v := ZMM()
		VPBROADCASTW(mem(x, name), v)
		return v
	}
	return &last512{word("Null"), word("Bias"), word("Floor"), word("Over"), word("Bit13"), word("Cap")}
}

// store stores the largest of four values of k of four rows: after the first step a
// vector has two of each of two rows, after the second all rows.
func (c *last512) store(top [4]reg.VecVirtual, to Mem) {
	u, v, k := ZMM(), ZMM(), K()
	for r := 0; r < 4; r += 2 {
		VSHUFI64X2(U8(0x44), top[r+1], top[r], u)
		VSHUFI64X2(U8(0xee), top[r+1], top[r], v)
		VPMAXUW(u, v, top[r])
	}
	VSHUFI64X2(U8(0x88), top[2], top[0], u)
	VSHUFI64X2(U8(0xdd), top[2], top[0], v)
	VPMAXUW(u, v, u)
	VPCMPGTW(c.null, u, k) // 0 where no product counts
	VPADDW_Z(c.bias, u, k, u)
	VPMAXUW(c.floor, u, u)
	VPCMPGTW(c.over, u, k)
	VPORD(c.bit13, u, v)
	VMOVDQU16(v, k, u)
	VPMINUW(c.cap, u, u)
	VMOVDQU16(u, to)
}

// larger16 emits the larger of two words, 16 at a time.
func larger16() {
	TEXT("larger16AVX2", NOSPLIT, "func(x *Larger16)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	a, b, d, n := Load(x.Field("A"), GP64()), Load(x.Field("B"), GP64()), Load(x.Field("D"), GP64()), Load(x.Field("N"), GP64())
	Label("words")
	v := YMM()
	VMOVDQU(Mem{Base: a}, v)
	VPMAXUW(Mem{Base: b}, v, v)
	VMOVDQU(v, Mem{Base: d})
	for _, p := range []reg.Register{a, b, d} {
		ADDQ(U8(32), p)
	}
	SUBQ(U8(16), n)
	JG(LabelRef("words"))
	VZEROUPPER()
	RET()
}

// round emits the rounding of numbers to a format, in the mode of MXCSR, as an
// addition of 2^52 units of the last place and its inverse.
func (i isa) round() {
	TEXT("round"+i.suffix, NOSPLIT, "func(x *Round)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, dst, n := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64()), Load(x.Field("N"), GP64())
	restore := control(mem(x, "Control"))
	expMask, sign, emin := i.broadcast(mem(x, "ExpMask")), i.broadcast(mem(x, "Sign")), i.broadcast(mem(x, "Emin"))
	shift, over, tiny := i.broadcast(mem(x, "Shift")), i.broadcast(mem(x, "Over")), i.broadcast(mem(x, "TinySign"))
	z := i.zero()
	Label("numbers")
	v, s, t, y := i.vec(), i.vec(), i.vec(), i.vec()
	VMOVUPD(Mem{Base: src}, v)
	VANDPD(v, sign, s)
	VANDPD(v, expMask, t)
	VMAXPD(emin, t, t)
	VPADDQ(shift, t, t)
	VORPD(s, t, t)
	VADDPD(t, v, y)
	VSUBPD(t, y, y)
	VANDNPD(y, sign, y)
	// The sign of what became zero is as the program says.
	VORPD(tiny, y, t)
	some := i.compareBits(t, z)
	i.only(some, s, s)
	i.choose(i.compare(cmpGE, y, over), expMask, y)
	VORPD(s, y, y)
	i.choose(i.special(v, expMask), v, y)
	VMOVUPD(y, Mem{Base: dst})
	ADDQ(U8(uint8(8*i.lanes())), src)
	ADDQ(U8(uint8(8*i.lanes())), dst)
	SUBQ(U8(uint8(i.lanes())), n)
	JG(LabelRef("numbers"))
	restore()
	VZEROUPPER()
	RET()
}

// compareBits says which integers of 8 bytes are not z, which is zero.
func (i isa) compareBits(v, z reg.VecVirtual) reg.Register {
	if i.wide {
		m := K()
		VPTESTMQ(v, v, m)
		return m
	}
	m := YMM()
	VPCMPEQQ(z, v, m)
	ones := YMM()
	VPCMPEQQ(ones, ones, ones)
	VPXOR(ones, m, m)
	return m
}

// fromFloat32 and toFloat32 emit conversions, the latter of numbers that FP32 has,
// and with the code of NaN.
func (i isa) fromFloat32() {
	TEXT("fromFloat32"+i.suffix, NOSPLIT, "func(x *Convert)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, dst, n := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64()), Load(x.Field("N"), GP64())
	Label("numbers")
	v := i.vec()
	VCVTPS2PD(Mem{Base: src}, v)
	VMOVUPD(v, Mem{Base: dst})
	ADDQ(U8(uint8(4*i.lanes())), src)
	ADDQ(U8(uint8(8*i.lanes())), dst)
	SUBQ(U8(uint8(i.lanes())), n)
	JG(LabelRef("numbers"))
	VZEROUPPER()
	RET()
}

func (i isa) toFloat32() {
	TEXT("toFloat32"+i.suffix, NOSPLIT, "func(x *Convert)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, dst, n := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64()), Load(x.Field("N"), GP64())
	code := YMM()
	VPBROADCASTD(mem(x, "QNaN"), code)
	Label("numbers")
	v, mask := YMM(), YMM()
	if i.wide {
		VCVTPD2PS(Mem{Base: src}, v)
	} else {
		VCVTPD2PSY(Mem{Base: src}, v.AsX())
		VCVTPD2PSY(Mem{Base: src, Disp: 32}, mask.AsX())
		VINSERTF128(U8(1), mask.AsX(), v, v)
	}
	VCMPPS(U8(cmpUnord), v, v, mask)
	VBLENDVPS(mask, code, v, v)
	VMOVUPS(v, Mem{Base: dst})
	ADDQ(U8(64), src)
	ADDQ(U8(32), dst)
	SUBQ(U8(8), n)
	JG(LabelRef("numbers"))
	VZEROUPPER()
	RET()
}

// kinds emits the routine that tells zeros, numbers, Inf and NaN apart, 16 at a
// time: as BF16, the upper half of FP32.
func kinds(width int) {
	TEXT(fmt.Sprint("kinds", width, "AVX2"), NOSPLIT, "func(x *Kinds)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, dst, n := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64()), Load(x.Field("N"), GP64())
	k := func(name string) Mem { return mem(x, name) }
	zero, signAt := YMM(), XMM()
	VPXOR(zero, zero, zero)
	VMOVQ(k("SignAt"), signAt)
	Label("codes")
	c := words16(width, src)
	mag, v, nan, inf := YMM(), YMM(), YMM(), YMM()
	VPAND(k("Magnitude"), c, mag)
	VPCMPGTW(zero, mag, v)
	VPAND(k("Number"), v, v)
	VPCMPGTW(k("Top"), mag, nan)
	VPCMPEQW(k("Inf"), mag, inf)
	VPANDN(nan, inf, nan)
	VPAND(k("InfKind"), inf, inf)
	VPOR(inf, v, v)
	VPCMPEQW(k("NaN"), c, mag)
	VPOR(mag, nan, nan)
	VPAND(k("NaNKind"), nan, nan)
	VPOR(nan, v, v)
	VPSRLW(signAt, c, c)
	VPSLLW(U8(15), c, c)
	VPOR(c, v, v)
	upper := XMM()
	VEXTRACTI128(U8(1), v, upper)
	for i, h := range []reg.Register{v.AsX(), upper} {
		f := YMM()
		VPMOVZXWD(h, f)
		VPSLLD(U8(16), f, f)
		VMOVUPS(f, Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(U8(uint8(16*width)), src)
	ADDQ(U8(64), dst)
	SUBQ(U8(16), n)
	JG(LabelRef("codes"))
	VZEROUPPER()
	RET()
}

// narrowHalf emits the conversion of FP32 to FP16, of numbers that FP16 has.
func narrowHalf() {
	TEXT("narrowHalfAVX2", NOSPLIT, "func(x *Convert)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, dst, n := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64()), Load(x.Field("N"), GP64())
	Label("numbers")
	v := YMM()
	VMOVUPS(Mem{Base: src}, v)
	VCVTPS2PH(U8(0), v, Mem{Base: dst})
	ADDQ(U8(32), src)
	ADDQ(U8(16), dst)
	SUBQ(U8(8), n)
	JG(LabelRef("numbers"))
	VZEROUPPER()
	RET()
}
