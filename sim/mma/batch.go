package mma

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Formats describes the operands and the result of an instruction. Two instructions can
// be compared if their Formats are equal.
type Formats struct {
	A     fp.ID  `json:"a"`
	B     fp.ID  `json:"b"`
	C     fp.ID  `json:"c"` // None: the instruction has no C (or ignores it)
	D     fp.ID  `json:"d"`
	Scale fp.ID  `json:"scale,omitzero"` // of both A's and B's block scales; None: no scales
	Block uint16 `json:"block,omitzero"` // products per scale; 0 without scales
	// Down: every product, and its nominal exponent, is multiplied by 2^-Down before
	// anything else happens to it (LSCALE of Arm's FP8 instructions).
	Down uint8 `json:"down,omitzero"`
	// Common: A and B are in a format of OCP, and have only values that the FNUZ format of the
	// same fields has too, so that instructions for both are compared by value.
	Common bool `json:"common,omitzero"`
	// Mode: the rounding mode that is asked for, where a unit takes one; else not set. A program
	// says itself how it rounds.
	Mode fp.Mode `json:"mode,omitzero"`
}

// String writes the formats in PTX order, D.A.B.C, then the scales, Down and Mode.
func (f Formats) String() string {
	s := fmt.Sprintf("%s.%s.%s.%s", f.D, f.A, f.B, f.C)
	if f.Scale != fp.None {
		s += fmt.Sprintf(".block%d.%s", f.Block, f.Scale)
	}
	if f.Down != 0 {
		s += fmt.Sprintf(".down%d", f.Down)
	}
	if f.Common {
		s += ".common"
	}
	if f.Mode != 0 {
		s += "." + f.Mode.String()
	}
	return s
}

// Conversion reports whether a alone is converted: b has no value or is a scale, a power of two by
// which a is multiplied.
func (f Formats) Conversion() bool { return f.C == fp.None && (f.B.IsOne() || f.scaled()) }

func (f Formats) scaled() bool {
	return f.A != fp.None && f.B != fp.None && f.B.Get().PowersOfTwo() && f.A.Get().Signed && f.C == fp.None && f.Scale == fp.None
}

// Blocks returns the scales per row of K elements.
func (f Formats) Blocks(k int) int {
	if f.Scale == fp.None {
		return 0
	}
	return (k + int(f.Block) - 1) / int(f.Block)
}

// Shape is the size of a batch: Tiles tiles of M rows, N columns and K products
// per output. A tile with M = N = 1 is one dot product.
type Shape struct{ M, N, K, Tiles int }

// Dots returns the number of outputs.
func (s Shape) Dots() int { return s.M * s.N * s.Tiles }

// Batch holds the operands of Tiles independent tiles, D = A*B + C, as codes in
// little-endian containers of their format's Width (FP6 and FP4: one byte an
// element, in the low bits):
//
//	A  [tile][row m][k]          SA [tile][row m][block]
//	B  [tile][column n][k]       SB [tile][column n][block]
//	C  [tile][row m][column n]
//
// so that both factors of a dot product are contiguous. D is laid out like C.
type Batch struct {
	Formats
	Shape
	A, B, C, SA, SB []byte
}

// NewBatch returns a batch of zeroed buffers.
func NewBatch(f Formats, s Shape) *Batch {
	b := &Batch{}
	b.Reset(f, s)
	return b
}

// BatchOf packs dot products of k elements into tiles of one.
func BatchOf(f Formats, k int, dots []*Dot) *Batch {
	b := NewBatch(f, Shape{M: 1, N: 1, K: k, Tiles: len(dots)})
	for i, d := range dots {
		b.Set(i, d)
	}
	return b
}

// Reset makes b a batch of the given formats and shape, reusing its buffers
// where they are large enough. Their contents are unspecified.
func (b *Batch) Reset(f Formats, s Shape) {
	b.Formats, b.Shape = f, s
	blocks := f.Blocks(s.K)
	b.A = grow(b.A, s.Tiles*s.M*s.K*f.A.Width())
	b.B = grow(b.B, s.Tiles*s.N*s.K*f.B.Width())
	b.C = grow(b.C, s.Tiles*s.M*s.N*f.C.Width())
	b.SA = grow(b.SA, s.Tiles*s.M*blocks*f.Scale.Width())
	b.SB = grow(b.SB, s.Tiles*s.N*blocks*f.Scale.Width())
}

func grow(b []byte, n int) []byte { return slices.Grow(b[:0], n)[:n] }

// Load returns element i of a buffer of little-endian codes of the given width.
func Load(buf []byte, width, i int) uint64 {
	switch width {
	case 1:
		return uint64(buf[i])
	case 2:
		return uint64(binary.LittleEndian.Uint16(buf[2*i:]))
	case 4:
		return uint64(binary.LittleEndian.Uint32(buf[4*i:]))
	case 8:
		return binary.LittleEndian.Uint64(buf[8*i:])
	}
	return 0
}

// Store sets element i of a buffer of little-endian codes of the given width.
func Store(buf []byte, width, i int, code uint64) {
	switch width {
	case 1:
		buf[i] = byte(code)
	case 2:
		binary.LittleEndian.PutUint16(buf[2*i:], uint16(code))
	case 4:
		binary.LittleEndian.PutUint32(buf[4*i:], uint32(code))
	case 8:
		binary.LittleEndian.PutUint64(buf[8*i:], code)
	}
}

// Dot is the operands of one dot product as codes: K elements of A and B, one
// of C (0 if the instruction has none), and one scale per block.
type Dot struct {
	A, B   []uint64
	C      uint64
	SA, SB []uint64
}

// NewDot returns the dot product of k zeros, with scales of code 0.
func NewDot(f Formats, k int) *Dot {
	n := f.Blocks(k)
	codes := make([]uint64, 2*(k+n)) // one for all: dot products are made in large numbers
	a, b, sa, sb := codes[:k:k], codes[k:2*k:2*k], codes[2*k:2*k+n:2*k+n], codes[2*k+n:]
	return &Dot{A: a, B: b, SA: sa, SB: sb}
}

// Clone returns a copy that shares nothing with d.
func (d *Dot) Clone() *Dot {
	c := *d
	c.A, c.B = slices.Clone(d.A), slices.Clone(d.B)
	c.SA, c.SB = slices.Clone(d.SA), slices.Clone(d.SB)
	return &c
}

// Equal reports whether two dot products have the same operands.
func (d *Dot) Equal(o *Dot) bool {
	return d.C == o.C && slices.Equal(d.A, o.A) && slices.Equal(d.B, o.B) &&
		slices.Equal(d.SA, o.SA) && slices.Equal(d.SB, o.SB)
}

// Get copies the operands of output i, in the order of D's buffer, into d,
// whose slices must have the batch's lengths.
func (b *Batch) Get(i int, d *Dot) {
	tile, row, col := b.position(i)
	b.copyRow(d.A, b.A, b.Formats.A, tile*b.M+row, b.K)
	b.copyRow(d.B, b.B, b.Formats.B, tile*b.N+col, b.K)
	if b.Formats.C != fp.None {
		d.C = Load(b.C, b.Formats.C.Width(), i)
	}
	n := b.Blocks(b.K)
	b.copyRow(d.SA, b.SA, b.Scale, tile*b.M+row, n)
	b.copyRow(d.SB, b.SB, b.Scale, tile*b.N+col, n)
}

// Set stores d as the operands of output i. In a tile of several rows or
// columns this changes the outputs that share a row or column with it.
func (b *Batch) Set(i int, d *Dot) {
	tile, row, col := b.position(i)
	b.storeRow(b.A, b.Formats.A, tile*b.M+row, d.A)
	b.storeRow(b.B, b.Formats.B, tile*b.N+col, d.B)
	if b.Formats.C != fp.None {
		Store(b.C, b.Formats.C.Width(), i, d.C)
	}
	b.storeRow(b.SA, b.Scale, tile*b.M+row, d.SA)
	b.storeRow(b.SB, b.Scale, tile*b.N+col, d.SB)
}

// Part returns tiles from to from+n-1 of b, in b's own buffers.
func (b *Batch) Part(from, n int) *Batch {
	if n == b.Tiles {
		return b
	}
	part := *b
	part.Tiles = n
	for _, buf := range []*[]byte{&part.A, &part.B, &part.C, &part.SA, &part.SB} {
		tile := len(*buf) / b.Tiles
		*buf = (*buf)[from*tile : (from+n)*tile]
	}
	return &part
}

// Take copies the operands of output i of another batch, of the same formats and K, to
// tile t of b, whose tiles are 1 x 1.
func (b *Batch) Take(t int, from *Batch, i int) {
	tile, row, col := from.position(i)
	row, col = tile*from.M+row, tile*from.N+col
	blocks := from.Blocks(from.K)
	takeRow(b.A, from.A, t, row, from.K*from.Formats.A.Width())
	takeRow(b.B, from.B, t, col, from.K*from.Formats.B.Width())
	takeRow(b.C, from.C, t, i, from.Formats.C.Width())
	takeRow(b.SA, from.SA, t, row, blocks*from.Scale.Width())
	takeRow(b.SB, from.SB, t, col, blocks*from.Scale.Width())
}

// takeRow copies row i of n bytes to row t.
func takeRow(dst, src []byte, t, i, n int) { copy(dst[t*n:(t+1)*n], src[i*n:]) }

func (b *Batch) position(i int) (tile, row, col int) {
	tile, i = i/(b.M*b.N), i%(b.M*b.N)
	return tile, i / b.N, i % b.N
}

func (b *Batch) copyRow(dst []uint64, buf []byte, id fp.ID, row, n int) {
	w := id.Width()
	for k := range n {
		dst[k] = Load(buf, w, row*n+k)
	}
}

func (b *Batch) storeRow(buf []byte, id fp.ID, row int, src []uint64) {
	w := id.Width()
	buf = buf[row*len(src)*w:][:len(src)*w]
	if w == 2 {
		for k, code := range src {
			binary.LittleEndian.PutUint16(buf[2*k:], uint16(code))
		}
		return
	}
	for k, code := range src {
		Store(buf, w, k, code)
	}
}
