// Mktables writes the measured tables of the README and of fuzz/selfcheck/TABLES.md
// from the data that the measuring commands left under testdata, and draws the README's
// pictures.
//
// It is run by go generate in fuzz/selfcheck. Missing data are an error. Each data file names
// the command that makes it.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/selfcheck"
)

// A table is a part of a document: markdown made from a file of data.
type table struct {
	name string // in the marker of the document where the table goes
	data string // file, from the project's root
	make func(data string) (string, error)
}

// documents are the files that hold tables.
var documents = []struct {
	file   string
	tables []table
}{
	{"README.md", []table{
		{"picture", "cmd/mmafuzz/testdata/script/run_demo.txtar", picture},
		{"silicon", "devices/replay/testdata/silicon.tsv", silicon},
		{"models", "fuzz/selfcheck/testdata/models.tsv", models},
		{"confusion", "fuzz/selfcheck/testdata/confusion.tsv", confusionByOperation},
		{"changes", "fuzz/selfcheck/testdata/changes.tsv", changes},
		{"minimizer", "fuzz/selfcheck/testdata/minimizer.tsv", minimizer},
		{"speed", "fuzz/selfcheck/testdata/bench.json", speed},
		{"loop", "fuzz/selfcheck/testdata/bench.json", loop},
		{"peers", "fuzz/selfcheck/testdata/peers.json", peers},
	}},
	{"fuzz/selfcheck/TABLES.md", []table{
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

func main() {
	root := "../.."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	for _, d := range documents {
		if err := fill(root, d.file, d.tables); err != nil {
			fmt.Fprintf(os.Stderr, "mktables: %s: %v\n", d.file, err)
			os.Exit(1)
		}
	}
	if err := writeDrawings(root); err != nil {
		fmt.Fprintf(os.Stderr, "mktables: %v\n", err)
		os.Exit(1)
	}
}

// fill replaces the tables of a document.
func fill(root, file string, tables []table) error {
	path := filepath.Join(root, file)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	doc := string(text)
	for _, t := range tables {
		md, err := t.make(filepath.Join(root, t.data))
		if err != nil {
			return fmt.Errorf("%s: %w", t.data, err)
		}
		if doc, err = replace(doc, t.name, md); err != nil {
			return err
		}
	}
	return os.WriteFile(path, []byte(doc), 0o666)
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

// rows reads a table that a command of package selfcheck has written, without the
// digests.
func rows(file string) ([][]string, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	t, err := selfcheck.ReadTableFile(file)
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
