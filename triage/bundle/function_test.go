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

// TestUnitSlash has an instruction that would make another command of the target, from which
// reference arithmetic takes its formats.
func TestUnitSlash(t *testing.T) {
	m := &corpus.Mismatch{A: corpus.SideRecord{Target: "ref:exact", Instruction: "x"}, B: corpus.SideRecord{Target: "exec:./good", Instruction: "../evil/x"}}
	const want = `the bundle's instruction is "../evil/x": no instruction has a slash in its name`
	if _, err := Unit(m, "a"); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestRerun holds that the command of a bundle is one that works.
func TestRerun(t *testing.T) {
	for _, c := range []struct{ b, test, command, err string }{
		{"sim:hopper", "FuzzModels", "mmafuzz replay dir", ""},
		{"exec:./mine", "", "mmafuzz replay dir", ""},
		{"now", "FuzzRewrite", "go test -run '^FuzzRewrite$'", "now is a Go function, which only its own program can run: go test -run '^FuzzRewrite$' in its package"},
		{"now", "-exec=evil", "", "now is a Go function, which only its own program can run: run that program, or its test by go test -run NAME, again"},
		{"FuzzMine", "", "go test -run '^FuzzMine$'", "FuzzMine is a Go function, which only its own program can run: go test -run '^FuzzMine$' in its package"},
		{"mine", "", "", "mine is a Go function, which only its own program can run: run that program, or its test by go test -run NAME, again"},
	} {
		m := &corpus.Mismatch{A: corpus.SideRecord{Target: "ref:exact"}, B: corpus.SideRecord{Target: c.b}, Test: c.test}
		if command := strings.Join(Rerun(m, "dir"), " "); command != c.command {
			t.Errorf("%s: %q, want %q", c.b, command, c.command)
		}
		text := readme(m, "", nil, nil)
		if strings.Contains(text, "mmafuzz replay") != (c.err == "") || !strings.Contains(text, c.err) {
			t.Errorf("%s: the README says\n%s", c.b, text)
		}
		if c.err == "" {
			continue
		}
		for _, side := range []string{"a", "b"} {
			if _, err := Unit(m, side); err == nil || err.Error() != c.err {
				t.Errorf("%s, side %s: %v, want %s", c.b, side, err, c.err)
			}
		}
	}
}
