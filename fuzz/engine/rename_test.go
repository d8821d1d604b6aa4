package engine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestRefutedDefect: the rule of a defect holds for all inputs but one in ten thousand, which a
// later epoch has. From then on nothing is called after it.
func TestRefutedDefect(t *testing.T) {
	i, err := mma.Lookup("ampere", "mma.m16n8k8.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		t.Fatal(err)
	}
	b := devices.Func(&mma.Instruction{Name: i.Name, K: i.K, Formats: i.Formats}, func(d *mma.Dot) uint64 {
		code := m.Dot(d, nil) | 1<<12
		if gen.Mix(d.C+gen.Mix(d.A[0]+d.B[0]<<16))%10_000 == 1 {
			code ^= 1 << 20
		}
		return code
	})
	a := pairsOf(t, "sim:ampere", "sim:ampere", i.Name, "")[0]
	dir := t.TempDir()
	cfg := Config{Pairs: []devices.Pair{{A: a.A, B: b, TargetA: "sim:ampere", TargetB: "b", K: i.K}}, Seed: 1, NoInfer: true, Effort: 1,
		Bundles: dir, Journal: filepath.Join(dir, JournalFile)}
	for _, tc := range []struct {
		count uint64
		names []string
	}{{4000, []string{"defect"}}, {30_000, []string{"unexplained"}}, {30_001, []string{"unexplained"}}} {
		cfg.Count = tc.count
		st := runCampaign(t, cfg).Pairs[0]
		if refuted := st.Verdict.Refuted != ""; refuted != (tc.names[0] == "unexplained") {
			t.Errorf("count %d: the rule that is said to be contradicted is %q", tc.count, st.Verdict.Refuted)
		}
		var names []string
		for _, b := range st.Sorted() {
			names = append(names, b.Name)
		}
		for _, f := range st.Findings {
			names = append(names, f.Bucket, strings.Split(f.Detail, ":")[0], f.Mismatch.Bucket)
			if (f.Mismatch.Defect != nil) != (f.Bucket == "defect") {
				t.Errorf("count %d: a finding in bucket %s with the defect %v", tc.count, f.Bucket, f.Mismatch.Defect)
			}
		}
		entries, err := os.ReadDir(filepath.Dir(st.Findings[0].Dir))
		if err != nil || len(entries) != len(st.Findings) {
			t.Errorf("count %d: %d bundles of %d findings, %v", tc.count, len(entries), len(st.Findings), err)
		}
		for _, e := range entries {
			names = append(names, strings.TrimRight(e.Name(), "-0123456789"))
		}
		slices.Sort(names)
		if names = slices.Compact(names); !slices.Equal(names, tc.names) {
			t.Errorf("count %d: %v, want %v", tc.count, names, tc.names)
		}
	}
}
