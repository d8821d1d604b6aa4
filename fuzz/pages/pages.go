// Package pages makes one page for a browser of whatever mmafuzz has written: the directories
// of campaigns, studies and inferences, bundles, recordings, results of comparisons, answers.
//
// The API of this package is not promised: it may change in any version.
package pages

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/fuzz/compare"
	"github.com/mmafuzz/mmafuzz/fuzz/summary"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/infer"
	"github.com/mmafuzz/mmafuzz/triage/probe"
	"github.com/mmafuzz/mmafuzz/triage/report/page"
	"github.com/mmafuzz/mmafuzz/triage/study"
)

// Maker makes pages.
type Maker struct {
	Note     func(text string) // gets a warning, or "", about each file if another version wrote it; may be nil
	Observer compare.Observer  // of comparisons of recordings
}

// ownFiles are files that mmafuzz writes beside results: a shell's * names them, too.
var ownFiles = []string{"go.mod"}

// Page makes one page of results. An error has a hint.
func (m *Maker) Page(ctx context.Context, paths []string) (*page.Page, error) {
	byKind := map[*kind][]string{}
	var order []*kind // of the arguments
	for _, path := range paths {
		if len(paths) > 1 && slices.Contains(ownFiles, filepath.Base(path)) {
			continue
		}
		k, err := kindOf(path)
		if err != nil {
			return nil, err
		}
		if byKind[k] == nil {
			order = append(order, k)
		}
		byKind[k] = append(byKind[k], path)
	}
	var pages []*page.Page
	for _, k := range order {
		groups := slices.Collect(slices.Chunk(byKind[k], 1))
		if k.together {
			groups = [][]string{byKind[k]}
		}
		for _, g := range groups {
			p, err := k.make(ctx, m, g)
			if err != nil {
				return nil, err
			}
			pages = append(pages, p)
		}
	}
	return page.Join(pages...), nil
}

// kindOf returns the kind of a result.
func kindOf(path string) (*kind, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, hint.New("mmafuzz run says where its results are", "%s: %w", path, hint.Bare(err))
	}
	for i := range kinds {
		if k := &kinds[i]; k.is(path, info.IsDir()) {
			return k, nil
		}
	}
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	remedy := "name " + strings.Join(names, ", ")
	if below := resultsBelow(path, info); len(below) > 0 {
		remedy = fmt.Sprintf("there is %s below it: mmafuzz report %s", below[0].name, filepath.Join(path, "*"))
	}
	return nil, hint.New(remedy, "%s: this is nothing that mmafuzz has a page for", path)
}

// resultsBelow returns the kinds of what is in a directory.
func resultsBelow(path string, info fs.FileInfo) (below []*kind) {
	if !info.IsDir() {
		return nil
	}
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		for i := range kinds {
			if kinds[i].is(filepath.Join(path, e.Name()), e.IsDir()) {
				below = append(below, &kinds[i])
			}
		}
	}
	return below
}

func bundlePage(_ context.Context, m *Maker, paths []string) (*page.Page, error) {
	b, err := bundle.Read(paths[0], m.Note)
	if err != nil {
		return nil, err
	}
	return bundle.Page(&b.Mismatch, paths[0], false)
}

func studyPage(_ context.Context, _ *Maker, paths []string) (*page.Page, error) {
	res, err := study.Open(paths[0])
	if err != nil {
		return nil, err
	}
	return res.Page(res.Command(paths[0])), nil
}

func campaignPage(_ context.Context, _ *Maker, paths []string) (*page.Page, error) {
	p, err := summary.Page(paths[0])
	if errors.Is(err, fs.ErrNotExist) {
		err = hint.Bare(err)
	}
	return p, hint.Add(err, "name the directory of a campaign, which mmafuzz run has written")
}

func inferencePage(ctx context.Context, _ *Maker, paths []string) (*page.Page, error) {
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

func answersPage(_ context.Context, _ *Maker, paths []string) (*page.Page, error) {
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

func comparisonPage(_ context.Context, _ *Maker, paths []string) (*page.Page, error) {
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
func recordingPage(ctx context.Context, m *Maker, paths []string) (*page.Page, error) {
	if len(paths) == 1 {
		s, err := compare.Open(paths[0])
		if err != nil {
			return nil, hint.Add(err, "name a recording, which mmafuzz record makes")
		}
		defer s.Target.Close()
		return compare.RecordingPage(s), nil
	}
	comparison, err := compare.OpenAll(paths, "", compare.Options{MaxFindings: 1, Observer: m.Observer}, m.Note)
	if err != nil {
		return nil, err
	}
	defer comparison.Close()
	r, err := comparison.Run(ctx)
	if err != nil {
		return nil, err
	}
	return compare.Page([]compare.Night{{Result: r}}), nil
}
