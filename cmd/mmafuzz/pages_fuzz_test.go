package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/fuzz/pages"
)

// resultFiles are the files of which mmafuzz report makes a page, bundles and recordings
// apart, which have fuzz targets of their own.
var resultFiles = []struct {
	name string // in its directory, which is what report is given if directory is set
	directory,
	log bool // a line of JSON for each record, with a checksum
}{
	{"report.json", true, false},
	{"result.json", true, false},
	{"compare.json", true, false},
	{"answers.json", false, false},
	{"journal", true, true},
}

// FuzzPages makes pages of anything: it is refused, or all that is on the page can be seen,
// and nothing of it is markup but what the program has written itself.
func FuzzPages(f *testing.F) {
	for i, body := range pageSeeds(f) {
		f.Add(uint8(i), body)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, kind uint8, body []byte) {
		if text, err := pageOf(t, dir, int(kind)%len(resultFiles), body); err == nil {
			checkVisible(t, text)
		}
	})
}

// TestPageSeeds holds that what FuzzPages begins with has pages, so that it tests more than
// refusals.
func TestPageSeeds(t *testing.T) {
	dir := t.TempDir()
	for i, body := range pageSeeds(t) {
		text, err := pageOf(t, dir, i, body)
		if err != nil {
			t.Errorf("%s: %v", resultFiles[i].name, err)
		}
		checkVisible(t, text)
	}
}

// pageSeeds returns a small file of each of resultFiles, without the checksums of logs.
func pageSeeds(t testing.TB) [][]byte {
	t.Helper()
	dir := t.TempDir()
	in := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	plan := `{"v": 1, "name": "p", "seed": 1, "entries": [{"instructions": ["mma.m16n8k8.f32.f16.f16.f32"], "inputs": [{"source": "normal@1", "count": 128}]}]}`
	if err := os.WriteFile(in("plan.json"), []byte(plan), 0o666); err != nil {
		t.Fatal(err)
	}
	var answers bytes.Buffer
	for _, c := range []struct {
		status int
		stdout io.Writer
		args   []string
	}{
		{0, io.Discard, []string{"infer", "--target", "sim:x86", "--inst", "vdpbf16ps", "--checks", "100", "--out", in("report")}},
		{0, io.Discard, []string{"study", "bounds", "sim:hopper/mma.m16n8k8.f32.f16.f16.f32", "--count", "100", "--out", in("result")}},
		{0, io.Discard, []string{"record", "--target", "sim:ampere", "--name", "a", "--plan", in("plan.json"), "--out", in("a.rec")}},
		{0, io.Discard, []string{"record", "--target", "sim:hopper", "--name", "h", "--plan", in("plan.json"), "--out", in("h.rec")}},
		{1, io.Discard, []string{"compare", in("a.rec"), in("h.rec"), "--out", in("compare")}},
		{0, &answers, []string{"probe", "--json", "--target", "sim:x86", "--inst", "vdpbf16ps"}},
		{1, io.Discard, []string{"run", "--inst", "mma.m16n8k8.f32.f16.f16.f32", "--count", "2000", "--out", in("journal")}},
	} {
		var stderr bytes.Buffer
		if status := run(c.args, strings.NewReader(""), c.stdout, &stderr); status != c.status {
			t.Fatalf("mmafuzz %s: exit status %d, want %d\n%s", strings.Join(c.args, " "), status, c.status, stderr.String())
		}
	}
	if err := os.MkdirAll(in("answers"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("answers", "answers.json"), answers.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	var seeds [][]byte
	for _, r := range resultFiles {
		kind, _, _ := strings.Cut(r.name, ".")
		body, err := os.ReadFile(in(kind, r.name))
		if err != nil {
			t.Fatal(err)
		}
		if r.log {
			var bodies []byte
			for line := range bytes.Lines(body) {
				record, _ := journal.Body(line)
				bodies = append(append(bodies, record...), '\n')
			}
			body = bodies
		}
		seeds = append(seeds, body)
	}
	return seeds
}

// logOf returns the log that has the lines as its records, those apart that are no JSON.
func logOf(lines []byte) (log []byte) {
	for line := range bytes.Lines(lines) {
		if record, err := journal.Line(json.RawMessage(line)); err == nil {
			log = append(log, record...)
		}
	}
	return log
}

// pageOf makes the page of a file, which is number kind of resultFiles, in a directory of its own
// below dir.
func pageOf(t *testing.T, dir string, kind int, body []byte) (string, error) {
	t.Helper()
	r := resultFiles[kind]
	path := filepath.Join(dir, r.name+".d", r.name)
	if r.log {
		body = logOf(body)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, body, 0o666); err != nil {
		t.Fatal(err)
	}
	if r.directory {
		path = filepath.Dir(path)
	}
	p, err := new(pages.Maker).Page(t.Context(), []string{path})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := p.Write(&b, "html", document.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String(), nil
}

// checkVisible checks that a page has no character that cannot be seen and none but its own
// script.
func checkVisible(t *testing.T, text string) {
	t.Helper()
	if printable.Text(text) != text {
		t.Fatalf("the page has characters that cannot be seen: %q", text)
	}
	var own strings.Builder
	if err := document.New("", "").Write(&own, "html", document.Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(text, "<script"), strings.Count(own.String(), "<script"); got != want {
		t.Fatalf("%d scripts, want %d:\n%s", got, want, text)
	}
}
