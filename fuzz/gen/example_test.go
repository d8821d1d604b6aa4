package gen_test

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A source gives the same dot products for a seed forever.
func ExampleSource_Dot() {
	source, err := gen.ParseSource("cut@1[24,25]")
	if err != nil {
		fmt.Println(err)
		return
	}
	spec := gen.Spec{Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}, K: 4}
	for index := range uint64(3) {
		fmt.Println(mma.FormatDot(spec.Formats, source.Dot(spec, 1, index)))
	}
	// Output:
	// 17cd,53bf,a800,53bf ac00,6bd3,1c00,ebd3 00000000
	// 0000,dfff,41ff 0000,6c00,29ff 49ffe000
	// a05e,8400,0000,205e e000,1000,0000,e000 b374c23d
}
