package simd

import "encoding/binary"

// A stream of random words, any part of which can be computed alone. Word w of the stream
// of a key is a hash of w and the key: the key's lower half plus w times an odd constant
// (step), mixed as in C. Wellons' lowbias32 (two multiplications and three shifts, found by
// search), with the key's upper half added in between. Words have 32 bits because vector
// instructions multiply these fast. Keys should be hashes themselves: only one of the two
// multiplications spreads their upper half.
const (
	step = 0x9e3779b9
	mul1 = 0x21f0aaad
	mul2 = 0x735a2d97
)

// word returns word w of the stream of a key.
func word(key uint64, w uint32) uint32 {
	x := w*step + uint32(key)
	x ^= x >> 16
	x *= mul1
	x ^= uint32(key >> 32)
	x ^= x >> 15
	x *= mul2
	return x ^ x>>15
}

// Words fills buf with the words of a stream, little-endian, beginning with word first.
// The last word is cut to the bytes that are left.
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
