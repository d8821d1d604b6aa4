package engine

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestNamesOf(t *testing.T) {
	for _, c := range []struct{ line, a, b, inst string }{
		{"sim:ampere mma.x | sim:hopper mma.x", "sim:ampere", "sim:hopper", "mma.x"},
		{"sim:hopper mma.x | sim:cdna3 v_mfma", "sim:hopper", "sim:cdna3", "mma.x ~ v_mfma"},
		{"exec:python3 a.py | tee log dot | ref:exact dot", "exec:python3 a.py | tee log", "ref:exact", "dot"},
		{"no pair", "no pair", "", ""},
		{"", "", "", ""},
	} {
		if a, b, inst := namesOf(c.line); a != c.a || b != c.b || inst != c.inst {
			t.Errorf("%q is %q, %q and %q, want %q, %q and %q", c.line, a, b, inst, c.a, c.b, c.inst)
		}
	}
}

// TestPastIncomplete holds that the journal of a campaign that was interrupted between two
// epochs, as by a kill, is told from a complete one.
func TestPastIncomplete(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cfg := Config{Pairs: openPairs(t, "sim:ampere", "sim:ada", "mma.m16n8k8.f32.f16.f16.f32"), Seed: 1, Count: 50_000, Workers: 1,
		Journal: filepath.Join(dir, JournalFile), Observe: &stopAfter{1, cancel}}
	for _, incomplete := range []bool{true, false} {
		c, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(ctx); err != nil {
			t.Fatal(err)
		}
		past, err := ReadPast(cfg.Journal)
		if err != nil {
			t.Fatal(err)
		}
		dots, mismatches, _ := past.State.Totals()
		if past.Incomplete != "" != incomplete || dots == 0 || dots < cfg.Count != incomplete || mismatches > 0 {
			t.Errorf("incomplete %q, want %v: %d of %d dot products, %d mismatches", past.Incomplete, incomplete, dots, cfg.Count, mismatches)
		}
		ctx, cfg.Observe = t.Context(), nil
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("a complete campaign has %v, %v", files, err)
	}
}
