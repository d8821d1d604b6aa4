package gpu

import (
	"context"
	"errors"
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Lanes returns a device that needs no hardware: it reads the packed inputs as
// the lanes of a kernel would, bit by bit from the kernel's tables, has the
// function that model returns compute D, and writes it to the packed outputs. It
// refuses inputs whose constants, copies or unused bits are not what the kernel's
// tables say.
//
// It shares no code with Packer, so that each shows the mistakes of the other.
func Lanes(model func(*mma.Instruction) (func(in *mma.Batch, out []byte), error)) Loader {
	return lanes(model)
}

type lanes func(*mma.Instruction) (func(in *mma.Batch, out []byte), error)

func (l lanes) Load(k *Kernel) (Loaded, error) {
	if err := k.Check(); err != nil {
		return nil, err
	}
	run, err := l(k.Instruction)
	if err != nil {
		return nil, err
	}
	return &lanesKernel{k, run}, nil
}

type lanesKernel struct {
	kernel *Kernel
	run    func(in *mma.Batch, out []byte)
}

func (l *lanesKernel) Close() error { return nil }

func (l *lanesKernel) Launch(ctx context.Context, in, out []byte, tiles int) error {
	k := l.kernel
	if len(in) != tiles*k.InBytes || len(out) != tiles*k.OutBytes {
		return fmt.Errorf("%s: %d and %d bytes for %d tiles of %d and %d", k.Entry, len(in), len(out), tiles, k.InBytes, k.OutBytes)
	}
	f := k.Instruction.Formats
	batch := mma.NewBatch(f, k.shape(tiles))
	for t := range tiles {
		for n := range k.In {
			if err := k.gather(&k.In[n], batch, t, in[t*k.InBytes:][:k.InBytes]); err != nil {
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
func (k *Kernel) gather(o *Operand, batch *mma.Batch, tile int, packed []byte) error {
	if o.Role == RoleConst {
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
	buf, f := operand(batch, o.Role), k.format(o.Role).Get()
	elements := k.elements(o.Role)
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
