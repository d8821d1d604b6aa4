package infer

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// verdictInWords is what a page's title says of a unit.
var verdictInWords = map[Verdict]string{
	Found: "its arithmetic was found", Unexplained: "no arithmetic was found that explains it",
	NotStable: "it changes its answers", Failing: "it fails", Exhausted: "the search ended early",
}

// Document is a report for people.
func (t *Report) Document() *document.Document {
	lead := t.Headline()
	if t.Verdict == Found {
		lead = t.qualified("A program of known parts reproduces every answer of the unit, bit for bit") + ": " + lead
	}
	d := document.New(fmt.Sprintf("%s %s: %s", t.Target, t.Instruction, verdictInWords[t.Verdict]), lead)
	d.Untitled = true
	d.Add("What was found", t.found()...)
	d.Add("How the unit adds", document.OnPage(t.treeBlocks()...))
	what, title, about := "How the unit computes", "block diagram of the unit",
		"The unit as a block diagram, from the operands to the result, with the widths and roundings that were found."
	if t.Verdict != Found {
		what, title, about = "How the nearest program computes", "block diagram of the nearest program",
			"The nearest program as a block diagram, from the operands to the result. The unit computes something else."
	}
	d.Add(what, document.OnPage(document.Figure{Picture: report.Pipeline(t.Formats, t.K, &t.Params).Titled(title),
		Text: strings.Join(report.StagesInWords(t.Formats, t.K, &t.Params), "\n"), Caption: about}))
	if t.Verdict == Found {
		d.Add("What proves it", t.proofs()...)
		d.Add("What was not told apart", document.OnPage(t.open()...))
		d.Add("What it was tested on", t.tested()...)
	}
	d.Add("What it took", document.Text(readable.Converted(t.Formats, t.spent())))
	return d
}

// found says what was found, or why nothing was.
func (t *Report) found() []document.Block {
	does := fmt.Sprintf("multiplies %s and adds %d products", t.Formats, t.K)
	if t.converts() {
		does = fmt.Sprintf("converts %s", t.Formats)
	}
	asked := fmt.Sprintf("A unit that %s was asked %s times. It was known by its answers alone. Verdict: %s.",
		does, readable.Thousands(uint64(max(0, t.Stats.Queries))), t.Verdict)
	blocks := []document.Block{document.OnTerminal(document.Text(fmt.Sprintf("%s %s: %s", t.Target, t.Instruction, t.Headline()))), document.OnPage(document.Text(asked)),
		document.Indent(2, document.Text(t.policyNote()))}
	if t.Verdict != Found {
		return append(blocks, document.OnPage(document.Alert("No program passed every test, and no model file was written. What the best program is and where it fails:")), document.Indent(2, t.trouble()...))
	}
	var like []document.Block
	if len(t.Alike) > 0 {
		names := strings.Join(t.Alike, ", ")
		like = append(like, document.OnTerminal(document.Text(fmt.Sprintf("like %s: %s", names, t.qualified(fmt.Sprintf("none of %d inputs tells them apart", t.Compared))))),
			document.OnPage(document.Text(fmt.Sprintf("%s: %s.", t.qualified(fmt.Sprintf("None of %d inputs tells it from these", t.Compared)), names))))
	}
	for _, c := range t.Conforms {
		like = append(like, document.Text("conforms to "+c))
	}
	if t.Arithmetic == custom {
		for _, line := range report.StagesInWords(t.Formats, t.K, &t.Params) {
			like = append(like, document.OnTerminal(document.Text(line)))
		}
	}
	if t.Tree != "" {
		like = append(like, document.Text("tree "+t.Tree))
	}
	return append(blocks, document.Indent(2, like...))
}

// trouble says why there is no model.
func (t *Report) trouble() (blocks []document.Block) {
	line := func(format string, args ...any) {
		blocks = append(blocks, document.Text(fmt.Sprintf(format, args...)))
	}
	below := func(b document.Block) { blocks = append(blocks, document.Indent(2, b)) }
	if x := t.Witness; x != nil {
		line("smallest input found on which the best program is wrong, by its own fault or because the unit is unusual there: %s", x.Terms)
		below(document.Text(fmt.Sprintf("the unit gives %s, the program %s: %s, as in %d of the %d cases that it does not explain", x.Got, x.Would, x.Kind, x.Alike, x.Wrong)))
		below(document.Text("as " + t.calls().Reader + " reads it:"))
		below(document.Indent(2, document.Pre(x.Dot)))
		if t.dropped != "" {
			line("%s", t.dropped)
		}
		if x.Kind == nanCodes && x.Alike == x.Wrong {
			line("only the codes of NaNs are not explained: %s leaves them out, and finds the arithmetic of numbers", t.calls().NaN)
		}
		if zero := t.calls().Zero; x.Kind == zeroSigns && x.Alike == x.Wrong && zero != "" {
			line("only the signs of zeros are not explained: %s leaves them out, and finds the rest of the arithmetic", zero)
		}
	}
	if u := t.Unstable; u != nil {
		line("for example:")
		below(document.Pre(u.Dot))
		below(document.Text(fmt.Sprintf("first %s, then %s", u.First, u.Second)))
		if t.nans {
			line("%s takes NaNs of other codes for the same", t.calls().NaN)
		}
	}
	blocks = append(blocks, t.faults()...)
	if t.Params == (mma.Params{}) {
		line("no program yet")
		return blocks
	}
	if text := t.extent(); text != "" {
		line("%s", text)
	}
	if t.Verdict != NotStable && t.Evidence > 0 {
		about := "best program, not tested to the end: "
		if t.Left > 0 {
			about = "the unit does not compute this; of the programs tried it comes nearest: "
		}
		line("%s%s", about, t.Arithmetic)
		below(document.Text(readable.Converted(t.Formats, nonDefault(&t.Params))))
	}
	if t.Left > 0 {
		line("if it is meant to compute a known arithmetic, a comparison with that one looks for the condition under which it errs, unless that has been tried: %s", t.calls().against(t.Target))
	}
	for _, f := range t.Families {
		if f.Wrong > 0 {
			line("it is wrong in %d of %d cases of %s (%s)", f.Wrong, f.Cases, f.Name, f.Doc)
		}
	}
	return blocks
}

// faults says on which inputs the unit fails.
func (t *Report) faults() (blocks []document.Block) {
	for _, f := range t.Faults {
		blocks = append(blocks, document.Text(fmt.Sprintf("the unit fails on %s: %s", f.Dot, f.What)))
	}
	if n := t.Failed - len(t.Faults); n > 0 {
		blocks = append(blocks, document.Text(fmt.Sprintf("and on %d more inputs", n)))
	}
	if len(t.Failures) == 0 {
		return blocks
	}
	f := t.Failures[0]
	return append(blocks, document.Text(fmt.Sprintf("the unit failed %d times on inputs that it answered when they were asked again, first on a batch of %d that begins with %s: %s",
		t.Stats.Failures, f.Inputs, f.Dot, f.What)))
}

// treeBlocks draws the summation tree.
func (t *Report) treeBlocks() []document.Block {
	if t.tree == nil {
		return []document.Block{document.Pre(t.Tree)}
	}
	return []document.Block{t.tree.Figure(t.K), document.Fold("The tree as a formula", document.Pre(t.tree.Formula(t.K)))}
}

// proofs list what was found out about each parameter: a terminal has the first input that rules
// out another value, a page all of them.
func (t *Report) proofs() []document.Block {
	short := document.Table{Columns: document.Columns("parameter", "value", "an input that rules out another value")}
	all := document.Table{Columns: document.Columns("parameter", "value", "another value is ruled out", "by this input", "the unit gave", "it would be", "what it is")}
	for i := range t.Parameters {
		p := &t.Parameters[i]
		short.Add(p.Path, p.Value, p.proof())
		if len(p.RuledOut) == 0 {
			all.Add(p.Path, p.Value, "-", p.proof(), "", "", readable.Converted(t.Formats, report.ParameterInWords(p.Path)))
		}
		for n, r := range p.RuledOut {
			path, value, words := p.Path, p.Value, readable.Converted(t.Formats, report.ParameterInWords(p.Path))
			if n > 0 {
				path, value, words = "", "", ""
			}
			all.Add(path, value, r.Change, "`"+r.Terms+"`", r.Got, r.Would, words)
		}
	}
	return []document.Block{document.OnTerminal(document.Indent(2, &short)),
		document.OnPage(document.Text(readable.Converted(t.Formats, "Each row has an input on which the unit's answer rules out another value of the parameter. p0=3f80*4000 is a product of two operands, by their codes; all others are zero.")), &all)}
}

// open lists what was not told apart.
func (t *Report) open() []document.Block {
	var items, same []string
	tried := false
	for _, p := range t.Parameters {
		tried = tried || len(p.RuledOut)+len(p.Open) > 0
		for _, o := range p.Open {
			if o.Proved {
				same = append(same, o.Change)
				continue
			}
			items = append(items, fmt.Sprintf("%s: %d inputs tried%s", o.Change, o.Tried, o.byClass()))
		}
	}
	var blocks []document.Block
	switch {
	case !tried:
		return []document.Block{document.Text("No other value was tried.")}
	case items == nil:
		blocks = append(blocks, document.Text("None: every other value that was tried is ruled out, or proved to make no difference."))
	default:
		blocks = append(blocks, document.Text("Other values that gave the same results on all inputs that were tried; an input that tells may exist."), document.List(items...))
	}
	if same != nil {
		blocks = append(blocks, document.Text("Changes that are proved to make no difference:"), document.List(same...))
	}
	return blocks
}

// tested says on which inputs the program was tried that it was not made from.
func (t *Report) tested() []document.Block {
	classes := document.Table{Columns: document.Columns("kind of input", "#dot products", "#independent", "#differ", "at most, with 95 % confidence", "what it is")}
	for _, c := range t.Classes {
		classes.Add(c.Name, fmt.Sprint(c.Asked), fmt.Sprint(c.Independent), "0", c.bound(), c.Doc)
	}
	var extremes []string
	for _, k := range gen.Corners(t.Formats) {
		extremes = append(extremes, k.Name+": "+strings.Join(k.Classes, "; "))
	}
	var sentences []document.Block
	for _, text := range []string{"validated: " + readable.Converted(t.Formats, t.confidence()), t.confident(), readable.Converted(t.Formats, t.covered()) + t.nansCovered(), t.tileText(), unseen} {
		sentences = append(sentences, document.Text(text))
	}
	return []document.Block{document.Indent(2, append(sentences, t.faults()...)...),
		document.OnPage(&classes, document.Text("A fault that needs another extreme than these may not have been seen."), document.List(extremes...))}
}
