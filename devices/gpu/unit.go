package gpu

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/internal/tiling"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
)

// The largest launch. With less than some thousand tiles, the overhead of a launch (some
// ten microseconds) counts; with more than some megabytes nothing is gained, and packing,
// copies and computation overlap less.
const (
	maxTiles = 4096
	maxBytes = 8 << 20 // of packed inputs
)

// Unit executes an instruction on batches of any shape. While the device works on
// one part of a batch the next ones are packed. It is a devices.Unit, safe for use
// by several goroutines.
type Unit struct {
	kernel *Kernel
	pack   *Packer
	loaded Loaded
	most   int           // tiles in a launch
	busy   chan struct{} // a token for each launch under way or in preparation
}

// spare are buffers that no launch uses. All units share them: there are many, and
// few work at a time.
var spare = sync.Pool{New: func() any { return &buffers{tiles: &mma.Batch{}} }}

// buffers is what one launch needs.
type buffers struct {
	in, out []byte     // packed
	tiles   *mma.Batch // of the kernel's shape, if the batch has another
	d       []byte     // results of tiles
}

// NewUnit returns the unit of a kernel that is loaded on a device.
func NewUnit(k *Kernel, l Loaded) (*Unit, error) {
	p, err := NewPacker(k)
	if err != nil {
		return nil, err
	}
	u := &Unit{kernel: k, pack: p, loaded: l, most: min(maxTiles, max(1, maxBytes/k.InBytes))}
	u.busy = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))
	return u, nil
}

// Instruction returns the kernel's instruction.
func (u *Unit) Instruction() *mma.Instruction { return u.kernel.Instruction }

// Model returns nil: how the device computes is what we want to find out.
func (u *Unit) Model() *mma.Params { return nil }

// worthwhile is the number of dot products with which the fixed cost of a launch (and of
// the message to a child, if a child makes it), some 100 us, is less than a tenth of the
// time.
const worthwhile = 1 << 15

// A Unit's calls have a high fixed cost.
var _ devices.Batcher = (*Unit)(nil)

// BatchSize returns how many dot products a call should have.
func (u *Unit) BatchSize() int { return worthwhile }

// Run repeats the instruction for dot products that are longer than its K.
func (u *Unit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	return tiling.Repeat(u.Instruction(), in, out, func(in *mma.Batch, out []byte) error { return u.step(ctx, in, out) })
}

// step runs the instruction once on every dot product of a batch: in parts, of which
// several are under way at a time.
func (u *Unit) step(ctx context.Context, in *mma.Batch, out []byte) error {
	shape := u.cut(in)
	parts := (in.Tiles + shape.per - 1) / shape.per
	tile := in.M * in.N * in.Formats.D.Width() // bytes of a tile's D
	do := func(part int) error {
		from := part * shape.per
		n := min(shape.per, in.Tiles-from)
		return u.part(ctx, &shape, in.Part(from, n), out[from*tile:(from+n)*tile])
	}
	if parts == 1 {
		return do(0)
	}
	return each(parts, min(parts, cap(u.busy)), do)
}

// each calls do for 0..n-1 on that many goroutines, and returns an error if there is one:
// preferably a fault, because other errors may be its consequence.
func each(n, workers int, do func(int) error) error {
	var next atomic.Int64
	var wg parallel.Group
	var mu sync.Mutex
	var failed error
	for range workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					mu.Lock()
					if failed == nil || errors.As(err, new(*devices.FaultError)) {
						failed = err
					}
					mu.Unlock()
					next.Store(int64(n)) // what is not begun need not begin
					return
				}
			}
		})
	}
	wg.Wait()
	return failed
}

// cutting describes how tiles of a batch become tiles of the kernel.
type cutting struct {
	whole    bool // they are the same
	diagonal int  // if not 0: so many tiles of one dot product are the diagonal of a kernel's tile
	per      int  // tiles of the batch in a launch
}

// cut chooses how the tiles of a batch become tiles of the kernel. Single dot products
// share a tile, each with a row and a column of its own: the self-test has shown that no
// result depends on the others in its tile.
func (u *Unit) cut(in *mma.Batch) cutting {
	m, n := u.kernel.M, u.kernel.N
	switch {
	case in.M == m && in.N == n:
		return cutting{whole: true, per: u.most}
	case in.M == 1 && in.N == 1:
		d := min(m, n)
		return cutting{diagonal: d, per: u.most * d}
	}
	pieces := ((in.M + m - 1) / m) * ((in.N + n - 1) / n)
	return cutting{per: max(1, u.most/pieces)}
}

// part runs a part of a batch in one launch.
func (u *Unit) part(ctx context.Context, c *cutting, in *mma.Batch, out []byte) error {
	select {
	case u.busy <- struct{}{}:
		defer func() { <-u.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	b := spare.Get().(*buffers)
	defer spare.Put(b)
	switch {
	case c.whole:
		return u.launch(ctx, b, in, out)
	case c.diagonal > 0:
		b.fill(in, u.kernel, c.diagonal)
		b.d = resize(b.d, b.tiles.Dots()*in.Formats.D.Width())
		if err := u.launch(ctx, b, b.tiles, b.d); err != nil {
			return err
		}
		b.collect(out, in.Tiles, c.diagonal)
		return nil
	}
	t := tiling.Cut(in, u.kernel.M, u.kernel.N)
	b.d = resize(b.d, t.Tiles.Dots()*in.Formats.D.Width())
	if err := u.launch(ctx, b, t.Tiles, b.d); err != nil {
		return err
	}
	t.Collect(b.d, out)
	return nil
}

// launch runs tiles of the kernel's shape.
func (u *Unit) launch(ctx context.Context, b *buffers, in *mma.Batch, out []byte) error {
	b.in, b.out = resize(b.in, in.Tiles*u.kernel.InBytes), resize(b.out, in.Tiles*u.kernel.OutBytes)
	if err := u.pack.Pack(b.in, in); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := u.loaded.Launch(ctx, b.in, b.out, in.Tiles); err != nil {
		return err
	}
	return u.pack.Unpack(out, b.out)
}

// fill puts dot products on the diagonals of tiles of zeros, d on each.
func (b *buffers) fill(in *mma.Batch, k *Kernel, d int) {
	b.tiles.Reset(in.Formats, k.shape((in.Tiles+d-1)/d))
	for _, o := range []struct {
		dst, src []byte
		n, per   int // places in a tile, and places from one diagonal element to the next
	}{
		{b.tiles.A, in.A, k.M, 1}, {b.tiles.SA, in.SA, k.M, 1},
		{b.tiles.B, in.B, k.N, 1}, {b.tiles.SB, in.SB, k.N, 1},
		{b.tiles.C, in.C, k.M * k.N, k.N + 1},
	} {
		clear(o.dst)
		w := len(o.src) / in.Tiles // bytes of a row, or of an element of C
		for i := range in.Tiles {
			place := i/d*o.n + i%d*o.per
			copy(o.dst[place*w:(place+1)*w], o.src[i*w:])
		}
	}
}

// collect takes n results from the diagonals.
func (b *buffers) collect(out []byte, n, d int) {
	w := b.tiles.Formats.D.Width()
	tile, step := b.tiles.M*b.tiles.N, b.tiles.N+1
	for i := range n {
		place := i/d*tile + i%d*step
		copy(out[i*w:(i+1)*w], b.d[place*w:])
	}
}

// resize returns a buffer of n bytes, b if it is large enough. The contents are
// unspecified.
func resize(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}
