package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// list is a table that mmafuzz list writes.
type list struct {
	name, about string
	heads       []string
	rows        func() [][]string
}

// lists are all but that of the instructions.
var lists = []list{
	{"targets", "what can be compared", []string{"target", "about"}, targetRows},
	{"generators", "sources of inputs", []string{"generator", "about"}, func() [][]string {
		return rowsOf(gen.All(), func(g gen.Generator) []string { return []string{fmt.Sprintf("%s@%d", g.Name, g.Version), g.Doc} })
	}},
	{"plans", "what record can record", []string{"plan", "about"}, func() [][]string {
		plans, _ := corpus.Plans() // a test opens them all
		return rowsOf(plans, func(p *corpus.Plan) []string { return []string{p.Name, p.About} })
	}},
	{"labels", "causes that triage knows", []string{"label", "about"}, labelRows},
	{"formats", "number formats", []string{"format", "bits", "layout", "bias", "emin", "max_finite", "source"}, func() [][]string {
		return rowsOf(fp.All(), formatRow)
	}},
	{"parameters", "parameters of an arithmetic, as in model files", []string{"parameter", "values"}, func() [][]string {
		return rowsOf(mma.Fields(), func(f mma.Field) []string { return []string{f.Path, f.Kind()} })
	}},
}

func rowsOf[T any](all []T, row func(T) []string) [][]string {
	var rows [][]string
	for _, x := range all {
		rows = append(rows, row(x))
	}
	return rows
}

func newList(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "list targets, instructions, generators, plans, labels, formats or parameters",
	}
	c.AddCommand(newListInstructions(a))
	for _, l := range lists {
		c.AddCommand(&cobra.Command{Use: l.name, Short: l.about, RunE: func(*cobra.Command, []string) error {
			rows := l.rows()
			if len(l.heads) > 2 && !a.json { // two columns need no heading
				rows = slices.Insert(rows, 0, upper(l.heads))
			}
			return a.table(l.heads, rows)
		}})
	}
	return c
}

// table writes rows of cells in columns, or as JSON objects with the heads as
// names.
func (a *app) table(heads []string, rows [][]string) error {
	if a.json {
		for _, r := range rows {
			m := map[string]string{}
			for i, h := range heads {
				m[h] = r[i]
			}
			if err := a.writeJSON(m); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		for i, cell := range r {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			fmt.Fprint(w, cell)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// upper turns names into headings.
func upper(names []string) []string {
	heads := slices.Clone(names)
	for i, n := range heads {
		heads[i] = strings.ToUpper(strings.ReplaceAll(n, "_", " "))
	}
	return heads
}

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

func newListInstructions(a *app) *cobra.Command {
	var target string
	var refused bool
	c := &cobra.Command{
		Use:   "instructions [TARGET]",
		Short: "instructions of a target, with their arithmetic; with -v also the evidence for it",
		Args:  takes("[TARGET]"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return open.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				target = args[0]
			}
			return a.listInstructions(target, refused)
		},
	}
	c.Flags().BoolVar(&refused, "unverified", false, "only those that have no model or that the device does not run, and why")
	return c
}

// listInstructions lists the instructions of a target, or of the catalogue: those that
// can be computed, or those that are refused.
func (a *app) listInstructions(target string, refused bool) error {
	rows, because := mma.Catalog(), "no model: "
	if target != "" {
		t, err := open.Target(target)
		if err != nil {
			return err
		}
		defer t.Close()
		rows = t.Instructions()
		if kind, _, _ := strings.Cut(t.Name(), ":"); kind != "sim" && kind != "oracle" {
			because = "cannot run: "
		}
	}
	var out [][]string
	for _, i := range rows {
		if (i.Refuse != "") != refused {
			continue
		}
		if refused {
			why := because + i.Refuse
			unknown := "-"
			if !a.json && !a.verbose {
				unknown = why // the last column that is shown
			}
			out = append(out, []string{i.Arch, i.Name, i.Formats.String(), fmt.Sprint(i.K), "-", unknown, why, ""})
			continue
		}
		out = append(out, []string{i.Arch, i.Name, i.Formats.String(), fmt.Sprint(i.K), arithmetic(&i), i.Unknown.String(), i.Evidence, i.Source})
	}
	heads := []string{"arch", "instruction", "formats", "k", "arithmetic", "unknown", "evidence", "source"}
	if a.json {
		return a.table(heads, out)
	}
	out = slices.Insert(out, 0, upper(heads))
	if !a.verbose {
		const short = 6 // columns
		for n := range out {
			out[n] = out[n][:short]
		}
	}
	return a.table(heads, out)
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
	s := 0
	if f.Signed {
		s = 1
	}
	return []string{f.Name, fmt.Sprint(f.Bits()), fmt.Sprintf("%d/%d/%d", s, f.ExpBits, f.FracBits), fmt.Sprint(f.Bias),
		fmt.Sprint(f.Emin()), fmt.Sprintf("%0*x (%g)", f.Digits(), f.MaxFinite(), f.Float64(f.MaxFinite())), f.Source}
}
