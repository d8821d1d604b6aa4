package search

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

var (
	formats = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	base    = mma.TFDPA(4, 24, mma.To(fp.FP32, fp.RZ), -132)
)

// unitEvidence returns the results of a unit on inputs aimed at some programs.
func unitEvidence(t *testing.T, unit mma.Params, aims ...*mma.Params) *evidence.Evidence {
	t.Helper()
	e := evidence.New(change.Space{Formats: formats, K: 4}, oracle.Policy{})
	for round := range 2 {
		dots := gen.Probe(gen.Spec{Formats: formats, K: 4}, 1, round, aims...)
		c, err := e.Predicted(&unit, dots)
		if err != nil {
			t.Fatal(err)
		}
		e.Add("cases", dots, c.Want)
	}
	return e
}

// TestLevels has units one and two decisions away from a program.
func TestLevels(t *testing.T) {
	unit := base
	for n, decide := range []func(){
		func() { unit.Join.Align.F = 25 },
		func() { unit.Acc.Mode = fp.RNE },
	} {
		decide()
		e := unitEvidence(t, unit, &base, &unit)
		found, beam := Levels(t.Context(), e, NewBudget(e), []mma.Params{base}, n+1, change.Decisions)
		if !slices.Contains(found, unit) || len(beam) == 0 || beam[0] != base {
			t.Errorf("%d changes: found %v after %d programs", n+1, found, len(beam))
		}
		if found, _ := Levels(t.Context(), e, NewBudget(e), []mma.Params{base}, n, change.Decisions); len(found) > 0 {
			t.Errorf("%d changes: %v has fewer", n+1, found)
		}
	}
}

// TestExplore finds a unit several changes away, the same one with one worker and with three,
// and leaves off when its budget is spent or its context is done.
func TestExplore(t *testing.T) {
	unit := base
	unit.Join.Align.F, unit.Acc.Mode, unit.L = 29, fp.RU, 2
	e := unitEvidence(t, unit, &base, &unit)
	explore := func(ctx context.Context, b *Budget) *Search {
		s := New(e, b, rand.New(rand.NewPCG(1, 1)), AllSteps, base)
		s.Explore(ctx, 20)
		return s
	}
	before := e.Computed.Load()
	s := explore(t.Context(), NewBudget(e))
	all := e.Computed.Load() - before
	if left := s.Left(s.Best()); left > 0 {
		t.Fatalf("%d cases left with %s", left, &s.Best().P)
	}
	for _, e.Workers = range []int{1, 3} {
		if again := explore(t.Context(), NewBudget(e)); again.Best().P != s.Best().P {
			t.Errorf("with %d workers %s, before %s", e.Workers, &again.Best().P, &s.Best().P)
		}
	}

	b := NewBudget(e)
	var last Progress
	b.Doing, b.Show = "everything", func(p Progress) { last = p }
	b.Allow(all / 2)
	if s := explore(t.Context(), b); s.Left(s.Best()) == 0 || !b.Spent() {
		t.Error("half of what it takes is enough")
	}
	if last != (Progress{"everything", all / 2, all / 2}) {
		t.Errorf("progress %+v", last)
	}
	if part := b.Part(all); !part.Spent() {
		t.Error("a part of a budget that is spent is not spent")
	}
	short := NewBudget(e)
	short.AllowTime(time.Nanosecond)
	e.Explains(&base)
	if s := explore(t.Context(), short); len(s.nodes) != 1 || !short.timeSpent() {
		t.Errorf("%d programs without time", len(s.nodes))
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if s := explore(done, NewBudget(e)); len(s.nodes) != 1 {
		t.Errorf("%d programs in a search that is broken off", len(s.nodes))
	}
}

// TestPairsBudget tries two changes at once with little left of a budget: it ends soon after.
func TestPairsBudget(t *testing.T) {
	unit := base
	unit.Join.Align.F, unit.Acc.Mode, unit.L = 29, fp.RU, 2
	e := unitEvidence(t, unit, &base, &unit)
	const few = 100_000 // without a budget it takes pairEvals
	b := NewBudget(e)
	b.Allow(few)
	s := New(e, b, rand.New(rand.NewPCG(1, 1)), AllSteps, base)
	before := e.Computed.Load()
	if s.pairs(s.Best()); e.Computed.Load()-before > 3*few {
		t.Errorf("%d dot products with a budget of %d", e.Computed.Load()-before, few)
	}
}

// TestMostRight orders programs by the cases that they explain, and then by size.
func TestMostRight(t *testing.T) {
	unit, wider, other := base, base, base
	unit.Join.Align.F, other.Acc.Mode = 25, fp.RU
	wider = unit
	wider.Out = mma.To(fp.FP32, fp.RNE) // changes nothing, and is larger
	e := unitEvidence(t, unit, &base, &unit)
	if got := MostRight(e, []mma.Params{other, wider, base, unit, wider}, e.All(), 3); !slices.Equal(got[:2], []mma.Params{unit, wider}) || len(got) != 3 || got[2] == wider {
		t.Errorf("%v", got)
	}
}

func TestSubsets(t *testing.T) {
	for _, tc := range []struct {
		n, size int
		want    []uint32
	}{
		{3, 1, []uint32{1, 2, 4}},
		{3, 2, []uint32{3, 5, 6}},
		{4, 2, []uint32{3, 5, 6, 9, 10, 12}},
		{3, 3, []uint32{7}},
	} {
		if got := slices.Collect(Subsets(tc.n, tc.size)); !slices.Equal(got, tc.want) {
			t.Errorf("%d of %d: %v, want %v", tc.size, tc.n, got, tc.want)
		}
	}
}

// TestFewest has a condition that two sets meet: number 1 with 3, or 0 with 2 and 4.
func TestFewest(t *testing.T) {
	holds := func(set uint32) bool { return set&0b01010 == 0b01010 || set&0b10101 == 0b10101 }
	for n, want := range map[int]uint32{5: 0b01010, 14: 0b01010, 15: 0b01010, 30: 0b01010} {
		if got := Fewest(n, holds); got != want {
			t.Errorf("of %d: %b, want %b", n, got, want)
		}
	}
	// Without 0 nothing can be left out until 4 is.
	order := func(set uint32) bool { return set&1 != 0 || set&0b10000 != 0 }
	if got := LeaveOut(5, order); got != 1 {
		t.Errorf("%b is left", got)
	}
}
