package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/fuzz/compare"
	"github.com/mmafuzz/mmafuzz/fuzz/summary"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/infer"
	"github.com/mmafuzz/mmafuzz/triage/probe"
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
	{name: "an inference's directory", is: holds(infer.ReportFile), make: inferencePage},
	{name: "an inference's report.json", is: hasKeys("verdict", "params"), make: inferencePage},
	{name: "results of compare", is: isComparison, make: comparisonPage, together: true},
	{name: "answers of probe --json", is: hasKeys("paper", "question"), make: answersPage},
	{name: "a campaign's directory", is: holds("journal"), make: campaignPage},
	{name: "recordings", is: isRecording, make: recordingPage, together: true},
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

// sniffed is the bytes of a file of JSON in which its first keys are looked for.
const sniffed = 1 << 20

// hasKeys returns the test of files that begin with a JSON object with some keys.
func hasKeys(keys ...string) func(path string, dir bool) bool {
	return func(path string, dir bool) bool {
		if dir {
			return false
		}
		f, err := corpus.Open(path, "file of results", maxResults)
		if err != nil {
			return false
		}
		defer f.Close()
		head := make([]byte, sniffed)
		n, _ := io.ReadFull(f, head)
		if head = head[:n]; n == 0 || head[0] != '{' {
			return false
		}
		return !slices.ContainsFunc(keys, func(k string) bool { return !bytes.Contains(head, []byte(`"`+k+`":`)) })
	}
}

// maxResults is more bytes than a file of results has, recordings apart.
const maxResults = 256 << 20

func isComparison(path string, dir bool) bool {
	if dir {
		return holds(compare.ResultFile)(path, dir)
	}
	return hasKeys("cells", "machines")(path, dir)
}

// isRecording reports whether a file can be a recording: of mmafuzz, or of recorded vectors
// as text, which may be compressed.
func isRecording(path string, dir bool) bool {
	return !dir && slices.ContainsFunc([]string{".rec", ".txt", ".gz"}, func(end string) bool { return strings.HasSuffix(path, end) })
}

func newReport(a *app) *cobra.Command {
	var out string
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

The page is one file that loads nothing from elsewhere: it can be opened, printed, sent
and attached as it is.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return hint.New("for example mmafuzz report mmafuzz-out/*", "name what is to be shown, such as the directory of a campaign")
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
		return nil, hint.New("mmafuzz run says where its results are", "%s: %w", path, hint.Bare(err))
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
	remedy := "name " + strings.Join(names, ", ")
	if below := resultsBelow(path, info); len(below) > 0 {
		remedy = fmt.Sprintf("there is %s below it: mmafuzz report %s", below[0].name, filepath.Join(path, "*"))
	}
	return nil, hint.New(remedy, "%s: this is nothing that mmafuzz has a page for", path)
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
		err = hint.Bare(err)
	}
	return p, hint.Add(err, "name the directory of a campaign, which mmafuzz run has written")
}

func inferencePage(ctx context.Context, _ *app, paths []string) (*page.Page, error) {
	file := paths[0]
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, infer.ReportFile)
	}
	t, err := infer.ReadReport(ctx, file)
	if err != nil {
		return nil, hint.Add(err, "name the directory that mmafuzz infer has written, or its "+infer.ReportFile)
	}
	return t.Page(), nil
}

func answersPage(_ context.Context, _ *app, paths []string) (*page.Page, error) {
	body, err := corpus.ReadFile(paths[0], "file of answers", maxResults)
	if err != nil {
		return nil, err
	}
	p, err := probe.Page("What "+filepath.Base(paths[0])+" says of a unit", body)
	if err != nil {
		return nil, hint.New("mmafuzz probe --json > FILE writes them", "%s: %w", paths[0], err)
	}
	return p, nil
}

func comparisonPage(_ context.Context, _ *app, paths []string) (*page.Page, error) {
	var nights []compare.Night
	for _, path := range paths {
		file := path
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			file = filepath.Join(path, compare.ResultFile)
		}
		r, err := compare.Read(file)
		if err != nil {
			return nil, hint.Add(err, "name the directory of a compare, or its "+compare.ResultFile)
		}
		nights = append(nights, compare.Night{Result: r, Dir: filepath.Dir(file)})
	}
	return compare.Page(nights), nil
}

// recordingPage shows one recording, and compares several.
func recordingPage(ctx context.Context, a *app, paths []string) (*page.Page, error) {
	c := &compareCmd{app: a, maxBundles: 1}
	defer c.closeSides()
	if len(paths) == 1 {
		s, err := compare.Open(paths[0])
		if err != nil {
			return nil, hint.Add(err, "name a recording, which mmafuzz record makes")
		}
		c.sides = append(c.sides, s)
		return compare.RecordingPage(s), nil
	}
	comparison, err := c.open(paths)
	if err != nil {
		return nil, err
	}
	ui := &compareUI{app: a, began: time.Now(), line: statusLine{app: a, last: time.Now()}}
	comparison.Observer = ui
	r, err := comparison.Run(ctx)
	ui.line.clear()
	if err != nil {
		return nil, err
	}
	return compare.Page([]compare.Night{{Result: r}}), nil
}
