package triage_test

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// TestAnyValue has units that differ in a value that no decision leads to, and in two.
func TestAnyValue(t *testing.T) {
	tier.SkipUnderRace(t)
	for n, tc := range []struct{ inst, set, label string }{
		{hopper16, "acc.emax=126", "overflow"},
		{hopper16, "l=3", "fusion-width"},
		{hopper16, "prod.round.emin=-20 prod.round.flush=before", "output-ftz+product-handling"},
		{hopper16, "prod.round.frac=10 prod.round.mode=rne prod.round.emin=-14 prod.round.emax=15", "product-handling"},
		{hopper16, "acc.emin=-100", "zero-exponent"}, // the same function as with e_zero -98
		{ampere16, "join.align.floor=-10", "zero-exponent"},
		{"hopper/mma.m16n8k16.f32.bf16.bf16.f32", "join.align.floor=-40", "zero-exponent"},
		{ampere16, "join.cdrop=12", "special-truncation"},
		{hopper16, "lanes=4 late.frac=23 late.mode=rne late.emin=-126 late.emax=127", "summation-order"},
		{hopper16, "acc.emax=100 l=5", "fusion-width+overflow"},
		{hopper16, "join.cdrop=9 join.align.f=31 acc.mode=ru", ""},
		{hopper16, "in.narrowc.frac=10 in.naninf=true", ""}, // the second shows in few cases beside the first
		{hopper16, "out.frac=9 out.mode=rne out.emin=-126 out.emax=127 out.flush=result", ""},
		{hopper16, "stage0.sum=sequential stage0.fixed=true", ""},
		{hopper16, "join.align.f=60 join.align.mode=rd join.align.bits=59", ""},
	} {
		if n >= tier.Of(1, 1, 5, 100) {
			break
		}
		r := &regression{a: find(t, tc.inst)}
		r.b = changed(t, r.a, tc.set)
		pr := answering(t, r, evidence(t, r, "cut", 800))
		for _, g := range []string{"huge", "tiny", "floor", "spread", "raw", "corner"} {
			more := evidence(t, r, g, 200)
			pr.Differ, pr.Agree = append(pr.Differ, more.Differ...), append(pr.Agree, more.Agree...)
		}
		most := int64(0)
		pr.Questions, pr.Effort = infer.Questions, triage.DefaultEffort
		pr.Progress = func(p triage.Progress) {
			if p.Computed < 0 || p.Computed > p.Most || p.Doing == "" {
				t.Errorf("%s: %+v", tc.set, p)
			}
			most = max(most, p.Computed)
		}
		v := explain(t, pr)
		t.Logf("%s: %s (%s), %d million computed, %d asked", tc.set, changeText(v.Changes), triage.Join(v.Labels), most/1_000_000, v.Asked)
		if !v.Found() || v.Program != r.b.Params && tc.label != "" && triage.Join(v.Labels) != tc.label {
			t.Errorf("%s %s: %s (%s)", tc.inst, tc.set, changeText(v.Changes), triage.Join(v.Labels))
		}
	}
}
