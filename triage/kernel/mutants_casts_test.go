package kernel

import (
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// TestCastMutants lists which other values the fields of a cast have.
func TestCastMutants(t *testing.T) {
	k := &schedule.Kernel{Unit: &schedule.Unit{Op: "fma", Acc: fp.FP32, CastB: &schedule.Cast{Format: fp.TF32}}, Schedules: []schedule.Schedule{{}}}
	var got []string
	for _, m := range Mutants(k) {
		if field, ok := strings.CutPrefix(m.Field, "unit.cast_"); ok {
			got = append(got, field+" "+m.Value)
		}
	}
	want := []string{"b no cast", "b.format bf16", "b.format fp16", "b.format e5m2", "b.format e4m3", "b.round away", "b.round zero", "b.round drop", "b.saturate true"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCastLabels names the casts by which kernels differ.
func TestCastLabels(t *testing.T) {
	bf16, tf32 := &schedule.Cast{Format: fp.BF16}, &schedule.Cast{Format: fp.TF32}
	for _, c := range []struct {
		a, b  schedule.Unit
		words string
	}{
		{schedule.Unit{}, schedule.Unit{CastA: bf16, CastB: bf16}, "A and B are rounded to bf16"},
		{schedule.Unit{}, schedule.Unit{CastB: tf32}, "B is rounded to tf32"},
		{schedule.Unit{CastA: tf32}, schedule.Unit{CastA: &schedule.Cast{Format: fp.TF32, Round: "zero"}}, "A is rounded to zero"},
	} {
		z := &Fuzz{A: sideOf(t, "plain", ""), B: sideOf(t, "plain", ""), Seed: 1, Count: 64}
		for i, u := range []schedule.Unit{c.a, c.b} {
			side := []*Side{z.A, z.B}[i]
			u.Op, u.Acc = "fma", fp.FP32
			own := *side.Kernel
			own.Unit = &u
			side.Kernel = &own
			side.Unit, _ = u.Resolve()
		}
		f, err := z.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f.Differ == 0 || f.Answer.Label != "cast" || f.Answer.Words != c.words || f.Rest != 0 {
			t.Errorf("%d differ, %s: %s, want %s", f.Differ, f.Answer.Label, f.Answer.Words, c.words)
		}
	}
}
