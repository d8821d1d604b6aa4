package engine

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
)

// TestFindingsDiffer keeps several cases of each bucket: they are different cases.
func TestFindingsDiffer(t *testing.T) {
	pair := boxedPair(t, "hopper", "mma.m16n8k16.f32.f16.f16.f32", narrower)
	p := runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Generators: []string{"cut"}, Count: 4000, PerBucket: 100, MaxFindings: 100, Workers: 1}).Pairs[0]
	of := map[finding.CaseRef]int{}
	for _, f := range p.Findings {
		of[f.Origin]++
		if of[f.Origin] == 2 {
			t.Errorf("%v is a finding twice: %s-%d is the second", f.Origin, f.Bucket, f.Number)
		}
	}
	if len(p.Findings) < 2 {
		t.Errorf("%d findings", len(p.Findings))
	}
}
