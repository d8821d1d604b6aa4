package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/triage"
)

// A run with a list of known differences counts these like all others, but they are no
// news: it fails on something new only.

// difference is a bucket of a pair as lists of known differences see it: the machines
// are the targets.
func (u *runUI) difference(pair int, b *fuzz.Bucket, v *triage.Verdict) difference {
	p := &u.cfg.Pairs[pair]
	c := &comparedPair{sidePair: sidePair{&side{name: p.TargetA}, &side{name: p.TargetB}}, Pair: *p}
	return newDifference(c, b, changesFrom(c, v))
}

// judge returns the differences of a campaign with their states; all are new without a
// list.
func (u *runUI) judge(s *fuzz.State) *comparison {
	r := &comparison{}
	for i, p := range s.Pairs {
		for _, b := range p.Sorted() {
			d := u.difference(i, b, p.Verdict)
			d.Dots = p.Dots
			d.Bundle = u.bundleOf(i, b.Name, "")
			r.Differences = append(r.Differences, d)
		}
	}
	r.Known, r.Counts = u.list.settle(r.Differences, func(*difference) string { return stateNew })
	return r
}

// isKnown reports whether a finding is of a known difference.
func (u *runUI) isKnown(f *fuzz.Finding) bool {
	if u.list.knownList == nil {
		return false
	}
	kind := fuzz.Detail{Name: f.Detail, Class: f.Class, Cases: 1}
	d := u.difference(f.Pair, &fuzz.Bucket{Name: f.Bucket, Cases: 1, Details: []fuzz.Detail{kind}}, f.Verdict)
	state, _ := u.list.stateOf(&d, stateNew)
	return state == stateKnown
}

// shownFindings returns the findings of which one is drawn: those that are not known,
// if there are some.
func (u *runUI) shownFindings() []*fuzz.Finding {
	news := slices.DeleteFunc(slices.Clone(u.findings), u.isKnown)
	if len(news) == 0 {
		return u.findings
	}
	return news
}

// hasNews reports whether a campaign has found a difference that is on no list.
func (u *runUI) hasNews(s *fuzz.State) bool {
	if u.list.knownList == nil {
		_, mismatches, _ := s.Totals()
		return mismatches > 0
	}
	for _, p := range s.Pairs {
		if p.Unstable+p.Unexamined > 0 {
			return true // no list can tell what they are
		}
	}
	n := u.judge(s).Counts
	return n.New+n.Expired > 0
}

// knownSection says how much of what was found is known, and what is not.
func (u *runUI) knownSection(s *fuzz.State) {
	if u.list.knownList == nil {
		return
	}
	r := u.judge(s)
	var known, news uint64
	for i := range r.Differences {
		if d := &r.Differences[i]; d.State == stateKnown {
			known += d.Cases
		} else {
			news += d.Cases
		}
	}
	fmt.Fprintf(u.stdout, "\n%s  %s with %s, by %s\n", u.paint("KNOWN", bold), readable.Plural(r.Counts.Known, "difference"), mismatches(known), u.list.known)
	g := readable.Table{Width: u.width}
	for _, e := range r.Known {
		if e.State != "used" || u.verbose {
			g.Add("  "+e.ID, e.State, strings.TrimSpace(e.Expires+" "+e.Reason))
		}
	}
	if g.Rows != nil {
		g.Write(u.stdout, nil)
	}
	groups, n := r.inState(func(state string) bool { return state != stateKnown })
	if n == 0 {
		return
	}
	fmt.Fprintf(u.stdout, "\n%s  %s with %s\n", u.paint("NEW", bold), readable.Plural(n, "difference"), mismatches(news))
	c := &compareCmd{app: u.app}
	for i, group := range groups {
		if i == newRows && !u.verbose {
			c.line(2, "", fmt.Sprintf("and %s more (all: -v)", readable.Plural(len(groups)-i, "instruction")))
			break
		}
		c.newGroup(group)
	}
}

func mismatches(n uint64) string {
	if n == 1 {
		return "1 mismatch"
	}
	return readable.Thousands(n) + " mismatches"
}
