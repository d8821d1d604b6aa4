package exec

import (
	"context"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/exec/internal/wire"
	"github.com/mmafuzz/mmafuzz/devices/internal/tiling"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// unit is an instruction of a child. A child sees only batches with its own K and with
// tiles of a size that it has announced: all other batches are turned into such ones
// here.
type unit struct {
	inst   *mma.Instruction
	number int // in the header
	answer answer
	target *target
	pool   *pool
}

// answer is what a child answers for a dot product.
type answer struct {
	name  string // of the instruction in the header
	d     fp.ID  // format of the result
	flags bool   // a byte of flags follows
	only  bool   // the unit gives this byte, not the result
}

// carried makes u, whose number is its place in Header.All, the unit of the instruction in the header
// whose answers have its results.
func (u *unit) carried(h *wire.Header) {
	if n := u.number - len(h.Instructions); n >= 0 {
		u.number = h.Flags[n].Of
		u.answer = answer{name: h.Instructions[u.number].Name, d: u.inst.D.Result(), only: true}
	}
	u.answer.flags = slices.ContainsFunc(h.Flags, func(f wire.Flags) bool { return f.Of == u.number })
}

// take copies from a payload, results and then flags, what the unit gives.
func (a *answer) take(payload, out []byte) error {
	n := len(payload) / (a.d.Width() + 1)
	results, flags := payload[:n*a.d.Width()], payload[n*a.d.Width():]
	if i := slices.IndexFunc(flags, func(f byte) bool { return fp.Flags(f) > fp.AllFlags }); i >= 0 {
		return fmt.Errorf("the flags of its dot product %d are %02x, more than %02x", i, flags[i], uint8(fp.AllFlags))
	}
	if a.only {
		results = flags
	}
	copy(out, results)
	return nil
}

func (u *unit) Instruction() *mma.Instruction { return u.inst }

// Model returns nil, whatever the instruction's name: how the child computes is
// what we want to find out.
func (u *unit) Model() *mma.Params { return nil }

// Environment returns what the children have said of the instruction so far.
func (u *unit) Environment() map[string]string {
	env := map[string]string{}
	u.target.add(env, u.pool.learnt(u.number))
	return env
}

// Restarts counts the requests on which a child failed and a new one answered.
func (u *unit) Restarts() (n int, last string) {
	u.pool.mu.Lock()
	defer u.pool.mu.Unlock()
	return u.pool.deaths, u.pool.last
}

// Renew starts another child for the unit, which answers nobody else.
func (u *unit) Renew(ctx context.Context) (devices.Unit, func(), error) {
	l, end, err := u.pool.apart(ctx)
	if err != nil {
		return nil, nil, err
	}
	renewed := *u
	renewed.pool = l
	return &renewed, end, nil
}

// Run repeats the instruction for dot products that are longer than its K.
func (u *unit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	return tiling.Repeat(u.inst, in, out, func(in *mma.Batch, out []byte) error { return u.step(ctx, in, out) })
}

// step runs the instruction once, on tiles of a size that it takes.
func (u *unit) step(ctx context.Context, in *mma.Batch, out []byte) error {
	m, n := tiling.Fit(u.pool.header.Instructions[u.number].M, in.M), tiling.Fit(u.pool.header.Instructions[u.number].N, in.N)
	if m == in.M && n == in.N || u.pool.header.Text { // a line is one dot product
		return u.send(ctx, in, out)
	}
	t := tiling.Cut(in, m, n)
	res := make([]byte, t.Tiles.Dots()*in.Formats.D.Width())
	if err := u.send(ctx, t.Tiles, res); err != nil {
		return err
	}
	t.Collect(res, out)
	return nil
}

// send divides a batch into requests: of whole tiles, in text mode of any dot products.
func (u *unit) send(ctx context.Context, in *mma.Batch, out []byte) error {
	tile, w := in.M*in.N, in.Formats.D.Width()
	most, piece := u.tiles(in)*tile, tile
	if u.pool.header.Text {
		piece = 1
	}
	for at := 0; at < in.Dots(); {
		n, err := u.pool.ask(ctx, min(most, in.Dots()-at), piece, func(g *guard, p *process, from, to int) (int, error) {
			from, to = at+from, at+to
			if p.header.Text {
				return p.askText(g, &u.answer, in, from, to, out)
			}
			part, payload := out[from*w:to*w], out[from*w:to*w]
			if u.answer.flags {
				payload = make([]byte, (to-from)*(u.answer.d.Width()+1))
			}
			err := p.askBinary(u.number, in.Part(from/tile, (to-from)/tile), payload)
			if err == nil && u.answer.flags {
				err = u.answer.take(payload, part)
			}
			u.pool.learn(u.number, p.about)
			p.about = nil
			if err != nil {
				return 0, err
			}
			return to - from, nil
		})
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// tiles returns how many tiles go into a request: as many as the child takes and a
// payload may hold, but at least one.
func (u *unit) tiles(in *mma.Batch) int {
	one := in.Shape
	one.Tiles = 1
	most := int64(wire.MaxPayload) / max(1, wire.PayloadSize(in.Formats, one))
	if b := u.pool.header.Batch; b > 0 {
		most = min(most, int64(b/one.Dots()))
	}
	return int(max(1, most))
}
