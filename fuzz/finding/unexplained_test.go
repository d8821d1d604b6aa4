package finding

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// TestEnded: where the search for a defect has ended at its budget, no longer campaign is promised to
// find more, which it need not.
func TestEnded(t *testing.T) {
	a, err := devices.OpenUnit("sim:ampere", "mma.m16n8k8.f32.f16.f16.f32", "")
	if err != nil {
		t.Fatal(err)
	}
	i := a.Instruction()
	b := devices.Func(&mma.Instruction{Name: i.Name, Formats: i.Formats, K: i.K}, func(*mma.Dot) uint64 { return 0 })
	pair := devices.Pair{A: a, B: b, TargetA: "sim:ampere", TargetB: "exec:x", K: i.K}
	f := Finder{Options: Options{Pairs: []devices.Pair{pair}}, pairs: []*Pair{NewPair(pair, nil, nil)}}
	for ended, want := range map[bool]string{true: " does. The search for a defect has ended at its budget: there may be one under a condition that was not tried.", false: " does."} {
		u := f.Unexplained(0, &triage.Verdict{Ended: ended, Labels: []triage.Label{triage.Unexplained}})
		if u == nil || !strings.HasSuffix(u.Why, want) || len(u.Next) != 1 {
			t.Errorf("%v: %+v", ended, u)
		}
	}
}

// TestNearestNaN: the code of a program's NaN is said only where codes are compared.
func TestNearestNaN(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	for _, tc := range []struct {
		nan   oracle.Strictness
		would uint64
		want  string
	}{
		{oracle.ByClass, 0x7fffffff, "a NaN"}, {oracle.Bits, 0x7fffffff, "7fffffff"}, {oracle.ByClass, 0x7f800000, "7f800000"},
	} {
		n := &triage.Nearest{Witness: triage.Case{Dot: mma.NewDot(f, 1), Want: 0}, Would: tc.would}
		if got := nearestOf(n, "", "u", f, oracle.Policy{NaN: tc.nan}).Program; got != tc.want {
			t.Errorf("NaN %v: %x is %q, want %q", tc.nan, tc.would, got, tc.want)
		}
	}
}
