//go:build !purego

package simd

import (
	"slices"

	"golang.org/x/sys/cpu"
)

// words fills whole blocks and returns how many bytes they are.
func words(buf []byte, key uint64, first uint32) int {
	const block = 32
	n := len(buf) / block
	if n == 0 || !cpu.X86.HasAVX2 {
		return 0
	}
	wordsAVX2(&buf[0], n, key, first)
	return n * block
}

// differing does whole blocks of codes of 4 bytes and returns how many bytes they
// are.
func differing(dst []int32, a, b []byte, width int) ([]int32, int) {
	const block = 32
	n := len(a) / block
	if n == 0 || width != 4 || !cpu.X86.HasAVX2 || !cpu.X86.HasPOPCNT {
		return dst, 0
	}
	// The routine writes 8 numbers at a time, wanted or not.
	at := len(dst)
	dst = slices.Grow(dst, 8*n)[:at+8*n]
	found := differing4AVX2(&dst[at], &a[0], &b[0], n)
	return dst[:at+found], n * block
}
