package atlas

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// addIndex adds the first page: the matrix, the architectures, and all instructions.
func (m *maker) addIndex() {
	d := document.New("Atlas of matrix units", fmt.Sprintf("How %s instructions of %d architectures compute, bit by bit, and where every two of them differ.",
		readable.Thousands(uint64(len(m.instructions))), len(m.archs)))
	d.Add("Which architectures differ", m.matrix(), document.Note("The cells have the share of inputs on which two architectures give different numbers, over all kinds of inputs and all arithmetics with the same formats. Codes of NaNs do not count. A cell leads to the differences, with the smallest input of each; empty ones have no formats in common."))
	t := &document.Table{Columns: document.Columns("architecture", "chip", "#instructions", "#without a model")}
	for _, a := range m.archs {
		modelled, refused := 0, 0
		for _, i := range mma.Of(a.Name) {
			if i.Refuse != "" {
				refused++
			} else {
				modelled++
			}
		}
		t.Rows = append(t.Rows, document.Row{{Text: a.Title, Href: architectureFile(a.Name)}, {Text: a.Chip, Plain: true}, {Text: fmt.Sprint(modelled)}, {Text: fmt.Sprint(refused)}})
	}
	d.Add("Architectures", t)
	guides := &document.Table{Columns: document.Columns("guide")}
	for n, g := range m.Guides {
		guides.Rows = append(guides.Rows, document.Row{{Text: g.Title, Href: "guides/" + m.Names[n] + ".html"}})
	}
	d.Add("Guides", guides)
	d.Add("All instructions", document.Text("Search by name, vendor or format: `hopper fp16`, `AMD fp8`, `wgmma e4m3`."), m.instructionTable("", m.instructions, true))
	m.add(indexFile, d)
}

func architectureFile(arch string) string { return "architectures/" + arch + ".html" }
func instructionFile(i *mma.Instruction) string {
	return "instructions/" + i.Arch + "-" + readable.Slug(i.Name) + ".html"
}
func versusFile(v *versus) string { return "compare/" + v.a.Name + "-" + v.b.Name + ".html" }

// instructionTable lists instructions with links below root, the path to the index.
func (m *maker) instructionTable(root string, all []mma.Instruction, vendor bool) *document.Table {
	t := &document.Table{Columns: document.Columns("instruction", "formats", "how it adds")}
	if vendor {
		t.Columns = append(document.Columns("architecture"), t.Columns...)
	}
	for n := range all {
		i := &all[n]
		how := "no model: " + i.Refuse
		if i.Refuse == "" {
			how = report.InShort(i.Formats, i.K, &i.Params)
		}
		r := document.Row{{Text: i.Name, Plain: true, Href: root + instructionFile(i), Class: "name"}, {Text: formatsInWords(&i.Formats), Plain: true}, {Text: how, Plain: true}}
		if vendor {
			a, _ := mma.FindArch(i.Arch)
			r = append(document.Row{{Text: a.Title, Plain: true}}, r...)
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// matrix draws all architectures that have a model against each other.
func (m *maker) matrix() document.Figure {
	shown := map[string]bool{}
	for _, v := range m.versus {
		shown[v.a.Name], shown[v.b.Name] = true, true
	}
	h := &document.Heat{Title: "share of inputs on which two architectures differ", Key: "share of inputs that show a difference"}
	at := map[string]int{}
	for _, a := range m.archs {
		if shown[a.Name] {
			at[a.Name] = len(h.Rows)
			h.Rows, h.Columns = append(h.Rows, a.Name), append(h.Columns, a.Name)
		}
	}
	h.Cells = make([][]document.HeatCell, len(h.Rows))
	for n := range h.Cells {
		h.Cells[n] = make([]document.HeatCell, len(h.Columns))
		for k := range h.Cells[n] {
			h.Cells[n][k].Share = -1
		}
	}
	for _, v := range m.versus {
		c := v.cell()
		h.Cells[at[v.a.Name]][at[v.b.Name]], h.Cells[at[v.b.Name]][at[v.a.Name]] = c, c
	}
	return document.Figure{Picture: h, Caption: "Every two architectures: how often they differ, and, for those who hover, the smallest input that shows it."}
}

// cell is the cell of two architectures.
func (v *versus) cell() document.HeatCell {
	c := document.HeatCell{Share: v.share(), Href: versusFile(v)}
	c.Text = "0"
	if c.Share > 0 {
		c.Text = fmt.Sprintf("%.2g %%", 100*c.Share)
	}
	c.Title = fmt.Sprintf("%s and %s differ in %s of inputs", v.a.Name, v.b.Name, c.Text)
	if r := v.smallest(); r != nil {
		c.Title += fmt.Sprintf("; smallest: %s (%s): %s, not %s", r.witnessText(), formatsInWords(&r.formats), mma.FormatCode(r.formats.D, r.da), mma.FormatCode(r.formats.D, r.db))
	}
	return c
}

func (c *comparison) witnessText() string { return mma.FormatDot(c.formats, c.witness) }
