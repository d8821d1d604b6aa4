// Package replay makes recordings targets: replay:FILE answers for the inputs
// that it holds, and offers them as inputs.
package replay

import (
	"context"
	"fmt"
	"hash/maphash"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() {
	devices.Register("replay", open, "recording of a target's results: replay:FILE")
}

type target struct {
	name  string
	rec   *corpus.Recording
	rows  []mma.Instruction
	units map[string]*unit
}

func open(file string) (devices.Target, error) {
	rec, err := corpus.OpenRecording(file)
	if err != nil {
		return nil, err
	}
	t := &target{name: "replay:" + file, rec: rec, units: map[string]*unit{}}
	for n := range rec.Data {
		if err := t.add(&rec.Data[n]); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(t.rows) == 0 {
		return nil, fmt.Errorf("%s: the recording holds no results", file)
	}
	return t, nil
}

// add makes a recorded batch known.
func (t *target) add(r *corpus.Recorded) error {
	s := r.Section
	i, err := mma.Lookup(s.Arch, s.Instruction)
	if err != nil { // not in this version's catalogue: what is recorded still stands
		i = &mma.Instruction{Arch: s.Arch, Name: s.Instruction, K: s.K, Formats: s.Formats,
			Refuse: "not in the catalogue", Unknown: mma.FacetNaN | mma.FacetZero}
	}
	if i.Formats != s.Formats || i.K != s.K {
		return fmt.Errorf("%s was recorded as %s with K = %d, but is %s with K = %d", i.FullName(), s.Formats, s.K, i.Formats, i.K)
	}
	u := t.units[i.Name]
	if u == nil {
		// A recording answers whether or not there is a model.
		i.Refuse, i.Unknown = "", 0
		u = &unit{inst: i, length: s.Shape.K, target: t.name, seed: maphash.MakeSeed(), index: map[uint64][]place{}}
		t.units[i.Name] = u
		t.rows = append(t.rows, *i)
	}
	if s.Shape.K != u.length {
		return fmt.Errorf("%s was recorded with dot products of %d and of %d elements", i.FullName(), u.length, s.Shape.K)
	}
	u.add(r)
	return nil
}

func (t *target) Name() string                    { return t.name }
func (t *target) Instructions() []mma.Instruction { return t.rows }
func (t *target) Close() error                    { return nil }

func (t *target) Environment() map[string]string {
	env := map[string]string{"kind": "recording", "recorded from": t.rec.Header.Target}
	for k, v := range t.rec.Header.Environment {
		env["recorded "+k] = v
	}
	return env
}

func (t *target) Open(i *mma.Instruction) (devices.Unit, error) {
	u := t.units[i.Name]
	if u == nil {
		return nil, fmt.Errorf("%s holds no results of %s", t.name, i.Name)
	}
	return u, nil
}

// place is a dot product in the recording: batch and output.
type place struct{ batch, output int }

type unit struct {
	inst   *mma.Instruction
	length int // elements of every dot product
	target string
	data   []*corpus.Recorded
	dots   []place
	seed   maphash.Seed
	index  map[uint64][]place // by hash of the operands
}

func (u *unit) add(r *corpus.Recorded) {
	n := len(u.data)
	u.data = append(u.data, r)
	d := mma.NewDot(r.Batch.Formats, r.Batch.K)
	for i := range r.Batch.Dots() {
		r.Batch.Get(i, d)
		p := place{n, i}
		u.dots = append(u.dots, p)
		h := u.hash(d)
		u.index[h] = append(u.index[h], p)
	}
}

// hash is over all operands.
func (u *unit) hash(d *mma.Dot) uint64 {
	var h maphash.Hash
	h.SetSeed(u.seed)
	for _, s := range [][]uint64{d.A, d.B, {d.C}, d.SA, d.SB} {
		for _, code := range s {
			maphash.WriteComparable(&h, code)
		}
	}
	return h.Sum64()
}

func (u *unit) Instruction() *mma.Instruction { return u.inst }
func (u *unit) Known() *mma.Params            { return nil }
func (u *unit) Recorded() int                 { return len(u.dots) }
func (u *unit) Length() int                   { return u.length }

func (u *unit) Load(from int, in *mma.Batch, out []byte) {
	d := mma.NewDot(in.Formats, in.K)
	w := u.inst.D.Width()
	for n := range in.Tiles {
		p := u.dots[from+n]
		r := u.data[p.batch]
		r.Batch.Get(p.output, d)
		in.Set(n, d)
		mma.Store(out, w, n, mma.Load(r.D, w, p.output))
	}
}

func (u *unit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	if in.K != u.length {
		return fmt.Errorf("%s: %w: it has dot products of %d elements, not %d", u.target, devices.ErrNoRecording, u.length, in.K)
	}
	d := mma.NewDot(in.Formats, in.K)
	w := u.inst.D.Width()
	for i := range in.Dots() {
		in.Get(i, d)
		code, ok := u.find(d)
		if !ok {
			return fmt.Errorf("%s: %w", u.target, devices.ErrNoRecording)
		}
		mma.Store(out, w, i, code)
	}
	return ctx.Err()
}

func (u *unit) find(d *mma.Dot) (uint64, bool) {
	o := mma.NewDot(u.inst.Formats, len(d.A))
	for _, p := range u.index[u.hash(d)] {
		r := u.data[p.batch]
		r.Batch.Get(p.output, o)
		if o.Equal(d) {
			return mma.Load(r.D, u.inst.D.Width(), p.output), true
		}
	}
	return 0, false
}
