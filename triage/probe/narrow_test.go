package probe_test

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// TestNarrowResults rounds the sums of units to narrow results: what these hide of the sums is not decided.
func TestNarrowResults(t *testing.T) {
	for _, c := range []struct {
		arch, name string
		d          fp.ID
		mode       fp.Mode
		want       map[string]string // the answer, or a part of the reason for none
	}{
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", fp.E5M2, fp.RNE, map[string]string{
			"3.1.4 extra bits": "23", "3.1.4 carry": "too few bits", "Step 4": "too few bits", "T_prod": "so few bits", "zero exponent": "at most 2^-16",
			"3.1.2 roundings": "too few bits to show", "3.1.2 order": "too few bits to show", "3 F": "25"}},
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", fp.E4M3, fp.RZ, map[string]string{
			"3 F": "at least 9", "3.1.2 order": "exact as far as e4m3 shows", "2 order": "{c p0..p15}"}},
		{"cdna3", "v_mfma_f32_32x32x8_f16", fp.FP16, fp.RNE, map[string]string{"3.1.2 order": "too few bits to show", "3.1.2 roundings": "too few bits to show", "3 F": "24"}},
		{"cdna1", "v_mfma_f32_32x32x4f16", fp.BF16, fp.RZ, map[string]string{"Step 3": "rounded to nearest before"}},
		{"x86", "vdpbf16ps", fp.FP16, fp.RZ, map[string]string{
			"Step 3": "rounded to nearest before", "3.1.2 order": "more bits than results", "T_blk_fma_width": "never lost", "2 order": "((p1 + c) + p0)"}},
		{"x86", "vdpbf16ps", fp.E4M3, fp.RNE, map[string]string{"T_blk_fma_width": "never lost", "2 L": "no two numbers", "3.1.2 order": "more bits than results"}},
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", fp.FP16, fp.RZ, map[string]string{"Step 3": "yes", "3.1.4 carry": ">= 4", "T_prod": "RZ"}},
	} {
		i, err := mma.Lookup(c.arch, c.name)
		if err != nil {
			t.Fatal(err)
		}
		n := *i
		n.D, n.Params.Out = c.d, mma.To(c.d, c.mode)
		m, err := sim.New(n.Formats, n.K, n.Params)
		if err != nil {
			t.Fatal(err)
		}
		p := probe.New(t.Context(), unit{i: &n, m: m})
		for _, paper := range probe.Papers {
			answers, err := p.Ask(paper.Key)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range answers {
				if want := c.want[a.ID]; want != "" && a.Value != want && (a.Value != "-" || !strings.Contains(a.Why, want)) {
					t.Errorf("%s, %s in %s: %s: %s (%s), want %s", c.name, c.mode, c.d, a.ID, a.Value, a.Why, want)
				}
			}
		}
	}
}
