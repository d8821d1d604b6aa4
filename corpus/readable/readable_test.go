package readable_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"one two three", 20, []string{"one two three"}},
		{"one two three", 13, []string{"one two three"}},
		{"one two three", 12, []string{"one two", "three"}},
		{"one two three", 3, []string{"one", "two", "three"}},
		{"L 8→16, F 24→25", 8, []string{"L 8→16,", "F 24→25"}}, // characters count, not bytes
		{"a-very-long-word b", 4, []string{"a-very-long-word", "b"}},
		{"see (go doc ./a Name)", 16, []string{"see (go doc ./a", "Name)"}},
		{"see (go doc ./a)", 12, []string{"see", "(go doc ./a)"}},
		{"go doc", 3, []string{"go", "doc"}},
		{"by L 8→16, e_zero -132→-133", 19, []string{"by L 8→16,", "e_zero -132→-133"}},
		{"see → here", 3, []string{"see", "→", "here"}},
	} {
		if d := cmp.Diff(c.want, readable.Wrap(c.text, c.width)); d != "" {
			t.Errorf("%q in %d: %s", c.text, c.width, d)
		}
	}
}

func TestGrid(t *testing.T) {
	g := readable.Table{Width: 40, Right: map[int]bool{1: true}, Head: true}
	g.Add("NAME", "N", "ABOUT")
	g.Add("first", "1", "short")
	g.Add("näme", "1,000", "a text that needs several lines to be shown")
	g.Add("", "", "")
	for width, want := range map[int]string{
		40: `
NAME       N  ABOUT
*first*      1  short
*näme*   1,000  a text that needs several
              lines to be shown

`,
		30: `
NAME       N  ABOUT
*first*      1  short
*näme*   1,000  a text that
              needs several
              lines to be
              shown

`,
		20: `
NAME       N
    ABOUT
*first*      1
    short
*näme*   1,000
    a text that
    needs several
    lines to be
    shown

`,
	} {
		g.Width = width
		var b strings.Builder
		b.WriteByte('\n')
		g.Write(&b, func(s string) string { return "*" + s + "*" })
		if d := cmp.Diff(want, b.String()); d != "" {
			t.Errorf("width %d: %s", width, d)
		}
	}
}

// TestGridInLines checks tables of which not all columns fit in a line.
func TestGridInLines(t *testing.T) {
	g := readable.Table{Width: 24, Right: map[int]bool{2: true}, Head: true}
	g.Add("NAME", "TEXT", "N", "FILE")
	g.Add("a", "more words than fit in one line", "1", "f")
	g.Add("a-name-that-is-longer-than-a-line", "few", "23", "a/file/with/a/long/name")
	var b strings.Builder
	g.Write(&b, nil)
	const want = `NAME
    TEXT
     N  FILE
a
    more words than fit
    in one line
     1  f
a-name-that-is-longer-than-a-line
    few
    23
    a/file/with/a/long/name
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

// TestGridLastColumn checks numbers and long words in the last column, rows whose first cells
// are empty, and titles.
func TestGridLastColumn(t *testing.T) {
	for _, c := range []struct {
		right bool
		rows  [][]string
		want  string
	}{
		{true, [][]string{{"NAME", "N"}, {"a", "1"}, {"b", "1,000"}}, `
NAME      N
*a*         1
*b*     1,000
`},
		{false, [][]string{{"NAME", "TEXT"}, {"a", "some words that need two lines"}, {"", "by a-word-that-is-too-long-for-it"}, {"", ""}, {"b", "few"}}, `
NAME  TEXT
*a*     some words that
      need two lines
    by
    a-word-that-is-too-long-for-it

*b*     few
`},
		{true, [][]string{{"NAME", "N"}, {"a-title-that-is-no-cell"}, {"", "1,000"}}, `
NAME      N
*a-title-that-is-no-cell*
      1,000
`},
	} {
		g := readable.Table{Width: 24, Right: map[int]bool{1: c.right}, Head: true, Rows: c.rows}
		var b strings.Builder
		b.WriteByte('\n')
		g.Write(&b, func(s string) string { return "*" + s + "*" })
		if d := cmp.Diff(c.want, b.String()); d != "" {
			t.Error(d)
		}
	}
}

func TestFlow(t *testing.T) {
	for width, want := range map[int][]string{
		30: {"one two  three  four five"},
		16: {"one two  three", "four five"},
		8:  {"one two", "three", "four", "five"},
	} {
		if d := cmp.Diff(want, readable.Flow("one two  three  four five", width)); d != "" {
			t.Errorf("width %d: %s", width, d)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 97608: "97,608", 1234567: "1,234,567"} {
		if got := readable.Thousands(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
	for n, want := range map[uint64]string{
		0: "0", 9999: "9999", 10_000: "10k", 123_456: "123k", 999_499: "999k", 999_500: "1M", 999_999: "1M",
		1_234_567: "1.23M", 999_499_999: "999M", 999_500_000: "1G", 5_000_000_000: "5G", 999_499_999_999: "999G",
		999_500_000_000: "1T", 1_234_000_000_000: "1.23T", 999_500_000_000_000: "1P", 1e18: "1E", math.MaxUint64: "18.4E",
	} {
		if got := readable.Count(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
	for n, want := range map[float64]string{0: "0", 1: "1", 9999: "9999", 16384: "2^14", 20480: "~2^14", 4294967295: "~2^32"} {
		if got := readable.Ulps(n); got != want {
			t.Errorf("%g is %s, want %s", n, got, want)
		}
	}
	if readable.Share(1, 0) != "0%" || readable.Share(1, 8) != "12.5%" || readable.Share(3, 3) != "100%" {
		t.Error(readable.Share(1, 0), readable.Share(1, 8), readable.Share(3, 3))
	}
	if readable.Dots(1) != "1 dot product" || readable.Dots(20_000) != "20,000 dot products" {
		t.Error(readable.Dots(1), readable.Dots(20_000))
	}
	if readable.Plural(1, "bundle") != "1 bundle" || readable.Plural(0, "bundle") != "0 bundles" {
		t.Error(readable.Plural(1, "bundle"), readable.Plural(0, "bundle"))
	}
}

func TestTerms(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	d := mma.NewDot(f, 512)
	d.A[300], d.B[300], d.C = 0x3c00, 0x3c01, 0x3f800000
	if got, want := readable.Terms(f, d), "p300=3c00*3c01 c=3f800000"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	one := mma.Formats{A: fp.FP32, B: fp.One, D: fp.FP16}
	d = mma.NewDot(one, 1)
	d.A[0] = 0x3f800000
	if got, want := readable.Terms(one, d), "a=3f800000"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestOrdinal(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 22: "22nd", 64: "64th", 101: "101st", 111: "111th", 256: "256th"} {
		if got := readable.Ordinal(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

// TestSlug checks that names of files are short, distinct and plain.
func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"truncation-width":                                "truncation-width",
		"fusion-width|zero-exponent:inf":                  "fusion-width-or-zero-exponent-inf",
		"mma.m16n8k32.kind::f8f6f4.f32.e4m3.e2m3.f32":     "mma.m16n8k32.kind.f8f6f4.f32.e4m3.e2m3.f32",
		"replay:../a/b.rec~sim:hopper~x ~ y":              "replay-.._a_b.rec_vs_sim-hopper_vs_x_vs_y",
		strings.Repeat("accumulate-placement+", 20) + "a": "accumulate-placement+accumulate-placement+accumulate-placement+accumulate-placement+accumul-694e34d0",
	} {
		if got := readable.Slug(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	// Names of strangers: of another directory, of files that the program writes, of devices.
	seen := map[string]string{}
	for _, name := range []string{"", ".", "..", "...", ".x.mmafuzz-tmp", "journal", "Journal", "go.mod", "units", "nul", "COM1.txt", "x.", "a\nb", "a\x1bb",
		"a\xffb", "a*b", "a?b", "../../x", `..\..\x`, strings.Repeat("\u00e4", 200), strings.Repeat("x", 300)} {
		got := readable.Slug(name)
		if got == "" || got[0] == '.' || len(got) > 100 || strings.ContainsAny(got, "/\\\n\x1b*?") || !utf8.ValidString(got) || strings.EqualFold(got, name) {
			t.Errorf("%q is %q", name, got)
		}
		if other, is := seen[strings.ToLower(got)]; is {
			t.Errorf("%q and %q are %q", name, other, got)
		}
		seen[strings.ToLower(got)] = name
	}
	for _, name := range []string{"cone", "nulls.f32", "journal2", "Gr\u00f6\u00dfe", "it's (a) $name"} {
		if got, want := readable.Slug(name), strings.ReplaceAll(name, " ", ""); got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
	long := strings.Repeat("accumulate-placement+", 20)
	if readable.Slug(long+"a") == readable.Slug(long+"b") {
		t.Error("two long names are one file")
	}
}
