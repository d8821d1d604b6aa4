package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/triage/invariance"
)

// invarianceCmd is mmafuzz invariance.
type invarianceCmd struct {
	*app
	inst   string
	env    []string
	count  int
	seed   uint64
	policy policyFlags
}

func newInvariance(a *app) *cobra.Command {
	v := &invarianceCmd{app: a}
	c := &cobra.Command{
		Use:   "invariance TARGET",
		Short: "whether a result depends on anything but its operands: batch size, place, threads",
		Long: `invariance asks whether the result of a dot product depends on anything but its
operands: the run, the request that it is part of, the size of its tile (the batch of a
library), its place there, its neighbours, and, with --env, variables of the environment
of a child. A difference is shrunk to the simplest input that shows it. Sizes that give the
same results stand together as kinds. A unit that changes its answers from run to run is
asked nothing else.

  mmafuzz invariance "exec:./mine"
  mmafuzz invariance "exec:./mine" --env OMP_NUM_THREADS=1,2,4
  mmafuzz invariance "exec:python3 devices/exec/children/numpy_matmul.py --type f32 -k 64 --fit --size 33x33"

Exit status: 0 the results depend on nothing else, 1 they do, 2 trouble, 75 interrupted.`,
		Args: takes("TARGET"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return open.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), args[0]) },
	}
	f := c.Flags()
	f.StringVar(&v.inst, "inst", "", "`instruction` (required, unless the target has only one)")
	f.StringArrayVar(&v.env, "env", nil, "`NAME=VALUE,VALUE...`: a variable of the environment of a child, and the values to compare")
	f.IntVar(&v.count, "count", 64, "`number` of dot products of each question; there are fewer in large tiles")
	f.Uint64Var(&v.seed, "seed", 1, "`seed` of the inputs")
	v.policy.add(c, "", "how NaNs are compared: `bits|class`", "how signs of zeros are compared: `bits|class`")
	return c
}

func (v *invarianceCmd) run(ctx context.Context, target string) error {
	if err := upTo(1<<14, "count", v.count); err != nil {
		return err
	}
	settings, err := v.settings(target)
	if err != nil {
		return err
	}
	line := newStatusLine(v.app)
	q := invariance.Questions{Count: v.count, Seed: v.seed, Settings: settings}
	q.NaN, q.Zero = v.policy.strictness()
	q.Open = func(setting string) (devices.Target, devices.Unit, error) {
		return open.Live(withVariable(target, setting), v.inst, "")
	}
	q.Progress = func(what string) {
		if !v.json {
			line.show(statusField{what, 1})
		}
	}
	depends := false
	err = q.Run(ctx, func(a *invariance.Answer) error {
		line.clear()
		depends = depends || a.Depends == invariance.Yes
		return v.result(a, a.Write)
	})
	line.clear()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case depends:
		return errMismatch
	}
	return nil
}

// settings are the values of --env, each as NAME=VALUE.
func (v *invarianceCmd) settings(target string) ([]string, error) {
	var all []string
	for _, text := range v.env {
		name, values, ok := strings.Cut(text, "=")
		list := strings.Split(values, ",")
		switch {
		case !ok || name == "" || len(list) < 2:
			return nil, hint.New("for example --env OMP_NUM_THREADS=1,2", "--env %s does not name a variable and several values", text)
		case !strings.HasPrefix(target, "exec:"):
			return nil, hint.New("leave --env out", "--env is for children (exec:), which get the variable: %s is none", target)
		case len(all) > 0:
			return nil, errors.New("--env is given twice: one variable at a time says which of them matters")
		}
		for _, value := range list {
			all = append(all, name+"="+value)
		}
	}
	return all, nil
}

// withVariable returns the name of a child that gets a variable of the environment.
func withVariable(target, setting string) string {
	command, is := strings.CutPrefix(target, "exec:")
	if !is || setting == "" {
		return target
	}
	return "exec:env " + readable.ShellWord(setting) + " " + command
}
