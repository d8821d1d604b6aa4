package hint_test

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
)

func TestNearest(t *testing.T) {
	names := []string{"run", "eval", "replay", "triage", "list", "doctor", "diff", "version"}
	for word, want := range map[string][]string{
		"rn": {"run"}, "evl": {"eval"}, "re": {"replay"}, "lits": {"list"}, "dif": {"diff"}, "d": {"diff", "doctor"},
		"": nil, "x": nil, "xy": nil, "something": nil, "run": {"run"}, "vresion": {"version"},
	} {
		if d := cmp.Diff(want, hint.Nearest(word, names)); d != "" {
			t.Errorf("%q: %s", word, d)
		}
	}
	if got := hint.Nearest("a", []string{"ab", "ac", "ad", "ae"}); len(got) != 3 {
		t.Errorf("%d names, want 3: %v", len(got), got)
	}
}

func TestHints(t *testing.T) {
	if err := hint.Add(nil, "do %s", "x"); err != nil {
		t.Errorf("a hint made an error: %v", err)
	}
	base := errors.New("base")
	first := hint.Add(base, "do %s", "x")
	second := hint.Add(fmt.Errorf("in y: %w", first), "do z")
	if hint.Of(second) != "do x" || second.Error() != "in y: base" || !errors.Is(second, base) {
		t.Errorf("got %v with %q", second, hint.Of(second))
	}
}

// TestFullDisk: what to do about a full disk comes first.
func TestFullDisk(t *testing.T) {
	full := fmt.Errorf("cannot write x: %w", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})
	for add, want := range map[string]string{
		"name a file that can be written": "make room on the disk, or name a file that can be written",
		"the same command goes on":        "make room on the disk; the same command goes on",
	} {
		if got := hint.Of(hint.Add(full, "%s", add)); got != want {
			t.Errorf("got %q", got)
		}
		if got := hint.Of(hint.New(add, "cannot write x: %w", hint.Bare(full))); got != want {
			t.Errorf("got %q", got)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"f32", "f16", 2}, {"ab", "ba", 1}, {"rnu", "run", 1}, {"hpoper", "hopper", 1}, {"abcd", "badc", 2}, {"ca", "abc", 3}} {
		if got := hint.Distance(tc.a, tc.b); got != tc.want {
			t.Errorf("from %q to %q: %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}
