package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/atlas"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
)

func newAtlas(a *app) *cobra.Command {
	var out string
	o := atlas.Options{Made: "mmafuzz " + versions.Program()}
	c := &cobra.Command{
		Use:   "atlas --out DIR",
		Short: "a web site of everything that the catalogue knows",
		Long: `atlas writes a static web site: a page for each architecture and each instruction
(formats, block diagram, summation tree, every parameter in words, what it is known from, who
else computes the same), a matrix of all architectures with how often they differ, a page
for every two of them with the smallest inputs that show the differences, and the guides.

The site loads nothing from elsewhere, and can be opened from a disk or put on any server. Its
addresses are made of names, so links to it last.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			line := newStatusLine(a)
			o.Note = func(what string, n, of int) {
				line.show(statusField{fmt.Sprintf("%s: %s of %s", what, readable.Count(uint64(n)), readable.Count(uint64(of))), 1})
			}
			for _, g := range guides() {
				o.Guides, o.Names = append(o.Guides, g.document()), append(o.Names, g.name)
			}
			site, err := atlas.Write(cmd.Context(), out, o)
			line.clear()
			if err != nil {
				return err
			}
			index := filepath.Join(out, "index.html")
			return a.result(written{index}, func(w io.Writer, _ int) {
				fmt.Fprintf(w, "%s pages, %sB: %s\n", readable.Thousands(uint64(site.Pages)), readable.Count(uint64(site.Bytes)), readable.ShellPath(index))
			})
		},
	}
	f := c.Flags()
	f.StringVar(&out, "out", "atlas", "`directory` of the site")
	f.BoolVar(&o.Speed, "speed", true, "measure how fast the models are on this machine")
	_ = c.MarkFlagDirname("out")
	return c
}
