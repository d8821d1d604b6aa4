package kernel

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// TestMutants holds that mutants are valid, differ from the kernel and from each other, leave
// it as it is, and have a label that is listed.
func TestMutants(t *testing.T) {
	for _, k := range schedule.Literature() {
		k = k.WithUnit(schedule.Unit{Op: "mul-add", Acc: fp.FP32})
		was := textOf(k)
		seen := map[string]bool{was: true}
		labels := map[string]bool{}
		for _, m := range Mutants(k) {
			text := textOf(m.Kernel)
			if err := m.Kernel.Validate(); err != nil || seen[text] {
				t.Errorf("%s, %s: %v, or it is there twice", k.Name, m.Words, err)
			}
			seen[text], labels[m.Label] = true, true
			if !slices.ContainsFunc(Labels, func(l [2]string) bool { return l[0] == m.Label }) {
				t.Errorf("%s, %s: the label %s is not listed", k.Name, m.Words, m.Label)
			}
		}
		if textOf(k) != was {
			t.Errorf("%s has changed", k.Name)
		}
		for _, l := range []string{"tail", "split-k", "k-order", "lanes"} {
			if !labels[l] {
				t.Errorf("%s has no mutant %s", k.Name, l)
			}
		}
	}
}

// TestTailMutants lists which fields of a tail have mutants.
func TestTailMutants(t *testing.T) {
	for into, want := range map[string][]string{"lane": {"front", "last", "reverse"}, "deal": {"front", "last"}, "after": {"front", "reverse"}} {
		k := &schedule.Kernel{Unit: &schedule.Unit{Op: "fma", Acc: fp.FP32}, Schedules: []schedule.Schedule{{Levels: []schedule.Level{
			{Cut: schedule.Cut{By: "lanes", N: 8}, Tail: &schedule.Tail{Of: 8, Into: into}, Merge: schedule.Merge{Order: "halves"}}}}}}
		var got []string
		for _, m := range Mutants(k) {
			for _, field := range []string{"front", "last", "reverse"} {
				if m.Field == "levels[0].tail."+field && m.Was == "false" && m.Value == "true" {
					got = append(got, field)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", into, got, want)
		}
	}
}

// TestScaleOrders holds that a product of scales may be one scale after the other, each product of
// which is rounded as that was.
func TestScaleOrders(t *testing.T) {
	step := func(op string) schedule.Step { return schedule.Step{Op: op, Format: fp.FP32} }
	orders := map[string][]schedule.Step{
		"the sum is multiplied by the scales: by their product":                {step("scale-ab")},
		"the sum is multiplied by the scales: by that of A, then by that of B": {step("scale-a"), step("scale-b")},
		"the sum is multiplied by the scales: by that of B, then by that of A": {step("scale-b"), step("scale-a")},
	}
	for was, steps := range orders {
		k := &schedule.Kernel{Unit: &schedule.Unit{Op: "fma", Acc: fp.FP32}, ScaleA: &schedule.Blocks{Lines: 1}, ScaleB: &schedule.Blocks{Lines: 1},
			Schedules: []schedule.Schedule{{}}, Epilogue: steps}
		got := map[string][]schedule.Step{was: steps}
		for _, m := range Mutants(k) {
			if orders[m.Words] != nil {
				got[m.Words] = m.Kernel.Epilogue
			}
		}
		if d := cmp.Diff(orders, got); d != "" {
			t.Errorf("%s: %s", was, d)
		}
	}
}

// TestDealsOut holds that another number of lanes is one of lanes, not of parts of K.
func TestDealsOut(t *testing.T) {
	kernel := func(by string, n int) *schedule.Kernel {
		return &schedule.Kernel{Unit: &schedule.Unit{Op: "fma", Acc: fp.FP32}, Schedules: []schedule.Schedule{{Levels: []schedule.Level{
			{Cut: schedule.Cut{By: by, N: n}, Merge: schedule.Merge{Order: "forward"}}}}}}
	}
	for by, want := range map[string]string{"lanes": "lanes", "count": "split-k"} {
		s := &Sides{kernels: [2]*schedule.Kernel{kernel(by, 8), kernel(by, 16)}}
		if s.Fields = fieldsOf(s.kernels[0], s.kernels[1]); s.Label() != want {
			t.Errorf("%s: %s", by, s.Label())
		}
	}
}
