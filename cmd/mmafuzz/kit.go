package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz/checklist"
)

// kitName is how the name of a program begins that without arguments is the kit: what a
// double click starts.
const kitName = "mmafuzz-kit"

// kitArguments returns the arguments of a command line. Those of a kit without any are kit,
// and on Windows, where its window would close at once, the program waits at its end.
func kitArguments(line []string) (args []string, wait bool) {
	if len(line) != 1 || !strings.HasPrefix(filepath.Base(line[0]), kitName) {
		return line[1:], false
	}
	cobra.MousetrapHelpText = "" // else a double click would show that and nothing more
	return []string{"kit"}, runtime.GOOS == "windows" && isTerminal(os.Stdin)
}

// kitCmd is mmafuzz kit.
type kitCmd struct {
	checklistCmd
	file string // to send
}

func newKit(a *app) *cobra.Command {
	k := &kitCmd{checklistCmd: checklistCmd{app: a}}
	k.prepare = k.describe
	c := &cobra.Command{
		Use:   "kit",
		Short: "record what this machine's GPU computes, for the project, in ten minutes and one file",
		Long: `kit records what a GPU computes that few people have, and leaves one file to send. It needs
no flags, takes ten minutes, and goes on where it was if it is interrupted. It does what
mmafuzz doctor --checklist does; compare reads the file as a recording.

  mmafuzz kit
  mmafuzz compare mmafuzz-*.zip sim:rtx-blackwell

A copy of the program named mmafuzz-kit does this when it is started without arguments, by a
double click for instance. What is in the file, where to send it and how to withdraw it:
mmafuzz help kit. What is wanted most: mmafuzz list wanted.

Exit status: 0 all is as expected, 1 the device is not what was expected (send it all the
more), 2 trouble, 75 incomplete: it was interrupted, and the same command goes on.`,
		PreRunE: func(*cobra.Command, []string) error { return k.check(func(string) bool { return false }) },
		RunE:    func(cmd *cobra.Command, _ []string) error { return k.run(cmd.Context()) },
	}
	k.flags(c)
	c.Flags().StringVar(&k.dir, "dir", "mmafuzz-kit", "`directory` of everything; the file to send is made beside it")
	_ = c.MarkFlagDirname("dir")
	return c
}

// run runs the checklist and says what to do with the file.
func (k *kitCmd) run(ctx context.Context) error {
	err := k.checklistCmd.run(ctx)
	if _, missing := os.Stat(k.file); missing == nil && !k.json {
		fmt.Fprintf(k.stdout, "\nPlease send %s: its about.txt says what it is, where to, and how to withdraw it.\n", k.file)
	}
	return err
}

// aboutKit is the text in a kit's file, with the place of a table of facts and its name.
//
//go:embed guides/about.txt
var aboutKit string

// describe names the device and the file to send, and writes what is in it.
func (k *kitCmd) describe(o *checklist.Options) error {
	facts := map[string]string{"target": o.Target.Name()}
	maps.Copy(facts, o.Environment)
	maps.Copy(facts, o.Target.Environment())
	var table strings.Builder
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		fmt.Fprintf(&table, "  %-14s %s\n", name, facts[name])
	}
	title := facts["device"]
	for _, other := range []string{"processor", "target"} {
		if title == "" {
			title = facts[other]
		}
	}
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	sum := sha256.Sum256([]byte(table.String()))
	o.Name = fmt.Sprintf("%s-%x", strings.Join(words, "-"), sum[:4])
	name := "mmafuzz-" + o.Name + ".zip"
	k.file = filepath.Join(filepath.Dir(k.dir), name)
	o.Archive = k.file
	if err := os.MkdirAll(k.dir, 0o777); err != nil {
		return err
	}
	text := strings.NewReplacer("FACTS\n", table.String(), "FILE", name).Replace(aboutKit)
	return corpus.ReplaceFile(filepath.Join(k.dir, "about.txt"), []byte(text))
}
