package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/fuzz/record"
)

// recordCmd is mmafuzz record.
type recordCmd struct {
	*app
	target, plan, out string
	inst              string
	name, date        string
	workers           int

	line     statusLine
	began    time.Time
	said     bool // the first line has been shown
	resumed  uint64
	lastJSON time.Time
}

func newRecord(a *app) *cobra.Command {
	r := &recordCmd{app: a}
	c := &cobra.Command{
		Use:   "record",
		Short: "record a target's results on the inputs of a plan, for compare",
		Long: `record writes what a target gives on the inputs of a plan to a file, which
carries these inputs too. Recordings of machines that never meet are compared by
mmafuzz compare, and replay:FILE plays one as a target.

  mmafuzz record --target sim:hopper --plan smoke --out hopper.rec
  mmafuzz record --target sim:hopper --plan smoke --inst fp8 --out fp8.rec
  mmafuzz record --target cuda:0 --name h100 --plan nightly --out h100.rec --date $(date -I)

A plan is one of those that mmafuzz list plans lists, or a file (mmafuzz help plans). The recording depends on the target, the plan, --name, --date and the program with
its Go version, operating system and processor architecture, not on the number of workers or
on interruptions. If it is interrupted, even by kill -9, the same command goes on where it was.

Exit status: 0 recorded, 1 recorded, but the target failed on some inputs or
instructions (the recording lists them), 2 trouble, 75 incomplete: interrupted.`,
		PreRunE: func(*cobra.Command, []string) error { return r.checkFlags() },
		RunE:    func(cmd *cobra.Command, _ []string) error { return r.run(cmd.Context()) },
	}
	f := c.Flags()
	f.StringVar(&r.target, "target", "", "`target` to record: KIND:ARGUMENT")
	f.StringVar(&r.plan, "plan", "smoke", "`plan`: a name or a file")
	selecting(f, &r.inst, "(default: all of the plan)")
	f.StringVar(&r.out, "out", "", "`file` of the recording")
	f.StringVar(&r.name, "name", "", "`name` of the machine in comparisons (default: the target)")
	f.StringVar(&r.date, "date", "", "`date` to be kept in the recording, YYYY-MM-DD (default: none)")
	f.IntVar(&r.workers, "workers", 0, "`number` of goroutines (default: two more than processors)")
	completeTargets(c, "target")
	completeInstructions(c, "inst", &r.target)
	_ = c.RegisterFlagCompletionFunc("plan", completePlans)
	return c
}

func (r *recordCmd) checkFlags() error {
	switch {
	case r.target == "":
		return hint.New("mmafuzz list targets lists what there is", "--target is missing")
	case r.out == "":
		return open.OrMisspelt(r.target, "", hint.New("for example --out h100.rec", "--out is missing: the file of the recording"))
	}
	if err := checkWorkers(r.workers); err != nil {
		return err
	}
	if r.name != "" {
		if err := corpus.CheckMachine(r.name); err != nil {
			return fmt.Errorf("--name: %w", err)
		}
	}
	_, err := parseDate("date", r.date)
	return err
}

// parseDate reads the value of a flag; "" is the zero time.
func parseDate(flag, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	day, err := time.Parse(corpus.DateLayout, value)
	if err != nil {
		return day, fmt.Errorf("--%s is %q, not a date such as 2027-06-30", flag, value)
	}
	return day, nil
}

func (r *recordCmd) run(ctx context.Context) error {
	plan, err := openPlan(r.plan)
	if err != nil {
		return err
	}
	t, err := open.Target(r.target)
	if err != nil {
		return err
	}
	defer t.Close()
	if r.inst != "" {
		if plan, err = record.Restrict(plan, t, r.inst); err != nil {
			return hint.Add(err, "%s", open.InstructionHint(t, r.inst))
		}
	}
	r.began = time.Now()
	r.line.app = r.app
	res, err := record.Run(ctx, record.Config{
		Target: t, Plan: plan, File: r.out, Name: r.name, Date: r.date,
		Environment: versions.Environment(), Workers: r.workers, Observe: r.progress,
	})
	r.line.clear()
	if err != nil {
		return r.trouble(err, res != nil)
	}
	sum := res.Summary(record.Names{File: r.out, Machine: r.machine(), Target: r.target, Plan: r.plan}, time.Since(r.began))
	err = r.result(&recordedEvent{newEvent("recorded"), sum}, sum.Write)
	switch {
	case err != nil:
		return err
	case !res.Complete:
		return incomplete(hint.New("the same command goes on from here", "interrupted: %s of %s dot products are recorded", readable.Thousands(res.Done), readable.Thousands(res.Of)))
	case res.Faults > 0 || res.GivenUp > 0:
		return errMismatch
	}
	return nil
}

// openPlan opens a plan; the error of an unknown one has suggestions.
func openPlan(name string) (*corpus.Plan, error) {
	p, err := corpus.OpenPlan(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint.New(hint.DidYouMean(hint.Nearest(name, planNames()))+"mmafuzz list plans lists the plans; mmafuzz help plans says how to write one",
			"there is no plan and no file %q", name)
	}
	return p, hint.Add(err, "mmafuzz help plans says what a plan looks like")
}

// trouble adds a remedy to an error. begun means that something may be in the file.
func (r *recordCmd) trouble(err error, begun bool) error {
	var path *fs.PathError
	var plan *record.PlanError
	switch {
	case errors.As(err, &plan):
		return hint.Add(err, "mmafuzz list plans lists the plans; mmafuzz help plans says how to write one")
	case errors.Is(err, corpus.ErrOtherVersion):
		return hint.Add(err, "%s", otherVersionHint)
	case errors.Is(err, corpus.ErrOtherRecording):
		return hint.Add(err, "name another file with --out, or give the flags with which this one was begun")
	case errors.Is(err, corpus.ErrInUse):
		return hint.Add(err, "wait for it, or name another file with --out")
	case errors.As(err, &path) && !begun:
		return hint.New("name a file with --out that can be made or written", "cannot write the recording %s: %w", r.out, path.Err)
	case begun:
		return hint.Add(err, "what was recorded is kept: the same command goes on from here")
	}
	return hint.Add(err, "name another file with --out")
}

// recordedEvent is what record --json ends with.
type recordedEvent struct {
	eventHead
	*record.Summary
}

// machine is what comparisons call the recorded machine.
func (r *recordCmd) machine() string {
	if r.name != "" {
		return r.name
	}
	return corpus.MachineName(r.target)
}

// recordingEvent is the progress of record --json.
type recordingEvent struct {
	eventHead
	Seconds     float64 `json:"seconds"`
	Instruction string  `json:"instruction"`
	Dots        uint64  `json:"dots"`
	Of          uint64  `json:"of"`
	Faults      int     `json:"faults"`
	Bytes       int64   `json:"bytes"`
}

// progress reports the progress of the recording.
func (r *recordCmd) progress(p record.Progress) {
	if !r.said {
		r.said, r.lastJSON = true, time.Now()
		r.line.last = time.Now()
		r.resumed = p.Done
		if !r.json {
			r.say("record target=%s plan=%s out=%s", r.target, r.plan, r.out)
			if p.Done > 0 {
				r.say("resumed after %s of %s dots", readable.Count(p.Done), readable.Count(p.Of))
			}
		}
		return
	}
	if !r.json {
		t := time.Since(r.began)
		r.line.show(statusField{fmt.Sprintf("%6s", readable.Clock(t)), 6}, statusField{fmt.Sprintf("%s of %s dots", readable.Count(p.Done), readable.Count(p.Of)), 5},
			statusField{readable.Count(readable.Rate(p.Done-r.resumed, t)) + "/s", 2}, statusField{readable.Count(uint64(p.Bytes)) + "B", 1},
			statusField{fmt.Sprintf("faults %d", p.Faults), 4}, statusField{p.Instruction, 3})
		return
	}
	if time.Since(r.lastJSON) < time.Second {
		return
	}
	r.lastJSON = time.Now()
	e := &recordingEvent{newEvent("recording"), time.Since(r.began).Seconds(), p.Instruction, p.Done, p.Of, p.Faults, p.Bytes}
	if err := r.writeJSON(e); err != nil && r.stdout.Err() == nil {
		r.log.Error().Err(err).Msg("writing an event")
	}
}
