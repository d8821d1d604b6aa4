package vectors_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	choose "github.com/mmafuzz/mmafuzz/fuzz/vectors"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestTable checks the table of sets: it has those of the arithmetics of the table of
// separations; whatever that says some input separates fails a test, or differs only in what
// nobody has shown.
func TestTable(t *testing.T) {
	rows := map[string]map[string]string{}
	for _, row := range tableRows(t, published+choose.TableFile) {
		rows[row["instruction"]] = row
	}
	all := choose.Instructions()
	found := 0
	for n := range all {
		i := &all[n]
		row := rows[i.FullName()]
		if row == nil {
			continue
		}
		found++
		if sum := number(t, row, "killed") + number(t, row, "same") + number(t, row, "undecided") + number(t, row, "open"); sum != number(t, row, "changes") {
			t.Errorf("%s: %v", i.FullName(), row)
		}
	}
	if found != len(rows) {
		t.Errorf("%d rows, of which %d are of instructions", len(rows), found)
	}
	for _, m := range tableRows(t, "../selfcheck/testdata/separation.tsv") {
		row := rows[ruleOf(t, m["base"], all)]
		if row == nil {
			t.Logf("there is no row of %s yet: mmafuzz vectors --all --arch ARCH --out DIR writes it into DIR/%s", m["base"], choose.TableFile)
			continue
		}
		separated := number(t, m, "separated")
		if got := number(t, row, "killed") + number(t, row, "undecided"); got < separated || number(t, row, "open") > 0 {
			t.Errorf("%s: %d of %d changes that can be told apart are: %v", m["base"], got, separated, row)
		}
	}
}

// tableRows reads a table: a line about its command, one with the names of its columns, and
// rows, which are returned by column.
func tableRows(t *testing.T, file string) []map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	columns := strings.Split(lines[1], "\t")
	var rows []map[string]string
	for _, line := range lines[2:] {
		row := map[string]string{}
		for n, cell := range strings.Split(line, "\t") {
			row[columns[n]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

func number(t *testing.T, row map[string]string, column string) int {
	t.Helper()
	n, err := strconv.Atoi(row[column])
	if err != nil {
		t.Fatalf("%s of %v: %v", column, row, err)
	}
	return n
}

// ruleOf returns the instruction whose set is that of another one, too.
func ruleOf(t *testing.T, name string, all []mma.Instruction) string {
	t.Helper()
	i, err := find(name)
	if err != nil {
		t.Fatal(err)
	}
	n := slices.IndexFunc(all, func(o mma.Instruction) bool {
		return o.Formats == i.Formats && o.Params == i.Params && o.K == i.K && o.Unknown == i.Unknown
	})
	if n < 0 {
		t.Fatalf("%s has no set", name)
	}
	return all[n].FullName()
}
