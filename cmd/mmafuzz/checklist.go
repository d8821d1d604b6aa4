package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/discover"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/devices/vulkan"
	"github.com/mmafuzz/mmafuzz/fuzz/checklist"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
)

// checklistCmd is mmafuzz doctor --checklist, and most of mmafuzz kit.
type checklistCmd struct {
	*app
	dir, device, against, plan string
	minutes                    float64
	dots                       uint64
	inst                       string
	prepare                    func(*checklist.Options) error // before it begins; nil: nothing
}

// flags adds those of a checklist to a command.
func (c *checklistCmd) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.device, "device", "", "`target` of the checklist (default: the first GPU)")
	f.StringVar(&c.against, "against", "", "`target` to compare with (default: the simulator of the device's architecture)")
	f.Float64Var(&c.minutes, "minutes", 9, "`number` of minutes that the checklist may take")
	f.Uint64Var(&c.dots, "dots", 10_000_000, "`number` of dot products of raw bits for each instruction, and as many of the directed generators, if there is time")
	selecting(f, &c.inst, "(default: all)")
	f.StringVar(&c.plan, "plan", "silicon", "`plan` of the recordings")
	completeTargets(cmd, "device", "against")
}

// check returns an error if a flag is given without --checklist, or --minutes is not
// positive.
func (c *checklistCmd) check(changed func(string) bool) error {
	for _, name := range []string{"device", "against", "minutes", "dots", "inst", "plan"} {
		if c.dir == "" && changed(name) {
			return hint.New("for example --checklist results", "--%s is given without --checklist", name)
		}
	}
	if c.minutes <= 0 {
		return fmt.Errorf("--minutes is %g, it must be positive", c.minutes)
	}
	return nil
}

// run runs the checklist and sums it up.
func (c *checklistCmd) run(ctx context.Context) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	defer o.Target.Close()
	if o.Against != nil {
		defer o.Against.Close()
	}
	if o.Same != nil {
		defer o.Same.Close()
	}
	if c.prepare != nil {
		if err := c.prepare(o); err != nil {
			return err
		}
	}
	rep, err := checklist.Run(ctx, *o)
	switch {
	case errors.Is(err, corpus.ErrInUse):
		return hint.Add(err, "wait for it, or name another directory")
	case err != nil && rep == nil: // it has not gone on, and would not the next time
		return err
	case err != nil:
		return hint.Add(err, "what was found is kept: the same command goes on from here")
	}
	if c.json {
		err = c.writeJSON(rep)
	} else {
		err = rep.Summary(c.stdout, c.dir, o.Archive, c.width)
	}
	if err == nil && rep.Count(checklist.Differs)+rep.Count(checklist.Failed) > 0 {
		return errMismatch
	}
	return err
}

// options opens the targets, by default the first usable GPU, and returns the options of the
// checklist; the caller closes the targets.
func (c *checklistCmd) options() (*checklist.Options, error) {
	target, err := c.open()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	o := &checklist.Options{
		Dir: c.dir, Archive: filepath.Join(c.dir, checklist.Archive), Target: target, Time: time.Duration(c.minutes * float64(time.Minute)), Dots: c.dots, Plan: c.plan, Instructions: c.inst,
		Environment: versions.Environment(),
		Observe: func(step, key string, left time.Duration) {
			fmt.Fprintf(c.stderr, "%6s  %-12s  %s\n", readable.Clock(time.Since(began)), step, key)
		},
	}
	if c.against != "" {
		if o.Against, err = open.Target(c.against); err != nil {
			return nil, errors.Join(err, o.Target.Close())
		}
	}
	o.Same = vulkan.Same(o.Target)
	return o, nil
}

// open opens the device, by default the first GPU that can be used: by its own driver's
// interface, or else by Vulkan's.
func (c *checklistCmd) open() (devices.Target, error) {
	if c.device != "" {
		return open.Target(c.device)
	}
	for _, d := range discover.Devices() {
		if d.Target != "" && d.Problem == "" {
			return open.Target(d.Target)
		}
	}
	if runtime.GOOS == "windows" { // nothing but the runtime tells of AMD's GPUs
		if t, err := open.Target("hip:0"); err == nil {
			return t, nil
		}
	}
	if t := vulkan.GPU(); t != nil {
		return t, nil
	}
	return nil, hint.New("mmafuzz doctor says what there is; any target will do: --device sim:hopper", "no GPU was found")
}
