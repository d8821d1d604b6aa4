package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/triage/study"
)

// newGEMM makes the command of the study of whole matrix products.
func newGEMM(a *app) *cobra.Command {
	c := newStudyOf(a, &study.GEMM)
	c.Use = "gemm KERNEL..."
	var list bool
	var print string
	c.Flags().BoolVar(&list, "list", false, "list the schedules of the literature, and end")
	c.Flags().StringVar(&print, "print", "", "write the file of a schedule of the literature, by its `name`, and end")
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case list:
			for _, k := range schedule.Literature() {
				fmt.Fprintf(a.stdout, "%-21s %s\n", k.Name, k.Source)
			}
			return a.stdout.Err()
		case print != "":
			k, err := schedule.Named(print)
			if err != nil {
				return err
			}
			return k.Write(a.stdout)
		}
		return run(cmd, args)
	}
	return c
}
