// Fuzz writes the assembly of package fuzz/internal/simd with avo:
//
//	go generate ./fuzz/internal/simd
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego")
	words()
	differing4()
	Generate()
}

// step is the distance of two inputs of the hash, as in words.go of package
// fuzz/internal/simd.
const step = 0x9e3779b9

// words emits the routine that fills blocks of 8 words of a stream of random numbers.
func words() {
	steps := GLOBL("steps", RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(uint32(i*step%(1<<32))))
	}
	TEXT("wordsAVX2", NOSPLIT, "func(dst *byte, blocks int, key uint64, first uint32)")
	Doc("wordsAVX2 fills blocks of 8 words.")
	Pragma("noescape")
	dst, n, key, first := Load(Param("dst"), GP64()), Load(Param("blocks"), GP64()), Load(Param("key"), GP64()), Load(Param("first"), GP32())
	IMUL3L(U32(step), first, first)
	ADDL(key.(reg.GPVirtual).As32(), first)
	high := GP64()
	MOVQ(key, high)
	SHRQ(U8(32), high)
	x0, add, mul1, mul2, k1 := broadcast(first), constant(8*step%(1<<32)), constant(0x21f0aaad), constant(0x735a2d97), broadcast(high.As32())
	VPADDD(steps, x0, x0)
	Label("blocks")
	x, t := YMM(), YMM()
	VPSRLD(U8(16), x0, t)
	VPXOR(t, x0, x)
	VPADDD(add, x0, x0)
	VPMULLD(mul1, x, x)
	VPXOR(k1, x, x)
	VPSRLD(U8(15), x, t)
	VPXOR(t, x, x)
	VPMULLD(mul2, x, x)
	VPSRLD(U8(15), x, t)
	VPXOR(t, x, x)
	VMOVDQU(x, Mem{Base: dst})
	ADDQ(U8(32), dst)
	DECQ(n)
	JNZ(LabelRef("blocks"))
	VZEROUPPER()
	RET()
}

// differing4 emits the routine that finds the codes of 4 bytes that differ, 8 at a time: a
// table has, for each mask of 8 codes, the indexes of those that differ.
func differing4() {
	table := GLOBL("numbers", RODATA|NOPTR)
	for mask := range 256 {
		var row uint64
		for i, n := 0, 0; i < 8; i++ {
			if mask>>i&1 != 0 {
				row |= uint64(i) << (8 * n)
				n++
			}
		}
		DATA(8*mask, U64(row))
	}
	TEXT("differing4AVX2", NOSPLIT, "func(dst *int32, a, b *byte, blocks int) int")
	Doc("differing4AVX2 writes the indexes of the codes that differ, and up to 8 more numbers",
		"after them, and returns how many codes differ.")
	Pragma("noescape")
	dst, a, b, n := Load(Param("dst"), GP64()), Load(Param("a"), GP64()), Load(Param("b"), GP64()), Load(Param("blocks"), GP64())
	rows, found, mask, ones := GP64(), GP64(), GP64(), GP64()
	LEAQ(table, rows)
	XORQ(found, found)
	base, eight := YMM(), constant(8)
	VPXOR(base, base, base)
	Label("codes")
	x := YMM()
	VMOVDQU(Mem{Base: a}, x)
	VPCMPEQD(Mem{Base: b}, x, x)
	VMOVMSKPS(x, mask.As32())
	XORL(U32(0xff), mask.As32())
	VPMOVZXBD(Mem{Base: rows, Index: mask, Scale: 8}, x)
	VPADDD(base, x, x)
	VMOVDQU(x, Mem{Base: dst, Index: found, Scale: 4})
	POPCNTL(mask.As32(), ones.As32())
	ADDQ(ones, found)
	VPADDD(eight, base, base)
	ADDQ(U8(32), a)
	ADDQ(U8(32), b)
	DECQ(n)
	JNZ(LabelRef("codes"))
	VZEROUPPER()
	Store(found, ReturnIndex(0))
	RET()
}

// constant puts a word into all lanes.
func constant(w uint32) reg.VecVirtual {
	r := GP32()
	MOVL(U32(w), r)
	return broadcast(r)
}

func broadcast(r reg.Register) reg.VecVirtual {
	v := YMM()
	VMOVD(r, v.AsX())
	VPBROADCASTD(v.AsX(), v)
	return v
}
