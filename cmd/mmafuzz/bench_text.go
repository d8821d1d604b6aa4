package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/selfcheck/measure"
)

// write writes the tables of the sections.
func (b *benchCmd) write(results []*measured) {
	m := b.here
	fmt.Fprintf(b.stdout, "%s, %s, a clock cycle takes %.3f ns\n", m.Processor, readable.Plural(m.Processors, "processor"), m.CycleNs)
	for _, s := range []struct {
		name  string
		table func([]*measured)
	}{{"models", b.writeModels}, {"targets", b.writeTargets}, {"loop", b.writeLoops}} {
		some := slices.DeleteFunc(slices.Clone(results), func(r *measured) bool { return !strings.HasPrefix(r.Name, s.name+"/") })
		if len(some) > 0 {
			fmt.Fprintln(b.stdout)
			s.table(some)
		}
	}
	for _, n := range b.notes {
		fmt.Fprintf(b.stdout, "\nnot measured: %s", n)
	}
	if len(b.notes) > 0 {
		fmt.Fprintln(b.stdout)
	}
}

// cells are the measurements of a row by column.
type cells map[string][]*measured

// benchRows puts measurements into rows and columns, in order of appearance.
func benchRows(results []*measured) (groups, columns []string, rows map[string]cells) {
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
func slowest(some []*measured) *measured {
	return slices.MaxFunc(some, func(x, y *measured) int { return int(x.Median - y.Median) })
}

// writeModels has a row for each operation and a column for each path, with the
// slower of raw bits and finite numbers.
func (b *benchCmd) writeModels(results []*measured) {
	fmt.Fprintf(b.stdout, "models: ns for the %d products of an m16n8k16 tile on one core, the slower of raw bits and finite numbers\n", measure.Products)
	groups, columns, rows := benchRows(results)
	g := readable.Table{Width: b.width, Head: true, Right: map[int]bool{}}
	head := []string{"OPERATION"}
	for i, c := range append(upper(columns), "CYCLES/PRODUCT") {
		head = append(head, c)
		g.Right[i+1] = true
	}
	g.Add(append(head, "KERNEL")...)
	for _, group := range groups {
		row := []string{group}
		var best *measured
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
	g.Write(b.stdout, b.bolden)
}

// withSpread adds the spread to a number.
func withSpread(m *measured, text string) string {
	if m.Runs < 2 {
		return text
	}
	return fmt.Sprintf("%s ±%.0f%%", text, 100*m.series.Spread())
}

// writeTargets has a row for each instruction and two columns for each shape.
func (b *benchCmd) writeTargets(results []*measured) {
	fmt.Fprintln(b.stdout, "targets: dot products a second in batches of TILES x MxN, one goroutine; in parentheses the time outside of the computation")
	groups, columns, rows := benchRows(results)
	g := readable.Table{Width: b.width, Head: true, Right: map[int]bool{}}
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
	g.Write(b.stdout, b.bolden)
}

// writeLoops has a row for each pair and source.
func (b *benchCmd) writeLoops(results []*measured) {
	fmt.Fprintln(b.stdout, "loop: generate, evaluate both, compare, take features of a sample; ns for the products of an m16n8k16 tile on one core")
	groups, _, rows := benchRows(results)
	g := readable.Table{Width: b.width, Head: true, Right: map[int]bool{2: true, 3: true, 4: true}}
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
	g.Write(b.stdout, b.bolden)
}
