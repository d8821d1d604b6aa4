// Package simulated makes the simulators of package sim targets: sim:ARCH, all
// instructions of an architecture, and model:FILE.json, a hypothetical unit.
//
// The API of this package is not promised: it may change in any version.
package simulated

import (
	"bytes"
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/internal/tiling"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() {
	devices.Register("sim", open, "simulator of an architecture: sim:hopper")
	devices.Register("model", openModel, "hypothetical unit in a model file: model:mine.json")
}

var _ devices.FileBacked = (*target)(nil)

// target is an architecture's simulator, or a single model.
type target struct {
	name   string
	rows   []mma.Instruction
	digest string // of a model's file
}

func open(arch string) (devices.Target, error) {
	a, ok := mma.FindArch(arch)
	if !ok {
		_, err := mma.Lookup(arch, "")
		return nil, err
	}
	return &target{"sim:" + a.Name, mma.Of(a.Name), ""}, nil
}

// maxModelFile is more bytes than any model file takes.
const maxModelFile = 1 << 20

func openModel(file string) (devices.Target, error) {
	body, err := corpus.ReadFile(file, "model file", maxModelFile)
	if err != nil {
		return nil, err
	}
	i, err := mma.ReadModel(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	digest, err := devices.Digest(bytes.NewReader(body))
	return &target{"model:" + file, []mma.Instruction{*i}, digest}, err
}

// Target returns a target of one instruction that computes by its Params, for
// tests and for hypotheses.
func Target(name string, i mma.Instruction) devices.Target {
	return &target{name, []mma.Instruction{i}, ""}
}

func (t *target) Name() string                    { return t.name }
func (t *target) Instructions() []mma.Instruction { return t.rows }
func (t *target) Close() error                    { return nil }
func (t *target) Digest() string                  { return t.digest }

func (t *target) Environment() map[string]string {
	return map[string]string{"kind": "simulator"}
}

func (t *target) Open(i *mma.Instruction) (devices.Unit, error) { return Open(i) }

// Open returns the unit that computes an instruction by its Params.
// One of flags is computed by package oracle, and is a black box to whoever looks for causes.
func Open(i *mma.Instruction) (devices.Unit, error) {
	if i.D.Flags() != 0 {
		program, black := i.Params, *i
		black.Params = mma.Params{}
		return &raising{&black, program}, program.Validate(i.Formats, i.K)
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		return nil, err
	}
	return &unit{i, m}, nil
}

// raising is the unit of the flags that a program raises.
type raising struct {
	inst    *mma.Instruction
	program mma.Params
}

func (u *raising) Instruction() *mma.Instruction { return u.inst }
func (u *raising) Model() *mma.Params            { return nil }

func (u *raising) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	return tiling.Repeat(u.inst, in, out, func(in *mma.Batch, out []byte) error {
		return tiling.EachDot(ctx, in, out, func(d *mma.Dot) uint64 { return uint64(oracle.Flags(&u.program, in.Formats, d)) })
	})
}

type unit struct {
	inst  *mma.Instruction
	model *sim.Model
}

func (u *unit) Instruction() *mma.Instruction { return u.inst }
func (u *unit) Model() *mma.Params            { return &u.inst.Params }

// As returns the unit that computes another instruction by that one's Params.
func (u *unit) As(i *mma.Instruction) (devices.Unit, error) { return Open(i) }

// Simulator returns the model whose results the unit gives.
func (u *unit) Simulator() *sim.Model { return u.model }

func (u *unit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	u.model.Run(in, out)
	return ctx.Err()
}
