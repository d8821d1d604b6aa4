package exec

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestDigests checks which files of a command tell it from another of the same words.
func TestDigests(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no file is executable by its mode here")
	}
	dir := t.TempDir()
	file := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	prog, script, log, tool := file("prog", 0o755), file("script", 0o644), file("log", 0o644), file("tool", 0o755)
	for _, c := range []struct{ words, with, without []string }{
		{[]string{prog, script, log}, []string{prog, script}, []string{log}},
		{[]string{prog, "-x", log, tool}, []string{prog, tool}, []string{log}},
		{[]string{"no-such-program", filepath.Join(dir, "nothing"), dir}, nil, []string{"no-such-program", dir}},
		{[]string{"sh", "-c", "true"}, []string{"/sh "}, nil},
	} {
		got := digests(c.words)
		for _, w := range c.with {
			if !strings.Contains(got, w) {
				t.Errorf("%q: %s is not in %q", c.words, w, got)
			}
		}
		for _, w := range c.without {
			if strings.Contains(got, w) {
				t.Errorf("%q: %s is in %q", c.words, w, got)
			}
		}
	}
	before := digests([]string{prog, script})
	if err := os.WriteFile(script, []byte("other"), 0o644); err != nil {
		t.Fatal(err)
	}
	if after := digests([]string{prog, script}); after == before || strings.Split(after, ", ")[0] != strings.Split(before, ", ")[0] {
		t.Errorf("%q, and after a change %q", before, after)
	}
}
