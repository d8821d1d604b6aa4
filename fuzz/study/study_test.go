package study

import (
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

func TestProto(t *testing.T) {
	for _, n := range []string{"ampere/mma.m16n8k16.f32.bf16.bf16.f32", "cdna3/v_mfma_f32_16x16x16_f16", "cdna2/v_mfma_f32_16x16x16f16", "hopper/mma.m16n8k16.f16.f16.f16.f16"} {
		var i *mma.Instruction
		for _, r := range mma.Catalog() {
			if r.FullName() == n {
				i = &r
				break
			}
		}
		singles := triage.Singles(i.Params, i.Formats, i.K)
		count := map[Result]int{}
		t0 := time.Now()
		for _, s := range singles {
			t1 := time.Now()
			o, err := Mutant(t.Context(), i, s.Params)
			if err != nil {
				t.Fatal(err)
			}
			count[o.Result]++
			if o.Result != Exact {
				var got []mma.Change
				var eq int
				if o.Verdict != nil {
					got = o.Verdict.Changes
					eq = len(o.Verdict.Equivalent)
				}
				t.Logf("%-12s %-20s %v got %v eq %d differ %d %v", o.Result, s.Knob, o.Mutant, got, eq, o.Differ, time.Since(t1))
			}
		}
		t.Log(n, len(singles), count, time.Since(t0))
	}
}
