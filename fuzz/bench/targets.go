package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/cuda"
	"github.com/mmafuzz/mmafuzz/devices/discover"
	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// usual is the instruction on which simulators of GPUs are measured as targets.
const usual = "mma.m16n8k16.f32.f16.f16.f32"

// shapes are the shapes of the batches that targets are given: two as small as those of a
// campaign, and one so large that the fixed cost of a batch does not count.
var shapes = []mma.Shape{{M: 1, N: 1, Tiles: 1024}, {M: 16, N: 8, Tiles: 8}, {M: 16, N: 8, Tiles: 4096}}

// targets measures the targets of this machine, or the one that is asked for.
func (b *Bench) targets() (all []benchmark) {
	if b.Target != nil {
		return b.unitBenchmarks(b.Target.Name(), b.Unit)
	}
	for _, name := range b.found() {
		t, err := b.open(name)
		if err != nil {
			b.note("%s: %v", name, err)
			continue
		}
		b.opened = append(b.opened, t)
		for _, i := range someInstructions(t) {
			u, err := t.Open(&i)
			if err != nil {
				b.note("%s: %s: %v", name, i.Name, err)
				continue
			}
			all = append(all, b.unitBenchmarks(name, u)...)
		}
	}
	return all
}

func (b *Bench) note(format string, args ...any) {
	b.Notes = append(b.Notes, fmt.Sprintf(format, args...))
}

// child is the target that is a child process.
const child = "exec:mmafuzz serve sim:hopper"

// found names the targets that this machine has.
func (b *Bench) found() []string {
	names := []string{"sim:hopper", child, "cpu:0"}
	if b.Child == nil {
		names = []string{"sim:hopper", "cpu:0"}
	}
	gpus := 0
	for _, d := range discover.Devices() {
		switch {
		case d.Problem != "":
			b.note("%s: %s", d.Name, d.Problem)
		case d.Target != "":
			names = append(names, d.Target)
			gpus++
		}
	}
	if gpus == 0 {
		b.note("no GPU was found: mmafuzz doctor says what there is")
	}
	return names
}

func (b *Bench) open(name string) (devices.Target, error) {
	if name == child {
		return b.Child(name)
	}
	return devices.Open(name)
}

// someInstructions returns the instructions on which a target is measured: of simulators
// and children the usual one, of the processor every mnemonic in one mode, of other targets
// one for each combination of formats.
func someInstructions(t devices.Target) []mma.Instruction {
	var some []mma.Instruction
	seen := map[string]bool{}
	for _, i := range t.Instructions() {
		kind := i.Formats.String()
		if t.Name() == "cpu:0" {
			kind, _, _ = strings.Cut(i.Name, ".")
		}
		simulated := strings.HasPrefix(t.Name(), "sim:") || strings.HasPrefix(t.Name(), "exec:")
		if i.Refuse != "" || seen[kind] || simulated && i.Name != usual {
			continue
		}
		seen[kind] = true
		some = append(some, i)
	}
	return some
}

// unitBenchmarks measures a unit on batches of each shape: a recording, which has single dot
// products, on these.
func (b *Bench) unitBenchmarks(target string, u devices.Unit) []benchmark {
	var all []benchmark
	recorder, recorded := u.(devices.Recorder)
	for _, s := range shapes {
		i := u.Instruction()
		if s.K = i.K; recorded {
			if s.M*s.N > 1 {
				continue
			}
			s.K, s.Tiles = recorder.Length(), min(s.Tiles, recorder.Recorded())
		}
		shape := fmt.Sprintf("%d x %dx%d", s.Tiles, s.M, s.N)
		all = append(all, benchmark{target + "/" + i.Name + "/" + strings.ReplaceAll(shape, " ", ""), func(ctx context.Context, t measure.Timing) (*Measurement, error) {
			r, err := unitSpeed(ctx, u, s, t)
			if err != nil {
				return nil, err
			}
			r.group, r.column, r.Shape = target+"\t"+i.Name, shape, shape
			return r, b.outside(ctx, target, u, s, r, t)
		}})
	}
	return all
}

// unitSpeed measures a unit by the wall clock, since a unit may wait for a device.
func unitSpeed(ctx context.Context, u devices.Unit, s mma.Shape, t measure.Timing) (*Measurement, error) {
	in := measure.Batch(u.Instruction(), s, 1, measure.Finite)
	out := make([]byte, in.Dots()*in.D.Width())
	if r, ok := u.(devices.Recorder); ok {
		if err := r.Load(0, in, out); err != nil {
			return nil, err
		}
	}
	t.Clock = measure.Wall
	times, err := t.Of(func() error { return u.Run(ctx, in, out) })
	if err != nil {
		return nil, err
	}
	r := &Measurement{Unit: "dots/s", Clock: "wall"}
	for _, ns := range times {
		r.series = append(r.series, float64(in.Dots())*1e9/ns)
	}
	return r, nil
}

// outside sets the part of the time that is spent outside of the computation itself. The
// time of the computation is, for a simulator, that of the model alone, and for an NVIDIA
// GPU that of the kernel by the device's clock; for other targets it is not known.
func (b *Bench) outside(ctx context.Context, target string, u devices.Unit, s mma.Shape, r *Measurement, t measure.Timing) error {
	var inside float64 // seconds for a batch
	switch kind, _, _ := strings.Cut(target, ":"); {
	case target == child || kind == "sim":
		row, err := mma.Lookup(u.Instruction().Arch, u.Instruction().Name)
		if err != nil {
			return err
		}
		m, err := sim.ForInstruction(row)
		if err != nil {
			return err
		}
		in := measure.Batch(u.Instruction(), s, 1, measure.Finite)
		out := make([]byte, in.Dots()*in.D.Width())
		t.Clock = measure.Wall
		times, err := t.Of(func() error { m.Run(in, out); return ctx.Err() })
		if err != nil {
			return err
		}
		inside = times.Median() / 1e9
	case kind == "cuda":
		c, err := cuda.NewChecker(target)
		if err != nil {
			return err
		}
		timing, err := c.Time(ctx, u.Instruction())
		if err = errors.Join(err, c.Close()); err != nil {
			return err
		}
		if timing.KernelUs == 0 || s.Tiles < timing.Tiles {
			return nil
		}
		inside = timing.KernelUs / 1e6 * float64(s.Tiles) / float64(timing.Tiles)
	default:
		return nil
	}
	share := max(0, 1-inside*r.series.Median()/float64(s.Dots()))
	r.Outside = &share
	return nil
}
