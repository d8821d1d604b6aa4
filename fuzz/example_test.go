package fuzz_test

import (
	"context"
	"fmt"
	"math"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A campaign compares a Go function, which adds one product after the other in FP32,
// with the simulator of a tensor core. Each finding is the simplest input that shows
// one kind of difference.
func Example() {
	core, err := devices.OpenUnit("sim:ampere", "mma.m16n8k4.f32.tf32.tf32.f32", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	i := core.Instruction()
	mine := devices.Func(&mma.Instruction{Name: "mine", Formats: i.Formats, K: i.K}, func(d *mma.Dot) uint64 {
		sum := float64(math.Float32frombits(uint32(d.C)))
		for k := range d.A {
			sum = float64(float32(math.FMA(i.A.Get().Float64(d.A[k]), i.B.Get().Float64(d.B[k]), sum)))
		}
		return uint64(math.Float32bits(float32(sum)))
	})
	c, err := fuzz.New(fuzz.Config{
		Pairs: []devices.Pair{{A: core, B: mine, TargetA: "sim:ampere", TargetB: "mine", K: i.K}},
		Seed:  1,
		Count: 2048,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := c.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	pair := c.State().Pairs[0]
	fmt.Println(pair.Dots, "dot products,", len(pair.Findings), "findings")
	f := pair.Findings[0]
	fmt.Println(mma.FormatDot(i.Formats, f.Dot), "gives", mma.FormatCode(i.D, f.A), "and", mma.FormatCode(i.D, f.B))
	// Output:
	// 2048 dot products, 14 findings
	// 3f800000,3f800000 3f800000,3f800000 4b800000 gives 4b800001 and 4b800000
}
