package finding

import (
	"reflect"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/defect"
)

func TestWithoutDefect(t *testing.T) {
	base, program := mma.Params{}, mma.Params{Together: true}
	for _, test := range []struct {
		name    string
		witness *mma.Dot
		found   bool // what the program explains is still explained
	}{
		{"a program that nothing contradicts", mma.NewDot(mma.Formats{}, 4), true},
		{"one that held beside the defect alone", nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			changes := []mma.Change{{Path: "together"}}
			v := withoutDefect(triage.Verdict{
				Program: program, Changes: changes, Partial: true, Differ: 9, Explained: 5, Defect: &defect.Claim{Rule: defect.Rule{Effect: defect.Effect{On: defect.OnExact, Do: "plus-zero"}}},
				Nearest: &triage.Nearest{Program: program, Changes: changes, Witness: triage.Case{Dot: test.witness}},
			}, base)
			if v.Defect != nil || v.Refuted == "" || v.Settled() || v.Found() != test.found || (v.Nearest != nil) != test.found {
				t.Errorf("%+v", v)
			}
			want := base
			if test.found {
				want = program
			}
			if v.Program != want {
				t.Errorf("the program is %+v", v.Program)
			}
		})
	}
}

// TestWithMore counts new cases of a verdict that explains a part: its nearest program has the same counts, and
// the verdict before stays as it was.
func TestWithMore(t *testing.T) {
	before := triage.Verdict{Partial: true, Differ: 55, Explained: 41, Agree: 300, Kept: 300,
		Nearest: &triage.Nearest{From: "base", Differ: 55, Explained: 41, Agree: 300, Kept: 300}}
	v := withMore(before, 329, 234, 84)
	want := triage.Verdict{Partial: true, Differ: 384, Explained: 275, Agree: 384, Kept: 384,
		Nearest: &triage.Nearest{From: "base", Differ: 384, Explained: 275, Agree: 384, Kept: 384}}
	if !reflect.DeepEqual(*v, want) {
		t.Errorf("%+v, nearest %+v", v, v.Nearest)
	}
	if before.Nearest.Differ != 55 {
		t.Error("the verdict before has other counts")
	}
}
