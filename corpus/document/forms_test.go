package document_test

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/document"
)

// TestForms compares a document in all forms but HTML with the golden file.
func TestForms(t *testing.T) {
	table := document.Table{Name: "rates", Columns: document.Columns("unit", "#rate")}
	table.Add("=cmd() `a_b`", "0.1")
	table.Rows[0][1].Exact = "0.1000000001"
	table.Add("[link](http://x) | 50%", "12")
	plot := document.Plot{X: document.Axis{Label: "x"}, Y: document.Axis{Label: "y"}, Series: []document.Series{{Name: "s", Points: []document.Point{{X: 1, Y: 1.0 / 3}}}}}
	heat := document.Heat{Rows: []string{"r"}, Columns: []string{"a", "b", "c"}, Cells: [][]document.HeatCell{{{Share: -1}, {Share: 0.5}}}}
	d := document.New("Rates", "What matters.")
	d.Command = "mmafuzz study rates"
	d.Overview = []document.Block{document.Alert("WARNING: it is unstable.")}
	d.Add("How often", document.Text("of `n` inputs, a sentence that takes more than one line of a terminal"), document.Indent(2, &table), document.OnTerminal(document.Note("terminal")))
	d.Add("Pictures", document.OnPage(document.Figure{Name: "plot", Picture: &plot, Caption: "the plot"}), document.Figure{Picture: &heat, Caption: "the map", Text: "r . 5\n"})
	d.Add("More", document.Heading("a heading"), document.List("one", "two"), document.Steps("first"), document.Pre("a\n  b\n"), document.Fold("folded", document.Text("hidden")))
	d.Add("only a page", document.OnPage(document.Note("page")))
	var got strings.Builder
	for _, f := range []string{"text", "markdown", "csv", "latex"} {
		got.WriteString("== " + f + "\n")
		if err := d.Write(&got, f, document.Options{Width: 40, Bold: strings.ToUpper}); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "testdata/forms.golden", got.String())
	if err := d.Write(&got, "pdf", document.Options{}); err == nil {
		t.Error("a form that there is not is written")
	}
}

// TestLong holds that a terminal and a page shorten a table that a file has to its end, and only
// such a one.
func TestLong(t *testing.T) {
	for _, name := range []string{"", "all"} {
		table := document.Table{Name: name, Columns: document.Columns("n")}
		for range 600 {
			table.Add("row")
		}
		d := document.New("", "")
		d.Add("", &table)
		for format, most := range map[string]int{"text": 40, "html": 500, "csv": 600} {
			var b strings.Builder
			if err := d.Write(&b, format, document.Options{Width: 80}); err != nil {
				t.Fatal(err)
			}
			if name == "" {
				most = 600
			}
			if n := strings.Count(b.String(), "row\n") + strings.Count(b.String(), ">row<"); n != most {
				t.Errorf("%s of the table %q has %d rows, want %d", format, name, n, most)
			}
		}
	}
}

// TestStrangersMarkup holds that text from elsewhere is no markup in Markdown and LaTeX.
func TestStrangersMarkup(t *testing.T) {
	const text = "<script>x</script> ![x](http://x/a.png) \\input{x} $y$ 50% a_b\x1b[31m"
	d := everything(text)
	for format, bad := range map[string][]string{
		"markdown": {"<script", "![x](", "http://", "\x1b"}, "latex": {"\\input{", "$y$", " 50% ", "a_b", "\x1b"},
	} {
		var b strings.Builder
		if err := d.Write(&b, format, document.Options{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "input") {
			t.Errorf("%s has no text: the test is void", format)
		}
		for _, s := range bad {
			for line := range strings.Lines(b.String()) {
				code := strings.HasPrefix(line, "mmafuzz show") || strings.HasPrefix(line, "  b ") || strings.HasPrefix(line, "%")
				if strings.Contains(line, s) && (!code || s == "\x1b") {
					t.Errorf("%s has %q in %s", format, s, line)
				}
			}
		}
	}
}
