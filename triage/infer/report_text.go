package infer

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The sentences of a report: see document.go.

// custom is what mma.Params.String writes where it has no name.
const custom = "custom"

// Headline is the verdict in one line: what was found, or why nothing was.
func (t *Report) Headline() string {
	switch t.Verdict {
	case Found:
		if t.Arithmetic == custom {
			return "custom: no named operation with few other parameters"
		}
		return t.Arithmetic
	case Unexplained:
		return fmt.Sprintf("no program that explains it was found with %s%d (models computed %s dot products): the best is wrong in %d of %d cases",
			t.calls().Effort, t.Effort, millions(t.Computed), t.Left, t.Evidence)
	case NotStable:
		return "unstable: " + t.Unstable.What
	}
	return string(t.Verdict) + ": " + t.Note
}

// extent says how much of the search was done, if no program was found.
func (t *Report) extent() string {
	switch {
	case t.Verdict == Unexplained && t.Formats.D.Integer(): // there are few programs, and all were tried
		return "all programs that there are were tried, and none explains the unit"
	case t.Verdict == Unexplained:
		return fmt.Sprintf("all programs that %s%d reaches were tried, and none explains the unit; a larger %s reaches more", t.calls().Effort, t.Effort, strings.Trim(t.calls().Effort, " ="))
	case t.Verdict != Exhausted:
		return ""
	case t.Left == 0:
		return "the search was over, but not the tests of what it found; " + t.calls().Again
	}
	return fmt.Sprintf("the search was cut off after models had computed %s dot products; whether another program explains the unit is open, and %s",
		millions(t.Computed), t.calls().Again)
}

// policyNote names what was not tested because it was compared by class.
func (t *Report) policyNote() string {
	if words := t.byClass(); words != "" {
		return words + ": which of them a result is was not tested, and what the program has is arbitrary"
	}
	return ""
}

// millions writes a number of dot products that models have computed.
func millions(n int64) string { return fmt.Sprintf("%.1f million", float64(n)/million) }

// spent writes what the inference has cost.
func (t *Report) spent() string {
	s := fmt.Sprintf("%d dot products were asked in %d batches, %d of them twice; programs that explained all answers and were refuted by new ones: %d; %.1f s; seed %d",
		t.Stats.Queries, t.Stats.Batches, t.Stats.Repeated, t.Repairs, t.Seconds, t.Seed)
	switch n := t.Stats.Resumed; {
	case n > 0 && n == t.Stats.Queries:
		s += "; all answers came from the journal"
	case n > 0:
		s += fmt.Sprintf("; %d of the answers came from the journal", n)
	}
	switch n, k := t.Stats.Confirmed, t.Stats.Denied; {
	case k > 0:
		s += fmt.Sprintf(", %d were asked again and %d of them are others now: if the unit was mended since, name another directory with --out", n, k)
	case n > 0:
		s += fmt.Sprintf(", %d were asked again and are the same", n)
	}
	return s
}

// unseen is what has to be said of every model found.
const unseen = "A unit that differs on rarer inputs would be reported in the same way."

// proof writes the first ruling, or that there is none.
func (p *Parameter) proof() string {
	if len(p.RuledOut) == 0 {
		switch {
		case p.Untested != "":
			return "(not tested: " + p.Untested + ")"
		case len(p.Open) == 0:
			return "(no other value was tried)"
		}
		return p.openText()
	}
	r := p.RuledOut[0]
	s := fmt.Sprintf("%s: %s gives %s, not %s", r.Change, r.Terms, r.Got, r.Would)
	if len(p.Open) > 0 {
		s += " " + p.openText()
	}
	return s
}

// openText lists the mutants that no input tells from the program: first those that are
// proved to be the same function, then the others.
func (p *Parameter) openText() string {
	var words []string
	var open, proved []Open
	for _, o := range p.Open {
		if o.Proved {
			proved = append(proved, o)
		} else {
			open = append(open, o)
		}
	}
	if len(proved) > 0 {
		words = append(words, fmt.Sprintf("(proved to be the same function: %s)", openText(proved, 2)))
	}
	if len(open) > 0 {
		words = append(words, fmt.Sprintf("(not told apart by %d inputs tried: %s)", open[0].Tried, openText(open, 2)))
	}
	return strings.Join(words, " ")
}

// byClass marks a mutant that gives other bits, which are the same by class.
func (o *Open) byClass() string {
	if o.ByClass {
		return ", the same by class only"
	}
	return ""
}

// openText lists mutants for which no input was found that tells them apart, at most
// most of them.
func openText(open []Open, most int) string {
	var words []string
	for _, o := range open[:min(len(open), most)] {
		words = append(words, o.Change+o.byClass())
	}
	if n := len(open) - most; n > 0 {
		words = append(words, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(words, "; ")
}

// nonDefault lists the parameters of a program whose values are not the first ones: the arrows
// of brief begin at these.
func nonDefault(p *mma.Params) string {
	if text := brief(p); text != "" {
		return "whose parameters that are not the default are (default→value): " + text
	}
	return "whose parameters are all the default"
}
