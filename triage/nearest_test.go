package triage

import (
	"context"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestWitnessAsked checks that a program which is right in all cases of a campaign, and wrong
// only in one that the search has asked, is shown with that one.
func TestWitnessAsked(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	base := mma.TFDPA(1, 25, mma.To(fp.FP32, fp.RZ), -133)
	pr := &Unknown{Formats: f, K: 1, Base: base}
	s := newExplainer(pr)
	one := &mma.Dot{A: []uint64{0x3c00}, B: []uint64{0x3c00}}
	two := &mma.Dot{A: []uint64{0x4000}, B: []uint64{0x3c00}}
	s.ev.Add("cases", []*mma.Dot{one}, []uint64{0x3f800000})
	s.ev.Add("asked", []*mma.Dot{two}, []uint64{0x40000001})
	n := &Nearest{Program: base}
	if _, err := s.shrinkFailure(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if n.Witness.Dot != two || n.Witness.Want != 0x40000001 || n.Would != 0x40000000 {
		t.Errorf("witness %+v, would be %x", n.Witness, n.Would)
	}
}

// TestNear has a program that explains 3 of 30 cases and breaks 15 of 296 others: the base
// itself is shown instead.
func TestNear(t *testing.T) {
	for _, c := range []struct {
		n    Nearest
		want bool
	}{
		{Nearest{Differ: 30, Explained: 3, Agree: 296, Kept: 281}, false},
		{Nearest{Differ: 30, Explained: 14, Agree: 296, Kept: 296}, false},
		{Nearest{Differ: 30, Explained: 30, Agree: 296, Kept: 147}, false},
		{Nearest{Differ: 30, Explained: 15, Agree: 296, Kept: 148}, true},
		{Nearest{Differ: 30, Explained: 29}, true},
	} {
		if got := c.n.near(); got != c.want {
			t.Errorf("%+v: %v", c.n, got)
		}
	}
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	base := mma.TFDPA(1, 25, mma.To(fp.FP32, fp.RZ), -133)
	s := newExplainer(&Unknown{Formats: f, K: 1, Base: base})
	up := base
	up.Acc.Mode = fp.RU // right in the first case alone
	one := func(c uint64) *mma.Dot { return &mma.Dot{A: []uint64{0x3c00}, B: []uint64{0x3c00}, C: c} }
	for i, want := range []uint64{0x3f800001, 0x3fffffff, 0x3fffffff} {
		s.ev.Add("cases", []*mma.Dot{one(0x30000000 + uint64(i))}, []uint64{want})
	}
	s.leaders = []mma.Params{up}
	if n := s.nearest(); n.Program != base || n.Explained != 0 || n.Differ != 3 {
		t.Errorf("%+v", n)
	}
}

// TestNearestUntested has a program that is right in all cases, and which the search has not put to
// the test before it ended: the unit is asked, and what contradicts the program is shown. Of a
// unit that cannot be asked nothing is said.
func TestNearestUntested(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	base := mma.TFDPA(1, 25, mma.To(fp.FP32, fp.RZ), -133)
	up := base
	up.Acc.Mode = fp.RU
	m, err := sim.New(f, 1, base)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(_ context.Context, dots []*mma.Dot) ([]uint64, error) {
		out := make([]uint64, len(dots))
		for i, d := range dots {
			out[i] = m.Dot(d, nil)
		}
		return out, nil
	}
	one := Case{&mma.Dot{A: []uint64{0x3c00}, B: []uint64{0x3c00}, C: 0x30000000}, 0x3f800001}
	for _, c := range []struct {
		ask  func(context.Context, []*mma.Dot) ([]uint64, error)
		want bool
	}{{ask, true}, {nil, false}} {
		pr := &Unknown{Formats: f, K: 1, Base: base, Differ: []Case{one}, Ask: c.ask, Length: 1}
		s := newExplainer(pr)
		s.leaders = []mma.Params{up}
		v := s.verdict(nil)
		if err := s.withNearest(t.Context(), v); err != nil {
			t.Fatal(err)
		}
		if (v.Nearest != nil) != c.want || v.Found() {
			t.Fatalf("asked %v: found %v, nearest %+v", c.ask != nil, v.Found(), v.Nearest)
		}
		if n := v.Nearest; n != nil && (m.Dot(n.Witness.Dot, nil) != n.Witness.Want || n.Would == n.Witness.Want) {
			t.Errorf("%+v", n)
		}
	}
}
