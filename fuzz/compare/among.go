package compare

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// stateUnclear is of what may still be there: cases that nothing explains hide it.
const stateUnclear = "unclear"

// among looks for an earlier difference, by its sample of cases, in the unexplained ones of today,
// which name nothing but themselves: a second defect beside a known one makes another difference of
// both. The state is StateStill, stateUnclear, or "": it is gone. what says so in words.
func among(marks corpus.Marks, ds []*Difference) (state, what string) {
	var samples []corpus.Marks
	var ids []string
	for _, d := range ds {
		if len(d.Changes) == 0 && d.rule() == "" && d.B != "" {
			samples, ids = append(samples, d.Marks), append(ids, d.ID)
		}
	}
	same, others, none := marks.Find(samples)
	within := "the cases of " + strings.Join(ids, ", ") + ", which no change of the arithmetic explains"
	switch {
	case ids == nil || none > same+others:
		return "", ""
	case same+others+none == 0:
		return stateUnclear, "it may be among " + within
	case same >= others+none:
		state, what = StateStill, "it is among "
	default:
		state, what = stateUnclear, "it may be among "
	}
	return state, what + within + ": " + sampled(same, others, none)
}

// sampled says how many of the sampled cases of an earlier difference differ.
func sampled(same, others, none int) string {
	var parts []string
	for _, x := range []struct {
		n    int
		text string
	}{{same, "as before"}, {others, "in another way"}, {none, "no more"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.text))
		}
	}
	return "of " + readable.Plural(same+others+none, "sampled case") + " of it, there differ " + strings.Join(parts, ", ")
}

// elsewhere says which differences of today have cases of one whose cause is gone: something else makes these
// cases differ now. "": none has one in its sample.
func elsewhere(marks corpus.Marks, ds []*Difference) string {
	var samples []corpus.Marks
	var names []string
	for _, d := range ds {
		if same, others, _ := marks.Find([]corpus.Marks{d.Marks}); same+others > 0 {
			samples, names = append(samples, d.Marks), append(names, d.ID+" ("+d.Bucket+")")
		}
	}
	if names == nil {
		return ""
	}
	return "its cause is gone, not all of its cases: " + sampled(marks.Find(samples)) + ", now of " + strings.Join(names, " and ")
}

// lookUp says of a difference of the baseline that was not found whether it may be among others.
func (r *Result) lookUp(g *Gone) {
	var ds []*Difference
	for i := range r.Differences {
		if d := &r.Differences[i]; d.sameCell(&Difference{A: g.A, B: g.B, Instruction: g.Instruction}) {
			ds = append(ds, d)
		}
	}
	g.There, g.What = among(g.Marks, ds)
	switch {
	case g.There == "":
		r.Counts.Gone++
		g.What = elsewhere(g.Marks, ds)
	case g.There == StateStill && g.State == StateKnown:
		r.Counts.Known++
	case g.There == StateStill:
		r.Counts.Still++
	}
}

// lookUpKnown does the same for the entries of the list that were not used.
func (c *Comparison) lookUpKnown() {
	for i := range c.result.Known {
		u := &c.result.Known[i]
		e := c.Known.List.Entries[i]
		if u.Hits > 0 || u.State == StateExpired {
			continue
		}
		e.Difference, e.Rule, e.Bucket, e.Labels, e.Changes = "", "", "", nil, nil
		var ds []*Difference
		for n := range c.result.Differences {
			d := &c.result.Differences[n]
			for _, scope := range d.scopes() {
				if e.Covers(scope) {
					ds = append(ds, d)
					break
				}
			}
		}
		state, what := among(e.Marks, ds)
		switch state {
		case StateStill:
			u.State, u.Hits, u.What = "used", 1, what
		case stateUnclear:
			u.State, u.What = state, what
		}
	}
}
