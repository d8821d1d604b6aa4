package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// scheduled is a unit with a schedule.
type scheduled struct {
	kernel *schedule.Kernel
	unit   devices.Unit
}

// newScheduled returns a unit with the schedule of a name, of a file (NAME.json), or of the text
// of one.
func newScheduled(u devices.Unit, text string) (*scheduled, error) {
	var k *schedule.Kernel
	var err error
	switch {
	case strings.HasPrefix(strings.TrimSpace(text), "{"):
		k, err = schedule.Read([]byte(text))
	case strings.HasSuffix(text, ".json"):
		var body []byte
		if body, err = corpus.ReadFile(text, "schedule", 1<<24); err == nil {
			k, err = schedule.Read(body)
		}
	default:
		k, err = schedule.Named(text)
	}
	if err != nil {
		return nil, err
	}
	if k.ScaleA != nil || k.ScaleB != nil {
		return nil, errors.New("the schedule multiplies by scales of its own, which matmul does not take")
	}
	c := *k
	c.Unit = &schedule.Unit{Given: u.Instruction()}
	return &scheduled{&c, u}, nil
}

// result returns the format of a product.
func (s *scheduled) result(shape schedule.Shape, withC bool) (fp.ID, error) {
	if withC && !s.kernel.AddsC() {
		return 0, errors.New("the schedule adds no c")
	}
	plans, err := s.kernel.PlansAt(shape, schedule.Given{C: withC}, [][2]int{{0, 0}})
	if err != nil {
		return 0, err
	}
	return plans[0].D, nil
}

// run computes the products of a batch.
func (s *scheduled) run(ctx context.Context, in *mma.Batch, out []byte, workers int) error {
	i := s.unit.Instruction()
	opt := gemm.Options{Workers: workers, Open: func(of *mma.Instruction) (gemm.Unit, error) {
		if of == i {
			return s.unit, nil
		}
		return nil, nil
	}}
	for t := range in.Tiles {
		part := in.Part(t, 1)
		o := &gemm.Operands{Shape: schedule.Shape{M: in.M, N: in.N, K: in.K}, A: part.A, B: part.B, C: part.C}
		d, id, err := gemm.Multiply(ctx, s.kernel, o, opt)
		if err != nil {
			return err
		}
		if len(d)*in.Tiles != len(out) {
			return fmt.Errorf("d has %d bytes, and should have %d: its format is %s", len(out), len(d)*in.Tiles, id)
		}
		copy(out[t*len(d):], d)
	}
	return nil
}
