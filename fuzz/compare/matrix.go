package compare

// The tables of a result's text: machines, and the matrix of instructions and pairs.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// machines lists what was compared, and which models explain the recordings.
func (p *printer) machines(r *Result) {
	g := readable.Table{Width: p.Width, Right: map[int]bool{2: true, 3: true}, Head: true}
	g.Add("MACHINE", "TARGET", "INSTR", "DOTS", "COMPUTES AS")
	equal := p.folded(r)
	for _, m := range r.Machines {
		if equal != nil && m.EqualTo != "" {
			continue
		}
		if !m.Recorded {
			g.Add(m.Name, p.target(m.Target), "", "", "live target")
			continue
		}
		text := p.computesAs(m.Name, r.Models)
		if m.EqualTo != "" {
			text += "; equal to " + m.EqualTo
		}
		if names := equal[m.Name]; len(names) > 0 {
			slices.Sort(names)
			text += fmt.Sprintf("; %s equal to it: %s", readable.Plural(len(names), "recording"), strings.Join(p.first(names, otherRows), ", "))
		}
		if m.Faults > 0 {
			text += fmt.Sprintf("; failed on %s", readable.Plural(m.Faults, "dot product"))
		}
		if !m.Complete {
			text += "; not complete"
		}
		if m.Unstable != nil {
			text += "; noted when it was recorded: " + strings.Join(p.first(m.Unstable, 1), ", ") + "; differences on it may be chance"
		}
		g.Add(m.Name, p.target(m.Target), fmt.Sprint(m.Instructions), readable.Thousands(uint64(m.Dots)), text)
	}
	g.Write(p, p.Bold)
}

// folded returns, for each machine, the names of the machines that are equal to it and are
// shown with it; nil if these are shown like all others.
func (p *printer) folded(r *Result) map[string][]string {
	equal := map[string][]string{}
	for _, m := range r.Machines {
		if m.EqualTo != "" {
			equal[m.EqualTo] = append(equal[m.EqualTo], m.Name)
		}
	}
	if others := slices.ContainsFunc(r.Cells, func(x Cell) bool { return !r.equalPair(&x) }); p.Verbose || !others {
		return nil
	}
	return equal
}

// equalPair reports whether a cell compares a machine with the one that it is equal to.
func (r *Result) equalPair(x *Cell) bool {
	return slices.ContainsFunc(r.Machines, func(m Machine) bool {
		return m.Name == x.A && m.EqualTo == x.B || m.Name == x.B && m.EqualTo == x.A
	})
}

// target shortens a long name of a target, unless Verbose.
func (p *printer) target(name string) string {
	if p.Verbose {
		return name
	}
	return readable.Shorten(name, 24)
}

// computesAs describes which models explain a machine: usually those of one
// architecture, plus the exceptions.
func (p *printer) computesAs(machine string, models []Model) string {
	plain := map[string]int{}
	var archs, others []string
	for _, m := range models {
		if m.Machine != machine {
			continue
		}
		switch {
		case m.Explained && len(m.Changes) == 0:
			base := m.baseOf(m.Instruction)
			if plain[base]++; plain[base] == 1 {
				archs = append(archs, base)
			}
		case m.Explained:
			others = append(others, m.Instruction+" "+m.text(m.Instruction))
		default:
			others = append(others, "no model for "+m.Instruction)
		}
	}
	var texts []string
	for _, a := range archs {
		texts = append(texts, a)
		if len(archs) > 1 || len(others) > 0 {
			texts[len(texts)-1] += " on " + readable.Plural(plain[a], "instruction")
		}
	}
	return strings.Join(append(p.first(texts, otherRows), p.first(others, otherRows)...), "; ")
}

// baseOf names the target that computes as the base does: the architecture, if it has an instruction
// of the same name.
func (m *Arithmetic) baseOf(instruction string) string {
	arch, name, _ := strings.Cut(m.Base, "/")
	if _, err := mma.Lookup(arch, instruction); err == nil || name == instruction {
		return "sim:" + arch
	}
	return "sim:" + m.Base
}

// text says how an instruction of a machine computes.
func (m *Arithmetic) text(instruction string) string {
	switch {
	case !m.Explained:
		return "in a way no model explains"
	case len(m.Changes) == 0:
		return "as " + m.baseOf(instruction)
	}
	refs := slices.DeleteFunc(slices.Clone(m.Alike), func(name string) bool { return !strings.HasPrefix(name, "ref:") })
	if len(refs) > 0 {
		return "as " + strings.Join(readable.First(refs, 2), ", ")
	}
	return "as " + m.baseOf(instruction) + " with " + readable.Changes(m.Changes, 4)
}

// matrix has a row for each instruction and a column for each pair of machines.
func (p *printer) matrix(r *Result) {
	var pairs, rows []string
	cells := map[[2]string]string{}
	differ := map[string]bool{} // by row
	fold := p.folded(r) != nil
	for i := range r.Cells {
		x := &r.Cells[i]
		if fold && r.equalPair(x) {
			continue
		}
		pair, row := machinePair(x.A, x.B), x.row()
		if !slices.Contains(pairs, pair) {
			pairs = append(pairs, pair)
		}
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
		cells[[2]string{row, pair}] = r.cellText(x)
		differ[row] = differ[row] || x.Mismatches > 0
	}
	fmt.Fprintln(p)
	g := readable.Table{Width: p.Width, Head: true, Right: map[int]bool{}}
	head := []string{"INSTRUCTION"}
	for i, pair := range pairs {
		p.line(0, fmt.Sprintf("%3d  ", i+1), pair)
		head = append(head, fmt.Sprint(i+1))
		g.Right[i+1] = true
	}
	g.Add(head...)
	same := 0
	shown := "" // all cells
	for _, name := range rows {
		if !differ[name] && !p.Verbose {
			same++
			continue
		}
		row := []string{name}
		for _, pair := range pairs {
			row = append(row, cmp.Or(cells[[2]string{name, pair}], "-"))
		}
		shown += strings.Join(row[1:], "")
		g.Add(row...)
	}
	if len(g.Rows) > 1 {
		fmt.Fprintln(p)
		alignMarks(g.Rows)
		g.Rows = namesAbove(g.Rows, p.Width)
		g.Write(p, p.Bold)
		p.line(0, "", matrixKey(shown))
		for _, note := range r.byValue() {
			p.line(0, "", note)
		}
	}
	if same > 0 {
		of := ""
		if same < len(rows) {
			of = fmt.Sprintf(" of %d", len(rows))
		}
		fmt.Fprintf(p, "no mismatch on %s%s\n", readable.Plural(same, "instruction"), of)
	}
	for _, text := range r.uncompared(p.Verbose) {
		p.line(0, "codes:  ", text)
	}
}

// alignMarks puts a blank after the cells without the mark of something new, headings among
// them, if others have it.
func alignMarks(rows [][]string) {
	marked := func(cell string) bool { return strings.HasSuffix(cell, "*") }
	if !slices.ContainsFunc(slices.Concat(rows...), marked) {
		return
	}
	for _, row := range rows {
		for i := range row[1:] {
			if !marked(row[i+1]) {
				row[i+1] += " "
			}
		}
	}
}

// namesAbove puts the names of rows that do not fit beside the numbers into lines above them.
func namesAbove(rows [][]string, width int) (all [][]string) {
	const gap = 2
	for i := range rows[0][1:] {
		n := 0
		for _, row := range rows {
			n = max(n, len(row[i+1]))
		}
		width -= gap + n
	}
	for _, row := range rows {
		if len(row[0]) > max(width, len(rows[0][0])) {
			all = append(all, row[:1])
			row = append([]string{""}, row[1:]...)
		}
		all = append(all, row)
	}
	return all
}

// matrixKey explains the characters that the cells of a matrix have.
func matrixKey(cells string) string {
	text := "share of dot products that differ"
	mark := "; "
	for _, k := range []struct{ mark, text string }{{"=", "no mismatch"}, {"-", "not compared"}, {"*", "something new"}} {
		if strings.Contains(cells, k.mark) {
			text += mark + k.mark + " " + k.text
			mark = ", "
		}
	}
	return text
}

// row names the instructions of a cell, independently of the order of its machines.
func (x *Cell) row() string {
	names := strings.Split(x.Instruction, " ~ ")
	slices.Sort(names)
	return strings.Join(names, " ~ ")
}

// cellText returns the text of a cell of the matrix.
func (r *Result) cellText(x *Cell) string {
	text := "="
	if x.Mismatches > 0 {
		text = readable.Share(x.Mismatches, x.Dots)
	}
	isNew := func(d Difference) bool {
		return d.A == x.A && d.B == x.B && d.Instruction == x.Instruction && d.isNews()
	}
	if r.hasEarlier() && slices.ContainsFunc(r.Differences, isNew) {
		return text + "*"
	}
	return text
}

// hasEarlier reports whether differences were known before: without a list of them and a
// baseline everything is new, which needs no mark.
func (r *Result) hasEarlier() bool {
	return len(r.Known)+len(r.Gone) > 0 || slices.ContainsFunc(r.Differences, func(d Difference) bool { return d.State != StateNew })
}
