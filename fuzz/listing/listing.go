// Package listing has tables of what mmafuzz has: targets, instructions, generators, plans,
// labels, formats and parameters.
//
// The API of this package is not promised: it may change in any version.
package listing

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/evidence"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// Table is a table of names and what they stand for.
type Table struct {
	Name, About string
	Heads       []string
	Rows        func() [][]string
	people      func(row []string) []string // a row for people, in fewer columns; nil: as it is
}

// ForPeople returns the rows for people, below a heading if there are more than two columns.
func (t *Table) ForPeople() [][]string {
	rows := t.Rows()
	switch {
	case t.people != nil:
		return rowsOf(rows, t.people)
	case len(t.Heads) > 2:
		return slices.Insert(rows, 0, headings(t.Heads))
	}
	return rows
}

// headings turns names of columns into headings.
func headings(names []string) []string {
	heads := slices.Clone(names)
	for i, n := range heads {
		heads[i] = strings.ToUpper(strings.ReplaceAll(n, "_", " "))
	}
	return heads
}

// Tables are all but that of the instructions.
var Tables = []Table{
	{"targets", "what can be compared", []string{"target", "about"}, targetRows, nil},
	{"generators", "sources of inputs", []string{"generator", "about"}, func() [][]string {
		return rowsOf(gen.Current(), func(g *gen.Generator) []string { return []string{fmt.Sprintf("%s@%d", g.Name, g.Version), g.Doc} })
	}, nil},
	{"plans", "what record can record", []string{"plan", "about"}, func() [][]string {
		plans, _ := corpus.Plans() // a test opens them all
		return rowsOf(plans, func(p *corpus.Plan) []string { return []string{p.Name, p.About} })
	}, nil},
	{"labels", "causes that triage knows", []string{"label", "about"}, labelRows, nil},
	{"formats", "number formats", []string{"format", "bits", "layout", "bias", "emin", "max_finite", "source"}, func() [][]string {
		return rowsOf(append(fp.All(), fp.Integers()...), formatRow)
	}, nil},
	{"wanted", "architectures of which results are wanted, most first", []string{"arch", "without_rule", "not_compared", "disputed", "hardware"}, wantedRows, nil},
	{"parameters", "parameters of an arithmetic, as in model files", []string{"parameter", "values", "about"}, func() [][]string {
		return rowsOf(mma.Fields(), func(f mma.Field) []string { return []string{f.Path, f.Kind(), report.ParameterInWords(f.Path)} })
	}, func(row []string) []string { return []string{row[0], row[2] + ": " + row[1]} }},
}

func rowsOf[T any](all []T, row func(T) []string) [][]string {
	var rows [][]string
	for _, x := range all {
		rows = append(rows, row(x))
	}
	return rows
}

// targetRows are the simulators, the references, and the other kinds of targets.
func targetRows() [][]string {
	var rows [][]string
	for _, arch := range mma.Archs {
		n, refused := 0, 0
		for _, i := range mma.Of(arch.Name) {
			if i.Refuse != "" {
				refused++
			} else {
				n++
			}
		}
		text := fmt.Sprintf("%s, %s: %d instructions", arch.Title, arch.Chip, n)
		if refused > 0 {
			text += fmt.Sprintf(", %d without a model", refused)
		}
		rows = append(rows, []string{"sim:" + arch.Name, text})
	}
	for _, r := range oracle.References {
		rows = append(rows, []string{"ref:" + r.Name, r.Title})
	}
	kinds := devices.Kinds()
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		if k != "sim" && k != "ref" {
			rows = append(rows, []string{k + ":", kinds[k]})
		}
	}
	return rows
}

// unknownColumn is the column of Instructions that says what is unknown.
const unknownColumn = 5

// Instructions returns the heads of the columns and the rows of the instructions of a target,
// or with nil of the catalogue: those that can be computed, or those that are refused. With
// all it has the columns about the evidence, too: what the row was compared with, how many of its
// mutants that refutes (package evidence), and where the rule was published.
func Instructions(t devices.Target, refused, all bool) (heads []string, rows [][]string) {
	instructions, because := mma.Catalog(), "no model: "
	if t != nil {
		instructions = t.Instructions()
		if kind, _, _ := strings.Cut(t.Name(), ":"); kind != "sim" && kind != "oracle" {
			because = "cannot run: "
		}
	}
	columns := []string{"arch", "instruction", "formats", "k", "arithmetic", "unknown", "evidence", "refutes", "source"}
	if !all {
		columns = columns[:unknownColumn+1]
	}
	for _, i := range instructions {
		if (i.Refuse != "") != refused {
			continue
		}
		row := []string{i.Arch, i.Name, i.Formats.String(), fmt.Sprint(i.K), arithmetic(&i), i.Unknown.String(), i.Evidence, evidence.Text(&i), i.Source}
		if why := because + i.Refuse; refused {
			unknown := "-"
			if !all {
				unknown = why // the last column that is shown
			}
			row = []string{i.Arch, i.Name, i.Formats.String(), fmt.Sprint(i.K), "-", unknown, why, "-", ""}
		}
		rows = append(rows, row[:len(columns)])
	}
	return columns, rows
}

// InstructionsForPeople returns the table of Instructions below its headings, without columns
// that say nothing: the architecture if a target was named, and what is unknown if nothing is.
func InstructionsForPeople(t devices.Target, refused, all bool) [][]string {
	heads, rows := Instructions(t, refused, all)
	known := !slices.ContainsFunc(rows, func(row []string) bool { return row[unknownColumn] != "-" })
	rows = slices.Insert(rows, 0, headings(heads))
	for i, row := range rows {
		if known {
			row = slices.Delete(row, unknownColumn, unknownColumn+1)
		}
		if t != nil {
			row = row[1:]
		}
		rows[i] = row
	}
	return rows
}

// arithmetic writes an instruction's arithmetic.
func arithmetic(i *mma.Instruction) string {
	if i.Params == (mma.Params{}) {
		return "black box"
	}
	return i.Params.String()
}

func labelRows() (rows [][]string) {
	for _, l := range triage.Labels() {
		rows = append(rows, []string{string(l.Label), l.Doc})
	}
	return rows
}

// formatRow describes a number format.
func formatRow(id fp.ID) []string {
	f := id.Get()
	s, integer := 0, "unsigned integer"
	if f.Signed {
		s, integer = 1, "signed integer"
	}
	if f.Integer() {
		return []string{f.Name, fmt.Sprint(f.Bits()), integer, "-", "-", fmt.Sprintf("%0*x (%.0f)", f.Digits(), f.MaxFinite(), f.Float64(f.MaxFinite())), f.Source}
	}
	return []string{f.Name, fmt.Sprint(f.Bits()), fmt.Sprintf("%d/%d/%d", s, f.ExpBits, f.FracBits), fmt.Sprint(f.Bias),
		fmt.Sprint(f.Emin()), fmt.Sprintf("%0*x (%g)", f.Digits(), f.MaxFinite(), f.Float64(f.MaxFinite())), f.Source}
}

// wantedRows count, for each architecture, the instructions that have no rule, those whose rule
// was compared with nothing, and those about which published models disagree.
func wantedRows() (rows [][]string) {
	need := map[string]int{}
	for _, arch := range mma.Archs {
		var without, unchecked, disputed int
		for _, i := range mma.Of(arch.Name) {
			switch {
			case i.Refuse != "":
				without++
			case !i.Checked():
				unchecked++
			case strings.Contains(i.Evidence, "disputed: "):
				disputed++
			}
		}
		if need[arch.Name] = without + unchecked + disputed; need[arch.Name] > 0 {
			rows = append(rows, []string{arch.Name, fmt.Sprint(without), fmt.Sprint(unchecked), fmt.Sprint(disputed), arch.Title})
		}
	}
	slices.SortStableFunc(rows, func(x, y []string) int { return need[y[0]] - need[x[0]] })
	return rows
}
