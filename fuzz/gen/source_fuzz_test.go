package gen

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// FuzzParseSource reads anything as the name of a source, as plans, recordings,
// journals and bundles have it: its own name means the same source, and what it makes
// are operands of the formats, the same twice.
func FuzzParseSource(f *testing.F) {
	specs := []Spec{
		{Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}, K: 8},
		{Formats: mma.Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: fp.UE4M3, Block: 4}, K: 8},
		{Formats: mma.Formats{A: fp.E5M2, B: fp.E4M3, D: fp.FP16}, K: 4},
	}
	all := mma.Arithmetics()
	for _, g := range All() {
		f.Add(g.Name, uint64(1), uint64(0))
		s := g.Aimed(Spec{Formats: all[0].Formats, K: all[0].K}, &all[0].Params)
		f.Add(s.String(), uint64(2), uint64(7))
		f.Add(s.Mutate(3).Mutate(4).String(), uint64(3), uint64(1<<63))
	}
	f.Add("mutate@1(mutate@1(", uint64(0), uint64(0))
	f.Add("around@1(cut@1[24])", uint64(1), uint64(70))
	f.Add("mutate@1(around@2(cut@1)#1000)", uint64(1), uint64(1<<63))
	f.Add("cut@1[-9223372036854775808,9223372036854775807]", uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, text string, seed, index uint64) {
		s, err := ParseSource(text)
		if err != nil {
			return
		}
		again, err := ParseSource(s.String())
		if err != nil {
			t.Fatalf("%q is %s, which is no source: %v", text, s, err)
		}
		if again.String() != s.String() || again.nesting() != s.nesting() {
			t.Fatalf("%q is %s, and that is %s", text, s, again)
		}
		for _, sp := range specs {
			d := s.Dot(sp, seed, index)
			checkCodes(t, sp, d)
			if diff := cmp.Diff(d, again.Dot(sp, seed, index)); diff != "" {
				t.Fatalf("%s: %s", s, diff)
			}
		}
	})
}
