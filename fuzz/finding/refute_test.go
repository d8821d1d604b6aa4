package finding

import (
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
				Program: program, Changes: changes, Partial: true, Differ: 9, Explained: 5, Defect: &defect.Claim{},
				Nearest: &triage.Nearest{Program: program, Changes: changes, Witness: triage.Case{Dot: test.witness}},
			}, base)
			if v.Defect != nil || v.Settled() || v.Found() != test.found || (v.Nearest != nil) != test.found {
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
