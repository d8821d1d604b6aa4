package atlas

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// addArchitecture adds the page of an architecture.
func (m *maker) addArchitecture(a mma.Arch) {
	all := mma.Of(a.Name)
	var known, refused []mma.Instruction
	for _, i := range all {
		if i.Refuse != "" {
			refused = append(refused, i)
		} else {
			known = append(known, i)
		}
	}
	lead := fmt.Sprintf("%s (%s): %s with a model.", a.Title, a.Chip, plural(len(known), "instruction"))
	if len(refused) > 0 {
		lead += fmt.Sprintf(" Of %d others nobody has published how they compute.", len(refused))
	}
	d := document.New(a.Title, lead)
	t := &document.Table{Columns: document.Columns("compared with", "#inputs that differ", "smallest input that shows a difference")}
	for _, v := range m.versus {
		if v.a != a && v.b != a {
			continue
		}
		other, c, smallest := v.b, v.cell(), ""
		if v.b == a {
			other = v.a
		}
		if r := v.smallest(); r != nil {
			smallest = "`" + r.witnessText() + "`"
		}
		t.Rows = append(t.Rows, document.Row{{Text: other.Title, Href: "../" + versusFile(v)}, {Text: c.Text, Key: fmt.Sprint(c.Share)}, {Text: smallest, Class: "name"}})
	}
	d.Add("Compared with others", t)
	d.Add("Instructions", m.instructionTable("../", known, false))
	d.Add("Instructions without a model", m.instructionTable("../", refused, false))
	m.add(architectureFile(a.Name), d)
}
