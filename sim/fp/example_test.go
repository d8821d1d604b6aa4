package fp_test

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// A format turns codes into numbers, and numbers into the nearest codes.
func ExampleFormat() {
	f := fp.E4M3.Get()
	for _, v := range []float64{1, 0.3, -1000} {
		code := f.FromFloat64(v)
		fmt.Printf("%v is %02x, which is %v\n", v, code, f.Float64(code))
	}
	fmt.Println(f.HasInf(), f.HasNaN(), f.Float64(f.MaxFinite()))
	// Output:
	// 1 is 38, which is 1
	// 0.3 is 2a, which is 0.3125
	// -1000 is fe, which is -448
	// false true 448
}
