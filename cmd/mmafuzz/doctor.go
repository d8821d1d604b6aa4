package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/fuzz/doctor"
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
simulators, speed (mmafuzz help checklist). Started again with the same directory
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
	c.Flags().StringVar(&list.dir, "checklist", "", "run everything that is worth running on a device, and write it to this `directory`")
	_ = c.MarkFlagDirname("checklist")
	return c
}

func (a *app) doctor() error {
	bad := false
	for _, l := range doctor.Look() {
		bad = bad || l.State == doctor.Problem
		if err := a.result(l, l.Write); err != nil {
			return err
		}
	}
	if bad {
		return errors.New("something is wrong here: see above")
	}
	return nil
}
