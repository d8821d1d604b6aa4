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
	"github.com/mmafuzz/mmafuzz/triage/infer"
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

// TestNearestInferredByClass: the code of a NaN that a program gives is not said to be that of a side whose program was
// inferred by class.
func TestNearestInferredByClass(t *testing.T) {
	i := &mma.Instruction{Name: "fma", K: 1, Formats: mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.BF16, D: fp.BF16}}
	program := mma.FMA(fp.BF16)
	unit := func() devices.Unit { return devices.Func(i, func(*mma.Dot) uint64 { return 0x7fc0 }) }
	pair := devices.Pair{A: unit(), B: unit(), TargetA: "python:g", TargetB: "python:f", K: 1}
	for _, tc := range []struct {
		byClass bool
		would   uint64
		want    string
	}{
		{true, 0x7fff, "a NaN"},
		{false, 0x7fff, "7fff"},
		{true, 0x7f80, "7f80"},
	} {
		p := NewPair(pair, nil, nil)
		p.Policy.NaN = oracle.Bits
		p.Learn([]Inferred{{Side: "a", Verdict: infer.Found, Params: &program, ByClass: tc.byClass}})
		f := Finder{Options: Options{Pairs: []devices.Pair{pair}}, pairs: []*Pair{p}}
		near := &triage.Nearest{Program: program, Differ: 1, Witness: triage.Case{Dot: mma.NewDot(i.Formats, 1)}, Would: tc.would}
		u := f.Unexplained(0, &triage.Verdict{Labels: []triage.Label{triage.Unexplained}, Nearest: near})
		if u == nil || u.Nearest == nil || u.Nearest.Program != tc.want || u.Nearest.From != "python:g" {
			t.Errorf("%+v: %+v", tc, u)
		}
	}
}
