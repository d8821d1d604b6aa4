package gen

import (
	"encoding/binary"

	"github.com/mmafuzz/mmafuzz/sim/byvalue"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Decode returns the instruction, one of the given ones, and the dot product that data stand
// for. Engines that know nothing but bytes, such as go test -fuzz and go-fuzz, make inputs
// through this encoding. Every byte string means something, and missing bytes are zeros:
//
//	byte 0      0: operands follow; n > 0: generator (n-1) mod the number of them
//	bytes 1, 2  instruction, as an index mod the number of instructions
//	then        0: the codes of A, B, C and the scales in little-endian containers
//	            n: the generator's randomness, 8 bytes a draw
func Decode(data []byte, insts []mma.Instruction) (*mma.Instruction, *mma.Dot) {
	s := &bytesSource{data}
	kind := s.byte()
	i := &insts[int(uint16(s.byte())|uint16(s.byte())<<8)%len(insts)]
	d := mma.NewDot(i.Formats, i.K)
	if kind == 0 {
		s.operands(i.Formats, d)
		b := mma.BatchOf(i.Formats, i.K, []*mma.Dot{d})
		byvalue.Share(b, 0)
		b.Get(0, d)
		return i, d
	}
	g := &generators[int(kind-1)%len(generators)]
	b := mma.NewBatch(i.Formats, mma.Shape{M: g.M, N: g.N, K: i.K, Tiles: 1})
	dr := newDraw(Spec{i.Formats, i.K})
	dr.args = g.Aimed(dr.Spec, &i.Params).Args
	dr.bytes = s
	dr.index = s.next()
	g.make(dr, b, 0)
	byvalue.Share(b, 0)
	b.Get(0, d)
	return i, d
}

// Encode is the inverse of Decode in its first form, for seeds.
func Encode(insts []mma.Instruction, index int, d *mma.Dot) []byte {
	f := insts[index].Formats
	out := []byte{0, byte(index), byte(index >> 8)}
	put := func(id fp.ID, codes ...uint64) {
		for _, c := range codes {
			var buf [8]byte
			binary.LittleEndian.PutUint64(buf[:], c)
			out = append(out, buf[:id.Width()]...)
		}
	}
	put(f.A, d.A...)
	put(f.B, d.B...)
	put(f.C, d.C)
	put(f.Scale, d.SA...)
	put(f.Scale, d.SB...)
	return out
}

// bytesSource takes bytes from the front; when they are used up it gives zeros.
type bytesSource struct{ data []byte }

func (s *bytesSource) byte() byte {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

func (s *bytesSource) next() uint64 {
	var x uint64
	for i := range 8 {
		x |= uint64(s.byte()) << (8 * i)
	}
	return x
}

func (s *bytesSource) code(id fp.ID) uint64 {
	var x uint64
	for i := range id.Width() {
		x |= uint64(s.byte()) << (8 * i)
	}
	if id == fp.None {
		return 0
	}
	return x & id.Get().CodeMask()
}

func (s *bytesSource) operands(f mma.Formats, d *mma.Dot) {
	for i := range d.A {
		d.A[i] = s.code(f.A)
	}
	for i := range d.B {
		d.B[i] = s.code(f.B)
	}
	d.C = s.code(f.C)
	for i := range d.SA {
		d.SA[i] = s.code(f.Scale)
	}
	for i := range d.SB {
		d.SB[i] = s.code(f.Scale)
	}
}
