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
	for n := range insts {
		for g := range generators {
			src := generators[g].Aimed(Spec{insts[n].Formats, insts[n].K}, &insts[n].Params)
			f.Add(Encode(insts, n, src.Dot(Spec{insts[n].Formats, insts[n].K}, 1, 0)))
		}
	}
	for g := range generators {
		f.Add([]byte{byte(g + 1), 0, 0, 1, 2, 3, 4, 5, 6, 7, 8})
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

// TestEncode checks that Decode undoes Encode.
func TestEncode(t *testing.T) {
	insts := mma.Arithmetics()
	for n := range insts {
		sp := Spec{insts[n].Formats, insts[n].K}
		for g := range generators {
			src := Source{Generator: &generators[g]}
			d := src.Dot(sp, 7, 3)
			i, back := Decode(Encode(insts, n, d), insts)
			if i != &insts[n] || !back.Equal(d) {
				t.Fatalf("%s %s: %v came back as %v", insts[n].FullName(), src, d, back)
			}
		}
	}
	if i, d := Decode(nil, insts); i != &insts[0] || !d.Equal(mma.NewDot(i.Formats, i.K)) {
		t.Error("no bytes are not all zeros")
	}
}
