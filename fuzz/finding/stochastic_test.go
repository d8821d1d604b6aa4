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

// TestWithoutChance checks that results that are decided by stochastic rounding are no evidence,
// whether the two sides differ in them or agree.
func TestWithoutChance(t *testing.T) {
	for _, tc := range []struct {
		name    string
		value   uint64 // FP16
		a, b    uint64
		class   oracle.Class
		decided bool
	}{
		{"between two numbers, different", 0x3c20, 0x39, 0x38, oracle.Value, true},
		{"between two numbers, equal", 0x3c20, 0x38, 0x38, oracle.Same, true},
		{"between the largest number and NaN", 0x5f10, 0x7e, 0x7f, oracle.NaN, true},
		{"no neighbour", 0x3c20, 0x3a, 0x38, oracle.Value, false},
		{"a number", 0x3c00, 0x38, 0x38, oracle.Same, false},
		{"overflow", 0x6400, 0x7e, 0x7f, oracle.NaN, false},
	} {
		for _, rounds := range []bool{false, true} {
			x := stochasticTriage(rounds)
			dot := mma.NewDot(x.p.Spec.Formats, 1)
			dot.A[0] = tc.value
			pr := x.unknownUnit([]*Case{{Start: dot, Dot: dot, A: tc.a, B: tc.b, Class: tc.class}})
			if none := len(pr.Differ)+len(pr.Agree) == 0; none != (rounds && tc.decided) {
				t.Errorf("%s: stochastic %v: %d and %d cases of evidence", tc.name, rounds, len(pr.Differ), len(pr.Agree))
			}
		}
	}
	x := stochasticTriage(true)
	between, beyond := mma.NewDot(x.p.Spec.Formats, 1), mma.NewDot(x.p.Spec.Formats, 1)
	between.A[0], beyond.A[0] = 0x5f10, 0x6400 // 452 and 1024
	dots := []*mma.Dot{between, beyond}
	if _, err := x.unknownUnit(nil).Ask(t.Context(), dots); err != nil || dots[0] != beyond {
		t.Errorf("452 was not replaced: %v, %v", dots[0], err)
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
		x.verdict = &tc.verdict
		x.distrust()
		if kept := x.verdict == &tc.verdict; kept != tc.kept {
			t.Errorf("%s: kept %v, want %v", tc.name, kept, tc.kept)
		} else if want := []triage.Label{triage.Unexplained}; !kept && (cmp.Diff(want, x.verdict.Labels) != "" || x.verdict.Found() || x.d.Verdict != x.verdict) {
			t.Errorf("%s: %+v", tc.name, x.verdict)
		}
	}
}
