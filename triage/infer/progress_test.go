package infer

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestProgressText has the line of each state.
func TestProgressText(t *testing.T) {
	best := mma.FMA(fp.FP64)
	for _, c := range []struct {
		p    Progress
		want string
	}{
		{Progress{Phase: asking, Queries: 400, Batches: 2}, "asking first questions  400 queries in 2 batches  no program yet"},
		{Progress{Phase: searching, Best: &best, Left: 7}, "searching for a program  0 queries in 0 batches  best so far: fma(rne-fp64), wrong in 7 cases"},
		{Progress{Phase: searching, Repairs: 1, Best: &best, Refuted: true}, "searching for a program  0 queries in 0 batches  1 refuted  refuted: fma(rne-fp64)"},
		{Progress{Phase: searching, Best: &mma.Params{}, Left: 7, Spent: 12}, "searching for a program, 12 % of the effort  0 queries in 0 batches  best so far: a program without a name, wrong in 7 cases"},
		{Progress{Phase: validating, Repairs: 2, Best: &best}, "validating  0 queries in 0 batches  2 refuted  right so far: fma(rne-fp64)"},
	} {
		if got := c.p.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestProgress checks that the phases are told in order, with what was found last.
func TestProgress(t *testing.T) {
	var phases []string
	var last Progress
	r := inferred(t, volta(t), Options{Show: func(p Progress) {
		if !slices.Contains(phases, p.Phase) {
			phases = append(phases, p.Phase)
		}
		last = p
	}})
	if want := []string{asking, searching, challenging, rulingOut, validating}; !slices.Equal(phases, want) {
		t.Errorf("%q", phases)
	}
	if last.Best == nil || *last.Best != r.Params || last.Left != 0 || last.Refuted || last.Queries != r.Stats.Queries || last.Batches != r.Stats.Batches {
		t.Errorf("%+v, the result %+v", last, r.Stats)
	}
}

// TestProgressKeepsBest checks that a search which leads to a worse program than one before
// does not replace that in what is shown, until an answer refutes both.
func TestProgressKeepsBest(t *testing.T) {
	var last Progress
	worse := mma.FMA(fp.FP32)
	l := &loop{unit: &asker{}, phase: searching, show: func(p Progress) { last = p }, ends: []mma.Params{worse}, p: worse, left: 9}
	l.best = &best{mma.FMA(fp.FP64), 4}
	if l.progress(); *last.Best != l.best.p || last.Left != 4 || last.Refuted {
		t.Errorf("%+v", last)
	}
	l.best, l.left = nil, 0
	if l.progress(); *last.Best != worse || !last.Refuted {
		t.Errorf("%+v", last)
	}
}
