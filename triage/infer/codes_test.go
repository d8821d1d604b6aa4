package infer

import (
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestCodes holds that each lane has each code of a and b, and that one of them which a lane reads as
// its neighbour shows in the result.
func TestCodes(t *testing.T) {
	if _, err := gen.Find(codesName); err == nil {
		t.Errorf("a generator has the name %q, too: its bounds would be taken for those of these inputs", codesName)
	}
	for _, name := range [][2]string{{"hopper", "mma.m16n8k16.f32.f16.f16.f32"}, {"hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"}, {"cdna3", "v_mfma_f32_16x16x16_bf16"}} {
		i, err := mma.Lookup(name[0], name[1])
		if err != nil {
			t.Fatal(err)
		}
		m, err := sim.New(i.Formats, i.K, i.Params)
		if err != nil {
			t.Fatal(err)
		}
		d := newDesigner(i.Formats, i.K, rand.New(rand.NewPCG(1, 2)))
		f := i.A.Get()
		lane, hidden, finite := i.K-1, 0, 0
		seen := map[[2]uint64]bool{}
		for j := range uint64(1) << f.CodeBits() {
			dot := d.codes(0, j)
			for k := range dot.A {
				seen[[2]uint64{uint64(k), dot.A[k]}] = true
			}
			if f.Decode(dot.A[lane]).Class != fp.Finite {
				continue
			}
			finite++
			right := m.Dot(dot, nil)
			if dot.A[lane] ^= 1; m.Dot(dot, nil) == right {
				hidden++
			}
		}
		if want := i.K << f.CodeBits(); len(seen) != want {
			t.Errorf("%s: %d codes in lanes, want %d", i.FullName(), len(seen), want)
		}
		if 16*hidden > finite {
			t.Errorf("%s: %d of %d wrong codes are hidden", i.FullName(), hidden, finite)
		}
	}
}
