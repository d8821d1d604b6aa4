// Package pages makes one page for a browser of whatever mmafuzz has written: the directories
// of campaigns, studies and inferences, bundles, recordings, results of comparisons, answers.
//
// The API of this package is not promised: it may change in any version.
package pages

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/compare"
	"github.com/mmafuzz/mmafuzz/fuzz/fleet"
	"github.com/mmafuzz/mmafuzz/fuzz/summary"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/infer"
	"github.com/mmafuzz/mmafuzz/triage/kernel"
	"github.com/mmafuzz/mmafuzz/triage/probe"
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
func (m *Maker) Page(ctx context.Context, paths []string) (*document.Document, error) {
	byKind := map[*kind][]string{}
	var order []*kind // of the arguments
	var others []*noPageError
	var results []string
	for _, path := range bundlesIn(paths) {
		if len(paths) > 1 && slices.Contains(ownFiles, filepath.Base(path)) {
			continue
		}
		k, err := kindOf(path)
		var other *noPageError
		if errors.As(err, &other) {
			others = append(others, other)
			continue
		}
		if err != nil {
			return nil, err
		}
		if byKind[k] == nil {
			order = append(order, k)
		}
		byKind[k] = append(byKind[k], path)
		results = append(results, path)
	}
	if len(others) > 0 {
		return nil, refuse(others, results)
	}
	var pages []*document.Document
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
	return document.Join(pages...), nil
}

// bundlesIn returns paths with the bundles one or two levels below a directory in its place, if it
// has no other results there.
func bundlesIn(paths []string) (all []string) {
	for _, path := range paths {
		var bundles []string
		if _, err := kindOf(path); errors.As(err, new(*noPageError)) {
			bundles = onlyBundles(path, 2)
		}
		if bundles == nil {
			bundles = []string{path}
		}
		all = append(all, bundles...)
	}
	return all
}

// onlyBundles returns the bundles in a directory, so many levels down; nil if it has anything else.
func onlyBundles(dir string, levels int) (all []string) {
	results, others := below(dir)
	for _, path := range results {
		if !bundle.Is(path) && kernel.Rerun(path) == nil {
			return nil
		}
	}
	for _, path := range others {
		deeper := onlyBundles(path, levels-1)
		if levels == 1 || deeper == nil {
			return nil
		}
		results = append(results, deeper...)
	}
	return results
}

// noPageError reports something that mmafuzz has no page for.
type noPageError struct{ path, what, remedy string }

func (e *noPageError) Error() string { return e.path + ": this is " + e.what }

// kindOf returns the kind of a result. The error is a *noPageError if it is none.
func kindOf(path string) (*kind, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, hint.New("mmafuzz run says where its results are", "%s: %w", path, hint.Bare(err))
	}
	if info.IsDir() {
		for _, u := range unfinishedKinds {
			if u.is(path) {
				return nil, &noPageError{path, u.name, u.remedy(path)}
			}
		}
	}
	for i := range kinds {
		if k := &kinds[i]; k.is(path, info.IsDir()) {
			return k, nil
		}
	}
	return nil, &noPageError{path, "nothing that mmafuzz has a page for", remedyFor(path, info)}
}

// remedyFor says what to name instead of a path.
func remedyFor(path string, info fs.FileInfo) string {
	if info.IsDir() {
		if results, others := below(path); len(results) > 0 && len(others) == 0 {
			return "results are below it: give " + filepath.Join(readable.ShellPath(path), "*") + " in its place"
		} else if len(results) > 0 {
			return "results are below it, and other files: " + reportOf(results)
		}
	}
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return "name " + strings.Join(names, ", ")
}

// below returns what is in a directory: results, and others.
func below(dir string) (results, others []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || slices.Contains(ownFiles, e.Name()) {
			continue // a shell's * leaves out the one, Page the other
		}
		path := filepath.Join(dir, e.Name())
		if k, _ := kindOf(path); k != nil {
			results = append(results, path)
		} else {
			others = append(others, path)
		}
	}
	return results, others
}

// refuse is the error about arguments that have no page, beside results that have one.
func refuse(others []*noPageError, results []string) error {
	if len(others) == 1 && len(results) == 0 {
		return hint.New(others[0].remedy, "%w", others[0])
	}
	const most = 8
	paths := map[string][]string{} // by what they are
	var order []string
	for _, o := range others {
		if paths[o.what] == nil {
			order = append(order, o.what)
		}
		paths[o.what] = append(paths[o.what], o.path)
	}
	var texts []string
	for _, what := range order {
		texts = append(texts, what+": "+strings.Join(readable.First(paths[what], most), ", "))
	}
	remedy := "leave them out: " + reportOf(results)
	if len(results) == 0 {
		remedy = others[0].remedy
	}
	return hint.New(remedy, "%s", strings.Join(texts, "; "))
}

// reportOf is the command that makes a page of results.
func reportOf(results []string) string {
	words := []string{"mmafuzz", "report"}
	for _, path := range results {
		words = append(words, readable.ShellPath(path))
	}
	return strings.Join(words, " ")
}

func bundlePage(_ context.Context, m *Maker, paths []string) (*document.Document, error) {
	b, err := bundle.Read(paths[0], m.Note)
	if err != nil {
		return nil, err
	}
	return bundle.Page(&b.Mismatch, paths[0], false)
}

func productPage(_ context.Context, _ *Maker, paths []string) (*document.Document, error) {
	p, err := kernel.Page(paths[0])
	return p, hint.Add(err, "copy the bundle again from where it was made, or make it again with mmafuzz run")
}

func studyPage(_ context.Context, _ *Maker, paths []string) (*document.Document, error) {
	res, err := study.Open(paths[0])
	if err != nil {
		return nil, err
	}
	return res.Document(paths[0]), nil
}

func campaignPage(_ context.Context, _ *Maker, paths []string) (*document.Document, error) {
	p, err := summary.Page(paths[0])
	if errors.Is(err, fs.ErrNotExist) {
		err = hint.Bare(err)
	}
	return p, hint.Add(err, "name the directory of a campaign, which mmafuzz run has written")
}

// shardsPage shows how far shards are and what they have found; merging says why.
func shardsPage(_ context.Context, _ *Maker, paths []string) (*document.Document, error) {
	w, err := fleet.NewWatcher(paths...)
	if err != nil {
		return nil, hint.Add(err, "name directories of one plan")
	}
	s, err := w.Look()
	if err != nil {
		return nil, err
	}
	p := s.Document()
	var dirs []string
	for _, path := range paths {
		dirs = append(dirs, readable.ShellPath(path))
	}
	p.Add("Next", document.Text("Merging explains the differences and shrinks an input of each: mmafuzz merge "+strings.Join(dirs, " ")+" --out RESULT, then mmafuzz report RESULT"))
	return p, nil
}

func inferencePage(ctx context.Context, _ *Maker, paths []string) (*document.Document, error) {
	file := paths[0]
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, infer.ReportFile)
	}
	t, err := infer.ReadReport(ctx, file)
	if err != nil {
		return nil, hint.Add(err, "name the directory that mmafuzz infer has written, or its "+infer.ReportFile)
	}
	return t.Document(), nil
}

func answersPage(_ context.Context, _ *Maker, paths []string) (*document.Document, error) {
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

func comparisonPage(_ context.Context, _ *Maker, paths []string) (*document.Document, error) {
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
func recordingPage(ctx context.Context, m *Maker, paths []string) (*document.Document, error) {
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
