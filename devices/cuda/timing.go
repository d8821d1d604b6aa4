package cuda

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Timing is how long the parts of a launch of an instruction take; a field is zero if it
// was not measured.
type Timing struct {
	Tiles    int     `json:"tiles"`     // of the launch
	PackNs   float64 `json:"pack_ns"`   // for each tile, on one processor
	UnpackNs float64 `json:"unpack_ns"` // for each tile, on one processor
	LaunchUs float64 `json:"launch_us"` // copies, kernel and waiting, for all tiles
	KernelUs float64 `json:"kernel_us"` // for all tiles, by the device's clock
	OneUs    float64 `json:"one_us"`    // the launch of a single tile: the overhead
	// Latency is the cycles of an instruction that waits for the result of the one
	// before, Interval the cycles between two instructions of a warp that do not wait.
	Latency  float64 `json:"latency_cycles,omitempty"`
	Interval float64 `json:"interval_cycles,omitempty"`
}

// String returns the timing on one line.
func (t *Timing) String() string {
	s := fmt.Sprintf("%d tiles: pack %.0f ns and unpack %.0f ns a tile, launch %.0f us of which the kernel %.1f us; one tile %.0f us",
		t.Tiles, t.PackNs, t.UnpackNs, t.LaunchUs, t.KernelUs, t.OneUs)
	if t.Latency > 0 {
		s += fmt.Sprintf("; latency %.1f cycles, one every %.1f", t.Latency, t.Interval)
	}
	return s
}

// Time measures the parts of a launch of an instruction.
func (c *Checker) Time(ctx context.Context, i *mma.Instruction) (*Timing, error) {
	ks, err := kernels(i, c.chip)
	if err != nil {
		return nil, err
	}
	k := ks[0]
	p, err := gpu.NewPacker(k)
	if err != nil {
		return nil, err
	}
	_, f, err := c.function(k, k.Source, k.Entry)
	if err != nil {
		return nil, err
	}
	t := &Timing{Tiles: min(4096, max(1, 8<<20/k.InBytes))}
	in := mma.NewBatch(i.Formats, mma.Shape{M: k.M, N: k.N, K: i.K, Tiles: t.Tiles})
	packed, results := make([]byte, t.Tiles*k.InBytes), make([]byte, t.Tiles*k.OutBytes)
	out := make([]byte, in.Dots()*i.D.Width())
	const runs, launches = 3, 15
	var kernel []time.Duration
	launch := func(tiles int) func() error {
		return func() error {
			took, err := f.Launch(ctx, packed[:tiles*k.InBytes], results[:tiles*k.OutBytes], tiles, c.deadline)
			kernel = append(kernel, took)
			return err
		}
	}
	var pack, unpack, whole, one time.Duration
	for _, part := range []struct {
		took *time.Duration
		runs int
		work func() error
	}{
		{&pack, runs, func() error { return p.Pack(packed, in) }},
		{&whole, launches, launch(t.Tiles)},
		{&unpack, runs, func() error { return p.Unpack(out, results) }},
		{&one, launches, launch(1)},
	} {
		if *part.took, err = medianTime(part.runs, part.work); err != nil {
			return nil, err
		}
	}
	ns := func(d time.Duration) float64 { return float64(d.Nanoseconds()) }
	t.PackNs, t.UnpackNs = ns(pack)/float64(t.Tiles), ns(unpack)/float64(t.Tiles)
	t.LaunchUs, t.KernelUs, t.OneUs = ns(whole)/1e3, ns(median(kernel[:launches]))/1e3, ns(one)/1e3
	if t.Latency, err = c.cycles(ctx, k, issue{1, 1}); err != nil {
		return nil, err
	}
	const chains = 4
	t.Interval, err = c.cycles(ctx, k, issue{1, chains})
	t.Interval /= chains
	return t, err
}

// medianTime returns the median time of a number of runs.
func medianTime(runs int, work func() error) (time.Duration, error) {
	var took []time.Duration
	for range runs {
		began := time.Now()
		if err := work(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	return median(took), nil
}

// median returns the middle one of times.
func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
