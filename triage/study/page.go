package study

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
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
	if err := strictjson.Unmarshal(body, &r); err != nil {
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
	for _, o := range r.Orders {
		if err := o.Check(); err != nil {
			return err
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

// Document is a result for people. Its files are in a directory, unless that is "".
func (r *Result) Document(dir string) *document.Document {
	short := ""
	for _, s := range studies {
		if s.Name == r.Study {
			short = s.Short
		}
	}
	d := document.New("Study "+r.Study, short)
	d.Command = r.Command(dir)
	for _, s := range r.warnings() {
		d.Overview = append(d.Overview, document.Alert(s))
	}
	for _, s := range r.Remarks {
		d.Overview = append(d.Overview, document.Text(s))
	}
	for _, s := range r.Failures {
		d.Overview = append(d.Overview, document.Alert(s))
	}
	var more []document.Block // what has a title like many others
	for i := range r.Plots {
		g := &r.Plots[i]
		figure := document.Figure{Name: "plot-" + g.Name, Picture: g.picture(), Caption: g.Title}
		if strings.HasPrefix(g.Name, heatsOf) {
			more = append(more, document.Fold(g.Title, figure))
		} else {
			d.Add(g.Title, document.OnPage(figure))
		}
	}
	d.Add("Units of the same formats", document.OnPage(more...))
	for i, o := range r.Orders {
		f := o.Figure()
		f.Name = fmt.Sprintf("order-%d", i)
		d.Add(o.Title, f)
	}
	for i := range r.Tables {
		t := &r.Tables[i]
		d.Add(t.Title, document.Text(t.Note), t.document())
	}
	return d
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

// document is the table for people.
func (t *Table) document() *document.Table {
	g := &document.Table{Name: t.Name, Columns: document.Columns(t.Head...)}
	for _, row := range t.Rows {
		var cells document.Row
		for i, c := range row {
			cell := document.Cell{Text: fmt.Sprint(c), Exact: fmt.Sprint(c), Plain: true}
			if n, is := c.(Number); is {
				cell.Exact = n.exactly()
			}
			switch c.(type) {
			case int, Number:
				g.Columns[i].Number = true
			}
			cells = append(cells, cell)
		}
		g.Rows = append(g.Rows, cells)
	}
	return g
}

// picture draws a plot.
func (p *Plot) picture() document.Picture {
	switch {
	case p.Kind == "heat":
		return p.heat()
	case p.Kind == "bars" && len(p.Series) == 1:
		b := &document.Bars{Title: p.Title, X: p.X, Y: p.Y}
		s := &p.Series[0]
		for i := range s.X {
			b.Bars = append(b.Bars, document.Bar{Label: s.X[i].String(), Value: float64(s.Y[i])})
		}
		return b
	}
	g := &document.Plot{Title: p.Title, X: document.Axis{Label: p.X, Log: p.LogX}, Y: document.Axis{Label: p.Y, Log: p.LogY}}
	for _, s := range p.Series {
		line := document.Series{Name: s.Name, Steps: p.Kind == "bars"}
		for i := range s.X {
			line.Points = append(line.Points, document.Point{X: float64(s.X[i]), Y: float64(s.Y[i])})
		}
		g.Series = append(g.Series, line)
	}
	return g
}

// heat is the heat map of a plot.
func (p *Plot) heat() *document.Heat {
	h := &document.Heat{Title: p.Title, Rows: p.Rows, Columns: p.Columns, Key: p.X}
	for i, row := range p.Values {
		var cells []document.HeatCell
		for j, v := range row {
			c := document.HeatCell{Share: -1}
			if !math.IsNaN(float64(v)) {
				c = document.HeatCell{Share: float64(v), Text: fmt.Sprintf("%.0f", 100*float64(v)), Title: fmt.Sprintf("%s and %s: %s %%", p.Rows[i], p.Columns[j], Number(100*v))}
			}
			cells = append(cells, c)
		}
		h.Cells = append(h.Cells, cells)
	}
	return h
}
