package infer

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Summary writes what matters of a report for a person at a terminal of a width. Inputs that
// are to be copied have lines of their own, which stay whole.
func (t *Report) Summary(w io.Writer, width int) error {
	var b bytes.Buffer
	p := &paragraphs{w: &b, width: width}
	p.line(0, "%s %s: %s", t.Target, t.Instruction, t.Headline())
	if note := t.policyNote(); note != "" {
		p.line(2, "%s", note)
	}
	if t.Verdict == Found {
		t.writeFound(p)
	} else {
		t.writeTrouble(p, 2)
	}
	b.WriteByte('\n')
	p.line(0, "%s", t.spent())
	_, err := w.Write(b.Bytes())
	return err
}

// paragraphs writes text in lines of a width.
type paragraphs struct {
	w     *bytes.Buffer
	width int // 0: all lines stay whole
}

// line writes a line and, indented below it, what does not fit.
func (p *paragraphs) line(indent int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.width == 0 {
		p.whole(indent, text)
		return
	}
	for i, l := range readable.Wrap(text, p.width-indent-2) {
		if i == 1 {
			indent += 2
		}
		p.whole(indent, l)
	}
}

// whole writes a line that is not broken.
func (p *paragraphs) whole(indent int, text string) { fmt.Fprintf(p.w, "%*s%s\n", indent, "", text) }

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
	switch n, k := t.Stats.Confirmed, t.Stats.Denied; {
	case k > 0:
		s += fmt.Sprintf(", %d were asked again and %d of them are others now: if the unit was mended since, name another directory with --out", n, k)
	case n > 0:
		s += fmt.Sprintf(", %d were asked again and are the same", n)
	}
	return s
}

func (t *Report) writeFound(p *paragraphs) {
	if len(t.Alike) > 0 {
		p.line(2, "like %s: %s", strings.Join(t.Alike, ", "), t.qualified(fmt.Sprintf("none of %d inputs tells them apart", t.Compared)))
	}
	for _, c := range t.Conforms {
		p.line(2, "conforms to %s", c)
	}
	if t.Tree != "" {
		p.line(2, "tree %s", t.Tree)
	}
	p.w.WriteByte('\n')
	g := readable.Table{Width: p.width}
	g.Add("  parameter", "value", "an input that rules out another value")
	for i := range t.Parameters {
		x := &t.Parameters[i]
		g.Add("  "+x.Path, x.Value, x.proof())
	}
	g.Write(p.w, nil)
	p.w.WriteByte('\n')
	for _, text := range []string{"validated: " + t.confidence(), t.confident(), t.covered(), t.tileText(), unseen} {
		p.line(2, "%s", text)
	}
	t.writeFaults(p, 2)
}

// writeFaults writes on which inputs the unit fails.
func (t *Report) writeFaults(p *paragraphs, indent int) {
	for _, f := range t.Faults {
		p.line(indent, "the unit fails on %s: %s", f.Dot, f.What)
	}
	if n := t.Failed - len(t.Faults); n > 0 {
		p.line(indent, "and on %d more inputs", n)
	}
	if len(t.Failures) == 0 {
		return
	}
	f := t.Failures[0]
	p.line(indent, "the unit failed %d times on inputs that it answered when they were asked again, first on a batch of %d that begins with %s: %s",
		t.Stats.Failures, f.Inputs, f.Dot, f.What)
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
func (t *Report) writeTrouble(p *paragraphs, indent int) {
	line := func(format string, args ...any) { p.line(indent, format, args...) }
	below := func(format string, args ...any) { p.line(indent+2, format, args...) }
	if x := t.Witness; x != nil {
		line("smallest input found on which the best program is wrong, by its own fault or because the unit is unusual there: %s", x.Terms)
		below("the unit gives %s, the program %s: %s, as in %d of the %d cases that it does not explain", x.Got, x.Would, x.Kind, x.Alike, x.Wrong)
		below("as eval reads it:")
		p.whole(indent+4, x.Dot)
	}
	if u := t.Unstable; u != nil {
		line("for example:")
		p.whole(indent+2, u.Dot)
		below("first %s, then %s", u.First, u.Second)
	}
	t.writeFaults(p, indent)
	if t.Params == (mma.Params{}) {
		line("no program yet")
		return
	}
	switch {
	case t.Verdict == NotStable || t.Evidence == 0:
	case t.Left > 0:
		line("the unit does not compute this; of the programs tried it comes nearest: %s", t.Arithmetic)
		below("%s", nonDefault(&t.Params))
	default:
		line("best program, not tested to the end: %s", t.Arithmetic)
		below("%s", nonDefault(&t.Params))
	}
	for _, f := range t.Families {
		if f.Wrong > 0 {
			line("it is wrong in %d of %d cases of %s (%s)", f.Wrong, f.Cases, f.Name, f.Doc)
		}
	}
}

// nonDefault lists the parameters of a program whose values are not the first ones: the arrows
// of brief begin at these.
func nonDefault(p *mma.Params) string {
	if text := brief(p); text != "" {
		return "whose parameters that are not the default are (default→value): " + text
	}
	return "whose parameters are all the default"
}

// markdown writes the whole report.
func (t *Report) markdown(w io.Writer) error {
	b := &bytes.Buffer{}
	fmt.Fprintf(b, "# Arithmetic of %s %s\n\n", readable.Markdown(t.Target), readable.Markdown(t.Instruction))
	fmt.Fprintf(b, "Formats %s, K = %d. Verdict: **%s**.\n\n%s\n\n", t.Formats, t.K, t.Verdict, readable.Markdown(t.Headline()))
	if note := t.policyNote(); note != "" {
		fmt.Fprintf(b, "%s.\n\n", note)
	}
	if t.Verdict == Found {
		t.markdownFound(b)
	} else {
		var trouble bytes.Buffer
		t.writeTrouble(&paragraphs{w: &trouble}, 0)
		fmt.Fprintf(b, "No model file was written. What the best program is and where it fails:\n\n%s\n", readable.MarkdownBlock(trouble.String()))
	}
	fmt.Fprintf(b, "%s\n", t.spent())
	_, err := w.Write(b.Bytes())
	return err
}

func (t *Report) markdownFound(w *bytes.Buffer) {
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
		var faults bytes.Buffer
		t.writeFaults(&paragraphs{w: &faults}, 0)
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
