// Package reference makes the reference arithmetics of package oracle targets:
// ref:exact, ref:fma32 and so on. They stand in for any instruction whose
// formats they can hold.
package reference

import (
	"context"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/tiling"
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
	i := *like
	i.Arch, i.Params, i.Refuse = "ref", mma.Params{}, ""
	i.Source, i.Evidence = "IEEE 754", t.ref.Title
	i.Unknown = mma.FacetNaN
	if t.ref.Name == "exact" {
		i.Unknown |= mma.FacetZero // the sign of a zero sum is a matter of convention
	}
	return &unit{&i, t.ref}, nil
}

type unit struct {
	inst *mma.Instruction
	ref  *oracle.Reference
}

func (u *unit) Instruction() *mma.Instruction { return u.inst }
func (u *unit) Known() *mma.Params            { return nil }

func (u *unit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	return tiling.EachDot(ctx, in, out, func(d *mma.Dot) uint64 { return u.ref.Eval(in.Formats, d) })
}
