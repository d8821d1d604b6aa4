package infer

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// unit is a unit for tests: a simulator that does not tell what it computes, and whose
// results may be spoiled.
type unit struct {
	devices.Unit
	inst *mma.Instruction
	// spoil changes the result of a dot product; first is the number of dot products
	// computed before the batch, n that of the one in the batch, alone whether its
	// tile has no other.
	spoil func(d *mma.Dot, code uint64, first, n int, alone bool) (uint64, error)
	asked atomic.Int64
	calls atomic.Int64
}

func (u *unit) Instruction() *mma.Instruction { return u.inst }
func (u *unit) Model() *mma.Params            { return nil }

func (u *unit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	u.calls.Add(1)
	first := int(u.asked.Add(int64(in.Dots()))) - in.Dots()
	if err := u.Unit.Run(ctx, in, out); err != nil || u.spoil == nil {
		return err
	}
	w := in.D.Width()
	d := mma.NewDot(in.Formats, in.K)
	for i := range in.Dots() {
		in.Get(i, d)
		code, err := u.spoil(d, mma.Load(out, w, i), first, i, in.M*in.N == 1)
		if err != nil {
			return err
		}
		mma.Store(out, w, i, code)
	}
	return nil
}

// program returns the arithmetic of an instruction.
func program(t testing.TB, arch, name string) mma.Params {
	t.Helper()
	i, err := mma.Lookup(arch, name)
	if err != nil {
		t.Fatal(err)
	}
	return i.Params
}

// newUnit returns the unit of a program.
func newUnit(t testing.TB, f mma.Formats, k int, p mma.Params) *unit {
	t.Helper()
	u, err := simulated.Open(&mma.Instruction{Arch: "test", Name: "unit", K: k, Formats: f, Params: p})
	if err != nil {
		t.Fatal(err)
	}
	return &unit{Unit: u, inst: &mma.Instruction{Arch: "test", Name: "unit", K: k, Formats: f}}
}

var half = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}

// volta is an arithmetic that is quick to infer.
func volta(t testing.TB) *unit {
	return newUnit(t, half, 4, mma.TFDPA(4, 23, mma.To(fp.FP32, fp.RZ), -131))
}

// few is enough checks for tests.
const few = 1000

// long skips a test that takes long if only short ones are wanted.
func long(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
}

func inferred(t *testing.T, u *unit, o Options) *Result {
	t.Helper()
	if o.Checks == 0 {
		o.Checks = few
	}
	r, err := Infer(t.Context(), u, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var voltaOnce struct {
	sync.Once
	*Result
}

// voltaInferred returns what is inferred of volta with seed 3, for tests that compare
// something else with it.
func voltaInferred(t *testing.T) *Result {
	t.Helper()
	voltaOnce.Do(func() { voltaOnce.Result = inferred(t, volta(t), Options{Seed: 3}) })
	if voltaOnce.Result == nil {
		t.Fatal("the inference failed in another test")
	}
	r := *voltaOnce.Result
	return &r
}

var errTest = errors.New("the unit is gone")
