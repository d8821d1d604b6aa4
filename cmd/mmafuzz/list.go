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
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

func newList(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "list targets, instructions, generators, plans, labels, formats or parameters",
	}
	c.AddCommand(
		&cobra.Command{Use: "targets", Short: "what can be compared",
			RunE: func(*cobra.Command, []string) error { return a.listTargets() }},
		newListInstructions(a),
		&cobra.Command{Use: "generators", Short: "sources of inputs",
			RunE: func(*cobra.Command, []string) error { return a.listGenerators() }},
		&cobra.Command{Use: "plans", Short: "what record can record",
			RunE: func(*cobra.Command, []string) error { return a.listPlans() }},
		&cobra.Command{Use: "labels", Short: "causes that triage knows",
			RunE: func(*cobra.Command, []string) error { return a.listLabels() }},
		&cobra.Command{Use: "formats", Short: "number formats",
			RunE: func(*cobra.Command, []string) error { return a.listFormats() }},
		&cobra.Command{Use: "parameters", Short: "parameters of an arithmetic, as in model files",
			RunE: func(*cobra.Command, []string) error { return a.listParameters() }},
	)
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

// upper makes headings of names.
func upper(names []string) []string {
	heads := slices.Clone(names)
	for i, n := range heads {
		heads[i] = strings.ToUpper(strings.ReplaceAll(n, "_", " "))
	}
	return heads
}

func (a *app) listTargets() error {
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
	return a.table([]string{"target", "about"}, rows)
}

func newListInstructions(a *app) *cobra.Command {
	var target string
	var refused bool
	c := &cobra.Command{
		Use:   "instructions [TARGET]",
		Short: "instructions of a target, with their arithmetic; with -v also the evidence for it",
		Args:  takes("[TARGET]"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return targetNames(), cobra.ShellCompDirectiveNoFileComp
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
		t, err := openTarget(target)
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

func (a *app) listGenerators() error {
	var rows [][]string
	for _, g := range gen.All() {
		rows = append(rows, []string{fmt.Sprintf("%s@%d", g.Name, g.Version), g.Doc})
	}
	return a.table([]string{"generator", "about"}, rows)
}

func (a *app) listPlans() error {
	plans, err := corpus.Plans()
	if err != nil {
		return err
	}
	var rows [][]string
	for _, p := range plans {
		rows = append(rows, []string{p.Name, p.About})
	}
	return a.table([]string{"plan", "about"}, rows)
}

func (a *app) listLabels() error {
	var rows [][]string
	for _, l := range triage.Labels() {
		rows = append(rows, []string{string(l.Label), l.Doc})
	}
	return a.table([]string{"label", "about"}, rows)
}

func (a *app) listFormats() error {
	heads := []string{"format", "bits", "layout", "bias", "emin", "max_finite", "source"}
	rows := [][]string{}
	for _, id := range fp.All() {
		f := id.Get()
		s := 0
		if f.Signed {
			s = 1
		}
		rows = append(rows, []string{f.Name, fmt.Sprint(f.Bits()), fmt.Sprintf("%d/%d/%d", s, f.ExpBits, f.FracBits), fmt.Sprint(f.Bias),
			fmt.Sprint(f.Emin()), fmt.Sprintf("%0*x (%g)", f.Digits(), f.MaxFinite(), f.Float64(f.MaxFinite())), f.Source})
	}
	if !a.json {
		rows = slices.Insert(rows, 0, upper(heads))
	}
	return a.table(heads, rows)
}

func (a *app) listParameters() error {
	var rows [][]string
	for _, f := range mma.Fields() {
		rows = append(rows, []string{f.Path, f.Kind()})
	}
	return a.table([]string{"parameter", "values"}, rows)
}
