package wire

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The frames of binary mode. All numbers are 32 bits, little endian.
const (
	requestMagic = "mmaQ"
	AnswerMagic  = "mmaD"
	RequestSize  = 36 // bytes before the payload
	AnswerSize   = 20

	MaxPayload = 64 << 20 // of a request
	MaxError   = 4 << 10  // bytes of an error's text
)

// Request is the beginning of a request: the instruction to run and the shape of the
// batch. The payload is A, B, C, SA and SB, one after the other.
type Request struct {
	ID          uint32
	Instruction uint32 // its number in the header, from 0
	mma.Shape
	Length   uint32 // of the payload
	Checksum uint32 // CRC-32 (IEEE) of the payload
}

// Append appends the bytes of the request's beginning.
func (q *Request) Append(b []byte) []byte {
	b = append(b, requestMagic...)
	for _, v := range []uint32{q.ID, q.Instruction, uint32(q.M), uint32(q.N), uint32(q.K), uint32(q.Tiles), q.Length, q.Checksum} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// Parse reads what Append has written; false if it is no request.
func (q *Request) Parse(b []byte) bool {
	if len(b) != RequestSize || string(b[:4]) != requestMagic {
		return false
	}
	v := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4+4*i:]) }
	*q = Request{ID: v(0), Instruction: v(1), Length: v(6), Checksum: v(7),
		Shape: mma.Shape{M: int(v(2)), N: int(v(3)), K: int(v(4)), Tiles: int(v(5))}}
	return true
}

// Status describes what the payload of an answer is.
const (
	StatusD     = 0 // the buffer of D
	StatusError = 1 // text: the unit cannot do this
	StatusAbout = 2 // text, WORD TEXT: what the child has learnt of the instruction; the answer follows
	StatusOther = 3 // text: the unit cannot do anything now, whatever the input
)

// Answer is the beginning of an answer.
type Answer struct {
	ID       uint32 // of the request
	Status   uint32
	Length   uint32 // of the payload
	Checksum uint32 // of the payload; 0: none
}

// Append appends the bytes of the answer's beginning.
func (a *Answer) Append(b []byte) []byte {
	b = append(b, AnswerMagic...)
	for _, v := range []uint32{a.ID, a.Status, a.Length, a.Checksum} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// Parse reads the AnswerSize bytes that Append has written. It does not look at the magic,
// which the caller has checked.
func (a *Answer) Parse(b []byte) {
	v := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4+4*i:]) }
	*a = Answer{ID: v(0), Status: v(1), Length: v(2), Checksum: v(3)}
}

// Checksum adds data to a checksum that begins with 0.
func Checksum(sum uint32, data []byte) uint32 { return crc32.Update(sum, crc32.IEEETable, data) }

// PayloadSize returns the number of bytes of a request's payload. For shapes that no
// machine can hold it returns a huge number rather than one that wrapped around.
func PayloadSize(f mma.Formats, s mma.Shape) int64 {
	const huge = 1 << 62
	m, n, k, tiles := int64(s.M), int64(s.N), int64(s.K), int64(s.Tiles)
	if m > 1<<20 || n > 1<<20 || k > 1<<20 || tiles > 1<<32 {
		return huge
	}
	blocks := int64(f.Blocks(s.K))
	tile := m*k*int64(f.A.Width()) + n*k*int64(f.B.Width()) + m*n*int64(f.C.Width()) +
		(m+n)*blocks*int64(f.Scale.Width()) // at most 2^20 * 2^20 * 8 * 4 = 2^45
	if tiles > 0 && tile > huge/tiles {
		return huge
	}
	return tile * tiles
}
