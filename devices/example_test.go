package devices_test

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A function of one's own beside the simulator of a tensor core.
func ExampleFunc() {
	core, err := devices.OpenUnit("sim:ampere", "mma.m16n8k8.f32.f16.f16.f32", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	i := core.Instruction()
	mine := devices.Func(&mma.Instruction{Name: "mine", Formats: i.Formats, K: i.K}, func(d *mma.Dot) uint64 {
		sum := math.Float32frombits(uint32(d.C))
		for k := range d.A {
			sum += float32(i.A.Get().Float64(d.A[k]) * i.B.Get().Float64(d.B[k]))
		}
		return uint64(math.Float32bits(sum))
	})
	d, err := mma.ParseDot(i.Formats, i.K, false, strings.Fields("f000,b800,b400,b000 6400,3c00,3c00,3c00 4b000000"))
	if err != nil {
		fmt.Println(err)
		return
	}
	in := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: i.K, Tiles: 1})
	in.Set(0, d)
	for _, u := range []devices.Unit{mine, core} {
		out := make([]byte, i.D.Width())
		if err := u.Run(context.Background(), in, out); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(u.Instruction().Name, mma.FormatCode(i.D, mma.Load(out, i.D.Width(), 0)))
	}
	// Output:
	// mine bf600000
	// mma.m16n8k8.f32.f16.f16.f32 bf000000
}
