package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/exec/child"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// serveCmd is mmafuzz serve.
type serveCmd struct {
	*app
	options child.Options
	inst    string
}

func newServe(a *app) *cobra.Command {
	s := &serveCmd{app: a}
	c := &cobra.Command{
		Use:   "serve TARGET",
		Short: "be a child process that executes a target's instructions, for exec:",
		Long: `serve makes any target a child process: it speaks the protocol of exec: targets
(mmafuzz help protocol) on its standard input and output, until the input ends.

  mmafuzz run --a cpu:0 --b "exec:qemu-x86_64 -cpu max ./mmafuzz serve cpu:0" --inst dpps
  mmafuzz run --a "exec:ssh host mmafuzz serve cuda:0" --b sim:hopper --inst mma.m16n8k16.f32.f16.f16.f32

A target that crashes or hangs takes only the child with it.`,
		Args: takes("TARGET"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return open.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		PreRunE: func(cmd *cobra.Command, _ []string) error { return notNegative(cmd.Flags()) },
		RunE:    func(_ *cobra.Command, args []string) error { return s.serve(args[0]) },
	}
	f := c.Flags()
	selecting(f, &s.inst, "(default: all that the target executes)")
	f.IntVar(&s.options.Children, "children", 0, "`number` of such processes at a time, at most (0: no limit)")
	f.IntVar(&s.options.Batch, "batch", 0, "`number` of dot products in a request, at most (0: no limit)")
	f.DurationVar(&s.options.Deadline, "deadline", 30*time.Second, "`time` for a request, after which this process is killed")
	return c
}

// serve answers requests until standard input ends.
func (s *serveCmd) serve(name string) error {
	stdout := printable.Raw(s.stdout)
	if printable.Underneath(s.stdout) == os.Stdout {
		var err error
		if stdout, err = child.Stdout(); err != nil {
			return err
		}
	}
	t, err := open.Target(name)
	if err != nil {
		why := strings.TrimPrefix(err.Error(), fmt.Sprintf("target %q: ", name)) // the other side adds its own name
		return errors.Join(err, child.Cannot(stdout, errors.New(why)))
	}
	defer t.Close()
	rows, err := s.served(t)
	if err != nil {
		return errors.Join(err, child.Cannot(stdout, err))
	}
	s.options.About = child.About(t)
	s.options.About["mmafuzz"] = versions.Program()
	return child.Serve(s.stdin, stdout, s.options, child.Instructions(t, rows)...)
}

// served returns the instructions of a target that are asked for.
func (s *serveCmd) served(t devices.Target) ([]mma.Instruction, error) {
	all := slices.DeleteFunc(slices.Clone(t.Instructions()), func(i mma.Instruction) bool { return i.Refuse != "" })
	switch {
	case t.Instructions() == nil:
		return nil, hint.New("serve a target that has instructions, such as cpu:0 or sim:hopper", "%s stands in for any instruction and has none of its own", t.Name())
	case len(all) == 0:
		return nil, fmt.Errorf("%s has no instruction that it can execute", t.Name())
	case s.inst == "":
		return all, nil
	}
	some, err := devices.Select(t, s.inst)
	for n := 0; n < len(some) && err == nil; n++ {
		err = devices.Refused(&some[n])
	}
	return some, hint.Add(err, "%s", open.InstructionHint(t, s.inst))
}
