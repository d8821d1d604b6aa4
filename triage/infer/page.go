package infer

import (
	"context"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/probe"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// ReportFile is the report of an inference in its directory, for programs.
const ReportFile = "report.json"

// ReadReport reads the report of an inference from a file, with its summation tree.
func ReadReport(ctx context.Context, file string) (*Report, error) {
	body, err := corpus.ReadFile(file, "report of an inference", maxInferenceReport)
	if err != nil {
		return nil, err
	}
	t := &Report{}
	if err := strictjson.Unmarshal(body, t); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if t.V != 1 || t.Formats.Validate() != nil {
		return nil, fmt.Errorf("%s: this is no report of an inference", file)
	}
	printable.Strings(t)
	if t.Verdict == Found && t.Params.Validate(t.Formats, t.K) == nil {
		if err := t.draw(ctx, &mma.Instruction{Arch: "model", Name: "inferred", K: t.K, Formats: t.Formats, Params: t.Params}); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return t, nil
}

// Page makes the page of a report.
func (t *Report) Page() *document.Document {
	verdict := map[Verdict]string{
		Found: "its arithmetic was found", Unexplained: "no arithmetic was found that explains it",
		NotStable: "it changes its answers", Failing: "it fails", Exhausted: "the search ended early",
	}[t.Verdict]
	lead := t.Headline()
	if t.Verdict == Found {
		lead = "A program of known parts reproduces every answer of the unit, bit for bit: " + lead
	}
	p := document.New(fmt.Sprintf("%s %s: %s", t.Target, t.Instruction, verdict), lead)
	p.Add("What was found", t.found()...)
	p.Add("How the unit adds", t.treeBlocks()...)
	p.Add("How the unit computes", document.Figure{Picture: report.Pipeline(t.Formats, t.K, &t.Params).Titled("block diagram of the unit"), Caption: "The unit as a block diagram, from the operands to the result, with the widths and roundings that were found."})
	p.Add("What proves it", t.parameterTable()...)
	p.Add("What it was tested on", t.tested()...)
	return p
}

func (t *Report) found() []document.Block {
	blocks := []document.Block{document.Text(fmt.Sprintf("A unit that multiplies %s and adds %d products was asked %s dot products. It was known by its answers alone.", t.Formats, t.K, readable.Thousands(uint64(max(0, t.Stats.Queries)))))}
	if t.Verdict == Found {
		blocks = append(blocks, document.Text("The program found: `"+t.Arithmetic+"`."))
	} else {
		wrong := "whose tests were not finished"
		if t.Left > 0 {
			wrong = "which the unit does not compute"
		}
		blocks = append(blocks, document.Alert("No program passed every test; what follows describes the program that comes nearest, "+wrong+": `"+t.Arithmetic+"`. "+t.Note))
	}
	if len(t.Alike) > 0 {
		blocks = append(blocks, document.Text(fmt.Sprintf("It computes as these known instructions do; none of %s inputs tells them apart: %s.", readable.Thousands(uint64(max(0, t.Compared))), strings.Join(readable.First(t.Alike, 12), ", "))))
	}
	if w := t.Witness; w != nil {
		blocks = append(blocks, document.Text(fmt.Sprintf("The smallest input found on which the best program is wrong, by its own fault or because the unit is unusual there: `%s`. The unit gives `%s`, the program `%s`: %s, as in %d of the %d cases that it does not explain.", w.Terms, w.Got, w.Would, w.Kind, w.Alike, w.Wrong)))
	}
	if u := t.Unstable; u != nil {
		blocks = append(blocks, document.Text(fmt.Sprintf("%s: `%s` gave `%s` and then `%s`.", u.What, u.Dot, u.First, u.Second)))
	}
	for _, f := range t.Faults {
		blocks = append(blocks, document.Text(fmt.Sprintf("The unit fails on `%s`: %s.", f.Dot, f.What)))
	}
	if note := t.policyNote(); note != "" {
		blocks = append(blocks, document.Note(note+"."))
	}
	return append(blocks, document.Note(t.spent()+"."))
}

// treeBlocks draws the summation tree.
func (t *Report) treeBlocks() []document.Block {
	if t.tree == nil {
		if t.Tree == "" {
			return nil
		}
		return []document.Block{document.Pre(t.Tree)}
	}
	return []document.Block{probe.TreeFigure(t.tree, t.K), document.Fold("The tree as a formula", document.Pre(t.tree.Formula(t.K)))}
}

// parameterTable lists what was found out about each parameter, with the input that rules
// out another value.
func (t *Report) parameterTable() []document.Block {
	table := document.Table{Columns: document.Columns("part of the arithmetic", "value", "another value is ruled out", "by this input", "the unit gave", "it would be")}
	open := document.Table{Caption: "What was not told apart: other values that gave the same results on all inputs that were tried", Columns: document.Columns("part of the arithmetic", "other value", "#inputs tried")}
	for _, p := range t.Parameters {
		name := report.ParameterInWords(p.Path) + " `" + p.Path + "`"
		if len(p.RuledOut) == 0 {
			why := p.proof()
			table.Add(name, p.Value, why, "", "", "")
		}
		for n, r := range p.RuledOut {
			if n > 0 {
				break // one is a proof; report.md has all
			}
			table.Add(name, p.Value, r.Change, "`"+r.Terms+"`", "`"+r.Got+"`", "`"+r.Would+"`")
		}
		for _, o := range p.Open {
			open.Add(name, o.Change, readable.Thousands(uint64(max(0, o.Tried))))
		}
	}
	return []document.Block{document.Text("Each row has an input on which the unit's answer rules out another value of the parameter. p0=3f80*4000 is a product of two operands, by their codes; all others are zero."), &table, &open}
}

func (t *Report) tested() []document.Block {
	table := document.Table{Columns: document.Columns("kind of input", "what it is", "#dot products", "differ", "at most, with 95 % confidence")}
	for _, c := range t.Classes {
		table.Add("`"+c.Name+"`", c.Doc, readable.Thousands(uint64(max(0, c.Asked))), "none", c.bound())
	}
	if table.Rows == nil {
		return nil
	}
	return []document.Block{document.Text("The program was tried on inputs that it was not made from. " + t.tileText() + " " + unseen), &table}
}
