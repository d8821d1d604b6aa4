package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	} {
		if d := cmp.Diff(c.want, wrap(c.text, c.width)); d != "" {
			t.Errorf("%q in %d: %s", c.text, c.width, d)
		}
	}
}

func TestGrid(t *testing.T) {
	g := grid{width: 40, right: map[int]bool{1: true}, head: true}
	g.add("NAME", "N", "ABOUT")
	g.add("first", "1", "short")
	g.add("näme", "1,000", "a text that needs several lines to be shown")
	g.add("", "", "")
	for width, want := range map[int]string{
		40: `
NAME       N  ABOUT
*first*      1  short
*näme*   1,000  a text that needs several
              lines to be shown
**
`,
		30: `
NAME       N  ABOUT
*first*      1  short
*näme*   1,000  a text that
              needs several
              lines to be
              shown
**
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
**
`,
	} {
		g.width = width
		var b strings.Builder
		b.WriteByte('\n')
		g.write(&b, func(s string) string { return "*" + s + "*" })
		if d := cmp.Diff(want, b.String()); d != "" {
			t.Errorf("width %d: %s", width, d)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 97608: "97,608", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
	for n, want := range map[uint64]string{9999: "9999", 10_000: "10k", 123_456: "123k", 1_234_567: "1.23M", 5_000_000_000: "5G"} {
		if got := count(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
	for n, want := range map[float64]string{0: "0", 1: "1", 9999: "9999", 16384: "2^14", 4294967295: "2^32"} {
		if got := ulps(n); got != want {
			t.Errorf("%g is %s, want %s", n, got, want)
		}
	}
	if share(1, 0) != "0%" || share(1, 8) != "12.5%" || share(3, 3) != "100%" {
		t.Error(share(1, 0), share(1, 8), share(3, 3))
	}
	if plural(1, "bundle") != "1 bundle" || plural(0, "bundle") != "0 bundles" {
		t.Error(plural(1, "bundle"), plural(0, "bundle"))
	}
}
