package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// The lines of a list in the summary; all with -v.
const (
	newRows  = 12
	goneRows = 8
	oddRows  = 3 // instructions of a machine that no plain model explains
)

// write shows the result: who was compared, where they differ, what is new, and what
// became of the rest.
func (c *compareCmd) write() {
	r := &c.result
	for _, l := range r.LeftOut {
		what := ""
		if l.Instruction != "" {
			what = " on " + l.Instruction
		}
		fmt.Fprintf(c.stderr, "mmafuzz: %s%s left out: %s\n", machinePair(l.A, l.B), what, l.Why)
	}
	for _, t := range r.Trouble[min(1, len(r.Trouble)):] { // the first one is the error
		fmt.Fprintf(c.stderr, "mmafuzz: %s\n", t)
	}
	c.machineTable()
	c.matrix()
	c.changedList()
	c.newList()
	c.goneList()
	c.stillList()
	c.knownTable()
	c.counts()
}

// machineTable says what was compared, and which models explain the recordings.
func (c *compareCmd) machineTable() {
	g := readable.Table{Width: c.width, Right: map[int]bool{2: true, 3: true}, Head: true}
	g.Add("MACHINE", "TARGET", "INSTR", "DOTS", "COMPUTES AS")
	for _, m := range c.result.Machines {
		if !m.Recorded {
			g.Add(m.Name, c.shortTarget(m.Target), "", "", "answers itself")
			continue
		}
		text := c.computesAs(m.Name)
		if m.Faults > 0 {
			text += fmt.Sprintf("; failed on %s", readable.Plural(m.Faults, "dot product"))
		}
		if !m.Complete {
			text += "; not complete"
		}
		g.Add(m.Name, c.shortTarget(m.Target), fmt.Sprint(m.Instructions), readable.Thousands(uint64(m.Dots)), text)
	}
	g.Write(c.stdout, c.bolden)
}

// shortTarget cuts a long target, but with -v.
func (c *compareCmd) shortTarget(name string) string {
	const most = 24
	if r := []rune(name); !c.verbose && len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

// computesAs says which models explain a machine: that of an architecture for most
// instructions, and what is odd.
func (c *compareCmd) computesAs(machine string) string {
	plain := map[string]int{}
	var archs, odd []string
	for _, m := range c.result.Models {
		if m.Machine != machine {
			continue
		}
		arch, _, _ := strings.Cut(m.Base, "/")
		if m.Explained && len(m.Changes) == 0 {
			if plain[arch]++; plain[arch] == 1 {
				archs = append(archs, arch)
			}
			continue
		}
		if m.Explained {
			odd = append(odd, m.Instruction+" "+m.text())
		} else {
			odd = append(odd, "no model for "+m.Instruction)
		}
	}
	var texts []string
	for _, a := range archs {
		texts = append(texts, "sim:"+a)
		if len(archs) > 1 || len(odd) > 0 {
			texts[len(texts)-1] += fmt.Sprintf(" on %d", plain[a])
		}
	}
	return strings.Join(append(texts, c.first(odd, oddRows)...), "; ")
}

// first shortens a list, but with -v.
func (c *compareCmd) first(list []string, most int) []string {
	if c.verbose || len(list) <= most {
		return list
	}
	return append(slices.Clone(list[:most]), fmt.Sprintf("and %d more (all: -v)", len(list)-most))
}

// text says how an instruction of a machine computes.
func (m *modelBrief) text() string {
	arch, _, _ := strings.Cut(m.Base, "/")
	switch {
	case !m.Explained:
		return "as no model explains"
	case len(m.Changes) == 0:
		return "as sim:" + arch
	}
	refs := slices.DeleteFunc(slices.Clone(m.Alike), func(name string) bool { return !strings.HasPrefix(name, "ref:") })
	if len(refs) > 0 {
		return "as " + strings.Join(readable.First(refs, 2), ", ")
	}
	return "as sim:" + arch + " with " + readable.Changes(m.Changes, 4)
}

// matrix has a row for each instruction and a column for each pair of machines.
func (c *compareCmd) matrix() {
	var pairs, rows []string
	cells := map[[2]string]string{}
	agree := map[string]bool{}
	for i := range c.result.Cells {
		x := &c.result.Cells[i]
		pair := machinePair(x.A, x.B)
		if !slices.Contains(pairs, pair) {
			pairs = append(pairs, pair)
		}
		row := x.row()
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
			agree[row] = true
		}
		cells[[2]string{row, pair}] = c.cellText(x)
		agree[row] = agree[row] && x.Mismatches == 0
	}
	fmt.Fprintln(c.stdout)
	g := readable.Table{Width: c.width, Head: true, Right: map[int]bool{}}
	head := []string{"INSTRUCTION"}
	for i, p := range pairs {
		fmt.Fprintf(c.stdout, "%3d  %s\n", i+1, p)
		head = append(head, fmt.Sprint(i+1))
		g.Right[i+1] = true
	}
	g.Add(append(head, "")...)
	same := 0
	for _, name := range rows {
		if agree[name] && !c.verbose {
			same++
			continue
		}
		row := []string{name}
		for _, p := range pairs {
			row = append(row, orDash(cells[[2]string{name, p}]))
		}
		g.Add(append(row, "")...)
	}
	if len(g.Rows) > 1 {
		fmt.Fprintln(c.stdout)
		g.Write(c.stdout, c.bolden)
		fmt.Fprintln(c.stdout, "share of dot products that differ; = equal bits, - not compared, * something new")
	}
	if same > 0 {
		fmt.Fprintf(c.stdout, "equal bits on %s of %d\n", readable.Plural(same, "instruction"), len(rows))
	}
}

// row is the instructions of a cell, whichever machine is the first.
func (x *cell) row() string {
	names := strings.Split(x.Instruction, " ~ ")
	slices.Sort(names)
	return strings.Join(names, " ~ ")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// cellText is a cell of the matrix.
func (c *compareCmd) cellText(x *cell) string {
	text := "="
	if x.Mismatches > 0 {
		text = readable.Share(x.Mismatches, x.Dots)
	}
	isNew := func(d difference) bool {
		return d.A == x.A && d.B == x.B && d.Instruction == x.Instruction && (d.State == stateNew || d.State == stateExpired)
	}
	if slices.ContainsFunc(c.result.Differences, isNew) {
		return text + "*"
	}
	return text + " "
}

// changedList names the machines that compute otherwise than the last time.
func (c *compareCmd) changedList() {
	if len(c.result.Changed) == 0 {
		return
	}
	c.heading("CHANGED", len(c.result.Changed), "instruction")
	for _, x := range c.result.Changed {
		c.line(2, x.Machine+"  ", fmt.Sprintf("%s computes %s; last time %s", x.Instruction, x.Now.text(), x.Was.text()))
	}
}

func (c *compareCmd) heading(title string, n int, what string) {
	fmt.Fprintf(c.stdout, "\n%s  %s\n", c.paint(title, bold), readable.Plural(n, what))
}

// line writes text that goes on below itself, indented.
func (c *compareCmd) line(indent int, head, text string) {
	for i, l := range readable.Wrap(text, max(40, c.width-indent-len(head))) {
		if i > 0 {
			head = strings.Repeat(" ", len(head))
		}
		fmt.Fprintf(c.stdout, "%*s%s%s\n", indent, "", head, l)
	}
}

// newList shows what is new, and what is no longer allowed, by instruction and
// machines.
func (c *compareCmd) newList() {
	groups, n := c.news()
	if n == 0 {
		return
	}
	c.heading("NEW", n, "difference")
	for i, g := range groups {
		if i == newRows && !c.verbose {
			c.line(2, "", fmt.Sprintf("and %s more (all: -v)", readable.Plural(len(groups)-i, "instruction")))
			break
		}
		c.newGroup(g)
	}
}

// news returns what is new.
func (c *compareCmd) news() (groups [][]*difference, n int) {
	return c.result.inState(func(state string) bool { return state == stateNew || state == stateExpired })
}

// inState returns the differences of some states, those of an instruction of two
// machines together, and their number.
func (r *comparison) inState(wanted func(state string) bool) (groups [][]*difference, n int) {
	for i := range r.Differences {
		d := &r.Differences[i]
		if !wanted(d.State) {
			continue
		}
		n++
		if last := len(groups) - 1; last >= 0 && groups[last][0].sameCell(d) {
			groups[last] = append(groups[last], d)
		} else {
			groups = append(groups, []*difference{d})
		}
	}
	return groups, n
}

func (d *difference) sameCell(o *difference) bool {
	return d.A == o.A && d.B == o.B && d.Instruction == o.Instruction
}

// idIndent is where the text of a difference stands, behind its id.
const idIndent = 14

// groupRows is the number of differences of an instruction that are shown; all with
// -v.
const groupRows = 2

// newGroup shows the new differences of an instruction of two machines, the most
// frequent first, and the picture of one.
func (c *compareCmd) newGroup(g []*difference) {
	c.line(2, "", machinePair(g[0].A, g[0].B)+": "+g[0].Instruction)
	bundle := ""
	for i, d := range g {
		if bundle == "" {
			bundle = d.Bundle
		}
		if i == groupRows && !c.verbose {
			c.line(idIndent, "", fmt.Sprintf("and %d more (all: -v)", len(g)-i))
			break
		}
		c.line(4, d.ID+"  ", d.text())
		if d.State == stateExpired {
			c.line(idIndent, "", "known as "+d.Known+", which has expired")
		}
	}
	if bundle != "" {
		fmt.Fprintf(c.stdout, "%*s%s show %s\n", idIndent, "", command(), readable.ShellPath(bundle))
	}
}

// text says how often a difference comes and what is behind it.
func (d *difference) text() string {
	if d.Bucket == notRecorded {
		return "not recorded, or not to the end: " + d.What
	}
	text := fmt.Sprintf("%s of %s (%s) %s", readable.Thousands(d.Cases), readable.Thousands(d.Dots), readable.Share(d.Cases, d.Dots), d.Bucket)
	if len(d.Changes) > 0 {
		text += ": " + readable.Changes(d.Changes, 6)
	}
	return text
}

// stillList shows what was there last time: by instruction and machines, with -v each.
func (c *compareCmd) stillList() {
	groups, n := c.result.inState(func(state string) bool { return state == stateStill })
	var lines []string
	for _, g := range groups {
		where := machinePair(g[0].A, g[0].B) + ": " + g[0].Instruction
		if !c.verbose {
			lines = append(lines, where+": "+readable.Plural(len(g), "difference"))
			continue
		}
		for _, d := range g {
			lines = append(lines, d.ID+"  "+where+": "+d.text())
		}
	}
	c.otherList("STILL THERE", n, lines)
}

// goneList shows what is gone, and what was not compared this time.
func (c *compareCmd) goneList() {
	var lines []string
	count := map[string]int{}
	for _, g := range c.result.Gone {
		where := machinePair(g.A, g.B) + ": " + g.Instruction
		if !g.Compared {
			where += " (not compared this time)"
		}
		if c.verbose {
			lines = append(lines, g.ID+"  "+where+": "+g.Bucket)
		} else if count[where]++; count[where] == 1 {
			lines = append(lines, where)
		}
	}
	for i, where := range lines {
		if n := count[where]; n > 0 {
			lines[i] += ": " + readable.Plural(n, "difference")
		}
	}
	c.otherList("GONE", len(c.result.Gone), lines)
}

// otherList shows a list that is not news.
func (c *compareCmd) otherList(title string, n int, lines []string) {
	if n == 0 {
		return
	}
	c.heading(title, n, "difference")
	for i, l := range lines {
		if i == goneRows && !c.verbose {
			c.line(2, "", fmt.Sprintf("and %d more (all: -v)", len(lines)-i))
			break
		}
		c.line(2, "", l)
	}
}

// knownTable says which entries of the list are of no use any more, and with -v how
// often each was hit.
func (c *compareCmd) knownTable() {
	if len(c.result.Known) == 0 {
		return
	}
	used, hits := 0, 0
	g := readable.Table{Width: c.width, Right: map[int]bool{2: true}}
	for _, u := range c.result.Known {
		if u.State == "used" {
			used++
			hits += u.Hits
			if !c.verbose {
				continue
			}
		}
		g.Add("  "+u.ID, u.State, fmt.Sprint(u.Hits), strings.TrimSpace(u.Expires+" "+u.Reason))
	}
	fmt.Fprintf(c.stdout, "\n%s  %s of the list, %d in use with %s\n", c.paint("KNOWN", bold), entries(len(c.result.Known)), used, readable.Plural(hits, "hit"))
	hidden := 0
	if most := goneRows; !c.verbose && len(g.Rows) > most {
		hidden = len(g.Rows) - most
		g.Rows = g.Rows[:most]
	}
	if len(g.Rows) > 0 {
		g.Write(c.stdout, c.bolden)
	}
	if hidden > 0 {
		c.line(2, "", fmt.Sprintf("and %d more (all: -v)", hidden))
	}
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// counts is the last line, but for where to look.
func (c *compareCmd) counts() {
	var dots uint64
	for i := range c.result.Cells {
		dots += c.result.Cells[i].Dots
	}
	t := c.result.Counts
	fmt.Fprintf(c.stdout, "\n%d new, %d expired, %d still there, %d known, %d gone, in %s dot products; exit %d\n",
		t.New, t.Expired, t.Still, t.Known, t.Gone, readable.Thousands(dots), c.result.Exit)
	fmt.Fprintf(c.stdout, "result: %s\n", c.resultFile())
}
