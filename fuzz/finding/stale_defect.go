package finding

import (
	"os"
	"strings"

	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// Later cases may refute the rule of a defect. What was called after it gets the name that the
// present verdict has for it.

// moveStaleDefect gives the cases of a defect that the verdict does not have any more to another bucket, and
// its findings the present verdict. They are marked as renamed.
func (st *PairState) moveStaleDefect() {
	const from = string(triage.Defect)
	v := st.Verdict
	if v == nil {
		return
	}
	to := string(triage.Unexplained)
	switch {
	case v.Defect != nil:
		to = from
	case v.Complete() && len(v.Labels) == 1:
		to = string(v.Labels[0])
	}
	renamed := func(detail string) string { return to + strings.TrimPrefix(detail, from) }
	if b := st.Buckets[from]; b != nil && to != from {
		delete(st.Buckets, from)
		for i := range b.Details {
			b.Details[i].Name = renamed(b.Details[i].Name)
		}
		st.bucket(to).Add(b)
	}
	number := 1
	for _, f := range st.Findings {
		if f.Bucket == to {
			number++
		}
	}
	for _, f := range st.Findings {
		if f.Bucket != from || f.Verdict != nil && f.Verdict.Defect != nil && v.Defect != nil && f.Verdict.Defect.String() == v.Defect.String() {
			continue
		}
		f.Verdict, f.renamed = v, true
		if to != from {
			f.Bucket, f.Detail, f.Number = to, renamed(f.Detail), number
			number++
		}
	}
}

// Rewrite writes the bundles of renamed findings again, and removes the old ones.
func (t *Finder) Rewrite(findings []*Case) error {
	for _, f := range findings {
		if !f.renamed {
			continue
		}
		f.renamed = false
		old := f.Dir
		delete(t.resumed, f)
		if _, err := t.bundle(f); err != nil {
			return err
		}
		if old == "" || old == f.Dir {
			continue
		}
		if bundle.Vacant(old) == nil { // nobody has added anything
			if err := os.RemoveAll(old); err != nil {
				return err
			}
		}
	}
	return nil
}
