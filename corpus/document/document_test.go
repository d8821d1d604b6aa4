package document_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/document"
)

var update = flag.Bool("update", false, "write the golden file")

// everything is a page with each kind of block.
func everything(text string) *document.Document {
	p := document.New("A page: "+text, "Its lead: "+text)
	p.Made = "mmafuzz"
	p.Add("Words "+text, document.Text("`code` and "+text), document.Note("a note: "+text), document.Alert("an alert: "+text),
		document.List("one `item`", text), document.Steps("first", text), document.Heading("A heading: "+text),
		document.Command("mmafuzz show "+text), document.Pre("a\n  b "+text), document.Fold("more: "+text, document.Text("hidden")))
	table := document.Table{Caption: "a caption: " + text, Columns: document.Columns("name", "#cases")}
	table.Columns[0].Title = "what it is called: " + text
	table.Add(text, "1")
	table.Rows = append(table.Rows, document.Row{{Text: "link", Href: "#s1"}, {Block: document.Note("a block"), Key: text, Class: "bad"}})
	p.Add("Table", &table)
	plot := document.Plot{Title: "a plot: " + text, X: document.Axis{Label: "dots " + text, Log: true}, Y: document.Axis{Label: "causes"}, Series: []document.Series{
		{Name: "steps " + text, Steps: true, Points: []document.Point{{X: 10, Y: 1}, {X: 1000, Y: 3, Title: text}, {X: 0, Y: 5}}},
		{Name: "marks", Marks: true, Points: []document.Point{{X: 100, Y: 2}}}}}
	bars := document.Bars{Title: "bars", X: "ulp " + text, Y: "cases", Log: true, Bars: []document.Bar{{Label: "0", Value: 0}, {Label: "1 " + text, Value: 100}, {Label: "2", Value: 7, Title: text}}}
	heat := document.Heat{Title: "a heat map", Rows: []string{"r " + text, "s"}, Columns: []string{"a", "b " + text}, Key: "share",
		Cells: [][]document.HeatCell{{{Share: 0, Text: "="}, {Share: 0.2, Text: "20 %", Mark: true, Title: text}}, {{Share: -1}, {Share: 1, Text: "all", Href: "#s1"}}}}
	c := document.Canvas{Title: "a canvas: " + text}
	c.Begin("a group: " + text)
	c.Rect(10, 10, document.TextWidth("text"), 20, "f-one")
	c.Text(40, 30, "mid", "text "+text)
	c.End()
	c.Spread([]int{50, 60}, 50, "bits", "01")
	c.Path("M0 0h10", "k-cut")
	p.Add("Pictures", document.Figure{Picture: &plot, Caption: "the plot: " + text, Numbers: &table}, document.Figure{Picture: &bars, Caption: "the bars"},
		document.Figure{Picture: &heat, Caption: "the map"}, document.Figure{Picture: &c, Caption: "the canvas: " + document.Number(1e6) + " " + document.Superscript(-12)})
	p.Add("left out", &document.Table{}, document.List(), document.Figure{Picture: &document.Plot{}}, document.Figure{Picture: &document.Bars{}},
		document.Figure{Picture: &document.Heat{}}, document.Figure{Caption: "nothing"})
	return p
}

func write(t *testing.T, p *document.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b, "html", document.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestGolden compares the markup of each kind of block with that of the golden file, the
// style and the script apart.
func TestGolden(t *testing.T) {
	const file = "testdata/page.golden"
	got := write(t, everything("x"))
	_, got, _ = strings.Cut(got, "</head>\n")
	got, _, _ = strings.Cut(got, "<script>")
	golden(t, file, got)
}

// golden compares a text with that of a golden file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is another text: run with -update and look at the difference", file)
	}
}

// TestHostile holds that text is shown as text, wherever it comes from.
func TestHostile(t *testing.T) {
	const long = " with an end that makes it long" // long names are drawn in another way
	markup := strings.Count(write(t, everything("text"+long)), "<")
	for _, text := range []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onload='alert(1)`, `</title></style></svg></textarea><b>`,
		`{{.}}`, "`unclosed", "\x1b[31mred\x1b[0m", "nul\x00", "\u202eright to left", "\xff\xfe", "javascript:alert(1)", "--></script>",
	} {
		got := write(t, everything(text+long))
		if n := strings.Count(got, "<"); n != markup && !strings.Contains(text, "`") {
			t.Errorf("%q: %d tags begin, %d without it", text, n, markup)
		}
		for _, bad := range []string{"\x1b", "\x00", "\u202e", "\xff"} {
			if strings.Contains(got, bad) {
				t.Errorf("%q: the page has %q", text, bad)
			}
		}
	}
	if n := len(write(t, everything(strings.Repeat("1 MB ", 200_000)))); n > 200_000 {
		t.Errorf("texts of a megabyte make a page of %d bytes", n)
	}
}

// TestContrast holds that text can be read in the light and in the dark: WCAG 2.2, 1.4.3.
func TestContrast(t *testing.T) {
	colors := map[string]document.Color{}
	for _, c := range document.Colors {
		colors[c.Name] = c
	}
	for _, p := range document.Contrasts {
		text, on := colors[p.Text], colors[p.On]
		for _, c := range []struct{ scheme, text, on string }{{"light", text.Light, on.Light}, {"dark", text.Dark, on.Dark}} {
			if got := contrast(t, c.text, c.on); got < 4.5 {
				t.Errorf("%s on %s in the %s: a contrast of %.2f, at least 4.5 is needed", p.Text, p.On, c.scheme, got)
			}
		}
	}
}

// contrast is the contrast ratio of two colours of the form #rrggbb.
func contrast(t *testing.T, x, y string) float64 {
	t.Helper()
	a, b := luminance(t, x), luminance(t, y)
	return (max(a, b) + 0.05) / (min(a, b) + 0.05)
}

func luminance(t *testing.T, color string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		if v := float64(n) / 255; v <= 0.04045 {
			sum += weight * v / 12.92
		} else {
			sum += weight * math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return sum
}

// TestExport writes every figure with its numbers, and every table: also those without a name.
func TestExport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "figures")
	if err := everything("x").Export(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := "figure-1-the-plot-x.csv figure-1-the-plot-x.svg figure-2-the-bars.csv figure-2-the-bars.svg figure-3-the-map.csv figure-3-the-map.svg figure-4-the-canvas-1-m.svg index.csv page.html table-1-a-caption-x.csv tables.md tables.tex"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for name, text := range map[string]string{"figure-2-the-bars.csv": "1 x,100", "figure-3-the-map.svg": `<svg xmlns="http://www.w3.org/2000/svg"`, "tables.tex": `\begin{`} {
		if body, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(body), text) {
			t.Errorf("%s has no %q: %v\n%s", name, text, err, body)
		}
	}
}

// TestFile holds that a picture in a file of its own brings its colours along.
func TestFile(t *testing.T) {
	var c document.Canvas
	c.Text(10, 20, "", "a < b")
	got := string(c.File())
	for _, want := range []string{`<svg xmlns="http://www.w3.org/2000/svg"`, "prefers-color-scheme:dark", "a &lt; b</text>"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
