package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/compare"
)

// A run with a list of known differences counts these like all others, but they are no
// news: it fails on something new only.

// judge returns the differences of a campaign with their states, the uses of the list's
// entries, and counts; all are new without a list.
func (u *runUI) judge(s *fuzz.State) (ds []compare.Difference, uses []compare.KnownUse, n compare.Counts) {
	for i, p := range s.Pairs {
		for _, b := range p.Sorted() {
			d := compare.NewDifference(&u.cfg.Pairs[i], b, p.Verdict)
			d.Dots = p.Dots
			d.Bundle = p.Bundle(b.Name, "")
			ds = append(ds, d)
		}
	}
	uses, n = u.list.Settle(ds, func(*compare.Difference) string { return compare.StateNew })
	return ds, uses, n
}

// isKnown reports whether a finding is of a known difference.
func (u *runUI) isKnown(f *fuzz.Case) bool {
	if u.list.List == nil {
		return false
	}
	kind := fuzz.Detail{Name: f.Detail, Class: f.Class, Cases: 1}
	d := compare.NewDifference(&u.cfg.Pairs[f.Pair], &fuzz.Bucket{Name: f.Bucket, Cases: 1, Details: []fuzz.Detail{kind}}, f.Verdict)
	state, _ := u.list.StateOf(&d, compare.StateNew)
	return state == compare.StateKnown
}

// shownFindings returns the findings of which one is drawn: those that are not known,
// if there are some.
func (u *runUI) shownFindings() []*fuzz.Case {
	news := slices.DeleteFunc(slices.Clone(u.findings), u.isKnown)
	if len(news) == 0 {
		return u.findings
	}
	return news
}

// hasNews reports whether a campaign has found a difference that is on no list.
func (u *runUI) hasNews(s *fuzz.State) bool {
	if u.list.List == nil {
		_, mismatches, _ := s.Totals()
		return mismatches > 0
	}
	for _, p := range s.Pairs {
		if p.Unstable+p.Unexamined > 0 {
			return true // no list can tell what they are
		}
	}
	_, _, n := u.judge(s)
	return n.New+n.Expired > 0
}

// knownSection says how much of what was found is known, and what is not.
func (u *runUI) knownSection(s *fuzz.State) {
	if u.list.List == nil {
		return
	}
	ds, uses, n := u.judge(s)
	var known, news uint64
	for i := range ds {
		if d := &ds[i]; d.State == compare.StateKnown {
			known += d.Cases
		} else {
			news += d.Cases
		}
	}
	fmt.Fprintf(u.stdout, "\n%s  %s with %s, by %s\n", u.paint("KNOWN", bold), readable.Plural(n.Known, "difference"), mismatches(known), u.list.known)
	g := readable.Table{Width: u.width}
	for _, e := range uses {
		if e.State != "used" || u.verbose {
			g.Add("  "+e.ID, e.State, strings.TrimSpace(e.Expires+" "+e.Reason))
		}
	}
	g.Write(u.stdout, nil)
	left := n.New + n.Expired
	if left == 0 {
		return
	}
	fmt.Fprintf(u.stdout, "\n%s  %s with %s\n", u.paint("NEW", bold), readable.Plural(left, "difference"), mismatches(news))
	_ = compare.WriteUnknown(u.stdout, ds, u.compareText()) // stdout keeps its error
}

func mismatches(n uint64) string {
	if n == 1 {
		return "1 mismatch"
	}
	return readable.Thousands(n) + " mismatches"
}
