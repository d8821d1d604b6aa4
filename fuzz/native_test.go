package fuzz

import (
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
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
	for n := range insts {
		sp := gen.Spec{Formats: insts[n].Formats, K: insts[n].K}
		for _, g := range gen.All() {
			f.Add(gen.Encode(insts, n, g.Aimed(sp, &insts[n].Params).Dot(sp, 1, 0)))
		}
	}
	for n := range gen.All() {
		f.Add([]byte{byte(n + 1), 0, 0, 1, 2, 3, 4, 5, 6, 7, 8})
	}
	c := NewChecker(insts)
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
