package sim_test

import (
	"bytes"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestShared runs programs between two, some of which read subnormals as zeros, on one batch after
// the other: each gives what it gives alone.
func TestShared(t *testing.T) {
	i, err := mma.Lookup("hopper", "mma.m16n8k16.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	other, err := mma.Lookup("cdna2", "v_mfma_f32_16x16x16f16")
	if err != nil {
		t.Fatal(err)
	}
	changes := mma.Diff(&i.Params, &other.Params)
	var s sim.Shared
	words := 0
	for n, in := range []measure.Inputs{measure.Raw, measure.Finite} {
		b := measure.Batch(i, mma.Shape{M: 3, N: 2, K: 16, Tiles: 20 - 10*n}, uint64(n), in)
		s.Reset(b)
		for set := range 1 << min(len(changes), 7) {
			p := i.Params
			for c := range changes {
				if set>>c&1 != 0 && p.Apply(changes[c:c+1]) != nil {
					t.Fatalf("%v is no change", changes[c])
				}
			}
			m, err := sim.New(i.Formats, i.K, p)
			if err != nil {
				continue // the program is not valid
			}
			if m.Kernel() == "word" {
				words++
			}
			alone, shared := make([]byte, 4*b.Dots()), make([]byte, 4*b.Dots())
			m.Run(b, alone)
			m.RunShared(&s, shared)
			if !bytes.Equal(alone, shared) {
				t.Fatalf("%v: kernel %s gives other results on a shared batch", mma.Diff(&i.Params, &p), m.Kernel())
			}
		}
	}
	if words < 20 {
		t.Errorf("only %d programs have the kernel word", words)
	}
}
