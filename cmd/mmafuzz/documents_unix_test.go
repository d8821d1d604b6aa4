//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// documents are the texts whose examples are run.
var documents = []string{"../../README.md"}

// example is a block of a document that shows commands, each after "$ ", and lines of what they
// print.
type example struct {
	long bool // only in the long tier: "<!-- long -->" stands before the block
	text string
}

var exampleBlock = regexp.MustCompile("(?ms)^(<!-- long -->\n)?```console\n(.*?)^```$")

func examplesOf(text string) (all []example) {
	for _, m := range exampleBlock.FindAllStringSubmatch(text, -1) {
		all = append(all, example{m[1] != "", m[2]})
	}
	return all
}

// TestDocuments runs every command of the documents in a copy of the project's folder. The lines
// below it are beginnings of lines that it prints, in this order, with others between them.
func TestDocuments(t *testing.T) {
	for _, file := range documents {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := projectCopy(t)
			examples := examplesOf(string(text))
			if len(examples) == 0 {
				t.Error("there is no example")
			}
			for _, e := range examples {
				if e.long && !tier.Long() {
					continue
				}
				runExample(t, dir, e.text)
			}
		})
	}
}

// projectCopy makes a folder that has what the project's has.
func projectCopy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cmd", "corpus", "devices"} {
		if err := os.Symlink(filepath.Join(top, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runExample runs the commands of an example and compares what they print.
func runExample(t *testing.T, dir, text string) {
	t.Helper()
	for _, part := range strings.Split("\n"+text, "\n$ ")[1:] {
		command, shown, _ := strings.Cut(part, "\n")
		printed := shell(t, dir, command)
		rest := strings.Split(printed, "\n")
		for line := range strings.Lines(shown) {
			line = strings.TrimRight(line, "\n")
			for len(rest) > 0 && !strings.HasPrefix(rest[0], line) {
				rest = rest[1:]
			}
			if len(rest) == 0 {
				t.Errorf("%s: does not print, or not in this order:\n%s\nbut\n%s", command, line, printed)
				break
			}
			rest = rest[1:]
		}
	}
}

// shell runs a command line, which may find differences, and returns what it prints.
func shell(t *testing.T, dir, command string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", command)
	var stderr strings.Builder
	c.Dir, c.Stderr = dir, &stderr
	out, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == exitMismatch {
		err = nil
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", command, err, stderr.String())
	}
	return string(out)
}
