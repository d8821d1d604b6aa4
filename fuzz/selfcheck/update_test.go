package selfcheck

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/argued"
)

var (
	update = flag.Bool("update", false, "measure what the tables lack, and write them and the pages made of them")
	tables = flag.String("tables", "testdata", "directory of the tables; in an empty one -update measures every row")
)

// tableOf returns a table of the directory. With -update it first measures the rows that are
// missing or stale; it writes the file after each row, so that a measurement that is stopped
// goes on from there. what measures the rows that the old table lacks.
func tableOf(t *testing.T, name string, what func(ctx context.Context, old *Table) (*Table, error)) *Table {
	t.Helper()
	file := filepath.Join(*tables, name)
	table, err := ReadTableFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		table.Save = func(now *Table) error {
			var text bytes.Buffer
			return errors.Join(now.Write(&text), corpus.ReplaceFile(file, text.Bytes()))
		}
		save := table.Save
		if table, err = what(t.Context(), table); err == nil {
			err = save(table)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return table
}

// alignedRows returns a row of a table for each name, nil for what is not measured yet. A row
// that was made from something else than what the name is about now, or that is about
// nothing, is wrong.
func alignedRows(t *testing.T, test string, table *Table, names, digests []string) [][]string {
	t.Helper()
	rows, missing, faults := align(table.Rows, names, digests)
	for _, fault := range faults {
		t.Errorf("%s: %s", fault, remedy(test))
	}
	if len(faults) > 0 {
		t.FailNow()
	}
	notMeasured(t, test, missing...)
	return rows
}

// notMeasured says what a table lacks. That is no fault.
func notMeasured(t *testing.T, test string, missing ...string) {
	t.Helper()
	if len(missing) > 0 {
		t.Logf("not measured yet: %s: %s", strings.Join(missing, ", "), remedy(test))
	}
}

// align finds the rows of names, which have their order and digests, and returns the names
// without a row and what is wrong with the others.
func align(rows [][]string, names, digests []string) (aligned [][]string, missing, faults []string) {
	aligned = make([][]string, len(names))
	at := 0
	for n := range names {
		switch {
		case at < len(rows) && rows[at][colDigest] == digests[n]:
			aligned[n] = rows[at]
			at++
		case at < len(rows) && rows[at][colName] == names[n] && !slices.Contains(digests, rows[at][colDigest]):
			faults = append(faults, names[n]+": the row is stale")
			at++
		default:
			missing = append(missing, names[n])
		}
	}
	for _, r := range rows[at:] {
		faults = append(faults, r[colName]+": the row is of nothing that there is, or in the wrong place")
	}
	return aligned, missing, faults
}

// TestAlign adds, changes, takes away and moves rows.
func TestAlign(t *testing.T) {
	for _, tc := range []struct{ rows, want, missing, faults string }{
		{"1a 2b 3c", "1a 2b 3c", "", ""},
		{"1a 3c", "1a 2b 3c", "b", ""},
		{"1a 2b", "1a 2b 3c", "c", ""},
		{"1a 2b 3c", "1a 4b 3c", "", "b: the row is stale"},
		{"1a 2a 3c", "1a 4a 2a 3c", "a", ""},
		{"1a 2b 3c", "1a 2b", "", "c: the row is of nothing that there is, or in the wrong place"},
		{"2b 1a", "1a 2b", "a", "a: the row is of nothing that there is, or in the wrong place"},
	} {
		var rows [][]string
		for _, r := range strings.Fields(tc.rows) {
			rows = append(rows, []string{r[:1], r[1:]})
		}
		var names, digests []string
		for _, w := range strings.Fields(tc.want) {
			names, digests = append(names, w[1:]), append(digests, w[:1])
		}
		aligned, missing, faults := align(rows, names, digests)
		if got := strings.Join(faults, "; "); got != tc.faults || strings.Join(missing, " ") != tc.missing {
			t.Errorf("rows %s, want %s: missing %q, faults %q; want %q and %q", tc.rows, tc.want, missing, got, tc.missing, tc.faults)
		}
		for n, r := range aligned {
			if r != nil && (r[colDigest] != digests[n] || r[colName] != names[n]) {
				t.Errorf("rows %s, want %s: %q stands for %s", tc.rows, tc.want, r, names[n])
			}
		}
	}
}

// arithmeticRows measures and reads a table that has a row for each arithmetic.
func arithmeticRows(t *testing.T, test, name string, identify func(*mma.Instruction) string, what func(ctx context.Context, old *Table) (*Table, error)) [][]string {
	t.Helper()
	var names, digests []string
	for _, i := range argued.Arithmetics() {
		names, digests = append(names, i.FullName()), append(digests, identify(&i))
	}
	return alignedRows(t, test, tableOf(t, name, what), names, digests)
}

// detail logs a single measurement, which is too much to be in a table.
func detail(t *testing.T, cells []string) {
	t.Helper()
	if testing.Verbose() {
		t.Log(strings.Join(cells, "  "))
	}
}
