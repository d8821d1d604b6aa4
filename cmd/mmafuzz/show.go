package main

import (
	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

func newShow(a *app) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "show BUNDLE",
		Short: "draw the picture of a bundle",
		Long: `show draws what the two sides of a bundle did with its case: the terms of each
sum by weight, the bits that one side kept and the other dropped, the results,
and the cause.

With --json it writes the bundle's mismatch.json in a line.`,
		Args:              takes("BUNDLE"),
		ValidArgsFunction: directories,
		RunE:              func(_ *cobra.Command, args []string) error { return a.show(args[0], all) },
	}
	c.Flags().BoolVar(&all, "all", false, "draw every sum, not only those that decide")
	return c
}

func (a *app) show(dir string, all bool) error {
	b, err := a.readBundle(dir)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(&b.Mismatch)
	}
	pic, err := bundle.Picture(&b.Mismatch, dir)
	if err != nil {
		return err
	}
	o := a.textOptions()
	o.All = all
	return report.Text(printable.Raw(a.stdout), pic, o)
}

func (a *app) textOptions() report.TextOptions {
	return report.TextOptions{Width: a.width, Color: a.color}
}
