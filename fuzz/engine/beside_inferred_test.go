package engine

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// lanesWithDefect is a pair of units of which nothing is known: one adds a chain, the other one with four
// accumulators, and a bit of its result is wrong for some operands.
func lanesWithDefect(t testing.TB, wrong func(d *mma.Dot, code uint64) uint64) devices.Pair {
	t.Helper()
	i := &mma.Instruction{Name: "dot", K: 8, Formats: mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}}
	chain := mma.FMA(fp.FP32)
	lanes := chain
	lanes.Lanes, lanes.Late, lanes.Start = 4, mma.To(fp.FP32, fp.RNE), mma.StartEmpty
	of := func(p mma.Params) *sim.Model {
		m, err := sim.New(i.Formats, i.K, p)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a, b := of(chain), of(lanes)
	return devices.Pair{TargetA: "a", TargetB: "b", K: i.K,
		A: devices.Func(i, func(d *mma.Dot) uint64 { return a.Dot(d, nil) }),
		B: devices.Func(i, func(d *mma.Dot) uint64 { return wrong(d, b.Dot(d, nil)) })}
}

// TestDefectBesideInferred compares two black boxes that differ in the order of their sums and in a defect of
// one of them, which no program explains: its nearest program, with the defect beside it, does. Where nothing
// else does, as for two programs by turns, none is claimed. A resumed campaign finds the same.
func TestDefectBesideInferred(t *testing.T) {
	tier.SkipUnderRace(t)
	inverted := func(d *mma.Dot, code uint64) uint64 {
		if d.A[3]&0x3f == 0x2a && code&0x7f800000 != 0x7f800000 {
			return code ^ 1<<22
		}
		return code
	}
	const rule = "bit 22 of the result is inverted where in product 3 the result is finite and the low 6 bits of the fraction of a are 2a"
	byTurns := func(d *mma.Dot, code uint64) uint64 {
		if (d.A[0]^d.A[1]*3^d.B[0]*5)>>3%2 == 0 && code&0x7f800000 != 0x7f800000 {
			return code ^ d.A[1]&0xf
		}
		return code
	}
	for _, tc := range []struct {
		wrong   func(d *mma.Dot, code uint64) uint64
		turned  bool
		brief   string
		rule    string
		buckets []string
	}{
		{inverted, false, "accumulators in turn 1→4, first step begins with c→empty, rounding of additions after the last step none→23 bits to nearest even", rule,
			[]string{"accumulate-placement", "summation-order", "defect"}},
		{inverted, true, "accumulators in turn 1→4, first step begins with c→empty, rounding of additions after the last step none→23 bits to nearest even", rule,
			[]string{"accumulate-placement", "summation-order", "defect"}},
		{byTurns, false, "", "", []string{"unexplained"}},
	}[:tier.Of(1, 1, 3)] {
		p := lanesWithDefect(t, tc.wrong)
		if tc.turned {
			p.A, p.B = p.B, p.A
		}
		cfg := Config{Pairs: []devices.Pair{p}, Seed: 1, Count: 6000}
		whole := runCampaign(t, cfg)
		st := whole.Pairs[0]
		got := ""
		if d := st.Verdict.Defect; d != nil {
			got = d.String()
		}
		var buckets []string
		for _, b := range st.Sorted() {
			buckets = append(buckets, b.Name)
		}
		if diff := cmp.Diff(tc.buckets, buckets); diff != "" || got != tc.rule || mma.Brief(st.Verdict.Changes) != tc.brief {
			t.Errorf("turned %v: %q, %q, %s", tc.turned, got, mma.Brief(st.Verdict.Changes), diff)
		}
		for _, r := range st.Inferred {
			if ofDefect := (r.Side == "a") == tc.turned; ofDefect && (r.Verdict != infer.Unexplained || r.Nearest == nil) {
				t.Errorf("turned %v: %+v", tc.turned, r)
			}
		}
		if tier.Of(false, false, true) {
			cfg.Journal = filepath.Join(t.TempDir(), JournalFile)
			for _, cfg.Count = range []uint64{4096, 6000} { // an epoch, then the rest
				if diff := cmp.Diff(causesText(whole), causesText(runCampaign(t, cfg))); cfg.Count == 6000 && diff != "" {
					t.Error(diff)
				}
			}
		}
	}
}
