package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

func newShow(a *app) *cobra.Command {
	s := &showCmd{app: a}
	c := &cobra.Command{
		Use:   "show BUNDLE",
		Short: "draw the picture of a bundle",
		Long: `show draws what the two sides of a bundle did with its case: the terms of each
sum by weight, the bits that one side kept and the other dropped, the results,
and the cause. Of a matrix product it writes README.md.

With --html it draws them on a page for a browser, which needs nothing else. With
--json it writes the bundle's mismatch.json in a line.`,
		Args:              takes("BUNDLE"),
		ValidArgsFunction: directories,
		RunE:              func(_ *cobra.Command, args []string) error { return s.show(args[0]) },
	}
	c.Flags().BoolVar(&s.all, "all", false, "draw every sum, not only those that decide")
	c.Flags().BoolVar(&s.html, "html", false, "write a page for a browser")
	c.Flags().StringVar(&s.out, "out", "", "`file` of the page (default: standard output)")
	return c
}

// showCmd is mmafuzz show.
type showCmd struct {
	*app
	all, html bool
	out       string
}

func (a *showCmd) show(dir string) error {
	if a.out != "" && !a.html {
		return hint.New("add --html", "--out is the file of a page")
	}
	if a.html && a.json {
		return hint.New("leave one out", "--html and --json are two forms of the same")
	}
	if err := checkPage(a.out, dir); err != nil {
		return err
	}
	if productIn(dir) != nil && !a.html && !a.json {
		return a.showProduct(dir)
	}
	b, err := a.readBundle(dir)
	switch {
	case err != nil:
		return err
	case a.html:
		p, err := bundle.Page(&b.Mismatch, dir, a.all)
		if err != nil {
			return err
		}
		return a.writePage(p, a.out)
	case a.json:
		return a.writeJSON(&b.Mismatch)
	}
	pic, err := bundle.Picture(&b.Mismatch, "")
	if err != nil {
		return err
	}
	pic.Rerun = bundle.RerunBy(command(), &b.Mismatch, dir)
	o := a.textOptions()
	o.All = a.all
	if err := report.Text(printable.Raw(a.stdout), pic, o); err != nil {
		return err
	}
	if bundle.RunsCommand(b.Mismatch.A.Target, b.Mismatch.B.Target) {
		fmt.Fprint(a.stdout, readable.Hanging("This runs the command that is a target: mmafuzz shows it and asks first, or is told --allow-exec.", a.width))
	}
	return a.stdout.Err()
}

// showProduct writes what is in the bundle of a matrix product.
func (a *showCmd) showProduct(dir string) error {
	text, err := corpus.ReadFile(filepath.Join(dir, "README.md"), "file of a bundle", corpus.MaxMember)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s", text)
	return a.stdout.Err()
}

func (a *app) textOptions() report.TextOptions {
	return report.TextOptions{Width: a.width, Color: a.color}
}
