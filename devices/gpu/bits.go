package gpu

// orBits sets the bits of a word in a buffer, beginning at bit at.
func orBits(buf []byte, at int, word uint64) {
	for ; word != 0; word >>= 1 {
		buf[at/8] |= byte(word&1) << (at % 8)
		at++
	}
}

// bitsAt returns n bits of a buffer, beginning at bit at; n is at most 64.
func bitsAt(buf []byte, at, n int) uint64 {
	var word uint64
	for i := range n {
		b := at + i
		word |= uint64(buf[b/8]>>(b%8)&1) << i
	}
	return word
}
