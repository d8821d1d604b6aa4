package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/fuzz/summary"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/report/page"
)

// pageKind is a kind of results that has pages. To add one, add a row to pageKinds.
type pageKind struct {
	name string // of what is shown
	// is reports whether a file or a directory is of the kind, from what can be seen
	// without reading it.
	is func(path string, dir bool) bool
	// make makes the page of results of the kind: of one, or of several at a time if
	// together is set.
	make     func(ctx context.Context, a *app, paths []string) (*page.Page, error)
	together bool
}

// pageKinds are the kinds of pages; the first one that fits counts.
var pageKinds = []pageKind{
	{name: "a bundle", is: func(path string, dir bool) bool { return dir && bundle.Is(path) }, make: bundlePage},
	{name: "a study's directory", is: holds("result.json"), make: studyPage},
	{name: "a campaign's directory", is: holds("journal"), make: campaignPage},
}

// holds returns the test of directories that have a file of a name.
func holds(name string) func(path string, dir bool) bool {
	return func(path string, dir bool) bool {
		if !dir {
			return false
		}
		info, err := os.Stat(filepath.Join(path, name))
		return err == nil && info.Mode().IsRegular()
	}
}

func newReport(a *app) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report DIR|FILE...",
		Short: "a page for a browser of whatever mmafuzz has written",
		Long: `report makes a page of results, for people who want to look: a campaign's directory, a
bundle. Several results become one page.

  mmafuzz run && mmafuzz report mmafuzz-out/*

The page is one file that loads nothing from elsewhere: it can be opened, printed, sent
and attached as it is.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return hinted("for example mmafuzz report mmafuzz-out/*", "name what is to be shown, such as the directory of a campaign")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.pageOf(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.writePage(p, out)
		},
	}
	c.Flags().StringVar(&out, "out", "report.html", "`file` of the page")
	return c
}

// ownFiles are files that mmafuzz writes beside results: a shell's * names them, too.
var ownFiles = []string{"go.mod"}

// pageOf makes one page of results.
func (a *app) pageOf(ctx context.Context, paths []string) (*page.Page, error) {
	byKind := map[*pageKind][]string{}
	var kinds []*pageKind // in the order of the arguments
	for _, path := range paths {
		if len(paths) > 1 && slices.Contains(ownFiles, filepath.Base(path)) {
			continue
		}
		k, err := kindOf(path)
		if err != nil {
			return nil, err
		}
		if byKind[k] == nil {
			kinds = append(kinds, k)
		}
		byKind[k] = append(byKind[k], path)
	}
	var pages []*page.Page
	for _, k := range kinds {
		groups := slices.Collect(slices.Chunk(byKind[k], 1))
		if k.together {
			groups = [][]string{byKind[k]}
		}
		for _, g := range groups {
			p, err := k.make(ctx, a, g)
			if err != nil {
				return nil, err
			}
			pages = append(pages, p)
		}
	}
	return page.Join(pages...), nil
}

// kindOf returns the kind of a result.
func kindOf(path string) (*pageKind, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, hinted("mmafuzz run says where its results are", "%s: %w", path, bare(err))
	}
	for i := range pageKinds {
		if k := &pageKinds[i]; k.is(path, info.IsDir()) {
			return k, nil
		}
	}
	var names []string
	for _, k := range pageKinds {
		names = append(names, k.name)
	}
	hint := "name " + strings.Join(names, ", ")
	if below := resultsBelow(path, info); len(below) > 0 {
		hint = fmt.Sprintf("there is %s below it: mmafuzz report %s", below[0].name, filepath.Join(path, "*"))
	}
	return nil, hinted(hint, "%s: this is nothing that mmafuzz has a page for", path)
}

// resultsBelow returns the kinds of what is in a directory.
func resultsBelow(path string, info fs.FileInfo) (kinds []*pageKind) {
	if !info.IsDir() {
		return nil
	}
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		for i := range pageKinds {
			if pageKinds[i].is(filepath.Join(path, e.Name()), e.IsDir()) {
				kinds = append(kinds, &pageKinds[i])
			}
		}
	}
	return kinds
}

func bundlePage(_ context.Context, a *app, paths []string) (*page.Page, error) {
	b, err := a.readBundle(paths[0])
	if err != nil {
		return nil, err
	}
	return bundle.Page(&b.Mismatch, paths[0], false)
}

func campaignPage(_ context.Context, _ *app, paths []string) (*page.Page, error) {
	p, err := summary.Page(paths[0])
	if errors.Is(err, fs.ErrNotExist) {
		err = bare(err)
	}
	return p, withHint(err, "name the directory of a campaign, which mmafuzz run has written")
}
