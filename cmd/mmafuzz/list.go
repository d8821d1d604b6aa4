package main

import (
	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz/listing"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func newList(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "list targets, instructions, generators, plans, labels, formats or parameters",
	}
	c.AddCommand(newListInstructions(a))
	for _, l := range listing.Tables {
		c.AddCommand(&cobra.Command{Use: l.Name, Short: l.About, RunE: func(*cobra.Command, []string) error {
			rows := l.ForPeople()
			if a.json {
				rows = l.Rows()
			}
			return a.table(l.Heads, rows)
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
	(&readable.Table{Width: a.rowWidth(), Rows: rows}).Write(a.stdout, nil)
	return a.stdout.Err()
}

// rowWidth is the width of tables of data: a pipe has a line for each row, for grep and its like.
func (a *app) rowWidth() int {
	if a.widthFlag == 0 && !isTerminal(a.stdout) {
		return maxWidth
	}
	return a.width
}

func newListInstructions(a *app) *cobra.Command {
	var target, inst string
	var refused bool
	c := &cobra.Command{
		Use:   "instructions [TARGET]",
		Short: "instructions of a target, with their arithmetic; with -v also the evidence for it",
		Long: `instructions of a target, with their arithmetic; with -v also the evidence for it: rows are
recorded results of that GPU (arXiv:2512.07004), 001 is arXiv:2511.10909, whose authors
compared their model with it.`,
		Args: takes("[TARGET]"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return open.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				target = args[0]
			}
			return a.listInstructions(target, inst, refused)
		},
	}
	selecting(c.Flags(), &inst, "(default: all)")
	c.Flags().BoolVar(&refused, "unverified", false, "only those that have no model or that the device does not run, and why")
	return c
}

// some is a target with some of its instructions.
type some struct {
	devices.Target
	rows []mma.Instruction
}

func (s some) Instructions() []mma.Instruction { return s.rows }

// listInstructions lists the instructions of a target, or of the catalogue: those that
// can be computed, or those that are refused.
func (a *app) listInstructions(target, inst string, refused bool) error {
	if inst != "" && target == "" {
		return hint.New("for example mmafuzz list instructions sim:hopper --inst fp8", "--inst is given without a target")
	}
	var t devices.Target
	if target != "" {
		var err error
		if t, err = open.Target(target); err != nil {
			return err
		}
		defer t.Close()
	}
	if inst != "" {
		rows, err := devices.Select(t, inst)
		if err != nil {
			return err
		}
		t = some{t, rows}
	}
	if !a.json {
		return a.table(nil, listing.InstructionsForPeople(t, refused, a.verbose))
	}
	heads, rows := listing.Instructions(t, refused, true)
	return a.table(heads, rows)
}
