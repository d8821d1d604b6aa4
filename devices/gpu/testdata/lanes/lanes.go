// Package lanes is a GPU for tests: it needs no hardware.
package lanes

import (
	"context"
	"errors"
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Loader is a device that reads the packed inputs as
// the lanes of a kernel would, bit by bit from the kernel's tables, has the
// function that it returns for an instruction compute D, and writes it to the packed outputs. It
// refuses inputs whose constants, copies or unused bits are not what the kernel's
// tables say.
//
// It shares no code with gpu.Packer, so that each shows the mistakes of the other.
type Loader func(*mma.Instruction) (func(in *mma.Batch, out []byte), error)

// Load loads a kernel.
func (l Loader) Load(k *gpu.Kernel) (gpu.Loaded, error) {
	if err := k.Check(); err != nil {
		return nil, err
	}
	run, err := l(k.Instruction)
	if err != nil {
		return nil, err
	}
	return &kernel{k, run}, nil
}

type kernel struct {
	*gpu.Kernel
	run func(in *mma.Batch, out []byte)
}

func (l *kernel) Close() error { return nil }

func (l *kernel) Launch(ctx context.Context, in, out []byte, tiles int) error {
	k := l.Kernel
	if len(in) != tiles*k.InBytes || len(out) != tiles*k.OutBytes {
		return fmt.Errorf("%s: %d and %d bytes for %d tiles of %d and %d", k.Entry, len(in), len(out), tiles, k.InBytes, k.OutBytes)
	}
	f := k.Instruction.Formats
	batch := mma.NewBatch(f, mma.Shape{M: k.M, N: k.N, K: k.Instruction.K, Tiles: tiles})
	for t := range tiles {
		for n := range k.In {
			if err := gather(&k.In[n], batch, t, in[t*k.InBytes:][:k.InBytes]); err != nil {
				return fmt.Errorf("%s: tile %d: operand %q: %w", k.Entry, t, k.In[n].Role, err)
			}
		}
	}
	width := f.D.Width()
	d := make([]byte, batch.Dots()*width)
	l.run(batch, d)
	clear(out)
	for t := range tiles {
		for n, at := range k.Out.At {
			code := mma.Load(d, width, t*k.M*k.N+n%(k.M*k.N))
			orBits(out[t*k.OutBytes:][:k.OutBytes], at+k.Out.Shift, code)
		}
	}
	return ctx.Err()
}

// gather copies an operand of a tile from its packed input.
func gather(o *gpu.Operand, batch *mma.Batch, tile int, packed []byte) error {
	if o.Role == gpu.RoleConst {
		for n, at := range o.At {
			want := uint64(0)
			if o.Fill != nil {
				want = o.Fill[n]
			}
			if got := bitsAt(packed, at, o.Bits); got != want {
				return fmt.Errorf("word %d is %#x, want %#x", n, got, want)
			}
		}
		return nil
	}
	buf, f := operand(batch, o.Role)
	elements := len(buf) / int(f.Width) / batch.Tiles
	for n, at := range o.At {
		container := bitsAt(packed, at, o.Bits)
		code := container >> o.Shift
		if code&^f.CodeMask() != 0 || code<<o.Shift != container {
			return fmt.Errorf("element %d is %#x, which is no %s code shifted by %d", n, container, f.Name, o.Shift)
		}
		i := tile*elements + n%elements
		if n >= elements && mma.Load(buf, int(f.Width), i) != code {
			return errors.New("copies of an element differ")
		}
		mma.Store(buf, int(f.Width), i, code)
	}
	return nil
}

// operand returns the buffer of an operand and its format.
func operand(b *mma.Batch, r gpu.Role) ([]byte, *fp.Format) {
	switch r {
	case gpu.RoleA:
		return b.A, b.Formats.A.Get()
	case gpu.RoleB:
		return b.B, b.Formats.B.Get()
	case gpu.RoleC:
		return b.C, b.Formats.C.Get()
	case gpu.RoleSA:
		return b.SA, b.Scale.Get()
	}
	return b.SB, b.Scale.Get()
}

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
