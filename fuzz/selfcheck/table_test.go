package selfcheck

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Table is a summary: text of tab-separated columns. The first column is the row's digest,
// the next ones name what the row is about.
type Table struct {
	Test    string // that makes and checks it
	Columns []string
	Rows    [][]string

	// Save, of the earlier table that a function is given, is called after every row of
	// the new one, with the new rows and those of the earlier table that may still be
	// valid, so that a measurement that is stopped goes on from there.
	Save func(*Table) error
	old  *Table
}

// after returns the empty table that is to replace t.
func (t *Table) after(test string, columns []string) *Table {
	return &Table{Test: test, Columns: columns, old: t}
}

// add adds a row, and saves what there is.
func (t *Table) add(row []string) error {
	t.Rows = append(t.Rows, row)
	if t.old.Save == nil {
		return nil
	}
	all := &Table{Test: t.Test, Columns: t.Columns, Rows: slices.Clone(t.Rows)}
	if slices.Equal(t.Columns, t.old.Columns) {
		for _, r := range t.old.Rows {
			if !slices.ContainsFunc(t.Rows, func(have []string) bool { return have[colDigest] == r[colDigest] }) {
				all.Rows = append(all.Rows, r)
			}
		}
	}
	return t.old.Save(all)
}

// colDigest and colName are the first columns of every table.
const (
	colDigest = 0
	colName   = 1
)

// remedy is the command that measures what the table of a test lacks.
func remedy(test string) string {
	return "go test ./fuzz/selfcheck -run " + test + " -update -timeout 0"
}

// Write writes the table.
func (t *Table) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# by %s\n%s\n", remedy(t.Test), strings.Join(t.Columns, "\t"))
	for _, r := range t.Rows {
		fmt.Fprintln(b, strings.Join(r, "\t"))
	}
	return b.Flush()
}

// readTable reads what Write wrote. Every row has as many cells as there are columns.
func readTable(r io.Reader) (*Table, error) {
	t := &Table{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		cells := strings.Split(text, "\t")
		switch {
		case strings.HasPrefix(text, "#"):
		case t.Columns == nil:
			t.Columns = cells
		case len(cells) != len(t.Columns):
			return nil, fmt.Errorf("line %d has %d cells, the head has %d", n, len(cells), len(t.Columns))
		default:
			t.Rows = append(t.Rows, cells)
		}
	}
	if lines.Err() != nil {
		return nil, lines.Err()
	}
	if t.Columns == nil {
		return nil, errors.New("there is no line with the names of the columns")
	}
	return t, nil
}

// maxTable is the largest size of a table's file, in bytes: more than any table takes.
const maxTable = 64 << 20

// ReadTableFile reads a table from a file, or returns an empty table if there is no such
// file.
func ReadTableFile(name string) (*Table, error) {
	f, err := corpus.Open(name, "table", maxTable)
	if errors.Is(err, fs.ErrNotExist) {
		return &Table{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := readTable(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// fresh returns the row with a name, which may take several columns, if it has the digest, and
// nil if it is stale or there is none.
func (t *Table) fresh(digest string, name ...string) []string {
	for _, r := range t.Rows {
		if r[colDigest] == digest && slices.Equal(r[colName:][:len(name)], name) {
			return r
		}
	}
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// changeText writes changes in one cell.
func changeText(changes []mma.Change) string {
	s := make([]string, len(changes))
	for i, c := range changes {
		s[i] = c.String()
	}
	return strings.Join(s, ", ")
}
