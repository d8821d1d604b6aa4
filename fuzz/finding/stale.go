package finding

import (
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// Later cases may refute the rule of a defect, and a later search may explain what an earlier one did
// not. What was called after the verdict before gets the name that the present one has for it.

// moveStaleDefect gives the cases of a defect that the verdict does not have any more to another bucket, and
// its findings the present verdict. They are marked as renamed.
func (st *PairState) moveStaleDefect() {
	v := st.Verdict
	if v == nil {
		return
	}
	to := string(triage.Unexplained)
	switch {
	case v.Defect != nil:
		to = string(triage.Defect)
	case (v.Complete() || v.Sums != nil) && len(v.Labels) == 1:
		to = string(v.Labels[0])
	}
	if v.Sums == nil {
		st.move(string(triage.Schedule), to, func(*Case) bool { return true })
	}
	st.move(string(triage.Defect), to, func(f *Case) bool {
		return f.Verdict == nil || f.Verdict.Defect == nil || v.Defect == nil || f.Verdict.Defect.String() != v.Defect.String()
	})
}

// moveUnexplained gives cases that an epoch with the first verdict that explains all evidence, theirs
// too, has found unexplained before, to the bucket of that verdict, if it has one name for all cases.
func (st *PairState) moveUnexplained(before *triage.Verdict, d *Sum) {
	v := d.Verdict
	if v == nil || before != nil && before.Settled() || d.Buckets[string(triage.Unexplained)] != nil || d.Buckets[string(triage.NaNCode)] != nil {
		return
	}
	for _, l := range []triage.Label{triage.Unexplained, triage.NaNCode} {
		st.moveOpen(string(l), v)
	}
}

// moveOpen gives the cases of a bucket to that of a verdict which explains all.
func (st *PairState) moveOpen(from string, v *triage.Verdict) {
	switch {
	case v.Defect != nil && len(v.Changes) == 0:
		st.move(from, string(triage.Defect), func(*Case) bool { return true })
	case v.Defect == nil && (v.Complete() || v.Sums != nil) && len(v.Labels) == 1:
		st.move(from, string(v.Labels[0]), func(*Case) bool { return true })
	}
}

// move gives the cases of a bucket to another one, and those of its findings that are to be renamed the
// present verdict.
func (st *PairState) move(from, to string, rename func(*Case) bool) {
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
		if f.Bucket != from || !rename(f) {
			continue
		}
		f.Verdict, f.renamed = st.Verdict, true
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
			if err := corpus.RemoveTree(old); err != nil {
				return err
			}
		}
	}
	return nil
}
