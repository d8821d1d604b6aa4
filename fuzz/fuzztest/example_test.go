package fuzztest_test

import (
	"math"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/fuzztest"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// FuzzFP64 compares a chain of FMAs in Go with the model of the FP64 tensor core, which
// computes just that.
func FuzzFP64(f *testing.F) {
	fuzztest.Compare(f, "sim:hopper/mma.m8n8k4.f64.f64.f64.f64", func(d *mma.Dot) uint64 {
		sum := math.Float64frombits(d.C)
		for k := range d.A {
			sum = math.FMA(math.Float64frombits(d.A[k]), math.Float64frombits(d.B[k]), sum)
		}
		if math.IsNaN(sum) {
			return 0x7fffffffffffffff // the only NaN that tensor cores give
		}
		return math.Float64bits(sum)
	})
}

func Example() {
	// In a file whose name ends in _test.go; go test runs it, and so does
	// go test -fuzz FuzzMyUnit.
	_ = func(f *testing.F) { // FuzzMyUnit
		fuzztest.Compare(f, "sim:hopper/mma.m16n8k16.f32.f16.f16.f32", func(d *mma.Dot) uint64 {
			return 0 // the code of the result of your implementation for d.A, d.B and d.C
		})
	}
	// Output:
}

// The simulator of another language against a chain of FMAs.
func ExampleCompareTargets() {
	_ = func(f *testing.F) { fuzztest.CompareTargets(f, "exec:python3 double.py", "ref:fma64") }
}

// Two units of a program of your own.
func ExampleCompareUnits() {
	_ = func(f *testing.F, mine, theirs devices.Unit) {
		fuzztest.CompareUnits(f, devices.Pair{A: mine, B: theirs, TargetA: "mine", TargetB: "theirs", K: mine.Instruction().K},
			fuzztest.NaN(oracle.Bits), fuzztest.Zero(oracle.ByClass)) // which NaN it is counts, which zero does not
	}
}

// A cause that is not found in a few seconds is looked for without a limit.
func ExampleThorough() {
	_ = func(f *testing.F) { fuzztest.CompareTargets(f, "sim:volta", "sim:hopper", fuzztest.Thorough()) }
}
