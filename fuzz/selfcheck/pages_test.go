package selfcheck

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A section is a part of a page: markdown made from a file of data.
type section struct {
	name string // in the marker of the document where the table goes
	data string // file, from the project's root
	make func(data string) (string, error)
}

// pages are the files that hold tables of measurements.
var pages = []struct {
	file     string
	sections []section
}{
	{"devices/replay/SILICON.md", []section{
		{"silicon", "devices/replay/testdata/silicon.tsv", silicon},
	}},
	{"fuzz/selfcheck/SPEED.md", []section{
		{"speed", "fuzz/selfcheck/testdata/bench.json", speed},
		{"loop", "fuzz/selfcheck/testdata/bench.json", loop},
	}},
	{"fuzz/selfcheck/PEERS.md", []section{
		{"peers", "fuzz/selfcheck/testdata/peers.json", peers},
	}},
	{"fuzz/selfcheck/TABLES.md", []section{
		{"generators", "fuzz/selfcheck/testdata/separation.tsv", generators},
		{"mutants", "fuzz/selfcheck/testdata/separation.tsv", mutants},
		{"arguments", "fuzz/selfcheck/testdata/separation.tsv", arguments},
		{"pairs", "fuzz/selfcheck/testdata/pairs.tsv", pairs},
		{"confusion", "fuzz/selfcheck/testdata/confusion.tsv", confusionByOperation},
		{"labels", "fuzz/selfcheck/testdata/confusion.tsv", confusionByLabel},
		{"changes", "fuzz/selfcheck/testdata/changes.tsv", changes},
		{"causes", "fuzz/selfcheck/testdata/causes.tsv", causes},
		{"minimizer", "fuzz/selfcheck/testdata/minimizer.tsv", minimizer},
		{"models", "fuzz/selfcheck/testdata/models.tsv", models},
		{"inference", "fuzz/selfcheck/testdata/inference.tsv", inference},
		{"made up", "fuzz/selfcheck/testdata/madeup.tsv", madeUp},
	}},
}

// root is the folder of the project.
const root = "../.."

// TestPages checks that the tables of the pages are those of the data. With -update it writes
// them, after the tests that measure: those of files whose names come before this one's. Lines
// about what is not measured yet may be missing or left over.
func TestPages(t *testing.T) {
	for _, p := range pages {
		file := filepath.Join(root, p.file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		now, err := fill(string(text), p.sections)
		if err != nil {
			t.Fatalf("%s: %v", p.file, err)
		}
		writeOrCompare(t, file, withoutMissing(string(text)), now)
	}
}

func writeOrCompare(t *testing.T, file, was, now string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(now), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(was, withoutMissing(now)); diff != "" {
		t.Errorf("%s: %s (-file +now):\n%s", file, remedy("TestPages"), diff)
	}
}

// missingMark stands in lines about what is not measured yet.
const missingMark = "not measured yet"

// withoutMissing returns a page without such lines.
func withoutMissing(page string) string {
	var b strings.Builder
	for line := range strings.Lines(page) {
		if !strings.Contains(line, missingMark) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// fill replaces the tables of a page.
func fill(page string, sections []section) (string, error) {
	for _, s := range sections {
		md, err := s.make(filepath.Join(root, s.data))
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.data, err)
		}
		if page, err = replace(page, s.name, md); err != nil {
			return "", err
		}
	}
	return page, nil
}

// replace puts text between the markers of a table.
func replace(doc, name, text string) (string, error) {
	begin, end := "<!-- table "+name+" -->\n", "<!-- end -->"
	before, rest, ok := strings.Cut(doc, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("there is no table %q", name)
	}
	return before + begin + text + end + after, nil
}

// rows reads a table without its digests.
func rows(file string) ([][]string, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	t, err := ReadTableFile(file)
	if err != nil {
		return nil, err
	}
	cells := make([][]string, len(t.Rows))
	for n, r := range t.Rows {
		cells[n] = r[1:]
	}
	return cells, nil
}

// markdown returns a table; align has the alignment of each column, l or r, the last one for
// all columns that follow.
func markdown(align string, head []string, body [][]string) string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = map[byte]string{'l': "---", 'r': "---:"}[align[min(i, len(align)-1)]]
	}
	line(rule)
	for _, r := range body {
		line(r)
	}
	return b.String()
}

// code marks a name as code.
func code(s string) string { return "`" + s + "`" }
