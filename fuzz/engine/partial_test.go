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

// TestTwoFaults has a unit with a change of its model and a defect: both are
// causes, with findings of their own.
func TestTwoFaults(t *testing.T) {
	tier.SkipUnderRace(t)
	i, err := mma.Lookup("ampere", "mma.m16n8k8.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	other := i.Params
	if err := other.Apply([]mma.Change{{Path: "acc.mode", To: "rne"}}); err != nil {
		t.Fatal(err)
	}
	m, err := sim.New(i.Formats, i.K, other)
	if err != nil {
		t.Fatal(err)
	}
	b := devices.Func(&mma.Instruction{Name: "b", Formats: i.Formats, K: i.K}, func(d *mma.Dot) uint64 {
		if code := m.Dot(d, nil); d.A[3]&0x3f != 0x2a {
			return code
		}
		return m.Dot(d, nil) ^ 1<<22
	})
	a := pairsOf(t, "sim:ampere", "sim:ampere", i.Name, "")[0]
	st := runCampaign(t, Config{Pairs: []devices.Pair{{A: a.A, B: b, TargetA: "sim:ampere", TargetB: "b", K: i.K}}, Seed: 1, Count: 4000}).Pairs[0]
	if v := st.Verdict; !v.Partial || mma.Brief(v.Changes) != "rounding rz→rne" || 2*v.Explained < v.Differ || v.Explained == v.Differ {
		t.Errorf("%+v", v)
	}
	for _, label := range []triage.Label{triage.OutputRounding, triage.Defect} {
		of := func(f *finding.Case) bool { return f.Bucket == string(label) && f.Minimal }
		if st.Buckets[string(label)] == nil || !slices.ContainsFunc(st.Findings, of) {
			t.Errorf("%s: no bucket or no finding", label)
		}
	}
}
