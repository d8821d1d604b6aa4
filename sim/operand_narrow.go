package sim

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// narrowSide is the rows of A or the columns of B, decoded. Narrow formats are those of at most
// 8 bits, and FP16.
type narrowSide struct {
	val     []piece  // [row][step][piece]
	code    []uint64 // exponent codes, a byte each: [row][step][piece]
	special []uint64 // [row][step]: bit k is set if value k is Inf, bit 32+k if it is NaN
}

type piece = [8]float32

func (s *narrowSide) resize(steps, pieces int) {
	s.val, s.code, s.special = resize(s.val, steps*pieces), resize(s.code, steps*pieces), resize(s.special, steps)
}

// factors returns the decoding table of a format of at most 8 bits, from code to factor. The
// table of FP16, which decodeHalves decodes, is empty.
func factors(f *fp.Format) (table [256]factor) {
	if f.Width > 1 {
		return table
	}
	for i := range table {
		n := f.Decode(uint64(i))
		e := &table[i]
		e.value = float32(f.Float64(uint64(i)))
		switch {
		case n.Class == fp.Finite:
			e.code = uint8(codeOne + n.Exp - f.Emin())
		case n.Class == fp.NaN:
			e.special = 2
		case n.Class == fp.Inf:
			e.special = 1
		}
	}
	return table
}

// decode decodes rows or columns, of steps steps in all.
func (t *narrow) decode(st *narrowState, s *narrowSide, table *[256]factor, buf []byte, steps int) {
	p := 0
	for r := range s.special[:steps] {
		special := uint64(0)
		for k := 0; k < t.l; k += 8 {
			var sp uint64
			if t.width == 2 && k+8 <= t.l {
				s.code[p], sp = decodeHalves(&s.val[p], (*[16]byte)(buf))
				buf = buf[16:]
			} else {
				n := min(t.l-k, 8)
				s.code[p], sp = t.decodePiece(&s.val[p], table, st.codesOf(buf, n, t.width))
				buf = buf[n*t.width:]
			}
			special |= sp << (k & 31)
			p++
		}
		s.special[r] = special
	}
}

// turn transposes the exponent codes of the n columns of a tile and finds columns with
// Inf or NaN.
func (t *narrow) turn(st *narrowState, n, steps int) {
	groups, each := (n+7)/8, steps*t.pieces
	st.codes, st.columns = resize(st.codes, groups*each), resize(st.columns, groups*steps)
	clear(st.columns)
	for j := range n {
		for s, special := range st.b.special[j*steps:][:steps] {
			if special != 0 {
				st.columns[j/8*steps+s] |= 1 << (j % 8)
			}
		}
	}
	for g := range groups {
		columns := min(8, n-8*g)
		for p := range each {
			codes := &st.codes[g*each+p]
			*codes = [8]uint64{}
			for j := range columns {
				codes[j] = st.b.code[(8*g+j)*each+p]
			}
			turnBytes(codes)
		}
	}
}

// turnBytes transposes a square of bytes.
func turnBytes(x *[8]uint64) {
	swap := func(i, j int, shift uint, low uint64) {
		t := (x[i]>>shift ^ x[j]) & low
		x[j] ^= t
		x[i] ^= t << shift
	}
	for i := range 4 {
		swap(i, i+4, 32, 1<<32-1)
	}
	for i := range 4 {
		i += i & 2
		swap(i, i+2, 16, 0xffff<<32|0xffff)
	}
	for i := range 4 {
		swap(2*i, 2*i+1, 8, 0xff*eachHalf)
	}
}

// codesOf returns the codes of a piece of n values, filled up with zeros if n is less
// than 8.
func (st *narrowState) codesOf(buf []byte, n, width int) []byte {
	if n >= 8 {
		return buf
	}
	clear(st.last[:])
	copy(st.last[:], buf[:n*width])
	return st.last[:]
}

// decodePiece decodes a piece and returns its exponent codes and bits for values that are
// Inf or NaN.
func (t *narrow) decodePiece(val *piece, table *[256]factor, buf []byte) (codes, special uint64) {
	if t.width == 2 {
		return decodeHalves(val, (*[16]byte)(buf))
	}
	b := (*[8]byte)(buf)
	for x := range val {
		f := &table[b[x]]
		val[x] = f.value
		codes |= uint64(f.code) << (8 * x & 63)
		if f.special != 0 {
			special |= 1 << ((x + int(f.special&2)<<4) & 63)
		}
	}
	return codes, special
}

const (
	eachByte = 0x0101010101010101
	eachHalf = 0x0001000100010001
)

// decodeHalves decodes FP16 codes: all as normal numbers, and then again those that
// are not.
func decodeHalves(val *piece, buf *[16]byte) (codes, special uint64) {
	lo, hi := binary.LittleEndian.Uint64(buf[:8]), binary.LittleEndian.Uint64(buf[8:])
	val[0], val[4] = normalHalf(lo), normalHalf(hi)
	val[1], val[5] = normalHalf(lo>>16), normalHalf(hi>>16)
	val[2], val[6] = normalHalf(lo>>32), normalHalf(hi>>32)
	val[3], val[7] = normalHalf(lo>>48), normalHalf(hi>>48)
	codes = halfCodes(lo) | halfCodes(hi)<<32
	if rare := notNormal(lo)>>15 | notNormal(hi)>>14; rare != 0 {
		return rareHalves(val, buf, codes, rare)
	}
	return codes, 0
}

// notNormal sets the top bit of each of four codes that is not a normal number. The
// exponent field of a normal number, plus 1, is at least 2 and below 32.
func notNormal(h uint64) uint64 {
	return (0x8000*eachHalf - (h&(0x7c00*eachHalf)+0x400*eachHalf)&(0x7800*eachHalf)) & (0x8000 * eachHalf)
}

// normalHalf returns the value of a normal number: the exponent field moves to where
// float32 has it, and the difference of the biases is added.
func normalHalf(h uint64) float32 {
	return math.Float32frombits(uint32(int32(int16(h))<<13)&0x8fffe000 + 112<<23)
}

// halfCodes returns the exponent codes of four normal numbers.
func halfCodes(h uint64) uint64 {
	e := h>>10&(0x1f*eachHalf) + (codeOne-1)*eachHalf
	e = (e | e>>8) & 0x0000ffff0000ffff
	return (e | e>>16) & 0xffffffff
}

// rareHalves decodes the codes that are not normal numbers: bit 16i+j of rare stands for
// code 4j+i.
func rareHalves(val *piece, buf *[16]byte, codes, rare uint64) (uint64, uint64) {
	special := uint64(0)
	for ; rare != 0; rare &= rare - 1 {
		at := bits.TrailingZeros64(rare)
		x := (at>>4 | at<<2) & 7
		c := uint32(binary.LittleEndian.Uint16(buf[2*x:]))
		e := uint64(codeOne ^ (codeOne - 1)) // the bits to flip in what halfCodes returned: here for the exponent code of emin
		v := float32(int32(c&0x3ff)) / (1 << 24)
		switch {
		case c&0x7c00 != 0:
			v = math.Float32frombits(0x7f800000 | c<<13)
			e = codeOne - 1 + 31
			if special |= 1 << x; c&0x3ff != 0 {
				special ^= 1<<x | 1<<(x+32)
			}
		case v == 0:
			e = codeOne - 1
		}
		val[x] = math.Float32frombits(math.Float32bits(v) | c<<16&(1<<31))
		codes ^= e << (8 * x & 63)
	}
	return codes, special
}
