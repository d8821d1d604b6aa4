package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// transposes emits, for codes of each width in bytes, the routine that turns groups of
// 8 columns so that the columns' codes of one k stand together.
func transposes() {
	transpose(1, interleave([3][2]instruction{{VPUNPCKLBW, VPUNPCKHBW}, {VPUNPCKLWD, VPUNPCKHWD}, {VPUNPCKLDQ, VPUNPCKHDQ}}))
	transpose(2, interleave([3][2]instruction{{VPUNPCKLWD, VPUNPCKHWD}, {VPUNPCKLDQ, VPUNPCKHDQ}, {VPUNPCKLQDQ, VPUNPCKHQDQ}}))
	transpose(4, transpose4)
	transpose(8, transpose8)
}

type instruction func(ops ...Op)

// turner emits the transposition of 16 bytes of each of 8 columns.
type turner func(column func(n int) Mem, dst register)

// transpose emits a routine around the code for 16 bytes of each column.
func transpose(width int, turn turner) {
	x := avx2.routine(fmt.Sprint("transpose", 8*width), "Transpose")
	src, dst, groups, k := x.load("Src"), x.load("Dst"), x.load("Groups"), x.load("K")
	stride, from, left, high, third := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(k, stride)
	SHLQ(U8(uint8(bits.TrailingZeros(uint(width)))), stride)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, third)
	column := func(n int) Mem {
		m := Mem{Base: from}
		if n >= 4 {
			m.Base = high
		}
		switch n % 4 {
		case 1, 2:
			m.Index, m.Scale = stride, uint8(n%4)
		case 3:
			m.Index, m.Scale = third, 1
		}
		return m
	}
	loop("groups", groups, 1, nil, func() {
		MOVQ(src, from)
		MOVQ(k, left)
		loop("k", left, uint8(16/width), []move{{from, 16}, {dst, 128}}, func() {
			LEAQ(Mem{Base: from, Index: stride, Scale: 4}, high)
			turn(column, dst)
		})
		LEAQ(Mem{Base: src, Index: stride, Scale: 8}, src)
	})
	end()
}

// interleave turns codes of 1 or 2 bytes by interleaving the lower and the upper halves
// of two vectors three times: of codes, then of pairs of them, then of four.
func interleave(by [3][2]instruction) turner {
	return func(column func(n int) Mem, dst register) {
		var r, s, t [8]vec
		for j := range r {
			r[j], s[j], t[j] = XMM(), XMM(), XMM()
			VMOVDQU(column(j), r[j])
		}
		for j := range 8 {
			by[0][j%2](r[j|1], r[j&^1], s[j])
		}
		for j := range 8 {
			low := j/4*4 + j%4/2
			by[1][j%2](s[low+2], s[low], t[j])
		}
		for j := range 8 {
			u := XMM()
			by[2][j%2](t[4+j/2], t[j/2], u)
			VMOVDQU(u, Mem{Base: dst, Disp: 16 * j})
		}
	}
}

// transpose4 turns codes of 4 bytes, 4 values of k at a time.
func transpose4(column func(n int) Mem, dst register) {
	var r, s [4]vec
	for j := range r {
		r[j], s[j] = YMM(), YMM()
		loadTwo(column(j), column(j+4), r[j])
	}
	for j := range 4 {
		[]instruction{VUNPCKLPS, VUNPCKHPS}[j%2](r[j|1], r[j&^1], s[j])
	}
	for j := range 4 {
		u := YMM()
		[]instruction{VUNPCKLPD, VUNPCKHPD}[j%2](s[2+j/2], s[j/2], u)
		VMOVUPS(u, Mem{Base: dst, Disp: 32 * j})
	}
}

// transpose8 turns codes of 8 bytes, 2 values of k at a time.
func transpose8(column func(n int) Mem, dst register) {
	for half := range 2 {
		r := [2]vec{YMM(), YMM()}
		for j := range r {
			loadTwo(column(4*half+j), column(4*half+j+2), r[j])
		}
		for k, unpack := range []instruction{VUNPCKLPD, VUNPCKHPD} {
			u := YMM()
			unpack(r[1], r[0], u)
			VMOVUPS(u, Mem{Base: dst, Disp: 64*k + 32*half})
		}
	}
}

// loadTwo loads the halves of a vector.
func loadTwo(low, high Mem, v vec) {
	VMOVUPS(low, v.AsX())
	VINSERTF128(U8(1), high, v, v)
}
