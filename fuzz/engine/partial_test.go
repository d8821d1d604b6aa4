package engine

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
)

// TestTwoFaults has units with a change of their model and a defect: both are causes, with findings
// of their own, even where the change explains few of the cases or the defect undoes it in some.
func TestTwoFaults(t *testing.T) {
	tier.SkipUnderRace(t)
	i, err := mma.Lookup("ampere", "mma.m16n8k8.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		change mma.Change
		brief  string
		label  triage.Label
		defect func(d *mma.Dot, code uint64) uint64
	}{
		{mma.Change{Path: "in.sub", To: "zero"}, "subnormal inputs keep→zero", triage.InputFTZ, func(_ *mma.Dot, code uint64) uint64 {
			if code&0x7fffff == 0x7fffff {
				return code - 1
			}
			return code
		}},
		{mma.Change{Path: "acc.mode", To: "rne"}, "rounding of the result toward zero→to nearest even", triage.OutputRounding, func(d *mma.Dot, code uint64) uint64 {
			if d.A[3]&0x3f == 0x2a {
				return code ^ 1<<22
			}
			return code
		}},
	}[:tier.Of(1, 1, 1, 2)] {
		other := i.Params
		if err := other.Apply([]mma.Change{tc.change}); err != nil {
			t.Fatal(err)
		}
		m, err := sim.New(i.Formats, i.K, other)
		if err != nil {
			t.Fatal(err)
		}
		b := devices.Func(&mma.Instruction{Name: "b", Formats: i.Formats, K: i.K}, func(d *mma.Dot) uint64 { return tc.defect(d, m.Dot(d, nil)) })
		a := pairsOf(t, "sim:ampere", "sim:ampere", i.Name, "")[0]
		st := runCampaign(t, Config{Pairs: []devices.Pair{{A: a.A, B: b, TargetA: "sim:ampere", TargetB: "b", K: i.K}}, Seed: 1, Count: 4000}).Pairs[0]
		if v := st.Verdict; !v.Partial || mma.Brief(v.Changes) != tc.brief || v.Explained == 0 || v.Explained == v.Differ {
			t.Errorf("%s: %+v", tc.brief, v)
		}
		for _, label := range []triage.Label{tc.label, triage.Defect} {
			of := func(f *finding.Case) bool { return f.Bucket == string(label) && f.Minimal }
			if st.Buckets[string(label)] == nil || !slices.ContainsFunc(st.Findings, of) {
				t.Errorf("%s: %s: no bucket or no finding", tc.brief, label)
			}
		}
	}
}
