package oracle_test

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// What an instruction gives, what the exact value is, and how the two differ.
func Example() {
	i, err := mma.Lookup("ampere", "mma.m16n8k8.f32.f16.f16.f32")
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := mma.ParseDot(i.Formats, i.K, false, strings.Fields("f000,b800,b400,b000 6400,3c00,3c00,3c00 4b000000"))
	if err != nil {
		fmt.Println(err)
		return
	}
	got, exact := oracle.Eval(&i.Params, i.Formats, i.K, d), oracle.ExactDot(i.Formats, d)
	fmt.Println(i.D.Get().Float64(got), "exact:", exact.Decimal())
	fmt.Println(oracle.Compare(i.D, oracle.Policy{}, got, exact.Code()))
	// Output:
	// -0.5 exact: -0.875
	// value
}
