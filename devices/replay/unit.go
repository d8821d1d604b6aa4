package replay

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sort"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// recorded is the recorded results of an instruction.
type recorded struct {
	inst   *mma.Instruction
	length int // elements of every dot product
	target string

	environment map[string]string // of the recorded unit, besides its target's

	data   []*corpus.Recorded
	starts []int // number of each batch's first dot product
	dots   int
}

// maxIndexed is the largest number of dot products of an instruction that can be found by
// their operands. The plan nightly has less than a hundredth of it. Recordings of more are
// for compare, which needs no index.
const maxIndexed = 1 << 24

// unit answers with recorded results.
type unit struct {
	*recorded
	mu    sync.Mutex
	index *index // made when it is first needed
}

// frame holds the recorded batch that was loaded last.
type frame struct {
	of    *corpus.Recorded
	batch *mma.Batch
	d     []byte
}

// load loads a recorded batch, unless it is the one that was loaded last.
func (f *frame) load(r *corpus.Recorded) (err error) {
	if f.of != r {
		f.of = r
		f.batch, f.d, err = r.Load()
	}
	return err
}

// index finds dot products by their operands.
type index struct {
	seed    maphash.Seed
	entries []entry // sorted by hash, then by dot
}

type entry struct {
	hash uint64
	dot  int
}

// indexed returns the index. After an error it tries again: that of ctx passes.
func (u *unit) indexed(ctx context.Context) (*index, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.index == nil {
		x, err := u.newIndex(ctx)
		if err != nil {
			return nil, err
		}
		u.index = x
	}
	return u.index, nil
}

func (u *unit) newIndex(ctx context.Context) (*index, error) {
	if u.dots > maxIndexed {
		return nil, fmt.Errorf("%s: it holds %s dot products of %s; results can be looked up among %s", u.target,
			readable.Thousands(uint64(u.dots)), u.inst.FullName(), readable.Thousands(uint64(maxIndexed)))
	}
	x := &index{maphash.MakeSeed(), make([]entry, 0, u.dots)}
	d := mma.NewDot(u.inst.Formats, u.length)
	var at frame
	for i, r := range u.data {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := at.load(r); err != nil {
			return nil, err
		}
		for output := range at.batch.Dots() {
			at.batch.Get(output, d)
			x.entries = append(x.entries, entry{hash(x.seed, d), u.starts[i] + output})
		}
	}
	slices.SortFunc(x.entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.dot, b.dot)) })
	return x, nil
}

// hash returns a hash of all operands.
func hash(seed maphash.Seed, d *mma.Dot) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, s := range [][]uint64{d.A, d.B, {d.C}, d.SA, d.SB} {
		for _, code := range s {
			maphash.WriteComparable(&h, code)
		}
	}
	return h.Sum64()
}

// at returns the batch of a dot product, and which of its outputs it is.
func (u *unit) at(n int) (*corpus.Recorded, int) {
	b := sort.SearchInts(u.starts, n+1) - 1
	return u.data[b], n - u.starts[b]
}

func (u *unit) Instruction() *mma.Instruction { return u.inst }
func (u *unit) Model() *mma.Params            { return nil }
func (u *unit) Recorded() int                 { return u.dots }
func (u *unit) Length() int                   { return u.length }

// Environment describes what the results depended on when they were recorded.
func (u *unit) Environment() map[string]string {
	env := map[string]string{}
	for k, v := range u.environment {
		env["recorded "+k] = v
	}
	return env
}

func (u *unit) Origin(n int) (source string, seed, index uint64) {
	r, output := u.at(n)
	return r.Section.Generator, r.Section.Seed, r.First + uint64(output)
}

func (u *unit) Load(from int, in *mma.Batch, out []byte) (err error) {
	d := mma.NewDot(in.Formats, in.K)
	w := u.inst.D.Width()
	var at frame
	for n := range in.Tiles {
		r, output := u.at(from + n)
		if err := at.load(r); err != nil {
			return err
		}
		at.batch.Get(output, d)
		in.Set(n, d)
		mma.Store(out, w, n, mma.Load(at.d, w, output))
		if f := u.fault(r, output); f != nil {
			err = f
		}
	}
	return err
}

// fault returns how the target failed on an output, nil if it did not.
func (u *unit) fault(r *corpus.Recorded, output int) error {
	for _, f := range r.Faults {
		if output >= f.First && output < f.First+f.Count {
			return &devices.FaultError{Target: u.target, What: "recorded: " + f.What}
		}
	}
	return nil
}

func (u *unit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	if in.K != u.length {
		return fmt.Errorf("%s: %w: it has dot products of %d elements, not %d", u.target, devices.ErrNoRecording, u.length, in.K)
	}
	d, scratch := mma.NewDot(in.Formats, in.K), mma.NewDot(u.inst.Formats, in.K)
	w := u.inst.D.Width()
	var at frame
	for i := range in.Dots() {
		in.Get(i, d)
		output, err := u.find(ctx, d, scratch, &at)
		if err == nil {
			err = u.fault(at.of, output)
		}
		if err != nil {
			return err
		}
		mma.Store(out, w, i, mma.Load(at.d, w, output))
	}
	return ctx.Err()
}

// find loads the batch in which a dot product was recorded first into at, and returns which
// of the batch's outputs it is.
func (u *unit) find(ctx context.Context, d, scratch *mma.Dot, at *frame) (output int, err error) {
	x, err := u.indexed(ctx)
	if err != nil {
		return 0, err
	}
	h := hash(x.seed, d)
	first, _ := slices.BinarySearchFunc(x.entries, h, func(e entry, h uint64) int { return cmp.Compare(e.hash, h) })
	for _, e := range x.entries[first:] {
		if e.hash != h {
			break
		}
		r, output := u.at(e.dot)
		if err := at.load(r); err != nil {
			return 0, err
		}
		if at.batch.Get(output, scratch); scratch.Equal(d) {
			return output, nil
		}
	}
	return 0, fmt.Errorf("%s: %w", u.target, devices.ErrNoRecording)
}
