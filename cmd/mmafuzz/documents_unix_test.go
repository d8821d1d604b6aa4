//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// documents are the texts whose examples are run.
var documents = []string{"../../README.md", "guides/exec.md", "guides/model.md", "guides/nightly.md", "guides/campaign.md", "guides/kit.md", "guides/papers.md"}

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
			if strings.HasPrefix(file, "guides") {
				tier.LongOnly(t)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := projectCopy(t)
			writeFiles(t, dir, string(text))
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

// TestReadmeLength holds that the README stays what a stranger reads in a few minutes.
func TestReadmeLength(t *testing.T) {
	const most = 1200
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(text))); n > most {
		t.Errorf("the README has %d words, at most %d are wanted", n, most)
	}
}

var fileBlock = regexp.MustCompile("(?ms)^```\\w+ (\\S+)\n(.*?)^```$")

// writeFiles writes the files of a document: blocks with a name behind the language.
func writeFiles(t *testing.T, dir, text string) {
	t.Helper()
	for _, m := range fileBlock.FindAllStringSubmatch(text, -1) {
		if err := os.WriteFile(filepath.Join(dir, m[1]), []byte(m[2]), 0o666); err != nil {
			t.Fatal(err)
		}
		if same, err := os.ReadFile(filepath.Join("guides", m[1])); err == nil && string(same) != m[2] {
			t.Errorf("%s: the document has another text than guides/%s", m[1], m[1])
		}
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

// TestExamples runs the examples of all commands.
func TestExamples(t *testing.T) {
	tier.LongOnly(t)
	dir := t.TempDir()
	for _, e := range examples {
		for line := range strings.Lines(e.text) {
			shell(t, dir, line)
		}
	}
}

// TestEveryCommand holds that every command has a group and an example.
func TestEveryCommand(t *testing.T) {
	root := newRoot(&app{stdout: printable.NewOutput(io.Discard), stderr: io.Discard})
	root.InitDefaultHelpCmd()
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "completion" {
			return
		}
		if c.Parent() == root && c.GroupID == "" {
			t.Errorf("%s is in no group: add it to groups", c.CommandPath())
		}
		if c.Name() != "help" && !c.HasSubCommands() && c.Example == "" {
			t.Errorf("%s has no example: add it to examples", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	for _, c := range root.Commands() {
		check(c)
	}
	for _, e := range examples {
		if c, rest, err := root.Find(strings.Fields(e.command)); err != nil || len(rest) > 0 {
			t.Errorf("example of %q, which is no command: %v %v", e.command, c.CommandPath(), err)
		}
	}
}
