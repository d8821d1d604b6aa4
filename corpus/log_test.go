package corpus

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLog writes records, cuts the last one short at every byte, and opens the log
// again: what was whole comes back, and what is written next follows it.
func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dir", "log")
	open := func() (*Log, []string) {
		var have []string
		l, err := OpenLog(path, func(n int, body []byte) error {
			if n != len(have) {
				t.Errorf("record %d is called %d", len(have), n)
			}
			have = append(have, string(body))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return l, have
	}
	l, _ := open()
	for i, write := range []func(any) error{l.Record, l.Append} {
		if err := write(map[string]string{"r": []string{"one", "two"}[i]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := strings.IndexByte(string(whole), '\n') + 1
	for cut := first; cut < len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		l, have := open()
		if len(have) != 1 || have[0] != `{"r":"one"}` {
			t.Fatalf("cut at %d: %q", cut, have)
		}
		if err := l.Record(map[string]string{"r": "two"}); err != nil {
			t.Fatal(err)
		}
		l.Close()
		if now, _ := os.ReadFile(path); string(now) != string(whole) {
			t.Fatalf("cut at %d: %q, want %q", cut, now, whole)
		}
	}
}

// TestLogZeros leaves zeros of a log from every byte on, as a crash of the machine may: the
// records before them come back, and it goes on behind these.
func TestLogZeros(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	open := func() (*Log, int) {
		t.Helper()
		n := 0
		l, err := OpenLog(path, func(int, []byte) error { n++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return l, n
	}
	l, _ := open()
	for range 3 {
		if err := l.Record(map[string]int{"v": 1}); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for from := range len(whole) + 1 {
		for _, zeros := range []int{len(whole) - from, len(whole) - from + 1, 1 << 21} {
			if err := os.WriteFile(path, append(bytes.Clone(whole[:from]), make([]byte, zeros)...), 0o666); err != nil {
				t.Fatal(err)
			}
			l, n := open()
			if want := from * 3 / len(whole); n != want {
				t.Fatalf("zeros from %d: %d records, want %d", from, n, want)
			}
			for range 3 - n {
				if err := l.Record(map[string]int{"v": 1}); err != nil {
					t.Fatal(err)
				}
			}
			l.Close()
			if now, _ := os.ReadFile(path); !bytes.Equal(now, whole) {
				t.Fatalf("zeros from %d: it goes on as %q", from, now)
			}
		}
	}
}

// TestLogLongLine checks that a line without an end is read to a limit only.
func TestLogLongLine(t *testing.T) {
	_, err := replayLog(io.MultiReader(strings.NewReader("01234567 {"), endless('x')), nil)
	if want := "line 1: longer than 64 MiB: the file is damaged"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = replayLog(io.MultiReader(strings.NewReader("01234567 {"), io.LimitReader(endless(0), 1<<28)), nil)
	if err != nil {
		t.Errorf("zeros: %v", err)
	}
}

// endless reads as one byte for ever.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// TestLogRefuses checks that a file with something else, or with damage before its
// end, is an error and stays as it is.
func TestLogRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	good := "e3a3c2c4 {}\n" // a wrong sum
	stop := errors.New("stop")
	for text, want := range map[string]string{
		"my diary\n":    "this is not a journal",
		good + "{}\n{}": "line 1 is damaged",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := OpenLog(path, func(int, []byte) error { return stop })
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if have, _ := os.ReadFile(path); string(have) != text {
			t.Errorf("%q became %q", text, have)
		}
	}
}

// TestDropTail removes all records but the first, of a log that was just made and of one that
// was opened again.
func TestDropTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for again := range 2 {
		first := ""
		l, err := OpenLog(path, func(n int, body []byte) error {
			first += string(body)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Repeat(`{"head":1}{"x":7}`, again); first != want {
			t.Errorf("%s, want %s", first, want)
		}
		if again == 0 {
			if err := errors.Join(l.Append(map[string]int{"head": 1}), l.Append(map[string]int{"x": 5})); err != nil {
				t.Fatal(err)
			}
		}
		if tail := l.Tail(); tail != int64(len("01234567 {\"x\":5}\n")) {
			t.Errorf("a tail of %d bytes", tail)
		}
		if err := errors.Join(l.DropTail(), l.Append(map[string]int{"x": 7}), l.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if text, _ := os.ReadFile(path); strings.Count(string(text), "\n") != 2 || !strings.HasSuffix(string(text), " {\"x\":7}\n") {
		t.Errorf("%s", text)
	}
}
