package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/devices/exec"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func newDoctor(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "what this machine can run, and why not",
		RunE:  func(*cobra.Command, []string) error { return a.doctor() },
	}
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
		for _, g := range fuzz.Generators() {
			sp := fuzz.Spec{Formats: i.Formats, K: i.K}
			d := g.Aimed(sp, &i.Params).Dot(sp, 1, 0)
			if m.Dot(d, nil) != oracle.Eval(&i.Params, i.Formats, i.K, d) {
				return checkup{"simulators", "problem", i.FullName() + " and the oracle differ", "this is a bug: please report it"}
			}
		}
		n++
	}
	return checkup{"simulators", "ok", fmt.Sprintf("%d instructions of %d architectures, %d listed without a model", n, len(mma.Archs), refused), ""}
}
