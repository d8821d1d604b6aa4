package infer

import (
	"context"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// TestNearestKept ends an inference after a search that led to a worse program than the one
// before: the result is the best that the loop has met. Inputs that were chosen because a
// program was wrong on them do not count for it.
func TestNearestKept(t *testing.T) {
	unit := mma.TFDPA(4, 24, mma.To(fp.FP32, fp.RZ), 0)
	l, err := newLoop(newUnit(t, half, 4, unit), Options{})
	if err != nil {
		t.Fatal(err)
	}
	better, worse, worst := unit, unit, unit
	better.Acc.Mode = fp.RU
	worse.Join.Align.F = 23
	worst.Join.Align.F = 10
	g, err := gen.Find("normal")
	if err != nil {
		t.Fatal(err)
	}
	dots := generate(l.spec(), g, 1, 0, 400)
	c, err := l.Predicted(&unit, dots)
	if err != nil {
		t.Fatal(err)
	}
	l.Add("normal", dots, c.Want)
	right := func(p *mma.Params) []bool { return l.Hits(p, l.All()) }
	nearer, farther := right(&better), right(&worse)
	for i, d := range dots { // many copies of what the better program alone is wrong about
		if !nearer[i] && farther[i] {
			l.Add(refutations, slices.Repeat([]*mma.Dot{d}, 2000), slices.Repeat(c.Want[i:i+1], 2000))
			break
		}
	}
	if n := l.Counts([]mma.Params{better, worse}, l.All()); n[0] >= n[1] {
		t.Fatalf("right on %d of all evidence: the better program is not the one that is wrong on chosen inputs", n)
	}
	for _, ends := range [][]mma.Params{{better, worse}, {worst, better, worse}, {better, worst, worse}} {
		l.met, l.p, l.left = ends, worse, 7
		if p := l.nearest(); p != better {
			t.Errorf("%s", brief(&p))
		}
		// From there single changes lead to a program that explains everything.
		r, err := l.conclude(context.Background(), errBudget)
		if err != nil || r.Verdict != Exhausted || r.Left != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	l.met, l.p, l.left = []mma.Params{worse, better}, unit, 0 // simpler than what a search ended with
	if r, err := l.conclude(context.Background(), errBudget); err != nil || r.Params != unit {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestNearestOfSearch ends a search whose best program is one that fits close-ups: the nearest
// is the one that fits the other inputs, also if the search is broken off, and in all attempts
// after it.
func TestNearestOfSearch(t *testing.T) {
	unit := mma.TFDPA(4, 24, mma.To(fp.FP32, fp.RZ), 0)
	fits := unit
	fits.Acc.Mode = fp.RU
	for _, broken := range []bool{false, true} {
		l, err := newLoop(newUnit(t, half, 4, unit), Options{})
		if err != nil {
			t.Fatal(err)
		}
		g, err := gen.Find("normal")
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range map[string]*mma.Params{"normal": &unit, closeUpName: &fits} {
			n := 100
			if name == closeUpName {
				n = 1000
			}
			dots := generate(l.spec(), g, 1, 0, n)
			c, err := l.Predicted(p, dots)
			if err != nil {
				t.Fatal(err)
			}
			l.Add(name, dots, c.Want)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		if broken {
			stop()
		}
		if err := l.searched(ctx, "repair", 0, []mma.Params{fits, unit}); (err != nil) != broken {
			t.Fatal(err)
		}
		if !broken && l.p != fits {
			t.Errorf("the search goes on from %s", &l.p)
		}
		l.ends, l.earlier = nil, nil
		if near := l.nearest(); near != unit {
			t.Errorf("%s", &near)
		}
	}
}

// TestNearestIsPlain compares programs that are right on the same unbiased inputs: the nearest is the
// plainest one, not the one that was fitted to inputs that refuted others. If searches have met the
// fitted one alone, what only those inputs show is left out of it.
func TestNearestIsPlain(t *testing.T) {
	plain := mma.TFDPA(0, 24, mma.To(fp.FP32, fp.RZ), 0)
	fitted := plain
	fitted.In.Sub = mma.FlushSign
	for _, met := range [][]mma.Params{{fitted, plain}, {plain, fitted}, {fitted}} {
		l, dots, c := normalInputs(t, newUnit(t, half, 4, plain), Options{}, &plain)
		c.Want[7] ^= 1 // no program explains it
		l.Add("normal", dots, c.Want)
		small := mma.NewDot(l.Formats, l.K)
		small.A[0], small.B[0] = 1, 0x3c00 // a subnormal times 1
		n, err := l.Predicted(&fitted, []*mma.Dot{small})
		if err != nil {
			t.Fatal(err)
		}
		l.Add(refutations, slices.Repeat([]*mma.Dot{small}, 50), slices.Repeat(n.Want, 50))
		if r := l.Counts([]mma.Params{plain, fitted}, l.All()); r[0] >= r[1] {
			t.Fatalf("right on %d: the fitted program explains no more", r)
		}
		l.met, l.p, l.left = met, fitted, 1
		r, err := l.conclude(context.Background(), errBudget)
		if err != nil || r.Params != plain {
			t.Errorf("%d met: %s, %v", len(met), mma.Brief(mma.Diff(&plain, &r.Params)), err)
		}
	}
}

// TestNearestIsNotFitted gives a program that is right on all evidence, which happens to be inputs on
// which it is not wrong, and one that is wrong once there but never elsewhere: new inputs decide.
// They are within the queries and the time that are left.
func TestNearestIsNotFitted(t *testing.T) {
	plain := mma.TFDPA(0, 24, mma.To(fp.FP32, fp.RZ), 0)
	fitted := plain
	fitted.Join.Align.F = 22
	for _, o := range []Options{{}, {Queries: 4000}} {
		u := newUnit(t, half, 4, plain)
		l, dots, c := normalInputs(t, u, o, &plain)
		var alike, other []*mma.Dot
		var want []uint64
		for i, same := range l.Hits(&fitted, c) {
			if same {
				alike, want = append(alike, dots[i]), append(want, c.Want[i])
			} else {
				other = append(other, dots[i])
			}
		}
		if len(other) == 0 {
			t.Fatal("the programs do not differ")
		}
		wrong, err := l.Predicted(&fitted, other[:1])
		if err != nil {
			t.Fatal(err)
		}
		l.Add("normal", append(alike, other[0]), append(want, wrong.Want[0]))
		l.met, l.p = []mma.Params{plain, fitted}, fitted
		if p := l.nearest(); p != fitted {
			t.Fatalf("by the evidence %s is the nearest", brief(&p))
		}
		r, err := l.conclude(t.Context(), errBudget)
		if err != nil || r.Params != plain || r.Witness == nil {
			t.Errorf("%s, witness %v, %v", mma.Brief(mma.Diff(&plain, &r.Params)), r.Witness, err)
		}
		if asked := int(u.asked.Load()); o.Queries > 0 && asked > o.Queries {
			t.Errorf("%d asked of %d", asked, o.Queries)
		}
	}
}

// normalInputs begins an inference with ordinary inputs, and what a program makes of them.
func normalInputs(t *testing.T, u devices.Unit, o Options, p *mma.Params) (*loop, []*mma.Dot, *evidence.Cases) {
	t.Helper()
	l, err := newLoop(u, o)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gen.Find("normal")
	if err != nil {
		t.Fatal(err)
	}
	dots := generate(l.spec(), g, 1, 0, 400)
	c, err := l.Predicted(p, dots)
	if err != nil {
		t.Fatal(err)
	}
	return l, dots, c
}
