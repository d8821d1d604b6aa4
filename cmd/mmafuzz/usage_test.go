package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// TestHelpWidth holds that the help of every command keeps to helpWidth, apart from examples and
// lists in its text and from how it is called.
func TestHelpWidth(t *testing.T) {
	var out strings.Builder
	root := newRoot(&app{stdout: printable.NewOutput(&out), stderr: &out})
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		var b strings.Builder
		c.SetOut(&b)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			given := strings.HasPrefix(line, "  ") && (strings.Contains(c.Long+c.Example, line) || line == "  "+c.UseLine())
			if n := utf8.RuneCountInString(line); n > helpWidth && !given {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
			}
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(root)
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
