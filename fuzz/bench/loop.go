package bench

// The loop of a campaign: generate, evaluate both units, compare, take features.

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// loopPairs are the pairs and sources on which the loop is measured. A Soak runs the
// first.
var loopPairs = []loopPair{
	{"sim:ampere", usual, "sim:hopper", usual, "raw"},
	{"sim:ampere", usual, "sim:hopper", usual, "normal"},
	{"sim:ampere", usual, "sim:hopper", usual, "cut"},
	{"sim:ampere", usual, "sim:hopper", usual, "around@1(cut@1)"},
	{"sim:hopper", "mma.m16n8k16.f32.bf16.bf16.f32", "sim:cdna3", "v_mfma_f32_16x16x16_bf16", "raw"},
	{"sim:hopper", "wgmma.m64n8k32.f32.e4m3.e4m3", "sim:blackwell", "tcgen05.m128n8k32.kind::f8f6f4.f32.e4m3.e4m3", "raw"},
}

// loopPair is a pair of units and a source of inputs.
type loopPair struct{ a, instA, b, instB, source string }

// open returns the pair's loop, on inputs of a seed.
func (l *loopPair) open(seed uint64) (*fuzz.EndToEnd, error) {
	ua, err := devices.OpenUnit(l.a, l.instA, "")
	if err != nil {
		return nil, err
	}
	ub, err := devices.OpenUnit(l.b, l.instB, "")
	if err != nil {
		return nil, err
	}
	src, err := gen.ParseSource(l.source)
	if err != nil {
		return nil, err
	}
	return fuzz.NewEndToEnd(devices.Pair{A: ua, B: ub, TargetA: l.a, TargetB: l.b, K: ua.Instruction().K}, src, seed)
}

// loopProducts is the number of products of a call: so many that its fixed cost does not
// count.
const loopProducts = 256 * measure.Products

// tilesOf returns how many tiles of a shape have that many products, at least 1.
func tilesOf(s mma.Shape, products int) int { return max(1, products/(s.M*s.N*s.K)) }

// The columns of the loop's table.
const (
	oneCore  = "one"
	allCores = "all"
)

// loops measures the loop on one core, in processor time, and on all cores, by the wall
// clock.
func (b *Bench) loops() []benchmark {
	var all []benchmark
	for i := range loopPairs {
		l := &loopPairs[i]
		name := fmt.Sprintf("%s/%s/%s/%s", l.a, l.instA, l.b, l.source)
		for column, run := range []func(context.Context, *loopPair, measure.Timing) (*Measurement, error){b.loopOnOne, b.loopOnAll} {
			column := []string{oneCore, allCores}[column]
			all = append(all, benchmark{name + "/" + column, func(ctx context.Context, t measure.Timing) (*Measurement, error) {
				r, err := run(ctx, l, t)
				if err == nil {
					r.group, r.column = l.a+" "+l.b+"\t"+l.instA+"\t"+l.source, column
				}
				return r, err
			}})
		}
	}
	return all
}

func (b *Bench) loopOnOne(ctx context.Context, l *loopPair, t measure.Timing) (*Measurement, error) {
	defer measure.Lock()()
	e, err := l.open(1)
	if err != nil {
		return nil, err
	}
	s := e.Shape()
	tiles := tilesOf(s, loopProducts)
	t.Clock = measure.Thread
	times, err := t.Of(func() error { return e.Run(ctx, tiles) })
	if err != nil {
		return nil, err
	}
	times = times.Scaled(measure.Products / float64(tiles*s.M*s.N*s.K))
	return &Measurement{Unit: "ns/tile", Clock: clockName(), Cycles: times.Median() / measure.Products / b.Machine.CycleNs, series: times}, nil
}

func (b *Bench) loopOnAll(ctx context.Context, l *loopPair, t measure.Timing) (*Measurement, error) {
	crew, err := newCrew(l)
	if err != nil {
		return nil, err
	}
	s := crew[0].Shape()
	tiles := tilesOf(s, 256*loopProducts) // so many that waiting for the slowest does not count
	t.Clock = measure.Wall
	times, err := t.Of(func() error { return crew.run(ctx, tiles) })
	if err != nil {
		return nil, err
	}
	r := &Measurement{Unit: "dots/s", Clock: "wall"}
	for _, ns := range times {
		r.series = append(r.series, float64(len(crew)*tiles*s.M*s.N)*1e9/ns)
	}
	return r, nil
}

// crew has a loop for each processor, each with inputs of its own.
type crew []*fuzz.EndToEnd

func newCrew(l *loopPair) (crew, error) {
	var c crew
	for seed := range runtime.GOMAXPROCS(0) {
		e, err := l.open(uint64(seed + 1))
		if err != nil {
			return nil, err
		}
		c = append(c, e)
	}
	return c, nil
}

// run has every loop of the crew compute a number of tiles.
func (c crew) run(ctx context.Context, tiles int) error {
	errs := make([]error, len(c))
	var wg sync.WaitGroup
	for i, e := range c {
		wg.Go(func() { errs[i] = e.Run(ctx, tiles) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// tiles returns how many tiles the loops have computed together.
func (c crew) tiles() uint64 {
	n := uint64(0)
	for _, e := range c {
		n += e.Counts().Tiles
	}
	return n
}
