package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
)

// TextOptions say how measurements are written for people.
type TextOptions struct {
	Width int                 // columns
	Bold  func(string) string // marks up names; nil: nothing is marked up
}

// Write writes measurements of Run as a table for each section, and what could not be
// measured. The text may change with every version.
func (b *Bench) Write(w io.Writer, results []*Measurement, o TextOptions) {
	m := b.Machine
	p := printer{w, o}
	p.line("%s, %s, a clock cycle takes %.3f ns", m.Processor, readable.Plural(m.Processors, "processor"), m.CycleNs)
	for _, s := range []struct {
		name  string
		table func([]*Measurement)
	}{{"models", p.models}, {"targets", p.targets}, {"loop", p.loops}} {
		some := slices.DeleteFunc(slices.Clone(results), func(r *Measurement) bool { return !strings.HasPrefix(r.Name, s.name+"/") })
		if len(some) > 0 {
			fmt.Fprintln(w)
			s.table(some)
		}
	}
	for _, n := range b.Notes {
		fmt.Fprintln(w)
		p.line("not measured: %s", n)
	}
}

// printer writes tables.
type printer struct {
	io.Writer
	TextOptions
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

// line writes a sentence.
func (p printer) line(format string, args ...any) {
	fmt.Fprint(p, readable.Hanging(fmt.Sprintf(format, args...), p.Width))
}

// models has a row for each operation and a column for each path, with the
// slower of raw bits and finite numbers.
func (p printer) models(results []*Measurement) {
	p.line("models: ns for the %d products of an m16n8k16 tile on one core, the slower of raw bits and finite numbers", measure.Products)
	groups, columns, rows := rowsOf(results)
	g := readable.Table{Width: p.Width, Head: true, Right: map[int]bool{}}
	head := []string{"OPERATION"}
	for i, c := range append(columns, "cycles/product") {
		head = append(head, strings.ToUpper(c))
		g.Right[i+1] = true
	}
	g.Add(append(head, "KERNEL")...)
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
		g.Add(append(row, fmt.Sprintf("%.2f", best.Cycles), best.Kernel)...)
	}
	g.Write(p, p.Bold)
}

// withSpread adds the spread to a number.
func withSpread(m *Measurement, text string) string {
	if m.Runs < 2 {
		return text
	}
	return fmt.Sprintf("%s ±%.0f%%", text, 100*m.series.Spread())
}

// targets has a row for each instruction and two columns for each shape.
func (p printer) targets(results []*Measurement) {
	p.line("targets: dot products a second in batches of TILES x MxN, one goroutine; in parentheses the time outside of the computation")
	groups, columns, rows := rowsOf(results)
	g := readable.Table{Width: p.Width, Head: true, Right: map[int]bool{}}
	head := []string{"TARGET"}
	for i, c := range columns {
		head = append(head, c)
		g.Right[i+1] = true
	}
	g.Add(append(head, "INSTRUCTION")...)
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
		g.Add(append(row, inst)...)
	}
	g.Write(p, p.Bold)
}

// loops has a row for each pair and source.
func (p printer) loops(results []*Measurement) {
	p.line("loop: generate, evaluate both, compare, take features of a sample; ns for the products of an m16n8k16 tile on one core")
	groups, _, rows := rowsOf(results)
	g := readable.Table{Width: p.Width, Head: true, Right: map[int]bool{2: true, 3: true, 4: true}}
	g.Add("PAIR", "SOURCE", "NS/TILE", "CYCLES/PRODUCT", "DOTS/S, ALL CORES", "INSTRUCTION OF A")
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
		g.Add(pair, source, ns, cycles, rate, inst)
	}
	g.Write(p, p.Bold)
}
