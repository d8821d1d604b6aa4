package sim_test

import (
	"bytes"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestShared runs programs between two, some of which read subnormals as zeros, on one batch after
// the other: each gives what it gives alone.
func TestShared(t *testing.T) {
	i, err := mma.Lookup("hopper", "mma.m16n8k16.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	flushing, err := mma.Lookup("cdna2", "v_mfma_f32_16x16x16f16")
	if err != nil {
		t.Fatal(err)
	}
	chain := mma.Params{L: 1, Acc: mma.To(fp.FP32, fp.RNE)}
	exact := mma.Params{In: flushing.Params.In, Acc: chain.Acc}
	cut := i.Params // in steps, after the first program has made products without exponents
	cut.L, cut.Join.Align = 4, mma.Align{F: 20, Mode: fp.RNE}
	least := map[string]int{"word": 20, "exact": 8, "float32": 4}
	for _, ends := range [][2]*mma.Params{{&i.Params, &flushing.Params}, {&i.Params, &chain}, {&chain, &cut}, {&chain, &exact}} {
		var s sim.Shared // with no products of the batch from before
		changes := mma.Diff(ends[0], ends[1])
		for n, shape := range []mma.Shape{{M: 3, N: 2, K: 16, Tiles: 20}, {M: 1, N: 1, K: 32, Tiles: 40}} {
			b := measure.Batch(i, shape, uint64(n), []measure.Inputs{measure.Raw, measure.Finite}[n])
			s.Reset(b)
			for set := range 1 << min(len(changes), 7) {
				p := *ends[0]
				for c := range changes {
					if set>>c&1 != 0 && p.Apply(changes[c:c+1]) != nil {
						t.Fatalf("%v is no change", changes[c])
					}
				}
				m, err := sim.New(i.Formats, i.K, p)
				if err != nil {
					continue // the program is not valid
				}
				if n > 0 { // no vector instructions
					m = m.On(sim.Portable)
				}
				least[m.Kernel()]--
				alone, shared := make([]byte, 4*b.Dots()), make([]byte, 4*b.Dots())
				m.Run(b, alone)
				m.RunShared(&s, shared)
				if !bytes.Equal(alone, shared) {
					t.Fatalf("%v: kernel %s gives other results on a shared batch", mma.Diff(ends[0], &p), m.Kernel())
				}
			}
		}
	}
	for kernel, n := range least {
		if n > 0 {
			t.Errorf("%d more programs should have the kernel %s", n, kernel)
		}
	}
}
