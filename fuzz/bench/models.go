package bench

import (
	"context"

	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// models measures every operation on every path of the models except the general
// interpreter, which runs only operations without a kernel.
func (b *Bench) models() ([]benchmark, error) {
	var all []benchmark
	for _, op := range measure.Operations {
		i, err := mma.Lookup(op.Arch, op.Inst)
		if err != nil {
			return nil, err
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			return nil, err
		}
		for _, path := range sim.Paths()[1:] {
			for _, inputs := range []measure.Inputs{measure.Raw, measure.Finite} {
				all = append(all, benchmark{op.Name + "/" + path.String() + "/" + string(inputs), func(ctx context.Context, t measure.Timing) (*Measurement, error) {
					m, tiles := m.On(path), measure.Tiles
					if m.Kernel() == "" {
						tiles = 4 // the general interpreter takes a hundred times as long
					}
					r, err := b.model(ctx, m, measure.Batch(i, measure.Shape(i, tiles), 1, inputs), t)
					if err == nil {
						r.group, r.column = op.Name, path.String()
					}
					return r, err
				}})
			}
		}
	}
	return all, nil
}

// model measures a model on a batch.
func (b *Bench) model(ctx context.Context, m *sim.Model, in *mma.Batch, t measure.Timing) (*Measurement, error) {
	defer measure.Lock()()
	t.Clock = measure.Thread
	out := make([]byte, in.Dots()*in.D.Width())
	s, err := t.Of(func() error { m.Run(in, out); return ctx.Err() })
	if err != nil {
		return nil, err
	}
	s = s.Scaled(measure.Products / float64(in.Dots()*in.K))
	kernel := m.Kernel()
	if kernel == "" {
		kernel = "general interpreter"
	}
	return &Measurement{Unit: "ns/tile", Clock: clockName(), Cycles: s.Median() / measure.Products / b.Machine.CycleNs, Kernel: kernel, series: s}, nil
}

// clockName returns the name of the clock that measure.Thread is on this system.
func clockName() string {
	if measure.OfThread {
		return "thread"
	}
	return "wall"
}
