package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNearest(t *testing.T) {
	names := []string{"run", "eval", "replay", "triage", "list", "doctor", "diff", "version"}
	for word, want := range map[string][]string{
		"rn": {"run"}, "evl": {"eval"}, "re": {"replay"}, "lits": {"list"}, "dif": {"diff"}, "d": {"diff", "doctor"},
		"": nil, "x": nil, "xy": nil, "something": nil, "run": {"run"}, "vresion": {"version"},
	} {
		if d := cmp.Diff(want, nearest(word, names)); d != "" {
			t.Errorf("%q: %s", word, d)
		}
	}
	if got := nearest("a", []string{"ab", "ac", "ad", "ae"}); len(got) != 3 {
		t.Errorf("%d names, want 3: %v", len(got), got)
	}
}

func TestHints(t *testing.T) {
	if err := withHint(nil, "do %s", "x"); err != nil {
		t.Errorf("a hint made an error: %v", err)
	}
	base := errors.New("base")
	first := withHint(base, "do %s", "x")
	second := withHint(fmt.Errorf("in y: %w", first), "do z")
	var hint *hintError
	if !errors.As(second, &hint) || hint.hint != "do x" || second.Error() != "in y: base" || !errors.Is(second, base) {
		t.Errorf("got %v with %v", second, hint)
	}
}

func TestCheckWord(t *testing.T) {
	if err := checkWord("color", "never", colors...); err != nil {
		t.Error(err)
	}
	err := checkWord("color", "pink", colors...)
	if err == nil || err.Error() != `--color is "pink", not auto, always or never` {
		t.Error(err)
	}
}
