package printable_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

func TestEscape(t *testing.T) {
	for _, tc := range []struct{ in, line, text string }{
		{"", "", ""},
		{"sim:hopper", "sim:hopper", "sim:hopper"},
		{`C:\x y`, `C:\x y`, `C:\x y`},
		{`"quoted" 'twice'`, `"quoted" 'twice'`, `"quoted" 'twice'`},
		{"24→25 Größe 漢字 😀", "24→25 Größe 漢字 😀", "24→25 Größe 漢字 😀"},
		{"a\tb\nc\r", `a\tb\nc\r`, "a\tb\nc" + `\r`},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, `\x1b[31mred\x1b[0m`},
		{"\x1b]0;title\x07", `\x1b]0;title\a`, `\x1b]0;title\a`},
		{"nul \x00 del \x7f", `nul \x00 del \x7f`, `nul \x00 del \x7f`},
		{"csi \u009b31m", `csi \u009b31m`, `csi \u009b31m`},
		{"\x9b31m and \xff", `\x9b31m and \xff`, `\x9b31m and \xff`},
		{"exe\u202etxt", `exe\u202etxt`, `exe\u202etxt`},
		{"\u2066\u2069\u200e\u061c", `\u2066\u2069\u200e\u061c`, `\u2066\u2069\u200e\u061c`},
		{"\u2028\u2029\u00a0\u00ad\ufeff", `\u2028\u2029\u00a0\u00ad\ufeff`, `\u2028\u2029\u00a0\u00ad\ufeff`},
		{"a real \ufffd", "a real \ufffd", "a real \ufffd"},
		{"tag \U000e0041", `tag \U000e0041`, `tag \U000e0041`},
	} {
		if got := printable.Line(tc.in); got != tc.line {
			t.Errorf("Line(%q) = %q, want %q", tc.in, got, tc.line)
		}
		if got := printable.Text(tc.in); got != tc.text {
			t.Errorf("Text(%q) = %q, want %q", tc.in, got, tc.text)
		}
	}
}

func TestStrings(t *testing.T) {
	type name string
	type inner struct {
		Name    name
		Env     map[string]string
		private string
	}
	v := struct {
		A    inner
		P    *inner
		Nil  *inner
		L    []inner
		N    int
		Body []byte
	}{
		A: inner{"a\x1bb", map[string]string{"k\n": "v\r", "same": "x"}, "\x1b"},
		P: &inner{Name: "p\x7f"}, L: []inner{{Name: "\u202e"}}, N: 7, Body: []byte("\x1b"),
	}
	want := v
	want.A = inner{`a\x1bb`, map[string]string{`k\n`: `v\r`, "same": "x"}, "\x1b"}
	want.P, want.L = &inner{Name: `p\x7f`}, []inner{{Name: `\u202e`}}
	printable.Strings(&v)
	if d := cmp.Diff(want, v, cmp.AllowUnexported(inner{})); d != "" {
		t.Error(d)
	}
	crossed := map[string]string{"k\n": "1", `k\n`: "2"}
	printable.Strings(&crossed)
	if len(crossed) != 2 {
		t.Errorf("entries are lost: %v", crossed)
	}
}

// FuzzEscape: nothing is left that a terminal would act on, what is printable stays,
// and a second time changes nothing.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b[2J\n\t", "\xff\xc0", "\u202e\u009b", "é→😀"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for keep, escape := range map[string]func(string) string{"": printable.Line, "\n\t": printable.Text} {
			got := escape(s)
			if !utf8.ValidString(got) || escape(got) != got {
				t.Fatalf("%q becomes %q", s, got)
			}
			for _, r := range got {
				if !unicode.IsPrint(r) && !strings.ContainsRune(keep, r) {
					t.Fatalf("%q becomes %q, which has %U", s, got, r)
				}
			}
			if len(got) < len(s) {
				t.Fatalf("%q becomes the shorter %q", s, got)
			}
		}
	})
}
