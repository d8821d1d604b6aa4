package gpu

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Packer moves the operands of tiles between batches and the packed buffers of a
// kernel. It is safe for use by several goroutines.
type Packer struct {
	kernel   *Kernel
	template []byte // packed input of a tile, with the constants and nothing else
	in       []moves
	out      moves
}

// NewPacker returns the packer of a kernel, or what is wrong with its tables.
func NewPacker(k *Kernel) (*Packer, error) {
	if err := k.Check(); err != nil {
		return nil, err
	}
	p := &Packer{kernel: k, template: make([]byte, k.InBytes), out: newMoves(k, &k.Out)}
	for i := range k.In {
		o := &k.In[i]
		if o.Role != RoleConst {
			p.in = append(p.in, newMoves(k, o))
			continue
		}
		for n, w := range o.Fill {
			orBits(p.template, o.At[n], w)
		}
	}
	return p, nil
}

// Pack writes the packed inputs of all tiles of a batch to dst, which has InBytes
// for each. The batch must have the kernel's formats, M, N and K, and its elements must
// be codes of their formats.
func (p *Packer) Pack(dst []byte, in *mma.Batch) error {
	k := p.kernel
	if in.Formats != k.Instruction.Formats || in.Shape != k.shape(in.Tiles) {
		return fmt.Errorf("%s: a batch of %s, %dx%dx%d, is not one of %s, %dx%dx%d", k.Entry,
			in.Formats, in.M, in.N, in.K, k.Instruction.Formats, k.M, k.N, k.Instruction.K)
	}
	if len(dst) != in.Tiles*k.InBytes {
		return fmt.Errorf("%s: %d bytes for %d tiles of %d", k.Entry, len(dst), in.Tiles, k.InBytes)
	}
	for t := range in.Tiles {
		packed := dst[t*k.InBytes:][:k.InBytes]
		copy(packed, p.template)
		for i := range p.in {
			m := &p.in[i]
			m.pack(packed, operand(in, m.role)[t*m.bytes:][:m.bytes])
		}
	}
	return nil
}

// Unpack writes D of all tiles to out, laid out as in mma.Batch, from their packed
// outputs.
func (p *Packer) Unpack(out, src []byte) error {
	k := p.kernel
	tiles := len(src) / k.OutBytes
	if len(src) != tiles*k.OutBytes || len(out) != tiles*p.out.bytes {
		return fmt.Errorf("%s: %d bytes of packed outputs do not make %d bytes of results", k.Entry, len(src), len(out))
	}
	for t := range tiles {
		p.out.unpack(out[t*p.out.bytes:][:p.out.bytes], src[t*k.OutBytes:][:k.OutBytes])
	}
	return nil
}

// operand returns the buffer of a batch that holds the elements of a role.
func operand(in *mma.Batch, r Role) []byte {
	switch r {
	case RoleA:
		return in.A
	case RoleB:
		return in.B
	case RoleC:
		return in.C
	case RoleSA:
		return in.SA
	case RoleSB:
		return in.SB
	}
	return nil
}

// moves is an operand's table in the form in which it is carried out.
type moves struct {
	role  Role
	bytes int    // of the operand in a tile of a batch
	words []move // copies of four bytes
	runs  []run  // copies of other numbers of bytes
	bits  []move // codes that do not fill bytes of their own
	width int    // bytes of a code, for bits
	mask  uint64 // of a code, for bits
}

// move is where a copy begins: its first byte in the operand, and in the packed buffer a
// byte (words and runs) or a bit (bits).
type move struct{ from, to int32 }

// run is a copy of n bytes.
type run struct {
	move
	n int32
}

func newMoves(k *Kernel, o *Operand) moves {
	f := k.format(o.Role).Get()
	w := int(f.Width)
	n := k.elements(o.Role)
	m := moves{role: o.Role, bytes: n * w, width: w, mask: f.CodeMask()}
	byBytes := int(f.CodeBits()) == 8*w && o.Shift%8 == 0
	var last run
	flush := func() {
		switch {
		case last.n == 4:
			m.words = append(m.words, last.move)
		case last.n > 0:
			m.runs = append(m.runs, last)
		}
		last = run{}
	}
	for i, at := range o.At {
		from, to := int32(i%n*w), at+o.Shift
		if !byBytes || to%8 != 0 {
			m.bits = append(m.bits, move{from, int32(to)})
			continue
		}
		if last.n == 0 || last.from+last.n != from || int(last.to+last.n) != to/8 || last.n >= 4 && w < 8 {
			flush()
			last.move = move{from, int32(to / 8)}
		}
		last.n += int32(w)
	}
	flush()
	return m
}

func (m *moves) pack(packed, codes []byte) {
	for _, e := range m.words {
		binary.LittleEndian.PutUint32(packed[e.to:], binary.LittleEndian.Uint32(codes[e.from:]))
	}
	for _, e := range m.runs {
		copy(packed[e.to:e.to+e.n], codes[e.from:])
	}
	if m.width == 1 {
		for _, e := range m.bits {
			code := uint16(codes[e.from]&byte(m.mask)) << (e.to & 7)
			packed[e.to>>3] |= byte(code)
			if code > 0xff {
				packed[e.to>>3+1] |= byte(code >> 8)
			}
		}
		return
	}
	for _, e := range m.bits {
		orBits(packed, int(e.to), mma.Load(codes[e.from:], m.width, 0)&m.mask)
	}
}

func (m *moves) unpack(codes, packed []byte) {
	for _, e := range m.words {
		binary.LittleEndian.PutUint32(codes[e.from:], binary.LittleEndian.Uint32(packed[e.to:]))
	}
	for _, e := range m.runs {
		copy(codes[e.from:e.from+e.n], packed[e.to:])
	}
	for _, e := range m.bits {
		mma.Store(codes[e.from:], m.width, 0, bitsAt(packed, int(e.to), bits.Len64(m.mask)))
	}
}
