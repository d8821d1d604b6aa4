package main

import (
	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz/pages"
)

func newReport(a *app) *cobra.Command {
	var out, format string
	c := &cobra.Command{
		Use:   "report DIR|FILE...",
		Short: "a page for a browser of whatever mmafuzz has written",
		Long: `report makes a page of results, for people who want to look: of the directory of a
campaign, a bundle, recordings, which it compares, a comparison's directory or
compare.json, those of several nights, an inference's directory, what probe --json has
written. Several results become one page.

  mmafuzz run && mmafuzz report mmafuzz-out/*
  mmafuzz report h100.rec mi300.rec
  mmafuzz report nights/*/compare.json --out nights.html

--format prints the same as text, Markdown or the tables alone, for papers and
spreadsheets, or writes it to the file of --out. --figures writes every figure and table to a file of its own.

The page is one file that loads nothing from elsewhere: it can be opened, printed, sent
and attached as it is.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return hint.New("for example mmafuzz report mmafuzz-out/*", "name what is to be shown, such as the directory of a campaign")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkFormat(format); err != nil {
				return err
			}
			if format == "html" {
				if err := checkPage(out, args...); err != nil {
					return err
				}
			} else if err := open.NotInput(out, args...); err != nil {
				return err
			}
			ui := newCompareUI(a)
			m := pages.Maker{Note: a.note, Observer: ui}
			p, err := m.Page(cmd.Context(), args)
			ui.line.clear()
			if err == nil {
				err = a.export(p)
			}
			if err != nil {
				return err
			}
			switch {
			case format == "html":
				return a.writePage(p, out)
			case cmd.Flags().Changed("out"):
				return a.writeDocumentFile(p, format, out)
			}
			return a.writeDocument(p, format, a.verbose)
		},
	}
	c.Flags().StringVar(&out, "out", "report.html", "`file` of the page")
	formatFlag(c.Flags(), &format, "html")
	a.figuresFlag(c.Flags())
	return c
}
