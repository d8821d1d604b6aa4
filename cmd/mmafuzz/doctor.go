package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/devices/exec"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func newDoctor(a *app) *cobra.Command {
	list := &checklistCmd{app: a}
	c := &cobra.Command{
		Use:   "doctor",
		Short: "what this machine can run, and why not",
		Long: `doctor says what this machine can run, what is in the way of the rest, and what to
do about it.

With --checklist it runs everything that is worth running on a device that is
rarely at hand, unattended: whether its driver takes every kernel, self-tests, the
questions that nobody has answered, recordings, a differential run against the
simulators, speed (go doc ./fuzz/checklist). Started again with the same directory
it goes on where it was. At the end the directory has everything in one archive.

  mmafuzz doctor
  mmafuzz doctor --checklist results --device cuda:0 --minutes 9

Exit status: 0 all is well, 1 the device is not what was expected, 2 trouble,
75 incomplete: the checklist was interrupted, and the same command goes on.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := list.check(cmd.Flags().Changed); err != nil {
				return err
			}
			if list.dir != "" {
				return list.run(cmd.Context())
			}
			return a.doctor()
		},
	}
	list.flags(c)
	return c
}

// checkup is a line of doctor.
type checkup struct {
	What   string `json:"what"`
	State  string `json:"state"` // ok, problem, absent
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`
}

func (a *app) doctor() error {
	lines := []checkup{
		{"processors", "ok", fmt.Sprintf("%d, %s/%s", runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH), ""},
		simulators(),
		{"programs", "ok", fmt.Sprintf("exec:COMMAND tests any simulator, protocol version %d: go doc ./devices/exec", exec.Protocol), ""},
	}
	lines = append(lines, processor()...)
	lines = append(lines, gpus()...)
	bad := false
	for _, l := range lines {
		bad = bad || l.State == "problem"
		if a.json {
			if err := a.writeJSON(l); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(a.stdout, "%-8s %-12s %s\n", l.State, l.What, l.Detail)
		if l.Remedy != "" {
			fmt.Fprintf(a.stdout, "%-8s %-12s → %s\n", "", "", l.Remedy)
		}
	}
	if bad {
		return fmt.Errorf("something is wrong here: see above")
	}
	return nil
}

// simulators runs every model against the oracle, on one input of each generator.
func simulators() checkup {
	n, refused := 0, 0
	for _, i := range mma.Catalog() {
		if i.Refuse != "" {
			refused++
			continue
		}
		m, err := sim.ForInstruction(&i)
		if err != nil {
			return checkup{"simulators", "problem", err.Error(), "this is a bug: please report it"}
		}
		for _, g := range gen.All() {
			sp := gen.Spec{Formats: i.Formats, K: i.K}
			d := g.Aimed(sp, &i.Params).Dot(sp, 1, 0)
			if m.Dot(d, nil) != oracle.Eval(&i.Params, i.Formats, i.K, d) {
				return checkup{"simulators", "problem", i.FullName() + " and the oracle differ", "this is a bug: please report it"}
			}
		}
		n++
	}
	return checkup{"simulators", "ok", fmt.Sprintf("%d instructions of %d architectures, %d listed without a model", n, len(mma.Archs), refused), ""}
}
