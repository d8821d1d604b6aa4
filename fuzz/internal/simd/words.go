package simd

import "encoding/binary"

// The stream of random words: any part of it can be made alone. Word w of the
// stream of a key is a hash of both: w steps of an odd constant from the key's lower
// half, mixed as in C. Wellons' lowbias32 (two multiplications and three shifts,
// found by search), with the key's upper half in between. Words of 32 bits suit the
// multiplications of vector instructions. Keys are to be hashes: only one of the two
// multiplications spreads their upper half.
const (
	step = 0x9e3779b9
	mul1 = 0x21f0aaad
	mul2 = 0x735a2d97
)

// word returns a word of a stream.
func word(key uint64, w uint32) uint32 {
	x := w*step + uint32(key)
	x ^= x >> 16
	x *= mul1
	x ^= uint32(key >> 32)
	x ^= x >> 15
	x *= mul2
	return x ^ x>>15
}

// Words fills buf with the words of a stream, little-endian, beginning with number first.
// The last one is cut to as many bytes as there is room for.
func Words(buf []byte, key uint64, first uint32) {
	n := words(buf, key, first)
	portableWords(buf[n:], key, first+uint32(n/4))
}

func portableWords(buf []byte, key uint64, w uint32) {
	for ; len(buf) >= 4; buf = buf[4:] {
		binary.LittleEndian.PutUint32(buf, word(key, w))
		w++
	}
	if len(buf) > 0 {
		var last [4]byte
		binary.LittleEndian.PutUint32(last[:], word(key, w))
		copy(buf, last[:])
	}
}
