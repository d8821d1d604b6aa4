package study

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// TestInfer infers a few units that are quick to infer: of the catalogue and made up,
// with seeds that found mistakes.
func TestInfer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	var units []mma.Instruction
	for _, name := range []string{"volta/mma.m8n8k4.f16.f16.f16.f16", "cdna2/v_mfma_f32_16x16x8bf16", "x86/vdpbf16ps", "zen4/dppd"} {
		i, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		units = append(units, *i)
	}
	units = append(units, MadeUpUnits(33, 2)...)
	n := 0
	err := Infer(t.Context(), units, infer.Options{Seed: 1, Checks: 2000, Workers: 1}, 4096, func(i *Inference) {
		n++
		if !i.Recovered() {
			t.Errorf("%s: %s, differs in %q; found %s", i.Unit, i.Verdict, i.Differ, mma.Brief(mma.Diff(&i.True, &i.Found)))
		}
	})
	if err != nil || n != len(units) {
		t.Errorf("%d of %d units, %v", n, len(units), err)
	}
}
