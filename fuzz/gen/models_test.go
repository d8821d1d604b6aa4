package gen_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// fuzzOperation fuzzes the arithmetics of one elementary operation: fast models
// against the oracle. go test -fuzz=FuzzTFDPA -fuzztime=200000x ./fuzz/gen
//
// It is here and not in package fuzz, whose Checker does the same, because Go's fuzzer looks at
// the counters of the whole test binary after every input: this one is small.
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
	models := map[*mma.Instruction]*sim.Model{}
	for n := range insts {
		i := &insts[n]
		m, err := sim.ForInstruction(i)
		if err != nil {
			f.Fatal(err)
		}
		models[i] = m
		sp := gen.Spec{Formats: i.Formats, K: i.K}
		for _, g := range gen.All() {
			f.Add(gen.Encode(insts, n, g.Aimed(sp, &i.Params).Dot(sp, 1, 0)))
		}
	}
	for n := range gen.All() { // one that each generator makes of the fuzzer's bytes
		f.Add([]byte{byte(n + 1), 0, 0, 1, 2, 3, 4, 5, 6, 7, 8})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		i, d := gen.Decode(data, insts)
		out := make([]byte, i.D.Width())
		models[i].Run(mma.BatchOf(i.Formats, i.K, []*mma.Dot{d}), out)
		fast, general := mma.Load(out, i.D.Width(), 0), models[i].Dot(d, nil)
		if want := oracle.Eval(&i.Params, i.Formats, i.K, d); fast != want || general != want {
			t.Errorf("%s: kernel %x, general interpreter %x, oracle %x\n  re-run: echo %q | mmafuzz eval --target sim:%s --inst %s",
				i.FullName(), fast, general, want, mma.FormatDot(i.Formats, d), i.Arch, i.Name)
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
