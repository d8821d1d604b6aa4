package probe_test

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// TestWeight probes units that multiply every product by a power of two: they say so, and give
// the answers and the summation tree of the units that do not.
func TestWeight(t *testing.T) {
	ask := func(i *mma.Instruction) (map[string]string, string) {
		u, err := simulated.Open(i)
		if err != nil {
			t.Fatal(err)
		}
		p := probe.New(t.Context(), u)
		all := map[string]string{}
		for _, paper := range probe.Papers {
			answers, err := p.Ask(paper.Key)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range answers {
				all[a.Paper+" "+a.ID] = a.Value
			}
		}
		tree, why := p.Tree()
		if tree == nil {
			return all, why
		}
		return all, tree.Formula(i.K)
	}
	for _, c := range []struct {
		arch, name string
		shift      mma.Exp
		want       string
	}{
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", -3, "every product is 1/8"},
		{"cdna3", "v_mfma_f32_16x16x16_bf16", 4, "every product is 16 times as large"},
		{"x86", "vdpbf16ps", -20, "every product is 2^-20 times as large"},
	} {
		i, err := mma.Lookup(c.arch, c.name)
		if err != nil {
			t.Fatal(err)
		}
		want, tree := ask(i)
		i.Params.Prod.Shift = c.shift
		got, itsTree := ask(i)
		if got["clfp product weight"] != c.want || itsTree != tree {
			t.Errorf("%s: %q, tree %s, want %s", c.name, got["clfp product weight"], itsTree, tree)
		}
		for id, value := range want {
			if got[id] != value {
				t.Errorf("%s: %s: %s, without the weight %s", c.name, id, got[id], value)
			}
		}
	}
}
