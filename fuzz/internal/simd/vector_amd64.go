//go:build !purego

package simd

import (
	"slices"

	"golang.org/x/sys/cpu"
)

// words fills whole blocks and returns their bytes; 0 without AVX2.
func words(buf []byte, key uint64, first uint32) int {
	const block = 32
	n := len(buf) / block
	if n == 0 || !cpu.X86.HasAVX2 {
		return 0
	}
	wordsAVX2(&buf[0], n, key, first)
	return n * block
}

// differing searches whole blocks of codes of 4 bytes and returns their bytes; 0 for other
// widths or without AVX2.
func differing(dst []int32, a, b []byte, width int) ([]int32, int) {
	const block = 32
	n := len(a) / block
	if n == 0 || width != 4 || !cpu.X86.HasAVX2 || !cpu.X86.HasPOPCNT {
		return dst, 0
	}
	// The routine always writes 8 numbers at a time, of which only the first may count.
	at := len(dst)
	dst = slices.Grow(dst, 8*n)[:at+8*n]
	found := differing4AVX2(&dst[at], &a[0], &b[0], n)
	return dst[:at+found], n * block
}
