package minimize_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The simplest dot product on which tensor cores of Ampere and Hopper differ, found
// from a larger one.
func ExampleDot() {
	model := func(arch string) (*mma.Instruction, *sim.Model) {
		i, err := mma.Lookup(arch, "mma.m16n8k8.f32.f16.f16.f32")
		if err != nil {
			panic(err)
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			panic(err)
		}
		return i, m
	}
	i, ampere := model("ampere")
	_, hopper := model("hopper")
	differ := func(_ context.Context, dots []*mma.Dot) ([]string, error) {
		buckets := make([]string, len(dots))
		for n, d := range dots {
			if ampere.Dot(d, nil) != hopper.Dot(d, nil) {
				buckets[n] = "differ"
			}
		}
		return buckets, nil
	}
	start, err := mma.ParseDot(i.Formats, i.K, false, strings.Fields("f123,b845,b467,b089,3c12 6432,3c54,3c76,3c98,1010 4b123456"))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := minimize.Dot(context.Background(), i.Formats, start, differ, minimize.Options{Bucket: "differ"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mma.FormatDot(i.Formats, r.Dot))
	fmt.Printf("ampere %08x, hopper %08x\n", ampere.Dot(r.Dot, nil), hopper.Dot(r.Dot, nil))
	// Output:
	// 3c00 3c00 b3000000
	// ampere 3f800000, hopper 3f7fffff
}
