package bench

import (
	"context"

	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// references are measured with the models, as programs for dot products of whole tiles.
var references = []struct{ ref, formats, arch, inst string }{
	{"exact", "fp16", "hopper", "mma.m16n8k16.f32.f16.f16.f32"},
	{"exact", "bf16", "hopper", "mma.m16n8k16.f32.bf16.bf16.f32"},
	{"exact", "tf32", "hopper", "mma.m16n8k8.f32.tf32.tf32.f32"},
	{"exact", "e4m3", "hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"},
	{"exact", "e2m1", "blackwell", "tcgen05.m128n8k32.kind::f8f6f4.f32.e2m1.e2m1"},
	{"fma32", "fp16", "hopper", "mma.m16n8k16.f32.f16.f16.f32"},
	{"mul32", "fp16", "hopper", "mma.m16n8k16.f32.f16.f16.f32"},
	{"fma64", "fp16", "hopper", "mma.m16n8k16.f32.f16.f16.f32"},
	{"mul64", "fp16", "hopper", "mma.m16n8k16.f32.f16.f16.f32"},
	{"fma32", "fp32", "cdna3", "v_mfma_f32_16x16x4_f32"},
	{"mul32", "fp32", "cdna3", "v_mfma_f32_16x16x4_f32"},
}

// models measures every operation and reference on every path of the models except the general
// interpreter, which runs only programs without a kernel.
func (b *Bench) models() ([]benchmark, error) {
	var all []benchmark
	add := func(name string, i *mma.Instruction, m *sim.Model) {
		for _, path := range sim.Paths()[1:] {
			for _, inputs := range []measure.Inputs{measure.Raw, measure.Finite} {
				all = append(all, benchmark{name + "/" + path.String() + "/" + string(inputs), func(ctx context.Context, t measure.Timing) (*Measurement, error) {
					m, tiles := m.On(path), measure.Tiles
					if m.Kernel() == "" {
						tiles = 4 // the general interpreter takes a hundred times as long
					}
					r, err := b.model(ctx, m, measure.Batch(i, measure.Shape(i, tiles), 1, inputs), t)
					if err == nil {
						r.group, r.column = name, path.String()
					}
					return r, err
				}})
			}
		}
	}
	for _, op := range measure.Operations {
		i, err := mma.Lookup(op.Arch, op.Inst)
		if err != nil {
			return nil, err
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			return nil, err
		}
		add(op.Name, i, m)
	}
	for _, x := range references {
		i, err := mma.Lookup(x.arch, x.inst)
		if err != nil {
			return nil, err
		}
		r, _ := oracle.FindReference(x.ref)
		m, err := sim.NewLong(i.Formats, measure.Shape(i, 1).K, r.Program(i.Formats))
		if err != nil {
			return nil, err
		}
		add("ref:"+x.ref+"/"+x.formats+"/"+x.arch, i, m)
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
