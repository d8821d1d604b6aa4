package atlas

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/evidence"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/probe"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// addInstructions adds the pages of all instructions.
func (m *maker) addInstructions(ctx context.Context) error {
	trees, err := m.trees(ctx)
	if err != nil {
		return err
	}
	for n := range m.instructions {
		i := &m.instructions[n]
		a, _ := mma.FindArch(i.Arch)
		d := document.New(i.Name+" on "+a.Title, "")
		d.Links = []document.Link{{Text: a.Title, Href: "../" + architectureFile(a.Name)}}
		if i.Refuse != "" {
			d.Lead = "There is no model of this instruction: " + i.Refuse + "."
			d.Add("Formats", factTable(i))
		} else {
			m.fill(d, i, trees[arithmeticOf(i)])
		}
		m.add(instructionFile(i), d)
	}
	return nil
}

// trees finds the summation tree of each arithmetic by asking its model.
func (m *maker) trees(ctx context.Context) (map[arithmetic]document.Block, error) {
	var all []arithmetic
	for at := range m.alike {
		all = append(all, at)
	}
	trees := map[arithmetic]document.Block{}
	var guard sync.Mutex
	err := m.each(ctx, "finding summation trees", len(all), func(n int) error {
		i := m.alike[all[n]][0]
		u, err := devices.OpenUnit("sim:"+i.Arch, i.Name, "")
		if err != nil {
			return err
		}
		if tree, _ := probe.New(ctx, u).Tree(); tree != nil {
			guard.Lock()
			trees[all[n]] = tree.Figure(i.K)
			guard.Unlock()
		}
		return nil
	})
	return trees, err
}

// fill fills the page of an instruction that has a model.
func (m *maker) fill(d *document.Document, i *mma.Instruction, tree document.Block) {
	short := report.InShort(i.Formats, i.K, &i.Params)
	d.Lead = strings.ToUpper(short[:1]) + short[1:] + "."
	d.Add("What it computes", factTable(i))
	d.Add("Block diagram", document.Figure{Picture: report.Pipeline(i.Formats, i.K, &i.Params).Titled("block diagram of " + i.FullName()), Caption: "From the operands at the top to the result."})
	d.Add("Order of summation", tree)
	d.Add("Every parameter", parameterTable(i), document.Note("All other parameters are absent. Their names are those of model files."))
	d.Add("How this is known", evidenceOf(i)...)
	d.Add("The same arithmetic elsewhere", m.alikeTable(i))
	if s := m.speeds[arithmeticOf(i)]; s > 0 {
		d.Add("Speed of the model", document.Text(fmt.Sprintf("About %.2g million dot products a second on one core of the machine that made this page.", s/1e6)))
	}
	d.Add("Ask it", document.Command("mmafuzz probe --target sim:"+i.Arch+" --inst "+i.Name),
		document.Command("mmafuzz run --a sim:"+i.Arch+" --b ref:exact --inst "+i.Name))
}

// factTable lists what the instruction set says.
func factTable(i *mma.Instruction) *document.Table {
	t := &document.Table{Columns: document.Columns("", "")}
	t.Columns[0].Name, t.Columns[1].Name = "what", "value"
	add := func(what, value string) {
		if value != "" {
			t.Rows = append(t.Rows, document.Row{{Text: what}, {Text: value, Plain: true}})
		}
	}
	add("operands a", formatInWords(i.A))
	add("operands b", formatInWords(i.B))
	add("accumulator c", formatInWords(i.C))
	add("result d", formatInWords(i.D))
	if i.Scale != fp.None {
		add("scales", fmt.Sprintf("%s, one for each %d products", formatInWords(i.Scale), i.Block))
	}
	add("products of a dot product, K", fmt.Sprint(i.K))
	add("rows, M", i.M.String())
	add("columns, N", i.N.String())
	add("also called", i.Alias)
	if i.Refuse == "" {
		add("arithmetic", i.Params.String())
	}
	return t
}

// formatsInWords writes the formats of an instruction as a formula.
func formatsInWords(f *mma.Formats) string {
	text := f.A.String() + " × " + f.B.String()
	if f.Scale != fp.None {
		text += fmt.Sprintf(" × %s for each %d", f.Scale, f.Block)
	}
	if f.C != fp.None {
		text += " + " + f.C.String()
	}
	return text + " → " + f.D.String()
}

// formatInWords describes a number format; "" for none.
func formatInWords(id fp.ID) string {
	if id == fp.None {
		return ""
	}
	f := id.Get()
	return fmt.Sprintf("%s: %d bits, %d of exponent, %d of fraction", f.Name, f.Bits(), f.ExpBits, f.FracBits)
}

// parameterTable lists the parameters that are set.
func parameterTable(i *mma.Instruction) *document.Table {
	t := &document.Table{Columns: document.Columns("parameter", "value", "name")}
	for _, f := range mma.Fields() {
		if f.Int(&i.Params) != 0 {
			t.Rows = append(t.Rows, document.Row{{Text: readable.Converted(i.Formats, report.ParameterInWords(f.Path))}, {Text: f.Text(&i.Params), Plain: true}, {Text: "`" + f.Path + "`"}})
		}
	}
	return t
}

// evidenceOf says what the rule was compared with, and what is open.
func evidenceOf(i *mma.Instruction) []document.Block {
	blocks := []document.Block{document.Text("Compared with: " + i.Evidence + ".")}
	if !i.Checked() {
		blocks = []document.Block{document.Alert("No results of hardware were compared with this rule: " + i.Evidence + ".")}
	}
	if text := evidence.Text(i); text != "-" {
		blocks = append(blocks, document.Text("What that refutes: "+text+"."))
	}
	if i.Unknown != 0 {
		blocks = append(blocks, document.Alert("Nobody has shown: "+i.Unknown.String()+"."))
	}
	if i.Source != "" {
		blocks = append(blocks, document.Text("Published in: "+i.Source+"."))
	}
	return blocks
}

// alikeTable lists the other instructions with the same arithmetic and formats.
func (m *maker) alikeTable(i *mma.Instruction) *document.Table {
	t := &document.Table{Columns: document.Columns("instruction", "architecture")}
	for _, o := range m.alike[arithmeticOf(i)] {
		if o.FullName() != i.FullName() {
			a, _ := mma.FindArch(o.Arch)
			t.Rows = append(t.Rows, document.Row{{Text: o.Name, Plain: true, Href: "../" + instructionFile(o)}, {Text: a.Title, Plain: true}})
		}
	}
	return t
}
