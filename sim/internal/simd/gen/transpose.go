package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transpose16 turns 8 columns of 2-byte codes, 8 values of k at a time.
func transpose16() {
	TEXT("transpose16AVX2", NOSPLIT, "func(x *Transpose)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	src, dst := Load(x.Field("Src"), GP64()), Load(x.Field("Dst"), GP64())
	groups, k := Load(x.Field("Groups"), GP64()), Load(x.Field("K"), GP64())
	stride, from, left := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: k, Index: k, Scale: 1}, stride)
	high := GP64() // column 4
	loop("groups", groups, func() {
		MOVQ(src, from)
		MOVQ(k, left)
		SHRQ(U8(3), left)
		loop("k", left, func() {
			LEAQ(Mem{Base: from, Index: stride, Scale: 4}, high)
			third := GP64()
			LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, third)
			var r [8]reg.VecVirtual
			for j := range r {
				r[j] = XMM()
				base := from
				if j >= 4 {
					base = high
				}
				switch j % 4 {
				case 0:
					VMOVDQU(Mem{Base: base}, r[j])
				case 3:
					VMOVDQU(Mem{Base: base, Index: third, Scale: 1}, r[j])
				default:
					VMOVDQU(Mem{Base: base, Index: stride, Scale: uint8(j % 4)}, r[j])
				}
			}
			// Words, then pairs of words, then fours change places.
			var s, t [8]reg.VecVirtual
			for j := range s {
				s[j] = XMM()
			}
			for j := range 4 {
				VPUNPCKLWD(r[2*j+1], r[2*j], s[2*j])
				VPUNPCKHWD(r[2*j+1], r[2*j], s[2*j+1])
			}
			for j := range t {
				t[j] = XMM()
			}
			for j := range 2 {
				VPUNPCKLDQ(s[4*j+2], s[4*j], t[4*j])
				VPUNPCKHDQ(s[4*j+2], s[4*j], t[4*j+1])
				VPUNPCKLDQ(s[4*j+3], s[4*j+1], t[4*j+2])
				VPUNPCKHDQ(s[4*j+3], s[4*j+1], t[4*j+3])
			}
			for j := range 4 {
				u := XMM()
				VPUNPCKLQDQ(t[4+j], t[j], u)
				VMOVDQU(u, Mem{Base: dst, Disp: 32 * j})
				VPUNPCKHQDQ(t[4+j], t[j], u)
				VMOVDQU(u, Mem{Base: dst, Disp: 32*j + 16})
			}
			ADDQ(U8(16), from)
			ADDQ(U32(128), dst)
		})
		LEAQ(Mem{Base: src, Index: stride, Scale: 8}, src)
	})
	RET()
}
