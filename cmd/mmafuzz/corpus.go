package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/cases"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func newCorpus(a *app) *cobra.Command {
	c := &cobra.Command{Use: "corpus", Short: "inputs for go test -fuzz, go-fuzz and libFuzzer, and bundles of what they found"}
	c.AddCommand(newCorpusExport(a), newCorpusImport(a))
	return c
}

// corpusCmd is one of the commands below corpus. Of runCmd it has the pair and --out.
type corpusCmd struct {
	*runCmd
	goTest bool
}

func (x *corpusCmd) flags(c *cobra.Command, out string) *cobra.Command {
	f := c.Flags()
	f.StringVarP(&x.a, "a", "a", "", "first `target`: KIND:ARGUMENT[/INSTRUCTION] (required)")
	f.StringVarP(&x.b, "b", "b", "", "second `target` (required)")
	f.StringVar(&x.inst, "inst", "", "`instruction` (required, unless a target names it)")
	f.StringVar(&x.instB, "inst-b", "", "`instruction` of the second target, if it is another one")
	f.StringVar(&x.out, "out", "", "`directory` of the "+out+" (required)")
	completeTargets(c, "a", "b")
	completeInstructions(c, "inst", &x.a)
	completeInstructions(c, "inst-b", &x.b)
	_ = c.MarkFlagDirname("out")
	return c
}

// onePair opens the two units. The caller closes the targets.
func (x *corpusCmd) onePair() (devices.Pair, error) {
	for _, f := range []struct{ name, value string }{{"a", x.a}, {"b", x.b}, {"out", x.out}} {
		if f.value == "" {
			return devices.Pair{}, hint.New("for example --a sim:ampere --b sim:hopper --inst mma.m16n8k8.f32.f16.f16.f32 --out DIR", "--%s is missing", f.name)
		}
	}
	pairs, err := x.targets.Pairs(x.a, x.b, x.inst, x.instB)
	if err != nil {
		return devices.Pair{}, err
	}
	if len(pairs) > 1 {
		return devices.Pair{}, hint.New("the bytes mean other things for each: name one with --inst", "%s and %s have %d instructions in common", x.a, x.b, len(pairs))
	}
	return pairs[0], nil
}

func newCorpusExport(a *app) *cobra.Command {
	x := &corpusCmd{runCmd: &runCmd{app: a}}
	c := &cobra.Command{
		Use:   "export --out DIR [--a A --b B --inst I [BUNDLE...]]",
		Short: "write inputs to begin with for a fuzzing engine",
		Long: `export writes a file for every input: one of each generator, and the case of each
bundle. go-fuzz takes them from WORKDIR/corpus, libFuzzer from the directory that it is
given, and go test -fuzz, with --go-test, from testdata/fuzz/FuzzPair of the repository's package fuzz/harness. Without --a and --b they are for the fast models against the oracle.`,
		ValidArgsFunction: directories,
		Args:              cobra.ArbitraryArgs,
		RunE:              func(_ *cobra.Command, args []string) error { return x.export(args) },
	}
	c.Flags().BoolVar(&x.goTest, "go-test", false, "write the files of go test -fuzz")
	return x.flags(c, "inputs")
}

func (x *corpusCmd) export(bundles []string) error {
	defer x.targets.Close()
	if x.a == "" && x.b == "" && x.out != "" && len(bundles) == 0 {
		return x.write(fuzz.NewChecker(mma.Arithmetics()).Seeds())
	}
	pair, err := x.onePair()
	if err != nil {
		return err
	}
	inputs, err := cases.Seeds(pair, bundles, x.note)
	if err != nil {
		return err
	}
	return x.write(inputs)
}

// write writes inputs into the directory, equal ones once.
func (x *corpusCmd) write(inputs [][]byte) error {
	if err := os.MkdirAll(x.out, 0o777); err != nil {
		return err
	}
	written := map[string]bool{}
	for _, data := range inputs {
		if written[string(data)] {
			continue
		}
		written[string(data)] = true
		if err := corpus.WriteInput(x.out, data, x.goTest); err != nil {
			return err
		}
	}
	return x.result(exported{x.out, len(written)}, func(w io.Writer, _ int) {
		fmt.Fprintf(w, "%s in %s\n", readable.Plural(len(written), "input"), readable.ShellPath(x.out))
	})
}

// exported is what export says.
type exported struct {
	Directory string `json:"directory"`
	Inputs    int    `json:"inputs"`
}

func newCorpusImport(a *app) *cobra.Command {
	x := &corpusCmd{runCmd: &runCmd{app: a}}
	c := &cobra.Command{
		Use:   "import --a A --b B --inst I --out DIR FILE|DIR...",
		Short: "compare two units on inputs of a fuzzing engine, and make bundles",
		Long: `import compares two units on files of go test -fuzz, go-fuzz or libFuzzer: crashers
or a whole corpus, or on text files with the operands of a dot product on each line, as
mmafuzz eval reads them. What differs is explained and shrunk, and the first input of each
cause becomes a bundle below --out. An input is unstable, and has no cause, if a unit
changes its answers.

Exit status: 0 no input differs, 1 some do, 2 trouble, 75 interrupted.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return takes("FILE")(c, args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return x.importInputs(cmd.Context(), args) },
	}
	return x.flags(c, "bundles")
}

func (x *corpusCmd) importInputs(ctx context.Context, names []string) error {
	defer x.targets.Close()
	const named = "name files, or directories such as crashers of go-fuzz"
	inputs, err := corpus.ReadInputs(names...)
	if missing := new(fs.PathError); errors.As(err, &missing) && errors.Is(err, fs.ErrNotExist) {
		return hint.New(named, "there is no %s", missing.Path)
	}
	if err != nil {
		return err
	}
	if len(inputs) == 0 {
		return hint.New(named, "there is no input in %s", strings.Join(names, ", "))
	}
	pair, err := x.onePair()
	if err != nil {
		return err
	}
	if inputs, err = cases.Operands(pair, inputs); err != nil {
		return err
	}
	causes, unstable, err := cases.Import(ctx, pair, inputs, x.out, func(i *cases.Imported) error {
		return x.result(i, i.Write)
	})
	if err != nil {
		return occupied(err)
	}
	if !x.json {
		fmt.Fprintf(x.stdout, "%s, %s", readable.Plural(len(inputs), "input"), readable.Plural(causes, "cause"))
		if unstable > 0 {
			fmt.Fprintf(x.stdout, ", %d unstable", unstable)
		}
		fmt.Fprintln(x.stdout)
	}
	if causes+unstable > 0 {
		return errMismatch
	}
	return x.stdout.Err()
}
