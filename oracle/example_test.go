package oracle_test

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
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

// One element of a matrix product whose K is cut in two: 2048 + 1 rounds to 2048 in FP16, and
// 1 + 1 does not.
func ExampleEvalKernel() {
	k, err := schedule.Read([]byte(`{"v": 1, "unit": {"op": "fma", "acc": "fp16"},
		"schedules": [{"levels": [{"cut": {"by": "count", "n": 2}, "merge": {"order": "forward"}}]}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	e := &oracle.Element{Shape: schedule.Shape{M: 1, N: 1, K: 4}, A: []uint64{0x6800, 0x3c00, 0x3c00, 0x3c00}, B: []uint64{0x3c00, 0x3c00, 0x3c00, 0x3c00}}
	code, format := oracle.EvalKernel(k, e)
	fmt.Println(format.Get().Float64(code), format)
	// Output:
	// 2050 fp16
}
