package bundle

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// TestRerunBy holds that the command calls the program as the user does.
func TestRerunBy(t *testing.T) {
	m := &corpus.Mismatch{A: corpus.SideRecord{Target: "sim:ampere"}, B: corpus.SideRecord{Target: "exec:./mine"}}
	if command := strings.Join(RerunBy("bin/mmafuzz", m, "dir"), " "); command != "bin/mmafuzz replay dir" {
		t.Error(command)
	}
}

// TestRerun holds that the command of a bundle is one that works.
func TestRerun(t *testing.T) {
	for _, c := range []struct{ b, command, err string }{
		{"sim:hopper", "mmafuzz replay dir", ""},
		{"exec:./mine", "mmafuzz replay dir", ""},
		{"FuzzMine", "go test -run '^FuzzMine$'", "FuzzMine is a Go function, which only its own program can run: go test -run '^FuzzMine$' in its package"},
		{"mine", "", "mine is a Go function, which only its own program can run: run that program again"},
	} {
		m := &corpus.Mismatch{A: corpus.SideRecord{Target: "sim:ampere"}, B: corpus.SideRecord{Target: c.b}}
		if command := strings.Join(Rerun(m, "dir"), " "); command != c.command {
			t.Errorf("%s: %q, want %q", c.b, command, c.command)
		}
		text := readme(m, "dir", "", nil)
		if strings.Contains(text, "mmafuzz replay") != (c.err == "") || !strings.Contains(text, c.err) {
			t.Errorf("%s: the README says\n%s", c.b, text)
		}
		if c.err == "" {
			continue
		}
		if _, err := Unit(m, "b"); err == nil || err.Error() != c.err {
			t.Errorf("%s: %v, want %s", c.b, err, c.err)
		}
	}
}
