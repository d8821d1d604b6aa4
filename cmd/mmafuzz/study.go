package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/triage/study"
)

// studyCmd is a command mmafuzz study NAME.
type studyCmd struct {
	*app
	study   *study.Study
	request study.Request
	all     bool
	format  string
	line    statusLine
}

// newStudy makes a command for each row of the table of studies.
func newStudy(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "study NAME",
		Short: "the studies of the papers with any units: differences, error bounds, bias",
		Long: `study makes the accuracy studies of the papers with any units, and prints what the
papers print beside what comes out here. Each takes targets, or TARGET/INSTRUCTION:

  mmafuzz study discrepancy
  mmafuzz study discrepancy cpu:0 sim:x86 ref:exact
  mmafuzz study discrepancy --out differences

The directory of --out gets page.html for a browser (mmafuzz report makes it again),
result.json, tables.md, every table as a .csv file, every plot as .svg and .csv, and a
journal: a study that was interrupted, even by kill -9, goes on when the same command is
given again.

The error of one unit against the number of products: mmafuzz tolerance --k 64,256,1024.

Exit status: 0 done, 1 something is not as it has to be (a bound exceeded, a figure of
a paper missed), 2 trouble, 75 incomplete: interrupted.`,
	}
	all := study.All()
	for i := range all {
		c.AddCommand(newStudyOf(a, &all[i]))
	}
	return c
}

// newStudyOf makes the command of a study.
func newStudyOf(a *app, s *study.Study) *cobra.Command {
	r := &studyCmd{app: a, study: s, line: newStatusLine(a)}
	var runner study.Runner
	var own *pflag.FlagSet
	c := &cobra.Command{
		Use:   s.Name + " [TARGET[/INSTRUCTION]]...",
		Short: s.Short,
		Long:  s.Long,
		Args:  cobra.ArbitraryArgs,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return open.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		PreRunE: func(cmd *cobra.Command, _ []string) error { return notNegative(cmd.Flags()) },
		RunE: func(cmd *cobra.Command, args []string) error {
			r.request.Targets = args
			return r.run(cmd.Context(), runner, own)
		},
	}
	own = pflag.NewFlagSet(s.Name, pflag.ContinueOnError)
	runner = s.New(own)
	f := c.Flags()
	f.AddFlagSet(own)
	f.Uint64Var(&r.request.Seed, "seed", 1, "`seed` of all inputs")
	r.request.Count = s.Count
	if s.Of != "" {
		f.IntVar(&r.request.Count, "count", s.Count, "`number` of "+s.Of)
	}
	f.IntVar(&r.request.Workers, "workers", 0, "`number` of goroutines (default: one per processor); the result does not depend on it")
	f.StringVar(&r.request.Dir, "out", "", "`directory` of the result and of the journal")
	f.BoolVar(&r.all, "all", false, "print all rows of long tables")
	formatFlag(f, &r.format, "text")
	return c
}

func (s *studyCmd) run(ctx context.Context, runner study.Runner, own *pflag.FlagSet) error {
	if err := cmp.Or(checkWorkers(s.request.Workers), atLeastOne("count", s.request.Count), checkFormat(s.format)); err != nil {
		return err
	}
	for _, t := range s.request.Targets {
		if s.study.TargetOf != nil {
			t = s.study.TargetOf(t)
		}
		if t == "" {
			continue
		}
		if err := open.Check(t); err != nil {
			return err
		}
	}
	settings := map[string]string{}
	own.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			settings[f.Name] = f.Value.String()
		}
	})
	s.request.Progress = func(done, of int, what string) {
		s.line.show(statusField{fmt.Sprintf("%s: %d of %d", s.study.Name, done, of), 2}, statusField{what, 1})
	}
	s.line.expect(s.study.Name + ": opening the units and choosing inputs")
	res, err := s.study.Run(ctx, runner, s.request, settings)
	s.line.clear()
	if errors.Is(err, corpus.ErrOtherVersion) {
		return hint.Add(err, "%s", otherVersionHint)
	}
	if err != nil {
		return err
	}
	if s.request.Dir != "" {
		if err := res.Save(s.request.Dir, versions.Program()); err != nil {
			return err
		}
	}
	if s.json {
		err = s.writeJSON(res)
	} else {
		err = s.write(res)
	}
	if err == nil && len(res.Failures) > 0 {
		err = errMismatch
	}
	return err
}

func (s *studyCmd) write(res *study.Result) error {
	if err := s.writeDocument(res.Document(s.request.Dir), s.format, s.all); err != nil {
		return err
	}
	if s.request.Dir != "" && s.format == "text" {
		fmt.Fprintf(s.stdout, "page: %s\n", filepath.Join(s.request.Dir, "page.html"))
	}
	return s.stdout.Err()
}
