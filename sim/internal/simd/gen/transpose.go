package main

import (
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transpose16 turns 8 columns of 2-byte codes, 8 values of k at a time: words, then
// pairs of words, then fours change places.
func transpose16() {
	turn("transpose16AVX2", 8, unpack([3][2]unpacker{{VPUNPCKLWD, VPUNPCKHWD}, {VPUNPCKLDQ, VPUNPCKHDQ}, {VPUNPCKLQDQ, VPUNPCKHQDQ}}))
}

// transpose8 turns 8 columns of codes of one byte, 16 values of k at a time: bytes,
// then pairs of bytes, then fours change places.
func transpose8() {
	turn("transpose8AVX2", 16, unpack([3][2]unpacker{{VPUNPCKLBW, VPUNPCKHBW}, {VPUNPCKLWD, VPUNPCKHWD}, {VPUNPCKLDQ, VPUNPCKHDQ}}))
}

// unpacker interleaves the lower or the upper halves of two vectors.
type unpacker func(ops ...Op)

// unpack returns the code that turns 16 bytes of each of 8 columns, by interleaving
// three times: the lower halves and the upper ones.
func unpack(by [3][2]unpacker) func(at func(col int) Mem, dst reg.Register) {
	return func(at func(col int) Mem, dst reg.Register) {
		var r, s, t [8]reg.VecVirtual
		for j := range r {
			r[j], s[j], t[j] = XMM(), XMM(), XMM()
			VMOVDQU(at(j), r[j])
		}
		for j := range 4 {
			by[0][0](r[2*j+1], r[2*j], s[2*j])
			by[0][1](r[2*j+1], r[2*j], s[2*j+1])
		}
		for j := range 2 {
			by[1][0](s[4*j+2], s[4*j], t[4*j])
			by[1][1](s[4*j+2], s[4*j], t[4*j+1])
			by[1][0](s[4*j+3], s[4*j+1], t[4*j+2])
			by[1][1](s[4*j+3], s[4*j+1], t[4*j+3])
		}
		for j := range 4 {
			u := XMM()
			by[2][0](t[4+j], t[j], u)
			VMOVDQU(u, Mem{Base: dst, Disp: 32 * j})
			by[2][1](t[4+j], t[j], u)
			VMOVDQU(u, Mem{Base: dst, Disp: 32*j + 16})
		}
	}
}

// transpose32 turns 8 columns of 4-byte codes, 4 values of k at a time.
func transpose32() {
	turn("transpose32AVX2", 4, func(at func(col int) Mem, dst reg.Register) {
		var r, s [4]reg.VecVirtual
		for j := range r { // columns j and j+4
			r[j], s[j] = YMM(), YMM()
			VMOVUPS(at(j), r[j].AsX())
			VINSERTF128(U8(1), at(j+4), r[j], r[j])
		}
		for j := range 2 {
			VUNPCKLPS(r[2*j+1], r[2*j], s[2*j])
			VUNPCKHPS(r[2*j+1], r[2*j], s[2*j+1])
		}
		for j := range 2 {
			u := YMM()
			VUNPCKLPD(s[2+j], s[j], u)
			VMOVUPS(u, Mem{Base: dst, Disp: 64 * j})
			VUNPCKHPD(s[2+j], s[j], u)
			VMOVUPS(u, Mem{Base: dst, Disp: 64*j + 32})
		}
	})
}

// transpose64 turns 8 columns of 8-byte codes, 2 values of k at a time.
func transpose64() {
	turn("transpose64AVX2", 2, func(at func(col int) Mem, dst reg.Register) {
		for half := range 2 {
			var r [2]reg.VecVirtual
			for j := range r { // columns j and j+2 of a half
				r[j] = YMM()
				VMOVUPS(at(4*half+j), r[j].AsX())
				VINSERTF128(U8(1), at(4*half+j+2), r[j], r[j])
			}
			for k, unpack := range []func(ops ...Op){VUNPCKLPD, VUNPCKHPD} {
				u := YMM()
				unpack(r[1], r[0], u)
				VMOVUPS(u, Mem{Base: dst, Disp: 64*k + 32*half})
			}
		}
	})
}

// turn emits a transposition of 8 columns, 16 bytes of each at a time, which are n
// codes.
func turn(name string, n uint32, block func(at func(col int) Mem, dst reg.Register)) {
	TEXT(name, NOSPLIT, "func(x *Transpose)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, dst := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64())
	groups, k := Load(x.Field("Groups"), GP64()), Load(x.Field("K"), GP64())
	stride, from, left, high, third := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(k, stride)
	SHLQ(U8(uint8(bits.TrailingZeros32(16/n))), stride)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, third)
	loop("groups", groups, func() {
		MOVQ(src, from)
		MOVQ(k, left)
		Label("k")
		LEAQ(Mem{Base: from, Index: stride, Scale: 4}, high)
		block(func(col int) Mem {
			m := Mem{Base: from}
			if col >= 4 {
				m.Base = high
			}
			switch col % 4 {
			case 1, 2:
				m.Index, m.Scale = stride, uint8(col%4)
			case 3:
				m.Index, m.Scale = third, 1
			}
			return m
		}, dst)
		ADDQ(U8(16), from)
		ADDQ(U32(128), dst)
		SUBQ(U8(uint8(n)), left)
		JG(LabelRef("k"))
		LEAQ(Mem{Base: src, Index: stride, Scale: 8}, src)
	})
	VZEROUPPER()
	RET()
}
