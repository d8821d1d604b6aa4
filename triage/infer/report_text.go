package infer

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Summary writes what matters of a report for a person at a terminal.
func (t *Report) Summary(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s %s: %s\n", t.Target, t.Instruction, t.Headline())
	if note := t.policyNote(); note != "" {
		fmt.Fprintf(b, "  %s\n", note)
	}
	if t.Verdict == Found {
		t.writeFound(b)
	} else {
		t.writeTrouble(b, "  ")
	}
	fmt.Fprintf(b, "\n%s\n", t.spent())
	return b.Flush()
}

// Headline is the verdict in one line: what was found, or why nothing was.
func (t *Report) Headline() string {
	switch t.Verdict {
	case Found:
		return t.Arithmetic
	case Unexplained:
		return fmt.Sprintf("no program that explains it was found with --effort %d (models computed %s dot products): the best is wrong in %d of %d cases",
			t.Effort, millions(t.Computed), t.Left, t.Evidence)
	case NotStable:
		return "unstable: " + t.Unstable.What
	}
	return string(t.Verdict) + ": " + t.Note
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
	s := fmt.Sprintf("%d dot products were asked in %d batches, %d of them twice; %d programs that explained all answers were refuted by new ones; %.1f s; seed %d",
		t.Stats.Queries, t.Stats.Batches, t.Stats.Repeated, t.Repairs, t.Seconds, t.Seed)
	switch n := t.Stats.Resumed; {
	case n > 0 && n == t.Stats.Queries:
		s += "; all answers came from the journal"
	case n > 0:
		s += fmt.Sprintf("; %d of the answers came from the journal", n)
	}
	if n := t.Stats.Confirmed; n > 0 {
		s += fmt.Sprintf(", %d were asked again and are the same", n)
	}
	return s
}

func (t *Report) writeFound(w io.Writer) {
	if len(t.Alike) > 0 {
		fmt.Fprintf(w, "  like %s: %s\n", strings.Join(t.Alike, ", "), t.qualified(fmt.Sprintf("none of %d inputs tells them apart", t.Compared)))
	}
	for _, c := range t.Conforms {
		fmt.Fprintf(w, "  conforms to %s\n", c)
	}
	if t.Tree != "" {
		fmt.Fprintf(w, "  tree %s\n", t.Tree)
	}
	fmt.Fprintf(w, "\n  %-20s %-14s %s\n", "parameter", "value", "an input that rules out another value")
	for _, p := range t.Parameters {
		fmt.Fprintf(w, "  %-20s %-14s %s\n", p.Path, p.Value, p.proof())
	}
	fmt.Fprintf(w, "\n  validated: %s\n  %s\n  %s\n  %s\n  %s\n", t.confidence(), t.confident(), t.covered(), t.tileText(), unseen)
	t.writeFaults(w, "  ")
}

// writeFaults writes on which inputs the unit fails.
func (t *Report) writeFaults(w io.Writer, indent string) {
	for _, f := range t.Faults {
		fmt.Fprintf(w, "%sthe unit fails on %s: %s\n", indent, f.Dot, f.What)
	}
	if n := t.Failed - len(t.Faults); n > 0 {
		fmt.Fprintf(w, "%sand on %d more inputs\n", indent, n)
	}
	if len(t.Failures) == 0 {
		return
	}
	f := t.Failures[0]
	fmt.Fprintf(w, "%sthe unit failed %d times on inputs that it answered when they were asked again, first on a batch of %d that begins with %s: %s\n",
		indent, t.Stats.Failures, f.Inputs, f.Dot, f.What)
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

// writeTrouble writes why there is no model.
func (t *Report) writeTrouble(w io.Writer, indent string) {
	line := func(format string, args ...any) { fmt.Fprintf(w, indent+format+"\n", args...) }
	if x := t.Witness; x != nil {
		line("smallest input found on which the best program is wrong, by its own fault or because the unit is unusual there: %s", x.Terms)
		line("  the unit gives %s, the program %s: %s, as in %d of the %d cases that it does not explain", x.Got, x.Would, x.Kind, x.Alike, x.Wrong)
		line("  as eval reads it: %s", x.Dot)
	}
	if u := t.Unstable; u != nil {
		line("for example: %s", u.Dot)
		line("  first %s, then %s", u.First, u.Second)
	}
	t.writeFaults(w, indent)
	if t.Params == (mma.Params{}) {
		line("no program yet")
		return
	}
	switch {
	case t.Verdict == NotStable || t.Evidence == 0:
	case t.Left > 0:
		line("the unit does not compute this; of the programs tried it comes nearest: %s", t.Arithmetic)
		line("  whose parameters are: %s", brief(&t.Params))
	default:
		line("best program, not tested to the end: %s", t.Arithmetic)
		line("  whose parameters are: %s", brief(&t.Params))
	}
	for _, f := range t.Families {
		if f.Wrong > 0 {
			line("it is wrong in %d of %d cases of %s (%s)", f.Wrong, f.Cases, f.Name, f.Doc)
		}
	}
}

// markdown writes the whole report.
func (t *Report) markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# Arithmetic of %s %s\n\n", readable.Markdown(t.Target), readable.Markdown(t.Instruction))
	fmt.Fprintf(b, "Formats %s, K = %d. Verdict: **%s**.\n\n%s\n\n", t.Formats, t.K, t.Verdict, readable.Markdown(t.Headline()))
	if note := t.policyNote(); note != "" {
		fmt.Fprintf(b, "%s.\n\n", note)
	}
	if t.Verdict == Found {
		t.markdownFound(b)
	} else {
		var trouble strings.Builder
		t.writeTrouble(&trouble, "")
		fmt.Fprintf(b, "No model file was written. What the best program is and where it fails:\n\n%s\n", readable.MarkdownBlock(trouble.String()))
	}
	fmt.Fprintf(b, "%s\n", t.spent())
	return b.Flush()
}

func (t *Report) markdownFound(w io.Writer) {
	if len(t.Alike) > 0 {
		fmt.Fprintf(w, "%s: %s.\n\n", t.qualified(fmt.Sprintf("None of %d inputs tells it from these", t.Compared)), strings.Join(t.Alike, ", "))
	}
	for _, c := range t.Conforms {
		fmt.Fprintf(w, "It conforms to %s: none of these inputs tells it from that.\n\n", c)
	}
	if t.Tree != "" {
		fmt.Fprintf(w, "Summation tree: `%s`\n\n", t.Tree)
	}
	fmt.Fprint(w, "## Parameters\n\nWhat the unit gave on an input on which another value would have given something else.\n\n"+
		"| parameter | value | ruled out | input | result | would be |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, p := range t.Parameters {
		if len(p.RuledOut) == 0 {
			fmt.Fprintf(w, "| %s | %s | - | %s | | |\n", p.Path, p.Value, p.proof())
		}
		for n, r := range p.RuledOut {
			path, value := p.Path, p.Value
			if n > 0 {
				path, value = "", ""
			}
			fmt.Fprintf(w, "| %s | %s | %s | `%s` | %s | %s |\n", path, value, r.Change, r.Terms, r.Got, r.Would)
		}
	}
	t.markdownOpen(w)
	fmt.Fprintf(w, "\n## Confidence\n\nValidated: %s. %s %s %s\n\n"+
		"| kind of input | dot products | independent | differ | at most, with 95 %% confidence | what it is |\n| --- | ---: | ---: | ---: | --- | --- |\n",
		t.confidence(), t.confident(), t.tileText(), unseen)
	for _, c := range t.Classes {
		fmt.Fprintf(w, "| %s | %d | %d | 0 | %s | %s |\n", c.Name, c.Asked, c.Independent, c.bound(), c.Doc)
	}
	t.markdownCorners(w)
	if t.Failed > 0 || len(t.Failures) > 0 {
		var faults strings.Builder
		t.writeFaults(&faults, "")
		fmt.Fprint(w, "\n"+readable.MarkdownBlock(faults.String()))
	}
	fmt.Fprintln(w)
}

// markdownOpen lists what was not told apart.
func (t *Report) markdownOpen(w io.Writer) {
	fmt.Fprint(w, "\n## What was not told apart\n\nOther values that gave the same results on all inputs that were tried; an input that tells may exist.\n\n")
	n := 0
	for _, p := range t.Parameters {
		for _, o := range p.Open {
			fmt.Fprintf(w, "- %s: %d inputs tried%s\n", o.Change, o.Tried, o.byClass())
			n++
		}
	}
	if n == 0 {
		fmt.Fprintln(w, "None: every other value that was tried is ruled out.")
	}
}
