package engine

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestAgainst has a conversion to E4M3 that saturates below 480 and gives NaN from there on. All inputs that
// differ from a conversion that always saturates are explained by one that never does: it is those between
// 464 and 480, on which both agree, that speak against it.
func TestAgainst(t *testing.T) {
	tier.SkipUnderRace(t)
	a := pairsOf(t, "sim:ada", "sim:ada", "cvt.rn.satfinite.e4m3x2.f32", "")[0].A
	i := a.Instruction()
	m, err := sim.New(i.Formats, i.K, i.Params)
	if err != nil {
		t.Fatal(err)
	}
	const least, most, nan = 0x43f00000, 0x7f800000, 0x7f // 480 and infinity
	b := devices.Func(&mma.Instruction{Name: "b", Formats: i.Formats, K: i.K}, func(d *mma.Dot) uint64 {
		code := m.Dot(d, nil)
		if size := d.A[0] &^ (1 << 31); size >= least && size <= most {
			code |= nan
		}
		return code
	})
	st := runCampaign(t, Config{Pairs: []devices.Pair{{A: a, B: b, TargetA: "sim:ada", TargetB: "b", K: i.K}}, Seed: 1, Count: 30_000}).Pairs[0]
	if !st.Verdict.Complete() {
		return
	}
	claimed, err := sim.New(i.Formats, st.Verdict.K, st.Verdict.Program)
	if err != nil {
		t.Fatal(err)
	}
	in := mma.NewDot(i.Formats, i.K)
	in.A[0] = 0x43e90000 // 466
	if got := claimed.Dot(in, nil); got == nan {
		t.Errorf("the unit is said to compute %x of 466, where it computes %x: %s", got, m.Dot(in, nil), mma.Brief(st.Verdict.Changes))
	}
}
