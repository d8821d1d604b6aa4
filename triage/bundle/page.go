package bundle

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// Page makes the page of a mismatch whose bundle is in dir; all: with every sum, not only
// those that decide.
func Page(m *corpus.Mismatch, dir string, all bool) (*document.Document, error) {
	pic, err := Picture(m, dir)
	if err != nil {
		return nil, err
	}
	p := document.New(fmt.Sprintf("%s and %s give different results", m.A.Target, m.B.Target),
		fmt.Sprintf("For one %s of %s: %s and %s. Cause: %s.", oneOf(m), pic.Title, resultText(&m.A), resultText(&m.B), readable.Converted(m.Formats, inWords(cmp.Or(m.Detail, m.Bucket), m.Formats))))
	p.Add("What happens", document.Steps(report.InWords(pic)...), Drawing(pic, true, all))
	p.Add("Why", whyBlocks(m)...)
	p.Add("The input", inputBlocks(m, pic)...)
	p.Add("Run it again", rerunBlocks(m, dir)...)
	text, err := textPicture(pic)
	if err != nil {
		return nil, err
	}
	p.Add("Where it comes from", document.Text(foundText(m)), environments(m), document.Fold("The picture as text", document.Pre(text)))
	return p, nil
}

// Drawing is the picture of a mismatch as a figure, with an explanation of its parts if key
// is set.
func Drawing(pic *report.Mismatch, key, all bool) document.Figure {
	what := "sum"
	if pic.Formats.Conversion() {
		what = "number"
	}
	title := fmt.Sprintf("How %s and %s compute the same %s", pic.A.Name, pic.B.Name, what)
	caption := title + ": each row is a number in binary, in the columns of its powers of two."
	if !key {
		caption += " The first picture of this page says how to read it."
	}
	return document.Figure{Picture: report.SVG(pic, report.SVGOptions{Key: key, All: all}).Titled(title), Caption: caption}
}

func textPicture(pic *report.Mismatch) (string, error) {
	var b bytes.Buffer
	err := report.Text(&b, pic, report.TextOptions{})
	return b.String(), err
}

// whyBlocks say what part of the arithmetic makes a difference, and what the evidence for it is.
func whyBlocks(m *corpus.Mismatch) []document.Block {
	blocks := []document.Block{document.Text(fmt.Sprintf("The cause is called `%s`: %s.", m.Bucket, cmp.Or(readable.Converted(m.Formats, LabelDoc(m.Bucket)), "it is none of the parts of the arithmetic that have names")))}
	if m.Class == oracle.Fault.String() {
		return blocks // a failure is no result that another arithmetic would give
	}
	a, b := m.A, m.B
	if m.Base == "b" {
		a, b = b, a
	}
	if len(m.CaseChanges) > 0 {
		blocks = append(blocks, report.ChangesTable(m.Formats, "What this case needs: with these made equal, both sides give the same result", m.CaseChanges, a.Target, b.Target))
	}
	if len(m.Changes) > 0 && !slices.Equal(m.Changes, m.CaseChanges) {
		blocks = append(blocks, report.ChangesTable(m.Formats, "All differences of the two arithmetics that were found", m.Changes, a.Target, b.Target))
	}
	if m.Explained > 0 {
		blocks = append(blocks, document.Text(fmt.Sprintf("The evidence: with these changes the arithmetic of one side gives the results of the other in %s that were looked into, and keeps %s.",
			readable.Plural(m.Explained, "differing case"), readable.Plural(m.Kept, "agreeing one"))))
	}
	for _, text := range equivalentTexts(m) {
		blocks = append(blocks, document.Text(text+"."))
	}
	if m.Defect != nil {
		blocks = append(blocks, document.Alert("A defect of "+readable.Converted(m.Formats, DefectText(m.Defect))+"."))
	}
	if m.Sums != nil {
		blocks = append(blocks, document.Alert("How the two sides add: "+SumsText(m.Sums)+"."))
	}
	if m.Past != nil {
		blocks = append(blocks, document.Alert("What was asked before matters. "+readable.Converted(m.Formats, DefectText(m.Past))+"."))
	}
	if n := m.Nearest; n != nil {
		blocks = append(blocks, document.Alert("Nothing explains the difference. The program that comes nearest is "+readable.Converted(m.Formats, NearestText(n))+"; "+WitnessText(n)+"."))
	}
	for _, c := range next(m) {
		blocks = append(blocks, document.Command(c))
	}
	return blocks
}

// inputBlocks list the operands and what does not matter about them.
func inputBlocks(m *corpus.Mismatch, pic *report.Mismatch) []document.Block {
	blocks := []document.Block{report.OperandTable(&pic.Input)}
	if m.Free != "" {
		blocks = append(blocks, document.Text("What does not matter:"), document.List(pic.Free...))
	}
	if m.Minimal {
		blocks = append(blocks, document.Note("The input is minimal: without any one of its terms or bits the two sides agree, or differ in another way."))
	}
	return append(blocks, document.Fold("The input as `mmafuzz eval` reads it", document.Pre(m.Case)))
}

func rerunBlocks(m *corpus.Mismatch, dir string) []document.Block {
	if err := functionError(m); err != nil {
		return []document.Block{document.Text(err.Error() + ".")}
	}
	blocks := []document.Block{document.Command("mmafuzz replay " + readable.ShellPath(dir)), document.Text("The same as a Go test, in a clone of mmafuzz or in any module that requires it:"),
		document.Command("go test " + readable.ShellPath(filepath.Join(dir, "repro_test.go")))}
	if names := slices.Sorted(maps.Keys(programs(m))); len(names) > 0 {
		blocks = append(blocks, document.Text("Programs that run it on a GPU and need nothing but its driver or compiler; each says how: `"+strings.Join(names, "`, `")+"`."))
	}
	if RunsCommand(m.A.Target, m.B.Target) {
		blocks = append(blocks, document.Alert("This runs the command that is the target: mmafuzz shows it and asks first."))
	}
	return blocks
}

// foundText says where a case was found and how often it repeated itself.
func foundText(m *corpus.Mismatch) string {
	text := ""
	if m.Origin.Source != "" {
		text = fmt.Sprintf("Found by the generator `%s` with seed %d as number %d.", m.Origin.Source, m.Origin.Seed, m.Origin.Index)
	}
	if repeated := repeatedText(m); repeated != "" && !m.OnModel {
		text += " " + repeated
	}
	if m.OnModel {
		text += " " + strings.TrimSpace(standInText(m))
	}
	return strings.TrimSpace(text)
}

// environments says what the two sides were.
func environments(m *corpus.Mismatch) document.Block {
	t := document.Table{Columns: document.Columns("", "A", "B")}
	t.Add("target", "`"+m.A.Target+"`", "`"+m.B.Target+"`")
	t.Add("instruction", "`"+m.A.Instruction+"`", "`"+m.B.Instruction+"`")
	keys := map[string]bool{}
	for _, s := range []corpus.SideRecord{m.A, m.B} {
		for k := range s.Environment {
			keys[k] = true
		}
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		t.Add(k, m.A.Environment[k], m.B.Environment[k])
	}
	return &t
}
