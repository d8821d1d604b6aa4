package compare

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// TextOptions say how a result is written for people.
type TextOptions struct {
	Width   int                 // columns of tables and paragraphs
	Verbose bool                // whole lists
	Bold    func(string) string // marks up headings and names; nil: nothing is marked up
	Command string              // how the reader calls mmafuzz, for commands to copy
}

// The largest lengths of lists without Verbose.
const (
	newRows   = 12 // groups of new differences
	goneRows  = 8  // lines of the other lists, as STILL THERE, GONE and KNOWN
	otherRows = 3  // a machine's instructions that no model without changes explains, and equal recordings
)

// Write writes the result: the machines, where they differ, which differences are new, and
// which are gone, still there or known. The text may change with every version.
func (r *Result) Write(w io.Writer, o TextOptions) error {
	p := newPrinter(o)
	p.result = r
	p.machines(r)
	p.matrix(r)
	p.changed(r.Changed)
	if news, n := groups(r.Differences, (*Difference).isNews); n > 0 {
		p.heading("NEW", n, "difference")
		p.news(news)
	}
	for _, x := range []struct {
		title  string
		wanted func(*Gone) bool
	}{
		{"GONE", func(g *Gone) bool { return g.Compared && g.There == "" }},
		{"CANNOT BE TOLD", func(g *Gone) bool { return g.There == stateUnclear }},
		{"NOT COMPARED THIS TIME", func(g *Gone) bool { return !g.Compared }},
	} {
		n, lines := p.absent(r.Gone, x.wanted)
		p.list(x.title, n, lines)
	}
	p.still(r)
	p.known(r.Known)
	p.counts(r)
	_, err := w.Write(p.Bytes())
	return err
}

// WriteUnknown writes the differences that are not known, as Write writes new ones.
func WriteUnknown(w io.Writer, ds []Difference, o TextOptions) error {
	p := newPrinter(o)
	all, _ := groups(ds, func(d *Difference) bool { return d.State != StateKnown })
	p.news(all)
	_, err := w.Write(p.Bytes())
	return err
}

// printer collects the text of a result.
type printer struct {
	bytes.Buffer
	TextOptions
	result *Result            // nil: of differences alone
	drawn  map[[3]string]bool // causes of two machines with a picture, and advice
}

func newPrinter(o TextOptions) *printer {
	if o.Bold == nil {
		o.Bold = func(s string) string { return s }
	}
	return &printer{TextOptions: o, drawn: map[[3]string]bool{}}
}

// first shortens a list, unless Verbose.
func (p *printer) first(list []string, most int) []string {
	if p.Verbose || len(list) <= most {
		return list
	}
	return append(slices.Clone(list[:most]), fmt.Sprintf("and %d more (all: -v)", len(list)-most))
}

// more counts things that are not shown.
func more(n int, thing string) string { return readable.Plural(n, "more "+thing) }

// heading begins a list.
func (p *printer) heading(title string, n int, what string) {
	fmt.Fprintf(p, "\n%s  %s\n", p.Bold(title), readable.Plural(n, what))
}

// line writes head and wrapped text with a hanging indent.
func (p *printer) line(indent int, head, text string) {
	for i, l := range readable.Wrap(text, max(40, p.Width-indent-len(head))) {
		if i > 0 {
			head = strings.Repeat(" ", len(head))
		}
		fmt.Fprintf(p, "%*s%s%s\n", indent, "", head, l)
	}
}

// changed names the machines that compute differently than in the baseline.
func (p *printer) changed(all []Changed) {
	if len(all) == 0 {
		return
	}
	p.heading("CHANGED", len(all), "instruction")
	for _, x := range all {
		p.line(2, x.Machine+"  ", fmt.Sprintf("%s computes %s; last time %s", x.Instruction, x.Now.text(x.Instruction), x.Was.text(x.Instruction)))
	}
}

// news shows new differences, grouped by instruction and machines.
func (p *printer) news(groups [][]*Difference) {
	if len(groups) > 0 {
		p.line(4, "ID        ", "DIFFERING CASES, CAUSE")
	}
	for i, g := range groups {
		if i == newRows && !p.Verbose {
			hidden := groups[i:]
			p.line(2, "", fmt.Sprintf("and %s, of %s of machines and instruction (all: -v)",
				more(len(slices.Concat(hidden...)), "difference"), more(len(hidden), "combination")))
			break
		}
		p.group(g)
	}
}

// idIndent is the column of the text of a difference, behind its id.
const idIndent = 14

// group shows the differences of an instruction of two machines, the most frequent
// first, and beneath one how to see its picture, if Verbose or if the picture is of a cause of which these
// machines had none.
func (p *printer) group(g []*Difference) {
	const most = 2
	p.line(2, "", where(g[0].A, g[0].B, g[0].Instruction))
	picture := false
	for i, d := range g {
		if i == most && !p.Verbose {
			p.line(idIndent, "", fmt.Sprintf("and %s (all: -v)", more(len(g)-i, "difference")))
			break
		}
		p.line(4, d.ID+"  ", d.text())
		if d.State == StateExpired {
			p.line(idIndent, "", "known as "+d.Known+", which has expired")
		}
		if d.Beyond != nil {
			p.line(idIndent, "", "known as "+d.Known+", but for cases that need another change, too: "+strings.Join(d.Beyond, ", "))
		}
		if cause := [3]string{d.A, d.B, d.Bucket}; !picture && d.Bundle != "" && (p.Verbose || !p.drawn[cause]) {
			p.drawn[cause], picture = true, true
			fmt.Fprintf(p, "%*s%s show %s\n", idIndent, "", p.Command, readable.ShellPath(d.Bundle))
		}
	}
	for _, d := range g {
		if text, command := p.result.advice(d); text != "" && (p.Verbose || !p.drawn[[3]string{text}]) {
			p.drawn[[3]string{text}] = true
			p.line(idIndent, "", text)
			fmt.Fprintf(p, "%*s%s %s\n", idIndent, "", p.Command, command)
		}
	}
}

// where formats a pair of machines and an instruction.
func where(a, b, instruction string) string { return machinePair(a, b) + ": " + instruction }

// text gives the frequency and the cause of a difference.
func (d *Difference) text() string {
	if d.Bucket == notRecorded {
		return "missing or incomplete: " + d.What
	}
	text := fmt.Sprintf("%s of %s (%s) %s", readable.Thousands(d.Cases), readable.Thousands(d.Dots), readable.Share(d.Cases, d.Dots), d.Bucket)
	if len(d.Changes) > 0 {
		text += ": " + d.changes(6)
	}
	if d.What != "" {
		text += ": " + d.What
	}
	return text
}

// changes writes what is behind a difference, and what may be so as well.
func (d *Difference) changes(most int) string {
	text := readable.Changes(d.Changes, most)
	if len(d.Equivalent) > 0 {
		text += " (" + readable.Instead(d.Equivalent) + ")"
	}
	return text
}

// still counts the differences that were in the baseline by instruction and machines; if
// Verbose, it lists them one by one.
func (p *printer) still(r *Result) {
	all, n := groups(r.Differences, func(d *Difference) bool { return d.State == StateStill })
	among, lines := p.absent(r.Gone, func(g *Gone) bool { return g.There == StateStill })
	for _, g := range all {
		at := where(g[0].A, g[0].B, g[0].Instruction)
		if !p.Verbose {
			lines = append(lines, at+": "+readable.Plural(len(g), "difference"))
			continue
		}
		for _, d := range g {
			lines = append(lines, d.ID+"  "+at+": "+d.text())
		}
	}
	p.list("STILL THERE", n+among, lines)
}

// absent returns lines about some of the differences of the baseline that were not found as such.
func (p *printer) absent(all []Gone, wanted func(*Gone) bool) (n int, lines []string) {
	count := map[string]int{}
	for i := range all {
		g := &all[i]
		if !wanted(g) {
			continue
		}
		n++
		at := where(g.A, g.B, g.Instruction)
		if g.What != "" {
			lines = append(lines, g.ID+"  "+at+": "+g.What)
		} else if p.Verbose {
			lines = append(lines, g.ID+"  "+at+": "+g.Bucket)
		} else if count[at]++; count[at] == 1 {
			lines = append(lines, at)
		}
	}
	for i, at := range lines {
		if n := count[at]; n > 0 {
			lines[i] += ": " + readable.Plural(n, "difference")
		}
	}
	return n, lines
}

// list shows a list of differences that are not new.
func (p *printer) list(title string, n int, lines []string) {
	if n == 0 {
		return
	}
	p.heading(title, n, "difference")
	for _, l := range p.first(lines, goneRows) {
		p.line(2, "", l)
	}
}

// known shows the entries of the list that are not simply in use, and if Verbose all
// entries with their hits.
func (p *printer) known(uses []KnownUse) {
	if len(uses) == 0 {
		return
	}
	used, hits := 0, 0
	g := readable.Table{Width: p.Width, Right: map[int]bool{2: true}}
	for _, u := range uses {
		if u.State == "used" {
			used++
			hits += u.Hits
			if !p.Verbose && u.What == "" {
				continue
			}
		}
		g.Add("  "+u.ID, u.State, fmt.Sprint(u.Hits), u.Text())
	}
	entries := fmt.Sprintf("%d entries", len(uses))
	if len(uses) == 1 {
		entries = "1 entry"
	}
	fmt.Fprintf(p, "\n%s  %s of the list, %d in use with %s\n", p.Bold("KNOWN"), entries, used, readable.Plural(hits, "hit"))
	hidden := 0
	if !p.Verbose && len(g.Rows) > goneRows {
		hidden = len(g.Rows) - goneRows
		g.Rows = g.Rows[:goneRows]
	}
	g.Write(p, p.Bold)
	if hidden > 0 {
		p.line(2, "", fmt.Sprintf("and %s of the list (all: -v)", more(hidden, "line")))
	}
}

// counts writes the line of totals.
func (p *printer) counts(r *Result) {
	var dots uint64
	for i := range r.Cells {
		dots += r.Cells[i].Dots
	}
	t := r.Counts
	p.WriteByte('\n')
	p.line(0, "", fmt.Sprintf("%d new, %d expired, %d still there, %d known, %d gone, in %s; exit %d",
		t.New, t.Expired, t.Still, t.Known, t.Gone, readable.Dots(dots), r.Exit))
}
