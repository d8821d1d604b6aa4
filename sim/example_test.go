package sim_test

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The same dot product on simulators of several units, in FP16 with c and d in FP32:
// -2^23 - 1/2 - 1/4 - 1/8 + 2^23.
func ExampleModel_Dot() {
	for _, unit := range []struct{ arch, inst string }{
		{"volta", "mma.m8n8k4.f32.f16.f16.f32"},
		{"ampere", "mma.m16n8k8.f32.f16.f16.f32"},
		{"hopper", "mma.m16n8k8.f32.f16.f16.f32"},
		{"cdna3", "v_mfma_f32_32x32x8_f16"},
	} {
		i, err := mma.Lookup(unit.arch, unit.inst)
		if err != nil {
			fmt.Println(err)
			return
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			fmt.Println(err)
			return
		}
		d, err := mma.ParseDot(i.Formats, i.K, false, strings.Fields("f000,b800,b400,b000 6400,3c00,3c00,3c00 4b000000"))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(unit.arch, i.D.Get().Float64(m.Dot(d, nil)))
	}
	// Output:
	// volta 0
	// ampere -0.5
	// hopper -0.75
	// cdna3 -0.5
}
