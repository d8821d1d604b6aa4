package kernel

import (
	"slices"
	"testing"

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
