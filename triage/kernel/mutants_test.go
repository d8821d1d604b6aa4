package kernel

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
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

// TestDroppedAround drops the last products of all, though others that are left over have a place within a level.
func TestDroppedAround(t *testing.T) {
	const lanes = `{"cut": {"by": "lanes", "n": 8}, "tail": {"of": 8, "into": "apart"}, "merge": {"order": "halves"}}`
	a, b := sideOf(t, "", lanes), sideOf(t, "", `{"cut": {"by": "size", "n": 65536}, "tail": {"of": 2, "into": "drop"}, "merge": {"order": "chain"}}, `+lanes)
	if !slices.ContainsFunc(Mutants(a.Kernel), func(m Mutant) bool {
		return m.Label == "tail" && m.Words == "the last products (K mod 2) are dropped" && sameFunction(m.Kernel, b.Kernel)
	}) {
		t.Error("there is none")
	}
}

// TestDiverge names the first sum whose value is another than before, not one to which nothing was added.
func TestDiverge(t *testing.T) {
	a, b := sideOf(t, "naive", ""), sideOf(t, "", `{"cut": {"by": "size", "n": 4}, "merge": {"order": "forward"}}`)
	o := &gemm.Operands{Shape: schedule.Shape{M: 1, N: 1, K: 8}}
	for _, v := range []float32{2048, 0, 0, 0, 0, 3, 1, 1} {
		o.A, o.B = binary.LittleEndian.AppendUint32(o.A, math.Float32bits(v)), binary.LittleEndian.AppendUint32(o.B, math.Float32bits(1))
	}
	const want = "45003000 = 2051 (k 0..7, up to k 5, 6 products), which the other does not form; before it both have 45000000 = 2048 (k 0..7, up to k 3, 4 products)"
	got, err := Diverge(t.Context(), [2]*schedule.Kernel{a.Kernel, b.Kernel}, o, [2]int{}, [2]gemm.Options{})
	if err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
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
