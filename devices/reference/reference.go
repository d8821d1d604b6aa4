// Package reference makes the reference arithmetics of package oracle targets:
// ref:exact, ref:fma32 and so on. They stand in for any instruction whose
// formats they can hold, and are computed as programs by the kernels of package sim; the
// code that package oracle has for them judges these in tests. oracle:ARCH is an architecture
// of the catalogue, computed by package oracle instead of package sim.
//
// The API of this package is not promised: it may change in any version.
package reference

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/internal/tiling"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() {
	devices.Register("ref", open, "reference arithmetic: ref:exact, ref:fma32, ... (mmafuzz list targets)")
}

type target struct {
	ref *oracle.Reference

	mu     sync.Mutex
	models map[shape]*sim.Model // nil: no program
}

func open(name string) (devices.Target, error) {
	r, ok := oracle.FindReference(name)
	if !ok {
		var known []string
		for _, r := range oracle.References {
			known = append(known, r.Name)
		}
		return nil, fmt.Errorf("unknown reference %q (known: %s)", name, strings.Join(known, ", "))
	}
	return &target{ref: r, models: map[shape]*sim.Model{}}, nil
}

func (t *target) Name() string                    { return "ref:" + t.ref.Name }
func (t *target) Instructions() []mma.Instruction { return nil }
func (t *target) Close() error                    { return nil }

func (t *target) Environment() map[string]string {
	return map[string]string{"kind": "reference", "arithmetic": t.ref.Title}
}

func (t *target) Open(like *mma.Instruction) (devices.Unit, error) {
	if err := t.ref.Supports(like.Formats); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name(), err)
	}
	return t.unit(like), nil
}

// unit makes the unit for an instruction's formats and K.
func (t *target) unit(like *mma.Instruction) *unit {
	i := *like
	i.Arch, i.Params, i.Refuse = "ref", mma.Params{}, ""
	i.Source, i.Evidence = "IEEE 754", t.ref.Title
	i.Unknown = mma.FacetNaN
	if t.ref.Name == "exact" {
		i.Unknown |= mma.FacetZero // the sign of a zero sum is a matter of convention
	}
	if p := t.ref.Program(i.Formats); i.D.Flags() == 0 && p.Validate(i.Formats, i.K) == nil {
		i.Params = p
	}
	return &unit{of: t, inst: &i}
}

var _ devices.AnyLength = (*unit)(nil)

// unit is a reference for dot products of any length.
type unit struct {
	of   *target
	inst *mma.Instruction
}

func (u *unit) Instruction() *mma.Instruction { return u.inst }

// Model returns nil: there is no program for a dot product of more than mma.MaxK products.
func (u *unit) Model() *mma.Params { return nil }

// Explained reports whether the program in Params is the reference's arithmetic, which tests
// hold.
func (u *unit) Explained() bool { return u.inst.Params != (mma.Params{}) }

// WithK returns the reference for dot products of k elements: unlike instructions, it
// takes a longer one as a whole, whatever K is.
func (u *unit) WithK(k int) devices.Unit {
	i := *u.inst
	i.K = k
	return u.of.unit(&i)
}

func (u *unit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	if in.D.Flags() != 0 {
		p := u.of.ref.Program(in.Formats)
		return tiling.EachDot(ctx, in, out, func(d *mma.Dot) uint64 { return uint64(oracle.Flags(&p, in.Formats, d)) })
	}
	if m := u.of.model(in.Formats, in.K); m != nil {
		m.Run(in, out)
		return ctx.Err()
	}
	return tiling.EachDot(ctx, in, out, func(d *mma.Dot) uint64 { return u.of.ref.Eval(in.Formats, d) })
}

// shape is what a model of a reference depends on.
type shape struct {
	f mma.Formats
	k int
}

// model returns the model of the reference for dot products of k elements, nil if there is no
// program for the formats.
func (t *target) model(f mma.Formats, k int) *sim.Model {
	t.mu.Lock()
	defer t.mu.Unlock()
	m, ok := t.models[shape{f, k}]
	if !ok {
		m, _ = sim.NewLong(f, k, t.ref.Program(f))
		t.models[shape{f, k}] = m
	}
	return m
}
