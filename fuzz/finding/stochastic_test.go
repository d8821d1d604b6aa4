package finding

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/defect"
	"github.com/mmafuzz/mmafuzz/triage/stochastic"
)

// saturating converts everything to the largest number.
type saturating struct {
	devices.Unit
	formats mma.Formats
}

func (u saturating) Instruction() *mma.Instruction { return &mma.Instruction{Formats: u.formats, K: 1} }

func (u saturating) Run(_ context.Context, _ *mma.Batch, out []byte) error {
	for i := range out {
		out[i] = 0x7e
	}
	return nil
}

// stochasticTriage is a triage of a conversion that rounds stochastically, or not.
func stochasticTriage(rounds bool) *pairTriage {
	x := &pairTriage{t: &Finder{}, p: &Pair{}, st: &PairState{}, d: &Gathered{}}
	x.p.Spec.Formats, x.p.K = mma.Formats{A: fp.FP16, B: fp.One, D: fp.E4M3}, 1
	x.p.unknown = saturating{formats: x.p.Spec.Formats}
	if rounds {
		x.rounding.Stochastic = []Stochastic{{Found: &stochastic.Judgement{}}}
	}
	return x
}

// TestWithoutChance checks that what is decided by stochastic rounding is no evidence of another
// rounding, whether the two sides differ in it or agree.
func TestWithoutChance(t *testing.T) {
	const none = 1 << 8
	for _, tc := range []struct {
		name         string
		value        uint64 // FP16
		a, b         uint64
		class        oracle.Class
		steady, want uint64 // evidence of A: what it has to give
	}{
		{"between two numbers, different", 0x3c20, 0x39, 0x38, oracle.Value, 0x39, 0x38},
		{"between two numbers, equal", 0x3c20, 0x38, 0x38, oracle.Same, 0x38, 0x38},
		{"between the largest number and NaN", 0x5f10, 0x7e, 0x7f, oracle.NaN, 0x7e, none},
		{"no neighbour", 0x3c20, 0x3a, 0x38, oracle.Value, 0x3a, 0x3a},
		{"a number", 0x3c00, 0x38, 0x38, oracle.Same, 0x38, 0x38},
		{"overflow", 0x6400, 0x7e, 0x7f, oracle.NaN, 0x7e, 0x7e},
	} {
		for rounds, want := range map[bool]uint64{false: tc.steady, true: tc.want} {
			x := stochasticTriage(rounds)
			dot := mma.NewDot(x.p.Spec.Formats, 1)
			dot.A[0] = tc.value
			pr := x.unknownUnit([]*Case{{Start: dot, Dot: dot, A: tc.a, B: tc.b, Class: tc.class}})
			got := uint64(none)
			for _, c := range pr.Differ {
				got = c.Want
			}
			for _, c := range pr.Agree {
				if got = c.Want; got != tc.b {
					t.Errorf("%s: it agrees with %x", tc.name, got)
				}
			}
			if got != want {
				t.Errorf("%s: stochastic %v: evidence of %x, want %x", tc.name, rounds, got, want)
			}
		}
	}
}

// TestDistrust checks which causes are claimed of a unit that rounds stochastically.
func TestDistrust(t *testing.T) {
	change := []mma.Change{{}}
	for _, tc := range []struct {
		name    string
		rounds  bool
		verdict triage.Verdict
		kept    bool
	}{
		{"rounding", true, triage.Verdict{Changes: change, Labels: []triage.Label{triage.OutputRounding}}, false},
		{"of an intermediate sum", true, triage.Verdict{Changes: change, Labels: []triage.Label{triage.Overflow, triage.IntermediateRounding}}, false},
		{"defect", true, triage.Verdict{Labels: []triage.Label{triage.Defect}, Defect: &defect.Claim{}}, false},
		{"overflow", true, triage.Verdict{Changes: change, Labels: []triage.Label{triage.Overflow}}, true},
		{"rounding of a steady unit", false, triage.Verdict{Changes: change, Labels: []triage.Label{triage.OutputRounding}}, true},
	} {
		x := stochasticTriage(tc.rounds)
		tc.verdict.Alike = []string{"ref:fma32"}
		x.verdict = &tc.verdict
		x.distrust()
		if kept := cmp.Equal(x.verdict.Labels, tc.verdict.Labels) && x.verdict.Found(); kept != tc.kept || (x.verdict.Alike == nil) != tc.rounds {
			t.Errorf("%s: kept %v, want %v", tc.name, kept, tc.kept)
		} else if want := []triage.Label{triage.Unexplained}; !kept && (cmp.Diff(want, x.verdict.Labels) != "" || x.verdict.Found() || x.d.Verdict != x.verdict) {
			t.Errorf("%s: %+v", tc.name, x.verdict)
		}
	}
}

// TestCheckStochastic reads judgements of a journal of which some cannot be.
func TestCheckStochastic(t *testing.T) {
	p := stochasticTriage(false).p
	sound := &stochastic.Judgement{Formats: p.Spec.Formats}
	for _, tc := range []struct {
		r  Stochastic
		ok bool
	}{
		{Stochastic{Found: sound}, true},
		{Stochastic{Side: 1, Unjudged: stochastic.Scales}, true},
		{Stochastic{Side: 2}, false},
		{Stochastic{Found: sound, Unjudged: stochastic.Scales}, false},
		{Stochastic{Unjudged: "for no reason"}, false},
	} {
		if err := p.checkStochastic(&tc.r); (err == nil) != tc.ok {
			t.Errorf("%+v: %v", tc.r, err)
		}
	}
}

// TestRepeats says of which side nothing has to be judged: one that has repeated its answers where the
// other one is known to have changed them, or where no case is unstable.
func TestRepeats(t *testing.T) {
	unstable := func(sides [2]bool) *Case { return &Case{Bucket: Unstable, Sides: sides} }
	layout := &Case{Bucket: string(triage.Layout), Sides: [2]bool{true, true}}
	for _, c := range []struct {
		cases    uint64
		findings []*Case
		want     [2]bool
	}{
		{0, nil, [2]bool{true, true}},
		{0, []*Case{layout}, [2]bool{true, true}},
		{3, nil, [2]bool{false, false}},
		{3, []*Case{unstable([2]bool{true, false})}, [2]bool{false, true}},
		{3, []*Case{layout, unstable([2]bool{false, true})}, [2]bool{true, false}},
		{3, []*Case{unstable([2]bool{true, false}), unstable([2]bool{false, true})}, [2]bool{false, false}},
	} {
		st := &PairState{Sum: Sum{Unstable: c.cases, Findings: c.findings}}
		if got := [2]bool{st.repeats(0), st.repeats(1)}; got != c.want {
			t.Errorf("%d unstable cases, %d findings: %v, want %v", c.cases, len(c.findings), got, c.want)
		}
	}
}
