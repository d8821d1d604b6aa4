package corpus

import "testing"

func TestDifferences(t *testing.T) {
	plan := func(seed uint64, counts ...uint64) *Plan {
		p := &Plan{Version: 1, Name: "p", Seed: seed, Entries: []PlanEntry{{Instructions: []string{"*"}}}}
		for _, n := range counts {
			p.Entries[0].Inputs = append(p.Entries[0].Inputs, PlanInput{"raw@1", n})
		}
		return p
	}
	for _, tc := range []struct {
		a, b *Plan
		want string
	}{
		{plan(1), plan(1), ""},
		{plan(1, 64, 32), plan(2, 64, 16), "seed: 1 and 2; entries[0].inputs[1].count: 32 and 16"},
		{plan(1, 64), plan(1, 64, 8), "entries[0].inputs[1]: none and {raw@1 8}"},
		{plan(1, 1, 2, 3, 4), plan(2, 5, 6, 7, 8), "seed: 1 and 2; entries[0].inputs[0].count: 1 and 5; entries[0].inputs[1].count: 2 and 6; 2 more"},
	} {
		if got := Differences(tc.a, tc.b); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
