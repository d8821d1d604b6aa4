package infer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestConforms gives units that RISC-V's manual allows, and some that it does not.
func TestConforms(t *testing.T) {
	row := program(t, "riscv", "vfwdota.vv")
	odd := mma.To(fp.FP32, fp.RTO)
	pairs := mma.Stage{Sum: mma.Pairwise, Round: odd}
	sets := func(n uint8, f mma.Frac) mma.Params {
		p := row
		p.Stage0.Group, p.Stage0.Align.F, p.Stage1 = n, f, pairs
		return p
	}
	for _, tc := range []struct {
		name string
		p    mma.Params
		want string
	}{
		{"Spike", row, ""}, // it is the row itself
		{"sets of 4", sets(4, 25), "sets of 4 added one after the other, then c"}, // there are two sets
		{"sets of 2", sets(2, 24), "sets of 2 added in pairs, then c"},
		{"a guard bit too many", sets(4, 26), ""},
		{"a chain of exact products", mma.Params{L: 1, Acc: odd, Special: mma.Special{NaN: mma.NaNQuiet}}, "exact products added to c one after the other"},
		{"fused multiply-adds to nearest", mma.Params{L: 1, Acc: mma.To(fp.FP32, fp.RNE), Special: mma.Special{NaN: mma.NaNQuiet}}, ""},
	} {
		r := &Result{Formats: mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}, K: 8, Params: tc.p}
		c, err := r.compare(1)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if tc.want != "" {
			want = []string{"riscv/vfwdota.vv with " + tc.want, "riscv/vfwbdota.vv with " + tc.want}
		}
		if diff := cmp.Diff(want, r.conforms(c)); diff != "" {
			t.Errorf("%s:\n%s", tc.name, diff)
		}
	}
}

// TestInferConforming infers conforming units.
func TestInferConforming(t *testing.T) {
	i, err := mma.Lookup("riscv", "vfwdota.vv")
	if err != nil {
		t.Fatal(err)
	}
	all := variants(i)
	for n := 0; n < tier.Of(0, 0, len(all)); n += tier.Of(1, 1, len(all), 24) {
		r, err := Infer(t.Context(), newUnit(t, i.Formats, i.K, all[n].params), Options{Seed: 1, Checks: 2000})
		if err != nil {
			t.Fatal(err)
		}
		c, err := r.compare(1)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.conforms(c); r.Verdict != Found || len(got) != 2 {
			t.Errorf("%s: %s, %q; %s", all[n].choice, r.Verdict, got, mma.Brief(mma.Diff(&all[n].params, &r.Params)))
		}
	}
}
