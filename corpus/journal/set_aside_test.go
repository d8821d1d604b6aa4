package journal

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// warned returns what is said while a test runs.
func warned(t testing.TB) *bytes.Buffer {
	t.Helper()
	before, said := slog.Default(), &bytes.Buffer{}
	slog.SetDefault(slog.New(slog.NewTextHandler(said, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return said
}

// TestOutOfPlace puts the lines of a journal in every other order: it is set aside, which is said,
// and what is written next makes it whole.
func TestOutOfPlace(t *testing.T) {
	path, all := written(t, false)
	said := warned(t)
	lines := bytes.SplitAfter(all[:len(all)-1], []byte("\n"))
	lines[3] = append(lines[3], '\n')
	bodies := [][]byte{
		bytes.Join([][]byte{lines[1], lines[0], lines[2], lines[3]}, nil),
		bytes.Join([][]byte{lines[0], lines[2], lines[1], lines[3]}, nil),
		bytes.Join([][]byte{lines[0], lines[1], lines[3]}, nil),
		bytes.Join([][]byte{lines[0], lines[1], lines[1], lines[2], lines[3]}, nil),
		bytes.Join([][]byte{lines[1], lines[2], lines[3]}, nil),
	}
	for _, body := range bodies {
		said.Reset()
		write(t, path, body)
		j, have, err := open(path)
		if err != nil || len(have) > len(begun)-1 || !slices.Equal(have, begun[:len(have)]) {
			t.Fatalf("%q: %v, %v", body, have, err)
		}
		if aside, _ := os.ReadFile(path + DamagedSuffix); !bytes.Equal(aside, body) {
			t.Fatalf("%q is set aside as %q", body, aside)
		}
		if want := "what is lost is done again; the damaged file is now " + File + DamagedSuffix; strings.Count(said.String(), want) != 1 {
			t.Fatalf("%q: it says %q", body, said)
		}
		writeRecords(t, j, len(have))
		if now, _ := os.ReadFile(path); !bytes.Equal(now, all) {
			t.Fatalf("%q: it goes on as %q", body, now)
		}
	}
}

// TestNotSetAside opens files that are not damaged journals of the same options: they stay as they
// are.
func TestNotSetAside(t *testing.T) {
	said := warned(t)
	other := func(from, to string) []byte {
		return append(sealed(t, strings.Replace(head, from, to, 1), `{"n":1}`), "damage\n"...)
	}
	for want, body := range map[string][]byte{
		"this is not a journal": []byte("my diary\n"),
		"line 1 is damaged":     append([]byte("e3a3c2c4 {}\n"), sealed(t, `{"another":"kind"}`)...),
		"is of version 4":       other(`"v":3`, `"v":4`),
		"its seed is 2, not 1":  other(`"seed":1`, `"seed":2`),
		"its catalogue: d":      other(`"c"`, `"d"`),
		"mmafuzz infer has":     other("study", "infer"),
		"something else":        other(`"test"`, `"inference"`),
		`line 2: unknown field`: sealed(t, head, `{"n":1,"m":2}`),
	} {
		path := filepath.Join(t.TempDir(), File)
		write(t, path, body)
		if j, _, err := open(path); err == nil {
			j.Close()
			t.Errorf("%q is taken", body)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, body) {
			t.Errorf("%q has changed", body)
		}
		if _, err := os.Stat(path + DamagedSuffix); err == nil || said.Len() > 0 {
			t.Errorf("%q is set aside: %s", body, said)
		}
	}
}
