package fuzz

import (
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// fuzzOperation fuzzes the arithmetics of one elementary operation: fast models
// against the oracle. go test -fuzz=FuzzTFDPA -fuzztime=200000x ./fuzz
func fuzzOperation(f *testing.F, operations ...string) {
	var insts []mma.Instruction
	for _, i := range mma.Arithmetics() {
		name, _, _ := strings.Cut(i.Params.String(), "(")
		if slices.Contains(operations, name) {
			insts = append(insts, i)
		}
	}
	if len(insts) == 0 {
		f.Fatalf("no arithmetic is %v", operations)
	}
	c := NewChecker(insts)
	for _, seed := range c.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := c.Check(data); err != nil {
			t.Error(err)
		}
	})
}

func FuzzFMA(f *testing.F)       { fuzzOperation(f, "fma") }
func FuzzFTZAddMul(f *testing.F) { fuzzOperation(f, "ftz-addmul") }
func FuzzEFDPA(f *testing.F)     { fuzzOperation(f, "e-fdpa") }
func FuzzTFDPA(f *testing.F)     { fuzzOperation(f, "t-fdpa") }
func FuzzGSTFDPA(f *testing.F)   { fuzzOperation(f, "gst-fdpa") }
func FuzzTRFDPA(f *testing.F)    { fuzzOperation(f, "tr-fdpa") }
func FuzzGTRFDPA(f *testing.F)   { fuzzOperation(f, "gtr-fdpa") }
func FuzzSplitHMMA(f *testing.F) { fuzzOperation(f, "split-hmma") }
