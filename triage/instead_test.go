package triage_test

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
)

// TestInstead has units that flush. Each nonzero product of FP16 is a normal number in FP32, so a
// subnormal result is a subnormal c: whether a unit flushes the one or the other no input tells. Products of
// BF16 can be subnormal, and tell it.
func TestInstead(t *testing.T) {
	tier.SkipUnderRace(t)
	const bf16 = "hopper/mma.m16n8k16.f32.bf16.bf16.f32"
	for _, tc := range []struct {
		inst, set, generator string
		ask                  bool
		instead              string // "": nothing
	}{
		{hopper16, "acc.flush=before", "zero", true, "acc.flush keep→before"},
		{hopper16, "acc.flush=before", "zero", false, "acc.flush keep→after"},
		{hopper16, "in.c=zero", "zero", true, "acc.flush keep→before"},
		{hopper16, "join.align.f=24", "cut", true, ""},
		{bf16, "acc.flush=before", "zero", true, ""},
		{bf16, "in.c=zero", "zero", true, ""},
		{bf16, "in.c=zero", "zero", false, ""},
	} {
		a := find(t, tc.inst)
		r := &regression{a: a, b: changed(t, a, tc.set)}
		pr := evidence(t, r, tc.generator, 3000)
		if tc.ask {
			pr = answering(t, r, pr)
		}
		v := explain(t, pr)
		var got string
		for _, e := range v.Instead(v.Changes, false) {
			got += changeText(e)
		}
		if !v.Complete() || got != tc.instead {
			t.Errorf("%s %s, asked %t: %s, or %q, want %q", tc.inst, tc.set, tc.ask, changeText(v.Changes), got, tc.instead)
		}
		if turned := v.Instead(v.Changes, true); tc.instead == "acc.flush keep→before" && changeText(turned[0]) != "acc.flush before→keep" {
			t.Errorf("%s %s: turned it is %s", tc.inst, tc.set, changeText(turned[0]))
		}
	}
}

// TestStillEquivalent has a case that contradicts one of two equivalent changes.
func TestStillEquivalent(t *testing.T) {
	a := find(t, hopper16)
	r := &regression{a: a, b: changed(t, a, "join.align.f=24")}
	pr := evidence(t, r, "cut", 200)
	right, wrong := []mma.Change{{Path: "join.align.f", From: "25", To: "24"}}, []mma.Change{{Path: "l", From: "16", To: "8"}}
	v := &triage.Verdict{Equivalent: [][]mma.Change{wrong, right}, Same: 2}
	triage.StillEquivalent(pr, v)
	if len(v.Equivalent) != 1 || !slices.Equal(v.Equivalent[0], right) || v.Same != 1 {
		t.Errorf("left: %v, %d the same", v.Equivalent, v.Same)
	}
}
