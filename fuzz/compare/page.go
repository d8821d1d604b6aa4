package compare

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// Night is a result and the directory that it is in, "" if there is none.
type Night struct {
	*Result
	Dir string

	label string // its date, and its directory if another one is of the same day
}

// Page returns the page of results of the same comparison on one or more nights. It is
// about the last one by date; the others show how it came to that.
func Page(nights []Night) *document.Document {
	nights = slices.Clone(nights)
	slices.SortStableFunc(nights, func(x, y Night) int { return cmp.Compare(x.Date, y.Date) })
	days := map[string]int{}
	for _, r := range nights {
		days[r.Date]++
	}
	for i := range nights {
		r := &nights[i]
		r.Result = r.turnedWhere(likeIn(nights[len(nights)-1].Result))
		if r.label = r.Date; days[r.Date] > 1 && r.Dir != "" {
			r.label += " " + filepath.Base(r.Dir)
		}
	}
	n := &nightly{Night: nights[len(nights)-1], all: nights, first: map[string]string{}}
	for _, r := range nights {
		for i := range r.Differences {
			if id := r.Differences[i].ID; n.first[id] == "" {
				n.first[id] = r.label
			}
		}
	}
	p := document.New(n.title(), n.lead())
	p.Add("What was compared", n.machines()...)
	p.Add("Where the machines differ", n.heat())
	p.Add("What is new, known, still there and gone", n.states()...)
	p.Add("Why they differ", n.examples()...)
	p.Add("Night by night", n.strip(), n.curves())
	p.Add("Which models explain the machines", n.models())
	return p
}

// nightly is what a page shows: the last night, and all nights in the order of their dates.
type nightly struct {
	Night
	all   []Night
	first map[string]string // date on which a difference was first seen, by id
}

func (n *nightly) title() string {
	news := "nothing is new"
	switch {
	case n.Counts.New+n.Counts.Expired > 0:
		news = "something is new"
	case len(n.Cells) == 0:
		news = "nothing was compared"
	case len(n.Incomplete) > 0:
		news = "incomplete, nothing is new so far"
	}
	return fmt.Sprintf("%d machines compared on %s: %s", len(n.Machines), n.Date, news)
}

func (n *nightly) lead() string {
	var dots, mismatches uint64
	for i := range n.Cells {
		dots += n.Cells[i].Dots
		mismatches += n.Cells[i].Mismatches
	}
	text := fmt.Sprintf("Of %s that two machines were both given, %s (%s) have different results.", readable.Dots(dots), readable.Thousands(mismatches), readable.Share(mismatches, dots))
	c := n.Counts
	var parts []string
	for _, x := range []struct {
		n    int
		text string
	}{{c.New, "new"}, {c.Expired, "on the list of known ones but expired"}, {c.Still, "still there from before"}, {c.Known, "known"}, {c.Gone, "gone"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.text))
		}
	}
	if parts == nil {
		return text
	}
	return text + " Differences, by machines, instruction and cause: " + strings.Join(parts, ", ") + "."
}

func (n *nightly) machines() []document.Block {
	t := document.Table{Columns: document.Columns("machine", "target", "recorded on", "#instructions", "#dot products", "what it is")}
	for _, m := range n.Machines {
		var env []string
		for _, k := range slices.Sorted(maps.Keys(m.Environment)) {
			env = append(env, k+" "+m.Environment[k])
		}
		when, dots := cmp.Or(m.Date, "recorded"), readable.Thousands(uint64(m.Dots))
		if !m.Recorded {
			when, dots = "live target", ""
		}
		if !m.Complete {
			when += ", not complete"
		}
		if m.Faults > 0 {
			when += fmt.Sprintf(", failed on %s", readable.Plural(m.Faults, "dot product"))
		}
		t.Add(m.Name, "`"+m.Target+"`", when, fmt.Sprint(m.Instructions), dots, strings.Join(env, ", "))
	}
	blocks := []document.Block{document.Text("Each machine was given the same operands and computed d = a₀·b₀ + a₁·b₁ + … + c. " + n.policies()), &t}
	for _, text := range n.uncompared(true) {
		blocks = append(blocks, document.Note("Codes: "+text+"."))
	}
	for _, text := range slices.Concat(n.Trouble, n.Incomplete) {
		blocks = append(blocks, document.Alert(text))
	}
	for _, m := range n.Machines {
		for _, text := range m.Unstable {
			blocks = append(blocks, document.Alert(fmt.Sprintf("Noted when %s was recorded: %s. Differences on it may be chance.", m.Name, text)))
		}
	}
	for _, note := range n.byValue() {
		blocks = append(blocks, document.Note(note))
	}
	for i := range n.LeftOut {
		blocks = append(blocks, document.Note(n.LeftOut[i].String()))
	}
	return blocks
}

// grid returns the cells of a result by instruction (rows) and pair of machines (columns).
func (r *Result) grid() (rows, columns []string, cells map[[2]string]*Cell) {
	cells = map[[2]string]*Cell{}
	for i := range r.Cells {
		x := &r.Cells[i]
		row, column := x.row(), machinePair(x.A, x.B)
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
		}
		cells[[2]string{row, column}] = x
	}
	return rows, columns, cells
}

func (n *nightly) heat() document.Block {
	h := document.Heat{Title: "share of dot products that differ, by instruction and pair of machines", Key: "share of dot products that differ; framed: something is new there"}
	rows, columns, cells := n.grid()
	h.Rows, h.Columns = rows, columns
	for _, row := range rows {
		var line []document.HeatCell
		for _, column := range columns {
			line = append(line, n.cell(cells[[2]string{row, column}]))
		}
		h.Cells = append(h.Cells, line)
	}
	return document.Figure{Picture: &h, Caption: "Rows are instructions, columns pairs of machines. = means no mismatch in any dot product; empty cells were not compared."}
}

func (n *nightly) cell(x *Cell) document.HeatCell {
	if x == nil {
		return document.HeatCell{Share: -1}
	}
	text := n.cellText(x)
	c := document.HeatCell{Text: strings.TrimRight(text, " *"), Mark: strings.HasSuffix(text, "*"),
		Title: fmt.Sprintf("%s on %s: %s of %s differ", x.Instruction, machinePair(x.A, x.B), readable.Thousands(x.Mismatches), readable.Dots(x.Dots))}
	if x.Dots > 0 {
		c.Share = float64(x.Mismatches) / float64(x.Dots)
	}
	return c
}

// stateOrder is the order in which differences are listed, with the style sheet's class and
// the text for each state.
var stateOrder = []struct{ state, class, text string }{
	{StateNew, "bad", "new"}, {StateExpired, "bad", "expired"}, {StateStill, "", "still there"}, {StateKnown, "good", "known"},
}

// states lists the differences with their states, those that are gone, and the machines
// whose arithmetic changed.
func (n *nightly) states() []document.Block {
	reasons := map[string]KnownUse{}
	for _, u := range n.Known {
		reasons[u.ID] = u
	}
	t := document.Table{Columns: document.Columns("state", "machines", "instruction", "cause", "from A's arithmetic to B's", "#differ", "#share", "first seen", "reason")}
	for _, s := range stateOrder {
		for i := range n.Differences {
			d := &n.Differences[i]
			if d.State != s.state {
				continue
			}
			reason := d.What
			if u, ok := reasons[d.Known]; ok && d.Known != "" {
				reason = u.Reason
				if u.Expires != "" {
					reason += " (until " + u.Expires + ")"
				}
			}
			row := document.Row{{Text: s.text, Class: s.class}}
			for _, text := range []string{machinePair(d.A, d.B), "`" + d.Instruction + "`", d.Bucket, d.changes(4), readable.Thousands(d.Cases), readable.Share(d.Cases, d.Dots), n.first[d.ID], reason} {
				row = append(row, document.Cell{Text: text})
			}
			t.Rows = append(t.Rows, row)
		}
	}
	blocks := []document.Block{&t}
	if t.Rows == nil {
		blocks = []document.Block{document.Text("There is no difference.")}
	}
	gone := document.Table{Caption: "In the baseline, and not found as such", Columns: document.Columns("machines", "instruction", "cause", "#differed", "first seen", "why")}
	for _, g := range n.Gone {
		why := "compared again: no difference"
		switch {
		case g.Compared && g.There == "" && g.What != "":
			why = "compared again: " + g.What
		case g.Compared && g.There == "" && slices.ContainsFunc(n.Differences, func(d Difference) bool {
			return d.sameCell(&Difference{A: g.A, B: g.B, Instruction: g.Instruction})
		}):
			why = "compared again: no difference of this cause"
		case !g.Compared:
			why = strings.TrimSuffix("not compared this time: "+g.What, ": ")
		case g.There == StateStill:
			why = "still there: " + g.What
		case g.There != "":
			why = "cannot be told: " + g.What
		}
		gone.Add(machinePair(g.A, g.B), "`"+g.Instruction+"`", g.Bucket, readable.Thousands(g.Cases), n.first[g.ID], why)
	}
	changed := document.Table{Caption: "Machines whose arithmetic changed since the baseline", Columns: document.Columns("machine", "instruction", "was", "is")}
	for i := range n.Changed {
		c := &n.Changed[i]
		changed.Add(c.Machine, "`"+c.Instruction+"`", c.Was.text(c.Instruction), c.Now.text(c.Instruction))
	}
	return append(blocks, &gone, &changed)
}

// examplesMost is the largest number of differences that are drawn.
const examplesMost = 12

// examples explains one difference of each cause, new ones first.
func (n *nightly) examples() []document.Block {
	var blocks []document.Block
	seen := map[string]bool{}
	for _, s := range stateOrder {
		for i := range n.Differences {
			d := &n.Differences[i]
			if d.State != s.state || seen[d.Bucket] || len(seen) == examplesMost {
				continue
			}
			b := n.bundle(d)
			if b == nil {
				continue
			}
			pic, err := bundle.Picture(&b.Mismatch, "")
			if err != nil {
				continue
			}
			seen[d.Bucket] = true
			blocks = append(blocks, document.Heading(fmt.Sprintf("%s: %s on %s", d.Bucket, machinePair(d.A, d.B), d.Instruction)),
				document.Text("The smallest case found, and what happens to it:"), document.Steps(report.InWords(pic)...), bundle.Drawing(pic, len(seen) == 1, false),
				document.Command("mmafuzz replay "+readable.ShellPath(b.Dir)))
			if text, command := n.advice(d); text != "" {
				blocks = append(blocks, document.Text(text), document.Command("mmafuzz "+command))
			}
		}
	}
	if blocks != nil {
		return blocks
	}
	t := document.Table{Columns: document.Columns("cause", "what it is")}
	for _, l := range triage.Labels() {
		if slices.ContainsFunc(n.Differences, func(d Difference) bool { return d.Bucket == string(l.Label) }) {
			t.Add(string(l.Label), l.Doc)
		}
	}
	return []document.Block{&t}
}

// bundle reads the bundle of a difference, also if the directory of the comparison was
// moved; nil if there is none.
func (n *nightly) bundle(d *Difference) *corpus.Bundle {
	if d.Bundle == "" {
		return nil
	}
	places := []string{d.Bundle}
	if _, rest, ok := strings.Cut(filepath.ToSlash(d.Bundle), "/"+bundlesDir+"/"); ok && n.Dir != "" {
		places = append(places, filepath.Join(n.Dir, bundlesDir, rest))
	}
	for _, place := range places {
		if b, err := corpus.ReadBundle(place); err == nil {
			return b
		}
	}
	return nil
}

// Sizes of the strip of nights, in pixels.
const (
	nightCell = 7
	nightGap  = 26

	labelLetter = 6 // the width of a letter of a label
)

// strip draws every night as a small heat map.
func (n *nightly) strip() document.Block {
	if len(n.all) < 2 {
		return nil
	}
	var rows, columns []string
	for _, r := range n.all {
		rs, cs, _ := r.grid()
		rows, columns = append(rows, rs...), append(columns, cs...)
	}
	rows, columns = unique(rows), unique(columns)
	var c document.Canvas
	width := max(nightCell*len(columns), 70) + nightGap
	for _, r := range n.all {
		width = max(width, labelLetter*len(r.label)+nightGap)
	}
	perLine := max(1, 900/width)
	for i, r := range n.all {
		x, y := 10+i%perLine*width, 24+i/perLine*(nightCell*len(rows)+54)
		_, _, cells := r.grid()
		c.Begin(fmt.Sprintf("%s: %d new, %d expired, %d still there, %d known, %d gone", r.label, r.Counts.New, r.Counts.Expired, r.Counts.Still, r.Counts.Known, r.Counts.Gone))
		c.Text(x, y-8, "small", r.label)
		for j, row := range rows {
			for k, column := range columns {
				if cell := r.color(cells[[2]string{row, column}]); cell != "" {
					c.Rect(x+k*nightCell, y+j*nightCell, nightCell-1, nightCell-1, "f-"+cell)
				}
			}
		}
		text := fmt.Sprintf("%d new", r.Counts.New+r.Counts.Expired)
		class := "small faint"
		if r.Counts.New+r.Counts.Expired > 0 {
			class = "small bold f-bad"
		}
		c.Text(x, y+nightCell*len(rows)+14, class, text)
		c.End()
	}
	return document.Figure{Picture: c.Titled("a small heat map of each night"), Caption: "One small map for each night, with the rows and columns of the large one: the darker, the larger the share that differs."}
}

func unique(list []string) []string {
	var all []string
	for _, s := range list {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// color returns the colour of a cell, "" if there is no cell.
func (r *Result) color(x *Cell) string {
	if x == nil || x.Dots == 0 {
		return ""
	}
	c := document.HeatCell{Share: float64(x.Mismatches) / float64(x.Dots)}
	return c.Color()
}

// curves shows the numbers of differences by state, night by night.
func (n *nightly) curves() document.Block {
	if len(n.all) < 2 {
		return nil
	}
	t := document.Table{Columns: document.Columns("night", "#new", "#expired", "#still there", "#known", "#gone")}
	names := []string{"new or expired", "still there", "known"}
	series := make([]document.Series, len(names))
	for i, r := range n.all {
		c := r.Counts
		t.Add(r.label, fmt.Sprint(c.New), fmt.Sprint(c.Expired), fmt.Sprint(c.Still), fmt.Sprint(c.Known), fmt.Sprint(c.Gone))
		for j, v := range []int{c.New + c.Expired, c.Still, c.Known} {
			series[j].Name = names[j]
			series[j].Points = append(series[j].Points, document.Point{X: float64(i + 1), Y: float64(v), Title: fmt.Sprintf("%s: %d %s", r.label, v, names[j])})
		}
	}
	plot := document.Plot{Title: "numbers of differences by night", X: document.Axis{Label: "night"}, Y: document.Axis{Label: "differences"}, Series: series}
	return document.Figure{Picture: &plot, Caption: "How many differences there were, night by night.", Numbers: &t}
}

func (n *nightly) models() document.Block {
	t := document.Table{Columns: document.Columns("machine", "instruction", "computes", "#dot products")}
	for i := range n.Models {
		m := &n.Models[i]
		t.Add(m.Machine, "`"+m.Instruction+"`", m.text(m.Instruction), readable.Thousands(m.Dots))
	}
	return &t
}

// RecordingPage returns the page of one recording.
func RecordingPage(s *Side) *document.Document {
	if s.Name == "" {
		s.Name = cmp.Or(s.Recording.Header.Name, s.fileName())
	}
	n := &nightly{Night: Night{Result: &Result{Machines: []Machine{newMachine(s)}}}}
	p := document.New("Recording of "+s.Name, "The results of one machine on inputs that the recording carries. Two recordings, or a recording and a target such as sim:hopper, can be compared.")
	t := document.Table{Columns: document.Columns("instruction", "formats", "generator", "#seed", "#dot products", "#failed")}
	type key struct {
		inst, formats, generator string
		seed                     uint64
	}
	var order []key
	dots, failed := map[key]int{}, map[key]int{}
	for _, d := range s.Recording.Data {
		k := key{d.Section.Instruction, d.Section.Formats.String(), d.Section.Generator, d.Section.Seed}
		if dots[k] == 0 {
			order = append(order, k)
		}
		dots[k] += d.Section.Shape.Dots()
		for _, f := range d.Faults {
			failed[k] += f.Count
		}
	}
	for _, k := range order {
		t.Add("`"+k.inst+"`", k.formats, "`"+k.generator+"`", fmt.Sprint(k.seed), readable.Thousands(uint64(dots[k])), fmt.Sprint(failed[k]))
	}
	p.Add("What was recorded", append(n.machines(), &t)...)
	problems := document.Table{Columns: document.Columns("instruction", "why it has no results, or no more")}
	for _, x := range s.Recording.Problems {
		problems.Add("`"+x.Instruction+"`", x.What)
	}
	p.Add("What is missing", &problems)
	return p
}
