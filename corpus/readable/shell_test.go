package readable_test

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// words are such as a shell may see more in than themselves.
var words = []struct{ word, quoted string }{
	{"", "''"},
	{"mmafuzz-out/1f/truncation-width-1", "mmafuzz-out/1f/truncation-width-1"},
	{"sim:ampere", "sim:ampere"},
	{"two words", "'two words'"},
	{"it's", `'it'\''s'`},
	{"$(touch pwned)", "'$(touch pwned)'"},
	{"`touch pwned`", "'`touch pwned`'"},
	{"a;touch pwned", "'a;touch pwned'"},
	{"a&b|c>d<e*?[x]{y}~#!", "'a&b|c>d<e*?[x]{y}~#!'"},
	{`back\slash`, `'back\slash'`},
	{`"quoted"`, `'"quoted"'`},
	{"-n", "-n"},
	{"Größe", "Größe"},
	{"\x1b[31mred", `"$(printf '\033[31mred')"`},
	{"a\nb", `"$(printf 'a\012b')"`},
	{"100%\t'\\", `"$(printf '100%%\011\047\134')"`},
	{"-\r", `"$(printf '\055\015')"`},
	{"\xff\u202e", `"$(printf '\377\342\200\256')"`},
	{"\n", "'''\n'"},
	{"\x07 end\n\n", "\"$(printf '\\007 end')\"'\n\n'"},
}

func TestShellWord(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("other characters are quoted there")
	}
	for _, w := range words {
		got := readable.ShellWord(w.word)
		if got != w.quoted {
			t.Errorf("%q becomes %s, want %s", w.word, got, w.quoted)
		}
		if p := printable.Line(strings.TrimRight(w.quoted, "\n'")); strings.ContainsAny(p, "\x1b\r") {
			t.Errorf("%q becomes %q", w.word, got)
		}
	}
}

// TestShell has a shell read what was quoted.
func TestShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no shell")
	}
	// printf repeats its format, and a program cannot be given a NUL anyway.
	list := []string{sh, "-c", `for w; do printf '%s.' "$w"; printf '\000'; done`, "sh"}
	var want strings.Builder
	for c := 1; c < 256; c++ {
		words = append(words, struct{ word, quoted string }{"x" + string([]byte{byte(c)}) + "y", ""})
	}
	for _, w := range words {
		list = append(list, w.word)
		want.WriteString(w.word + ".\x00")
	}
	out, err := exec.Command(sh, "-c", readable.ShellCommand(list...)).Output()
	if err != nil || string(out) != want.String() {
		t.Errorf("%v: the shell reads %q, want %q", err, out, want.String())
	}
	for name, want := range map[string]string{"-n": "./-n", "out/-n": "out/-n", "-a b": "'./-a b'"} {
		if got := readable.ShellPath(name); got != want {
			t.Errorf("%q becomes %s, want %s", name, got, want)
		}
	}
}
