// Package reference makes the reference arithmetics of package oracle targets:
// ref:exact, ref:fma32 and so on. They stand in for any instruction whose
// formats they can hold. oracle:ARCH is an architecture of the catalogue, computed by
// package oracle instead of package sim.
//
// The API of this package is not promised: it may change in any version.
package reference

import (
	"context"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/internal/tiling"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() {
	devices.Register("ref", open, "reference arithmetic: ref:exact, ref:fma32, ... (mmafuzz list targets)")
}

type target struct{ ref *oracle.Reference }

func open(name string) (devices.Target, error) {
	r, ok := oracle.FindReference(name)
	if !ok {
		var known []string
		for _, r := range oracle.References {
			known = append(known, r.Name)
		}
		return nil, fmt.Errorf("unknown reference %q (known: %s)", name, strings.Join(known, ", "))
	}
	return &target{r}, nil
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
	if p := t.ref.Program(i.D); p.Validate(i.Formats, i.K) == nil {
		i.Params = p
	}
	return &unit{of: t, inst: &i}
}

var _ devices.AnyLength = (*unit)(nil)

// unit is a reference. Its Params describe its arithmetic as a program, but the results
// come from package oracle's own code for the reference, which runs no program.
type unit struct {
	of   *target
	inst *mma.Instruction
}

func (u *unit) Instruction() *mma.Instruction { return u.inst }

// Model returns nil: the results do not come from the program in Params.
func (u *unit) Model() *mma.Params { return nil }

// Explained reports whether the program in Params is the reference's arithmetic, which tests
// hold; for some formats there is none.
func (u *unit) Explained() bool { return u.inst.Params != (mma.Params{}) }

// WithK returns the reference for dot products of k elements: unlike instructions, it
// takes a longer one as a whole, whatever K is.
func (u *unit) WithK(k int) devices.Unit {
	i := *u.inst
	i.K = k
	return u.of.unit(&i)
}

func (u *unit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	return tiling.EachDot(ctx, in, out, func(d *mma.Dot) uint64 { return u.of.ref.Eval(in.Formats, d) })
}
