package atlas

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// addVersus adds the page of two architectures.
func (m *maker) addVersus(v *versus) {
	c := v.cell()
	lead := fmt.Sprintf("They give different numbers on %s of inputs, over %s with the same formats.", c.Text, plural(v.pairs, "pair")+" of instructions")
	if c.Share == 0 {
		lead = fmt.Sprintf("No input shows a difference, over %s with the same formats.", plural(v.pairs, "pair")+" of instructions")
	}
	d := document.New(v.a.Title+" and "+v.b.Title, lead)
	d.Links = []document.Link{{Text: v.a.Title, Href: "../" + architectureFile(v.a.Name)}, {Text: v.b.Title, Href: "../" + architectureFile(v.b.Name)}}
	slices.SortStableFunc(v.rows, func(x, y *row) int { // the usual ones first
		return strings.Count(x.a.Name, ".sp") + strings.Count(x.a.Name, "smfmac") - strings.Count(y.a.Name, ".sp") - strings.Count(y.a.Name, "smfmac")
	})
	d.Add("Side by side", v.sideBySide())
	drawn := map[string]bool{}
	for _, r := range v.rows {
		if why := r.labels(); r.witness != nil && !drawn[why] {
			drawn[why] = true
			d.Add("The smallest input: "+formatsInWords(&r.formats), r.difference(v)...)
		}
	}
	d.Add("The same by command", document.Command("mmafuzz diff "+v.a.Name+" "+v.b.Name), document.Command("mmafuzz run --a sim:"+v.a.Name+" --b sim:"+v.b.Name))
	m.add(versusFile(v), d)
}

// labels are the parts of the arithmetic that differ.
func (c *comparison) labels() string {
	var all []string
	for _, p := range c.parts {
		if l := string(p.Label); !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	return strings.Join(all, ", ")
}

// why names the parts that differ if these are few.
func (c *comparison) why() string {
	const most = 3
	if len(c.parts) > most {
		return fmt.Sprintf("%d parts of the arithmetic", len(c.parts))
	}
	return c.labels()
}

// sideBySide lists all pairs of arithmetics.
func (v *versus) sideBySide() *document.Table {
	t := &document.Table{Columns: document.Columns("formats", v.a.Name, v.b.Name, "#differ", "in", "smallest input")}
	for _, r := range v.rows {
		share, why, smallest := fmt.Sprintf("%.2g %%", 100*r.share()), r.why(), ""
		switch {
		case r.equal():
			share, why = "0", "the same arithmetic"
		case r.witness == nil:
			share, smallest = "0", fmt.Sprintf("none of %d inputs shows it", r.asked)
		default:
			smallest = fmt.Sprintf("`%s` gives `%s` and `%s`", r.witnessText(), mma.FormatCode(r.formats.D, r.da), mma.FormatCode(r.formats.D, r.db))
		}
		t.Rows = append(t.Rows, document.Row{{Text: formatsInWords(&r.formats), Plain: true}, r.side(r.a, &r.p), r.side(r.b, &r.q),
			{Text: share, Key: fmt.Sprint(r.share())}, {Text: why}, {Text: smallest, Class: "name"}})
	}
	return t
}

// side is the cell of an instruction: how it adds, with a link.
func (r *row) side(i *mma.Instruction, p *mma.Params) document.Cell {
	return document.Cell{Text: i.Name + ": " + report.InShort(r.formats, r.k, p), Plain: true, Href: "../" + instructionFile(i)}
}

// difference shows the smallest input on which two arithmetics differ.
func (r *row) difference(v *versus) []document.Block {
	m := &report.Mismatch{Input: report.Input{Title: r.a.Name, Formats: r.formats, Dot: r.witness}}
	var changes []mma.Change
	for _, p := range r.parts {
		m.Labels = append(m.Labels, string(p.Label))
		changes = append(changes, p.Changes...)
	}
	m.Changes = changes
	for _, s := range []struct {
		side *report.Side
		i    *mma.Instruction
		p    *mma.Params
	}{{&m.A, r.a, &r.p}, {&m.B, r.b, &r.q}} {
		model, err := sim.New(r.formats, r.k, *s.p)
		if err != nil {
			return nil // they were asked before
		}
		*s.side = report.Side{Name: "sim:" + s.i.FullName(), Trace: &sim.Trace{}, Params: s.p}
		s.side.Result = model.Dot(r.witness, s.side.Trace)
	}
	blocks := []document.Block{
		document.Text(v.a.Name + ": " + report.InShort(r.formats, r.k, &r.p) + "."),
		document.Text(v.b.Name + ": " + report.InShort(r.formats, r.k, &r.q) + "."),
		document.List(report.InWords(m)...),
		document.Figure{Picture: report.SVG(m, report.SVGOptions{Key: true}).Titled("the smallest input on which they differ"), Caption: "Each row is a number in binary, in the columns of its powers of two."},
	}
	return append(blocks, document.Fold("Every parameter that differs", report.ChangesTable(r.formats, "", changes, v.a.Name, v.b.Name)))
}
