package pages

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/compare"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/infer"
	"github.com/mmafuzz/mmafuzz/triage/kernel"
)

// kind is a kind of results that has pages. To add one, add a row to kinds.
type kind struct {
	name string // of what is shown
	// is reports whether a file or a directory is of the kind: from its name, its files, or
	// its first MiB.
	is func(path string, dir bool) bool
	// make makes the page of results of the kind: of one, or of several at a time if
	// together is set.
	make     func(ctx context.Context, m *Maker, paths []string) (*document.Document, error)
	together bool
}

// kinds are the kinds of pages; the first one that fits counts.
var kinds = []kind{
	{name: "a bundle", is: func(path string, dir bool) bool { return dir && bundle.Is(path) }, make: bundlePage},
	{name: "a bundle of a matrix product", is: func(path string, dir bool) bool { return dir && kernel.Rerun(path) != nil }, make: productPage},
	{name: "a study's directory", is: holds("result.json"), make: studyPage},
	{name: "an inference's directory", is: holds(infer.ReportFile), make: inferencePage},
	{name: "an inference's report.json", is: hasKeys("verdict", "params"), make: inferencePage},
	{name: "results of compare", is: isComparison, make: comparisonPage, together: true},
	{name: "answers of probe --json", is: hasKeys("paper", "question"), make: answersPage},
	{name: "a campaign's directory", is: holds(fuzz.JournalFile), make: campaignPage},
	{name: "the directory of a campaign's shards", is: holds("campaign.json"), make: shardsPage, together: true},
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
		head = bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf")) // it is refused in words where the file is read
		if len(head) == 0 || head[0] != '{' {
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
	return !dir && (strings.HasSuffix(path, ".rec") || corpus.BeginsAsRecording(path))
}
