package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
)

// Document is measurements of Run for people: a table for each section, and what could not be
// measured.
func (b *Bench) Document(results []*Measurement) *document.Document {
	m := b.Machine
	d := document.New("Measurements of mmafuzz", "")
	d.Add("", document.Text(fmt.Sprintf("%s, %s, a clock cycle takes %.3f ns", m.Processor, readable.Plural(m.Processors, "processor"), m.CycleNs)))
	for _, s := range []struct {
		name, about string
		table       func([]*Measurement) *document.Table
	}{
		{"models", fmt.Sprintf("models: ns for the %d products of an m16n8k16 tile on one core, the slower of raw bits and finite numbers", measure.Products), models},
		{"targets", "targets: dot products a second in batches of TILES x MxN, one goroutine; in parentheses the time outside of the computation", targets},
		{"loop", "loop: generate, evaluate both, compare, take features of a sample; ns for the products of an m16n8k16 tile on one core", loops},
	} {
		some := slices.DeleteFunc(slices.Clone(results), func(r *Measurement) bool { return !strings.HasPrefix(r.Name, s.name+"/") })
		if len(some) > 0 {
			d.Add("", document.Text(s.about), s.table(some))
		}
	}
	for _, n := range b.Notes {
		d.Add("", document.Text("not measured: "+n))
	}
	return d
}

// cells are the measurements of a row by column.
type cells map[string][]*Measurement

// rowsOf puts measurements into rows and columns, in order of appearance.
func rowsOf(results []*Measurement) (groups, columns []string, rows map[string]cells) {
	rows = map[string]cells{}
	for _, r := range results {
		if rows[r.group] == nil {
			groups = append(groups, r.group)
			rows[r.group] = cells{}
		}
		if !slices.Contains(columns, r.column) {
			columns = append(columns, r.column)
		}
		rows[r.group][r.column] = append(rows[r.group][r.column], r)
	}
	return groups, columns, rows
}

// slowest returns the measurement of the largest median.
func slowest(some []*Measurement) *Measurement {
	return slices.MaxFunc(some, func(x, y *Measurement) int { return int(x.Median - y.Median) })
}

// models has a row for each operation and a column for each path, with the
// slower of raw bits and finite numbers.
func models(results []*Measurement) *document.Table {
	groups, columns, rows := rowsOf(results)
	t := &document.Table{Columns: []document.Column{{Name: "operation"}}}
	for _, c := range append(columns, "cycles/product") {
		t.Columns = append(t.Columns, document.Column{Name: c, Number: true})
	}
	t.Columns = append(t.Columns, document.Column{Name: "kernel"})
	for _, group := range groups {
		row := []string{group}
		var best *Measurement
		for _, c := range columns {
			text := "-"
			if some := rows[group][c]; some != nil {
				best = slowest(some)
				text = withSpread(best, fmt.Sprintf("%.0f", best.Median))
			}
			row = append(row, text)
		}
		t.Add(append(row, fmt.Sprintf("%.2f", best.Cycles), best.Kernel)...)
	}
	return t
}

// withSpread adds the spread to a number.
func withSpread(m *Measurement, text string) string {
	if m.Runs < 2 {
		return text
	}
	return fmt.Sprintf("%s ±%.0f%%", text, 100*m.series.Spread())
}

// targets has a row for each instruction and a column for each shape.
func targets(results []*Measurement) *document.Table {
	groups, columns, rows := rowsOf(results)
	t := &document.Table{Columns: []document.Column{{Name: "target"}}}
	for _, c := range columns {
		t.Columns = append(t.Columns, document.Column{Name: c, Number: true})
	}
	t.Columns = append(t.Columns, document.Column{Name: "instruction"})
	for _, group := range groups {
		target, inst, _ := strings.Cut(group, "\t")
		row := []string{target}
		for _, c := range columns {
			text := "-"
			if some := rows[group][c]; some != nil {
				text = withSpread(some[0], readable.Count(uint64(some[0].Median)))
				if out := some[0].Outside; out != nil {
					text += fmt.Sprintf(" (%.0f%%)", 100**out)
				}
			}
			row = append(row, text)
		}
		t.Add(append(row, inst)...)
	}
	return t
}

// loops has a row for each pair and source.
func loops(results []*Measurement) *document.Table {
	groups, _, rows := rowsOf(results)
	t := &document.Table{Columns: document.Columns("pair", "source", "#ns/tile", "#cycles/product", "#dots/s, all cores", "instruction of A")}
	for _, group := range groups {
		pair, rest, _ := strings.Cut(group, "\t")
		inst, source, _ := strings.Cut(rest, "\t")
		ns, cycles, rate := "-", "-", "-"
		if one := rows[group][oneCore]; one != nil {
			ns, cycles = withSpread(one[0], fmt.Sprintf("%.0f", one[0].Median)), fmt.Sprintf("%.2f", one[0].Cycles)
		}
		if all := rows[group][allCores]; all != nil {
			rate = withSpread(all[0], readable.Count(uint64(all[0].Median)))
		}
		t.Add(pair, source, ns, cycles, rate, inst)
	}
	return t
}
