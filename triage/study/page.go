package study

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/report/page"
)

// resultFile is the file of a result in its directory.
const resultFile = "result.json"

// maxResult is more bytes than any result takes.
const maxResult = 256 << 20

// Open reads the result of a study from its directory.
func Open(dir string) (*Result, error) {
	body, err := corpus.ReadFile(filepath.Join(dir, resultFile), "result of a study", maxResult)
	if err != nil {
		return nil, err
	}
	var r Result
	if err := mma.UnmarshalJSON(body, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, resultFile), err)
	}
	if err := r.checkSizes(); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, resultFile), err)
	}
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			for i, c := range row {
				if v, ok := c.(float64); ok {
					row[i] = Number(v)
				}
			}
		}
	}
	return &r, nil
}

// checkSizes returns what does not fit together in the tables and plots of a result.
func (r *Result) checkSizes() error {
	for _, t := range r.Tables {
		for n, row := range t.Rows {
			if len(row) != len(t.Head) {
				return fmt.Errorf("row %d of table %q has %d cells, not %d", n+1, t.Name, len(row), len(t.Head))
			}
		}
	}
	for _, p := range r.Plots {
		for _, s := range p.Series {
			if len(s.X) != len(s.Y) {
				return fmt.Errorf("series %q of plot %q has %d x and %d y", s.Name, p.Title, len(s.X), len(s.Y))
			}
		}
		if len(p.Values) != len(p.Rows) {
			return fmt.Errorf("heat map %q has %d rows of values, not %d", p.Title, len(p.Values), len(p.Rows))
		}
		for n, row := range p.Values {
			if len(row) != len(p.Columns) {
				return fmt.Errorf("row %d of heat map %q has %d values, not %d", n+1, p.Title, len(row), len(p.Columns))
			}
		}
	}
	return nil
}

// rowsOnPage are the rows of a table that a page shows.
const rowsOnPage = 500

// Page makes the page of a result. command is how it was made.
func (r *Result) Page(command string) *page.Page {
	title, short := "Study "+r.Study, ""
	for _, s := range studies {
		if s.Name == r.Study {
			short = s.Short
		}
	}
	p := page.New(title, short)
	var said []page.HTML
	for _, s := range slices.Concat(r.warnings(), r.Failures) {
		said = append(said, page.Alert(s))
	}
	for _, s := range r.Remarks {
		said = append(said, page.Text(s))
	}
	p.Add("Result", said...)
	var more []page.HTML // what has a title like many others
	for i := range r.Plots {
		if g := &r.Plots[i]; strings.HasPrefix(g.Name, heatsOf) {
			more = append(more, page.Fold(g.Title, g.figure()))
		} else {
			p.Add(g.Title, g.figure())
		}
	}
	p.Add("Units of the same formats", more...)
	for i := range r.Tables {
		t := &r.Tables[i]
		note := t.Note
		if n := len(t.Rows); n > rowsOnPage {
			note += fmt.Sprintf(" The first %d of %d rows; %s.csv has all.", rowsOnPage, n, t.Name)
		}
		p.Add(t.Title, page.Text(strings.TrimSpace(note)), t.html())
	}
	p.Add("The same again", page.Command(command))
	return p
}

// Command is how a result is made, with its files in a directory unless that is "".
func (r *Result) Command(dir string) string {
	words := []string{"mmafuzz", "study", r.Study}
	words = append(words, r.Targets...)
	words = append(words, "--seed", fmt.Sprint(r.Seed))
	for _, s := range studies {
		if s.Name == r.Study && s.Of != "" {
			words = append(words, "--count", fmt.Sprint(r.Count))
		}
	}
	for _, name := range sortedKeys(r.Settings) {
		words = append(words, "--"+name+"="+r.Settings[name])
	}
	if dir != "" {
		words = append(words, "--out", dir)
	}
	return readable.ShellCommand(words...)
}

// html is the table for a page.
func (t *Table) html() page.HTML {
	g := page.Table{Columns: page.Columns(t.Head...)}
	for n, row := range t.Rows {
		if n == rowsOnPage {
			break
		}
		var cells []string
		for i, c := range row {
			cells = append(cells, fmt.Sprint(c))
			if _, isText := c.(string); !isText {
				g.Columns[i].Number = true
			}
		}
		g.Add(cells...)
	}
	return g.HTML()
}

// figure draws a plot.
func (p *Plot) figure() page.HTML {
	switch {
	case p.Kind == "heat":
		return page.Figure(p.heat().SVG(), p.Title, nil)
	case p.Kind == "bars" && len(p.Series) == 1:
		b := page.Bars{Title: p.Title, X: p.X, Y: p.Y}
		s := &p.Series[0]
		for i := range s.X {
			b.Bars = append(b.Bars, page.Bar{Label: s.X[i].String(), Value: float64(s.Y[i])})
		}
		return page.Figure(b.SVG(), p.Title, nil)
	}
	g := page.Plot{Title: p.Title, X: page.Axis{Label: p.X, Log: p.LogX}, Y: page.Axis{Label: p.Y, Log: p.LogY}}
	for _, s := range p.Series {
		line := page.Series{Name: s.Name, Steps: p.Kind == "bars"}
		for i := range s.X {
			line.Points = append(line.Points, page.Point{X: float64(s.X[i]), Y: float64(s.Y[i])})
		}
		g.Series = append(g.Series, line)
	}
	return page.Figure(g.SVG(), p.Title, nil)
}

// heat is the heat map of a plot.
func (p *Plot) heat() *page.Heat {
	h := &page.Heat{Title: p.Title, Rows: p.Rows, Columns: p.Columns, Key: p.X}
	for i, row := range p.Values {
		var cells []page.HeatCell
		for j, v := range row {
			c := page.HeatCell{Share: -1}
			if !math.IsNaN(float64(v)) {
				c = page.HeatCell{Share: float64(v), Text: fmt.Sprintf("%.0f", 100*float64(v)), Title: fmt.Sprintf("%s and %s: %s %%", p.Rows[i], p.Columns[j], Number(100*v))}
			}
			cells = append(cells, c)
		}
		h.Cells = append(h.Cells, cells)
	}
	return h
}
