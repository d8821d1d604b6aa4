// Package golden compares what tests make with files of expected output.
//
// Tables grow: an architecture, a format or a generator is added, and each is a row. A row
// that a file does not have yet is no failure, but is named, and -update adds it. A row that
// has changed is a failure, and so is one that is gone.
//
// The API of this package is not promised: it may change in any version.
package golden

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update is set to write the files.
var Update = flag.Bool("update", false, "write the files of expected output")

// File compares a text with a file, byte by byte.
func File(t testing.TB, file, got string) {
	t.Helper()
	compare(t, file, read(t, file, got), got)
}

// Rows compares the rows of a text (Known) with those of a file.
func Rows(t testing.TB, file, got string) {
	t.Helper()
	want := read(t, file, got)
	known, fresh := Known(want, got)
	for _, key := range fresh {
		t.Logf("%s: %s is not there yet: -update adds it", file, key)
	}
	compare(t, file, want, known)
}

// read returns a file, which is written first with -update.
func read(t testing.TB, file, got string) string {
	t.Helper()
	if *Update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(want)
}

func compare(t testing.TB, file, want, got string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got; run with -update and look at the difference):\n%s", file, diff)
	}
}

// Known returns a text without the rows whose keys another text does not have, and these
// keys. A row is a line that is not indented with the lines up to the next one; its key is
// its first word, or all of it if it is JSON, and the second row with a key has another one.
// The columns of a table move with its rows: a row that differs in nothing but the number of
// blanks is returned as in the other text.
func Known(want, got string) (known string, fresh []string) {
	rows := map[string]string{}
	each(want, func(key, row string) { rows[key] = row })
	var b strings.Builder
	each(got, func(key, row string) {
		old, ok := rows[key]
		switch {
		case !ok:
			fresh = append(fresh, key)
		case strings.Join(strings.Fields(old), " ") == strings.Join(strings.Fields(row), " "):
			b.WriteString(old)
		default:
			b.WriteString(row)
		}
	})
	if len(fresh) == 0 {
		return got, nil // with its columns
	}
	return b.String(), fresh
}

// each calls f with each row of a text and its key.
func each(text string, f func(key, row string)) {
	seen := map[string]int{}
	emit := func(row string) {
		if row == "" {
			return
		}
		key := row
		if words := strings.Fields(row); len(words) > 0 && !strings.HasPrefix(row, "{") {
			key = words[0]
		}
		if seen[key]++; seen[key] > 1 {
			key = fmt.Sprintf("%s (%d)", key, seen[key])
		}
		f(key, row)
	}
	row := ""
	for line := range strings.Lines(text) {
		if strings.TrimLeft(line, " \t\n") != line {
			row += line
			continue
		}
		emit(row)
		row = line
	}
	emit(row)
}
