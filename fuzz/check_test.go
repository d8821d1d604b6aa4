package fuzz

import (
	"bytes"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
)

// TestPairChecker checks that an engine's target finds a difference on aimed bytes, none
// between equal units, and counts features.
func TestPairChecker(t *testing.T) {
	checker := func(b string) *Checker {
		t.Helper()
		const inst = "mma.m16n8k8.f32.f16.f16.f32"
		x, err := devices.OpenUnit("sim:ampere", inst, "")
		if err != nil {
			t.Fatal(err)
		}
		y, err := devices.OpenUnit(b, inst, "")
		if err != nil {
			t.Fatal(err)
		}
		return NewPairChecker(devices.Pair{A: x, B: y, TargetA: "sim:ampere", TargetB: b, K: 8})
	}
	different, same := checker("sim:hopper"), checker("sim:ada")
	same.Counters = make([]byte, 256)
	found := 0
	for n, data := range same.Seeds() {
		for seed := range uint64(20) {
			if _, err := different.Check(data); err != nil {
				found++
			}
			if _, err := same.Check(data); err != nil {
				t.Errorf("%x: %v", data, err)
			}
			mutated := same.Mutate(data, seed)
			if !bytes.Equal(mutated, same.Mutate(data, seed)) {
				t.Errorf("seed %d mutates input %d to different ones", seed, n)
			}
			if _, dot := same.Decode(mutated); !bytes.Equal(same.Encode(dot), mutated) {
				t.Errorf("%x is not what its dot product is encoded as", mutated)
			}
			data = mutated
		}
	}
	if found == 0 {
		t.Error("no input shows the difference of ampere and hopper")
	}
	if n := len(same.Counters) - bytes.Count(same.Counters, []byte{0}); n < 50 {
		t.Errorf("%d of 256 counters are used", n)
	}
}
