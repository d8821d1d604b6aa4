package finding

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/defect"
)

// TestMoveUnexplained adds an epoch with a verdict to a state with unexplained cases: they get its name
// if it is the first that explains all, and has one name for them.
func TestMoveUnexplained(t *testing.T) {
	const none, width = string(triage.Unexplained), string(triage.TruncationWidth)
	changes := []mma.Change{{Path: "join.align.f", From: "24", To: "25"}}
	whole := &triage.Verdict{Changes: changes, Labels: []triage.Label{triage.TruncationWidth}, Differ: 5, Explained: 5}
	several := &triage.Verdict{Changes: changes, Labels: []triage.Label{triage.TruncationWidth, triage.FusionWidth}}
	part := &triage.Verdict{Changes: changes, Labels: []triage.Label{triage.TruncationWidth}, Partial: true}
	broken := &triage.Verdict{Defect: &defect.Claim{}, Labels: []triage.Label{triage.Defect}}
	beside := &triage.Verdict{Changes: changes, Defect: &defect.Claim{}, Partial: true}
	nothing := &triage.Verdict{Labels: []triage.Label{triage.Unexplained}}
	for name, c := range map[string]struct {
		before, now *triage.Verdict
		more        uint64 // cases of the epoch that are unexplained
		bucket      string // of the cases before
	}{
		"explained":          {nothing, whole, 0, width},
		"the first verdict":  {nil, whole, 0, width},
		"more than a part":   {part, whole, 0, width},
		"a defect":           {nothing, broken, 0, string(triage.Defect)},
		"several names":      {nothing, several, 0, none},
		"a part":             {nothing, part, 0, none},
		"a defect beside":    {nothing, beside, 0, none},
		"new ones":           {nothing, whole, 2, none},
		"explained before":   {whole, whole, 0, none},
		"a defect before":    {broken, whole, 0, none},
		"no verdict":         {nothing, nil, 0, none},
		"nothing found ever": {nothing, nothing, 0, none},
	} {
		bucketOf := func(cases uint64) map[string]*Bucket {
			if cases == 0 {
				return nil
			}
			return map[string]*Bucket{none: {Name: none, Cases: cases, Details: []Detail{{Name: none, Class: oracle.Value, Cases: cases}}}}
		}
		st := &PairState{Sum: Sum{Verdict: c.before, Buckets: bucketOf(7), Findings: []*Case{{Bucket: none, Detail: none, Number: 1, Verdict: c.before}}}}
		found := &Case{Bucket: width, Detail: width, Number: 1, Verdict: whole}
		st.Apply(&Sum{Verdict: c.now, Buckets: bucketOf(c.more), Findings: []*Case{found}}, 1)
		cases := map[string]uint64{}
		for name, b := range st.Buckets {
			cases[name] = b.Cases
			for _, d := range b.Details {
				if d.Name != name || d.Cases != b.Cases {
					t.Errorf("%s: detail %+v of bucket %s", name, d, name)
				}
			}
		}
		if want := map[string]uint64{c.bucket: 7 + c.more}; !cmp.Equal(cases, want) {
			t.Errorf("%s: %v, want %v", name, cases, want)
		}
		f, number := st.Findings[0], map[string]int{width: 2}[c.bucket]
		if f.Bucket != c.bucket || f.Detail != c.bucket || f.Number != max(1, number) || f.renamed != (c.bucket != none) || f.renamed && f.Verdict != c.now {
			t.Errorf("%s: the finding is %s, %s, number %d, renamed %v", name, f.Bucket, f.Detail, f.Number, f.renamed)
		}
	}
}
