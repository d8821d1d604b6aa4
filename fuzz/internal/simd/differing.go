package simd

import (
	"encoding/binary"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Differing appends the numbers of the codes of the given width, in bytes, in which
// two buffers of the same length differ.
func Differing(dst []int32, a, b []byte, width int) []int32 {
	dst, n := differing(dst, a, b, width)
	return portableDiffering(dst, a[n:], b[n:], width, n/width)
}

// portableDiffering numbers the codes beginning with first. It looks at 32 bytes at a time:
// most are equal.
func portableDiffering(dst []int32, a, b []byte, width, first int) []int32 {
	const step = 32
	for ; len(a) >= step; a, b = a[step:], b[step:] {
		word := func(i int) uint64 {
			return binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:])
		}
		if word(0)|word(8)|word(16)|word(24) != 0 {
			dst = oneByOne(dst, a[:step], b[:step], width, first)
		}
		first += step / width
	}
	return oneByOne(dst, a, b, width, first)
}

func oneByOne(dst []int32, a, b []byte, width, first int) []int32 {
	for i := range len(a) / width {
		if mma.Load(a, width, i) != mma.Load(b, width, i) {
			dst = append(dst, int32(first+i))
		}
	}
	return dst
}
