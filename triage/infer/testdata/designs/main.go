// Command designs is 128 dot product units, written by hand on arithmetic of their own,
// as children that mmafuzz can test and infer (go doc ./devices/exec), and a judge of
// what mmafuzz infer says about them. Nothing here knows what infer searches: the units
// follow hardware and libraries, and some have defects, and the command is a module of its
// own, which imports nothing of mmafuzz. TestDesigns of package infer runs its tests.
//
//	go build -C triage/infer/testdata/designs -o /tmp/designs
//	/tmp/designs list                  the units
//	/tmp/designs serve NAME            one of them, for exec:
//	mmafuzz infer --target "exec:/tmp/designs serve tree-8"
//	/tmp/designs judge [flags] [NAME...]
//
// judge runs infer on units, as a user would, and rules:
//
//	right          the model that infer found agrees with the unit on 1,000,000 inputs of
//	               mmafuzz run and on 100,000 that aim at extremes of its design
//	unexplained    none was found, and infer shows an input on which its best program
//	               is wrong, which it is
//	unstable       the unit changes its answers, and infer says so
//	refused        infer does not take a unit of these formats, and says so
//	WRONG          a model was found and differs from the unit
//	FALSE WITNESS  none was found, and the input is missing or shows nothing
//	FALSE ALARM    infer reports a unit as unstable that is not
//	TROUBLE        infer ended otherwise
//
// The last four are printed with commands that show what is wrong, and make the exit
// status 1, unless the table of --known has the same verdict. A verdict that differs from
// that table's makes it 1 too. With --out judge writes a table, and keeps the verdicts that
// are in it already. verdicts.tsv has the verdicts so far, and an empty field where
// there is none; .ci/nightly compares with them.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	code, err := command(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "designs:", err)
		code = 2
	}
	os.Exit(code)
}

const usage = "usage: designs list | serve NAME | judge [flags] [NAME...] (go doc ./triage/infer/testdata/designs)"

func command(args []string) (code int, err error) {
	if len(args) == 0 {
		return 2, errors.New(usage)
	}
	switch args[0] {
	case "list":
		return 0, list()
	case "serve":
		if len(args) != 2 {
			return 2, errors.New("serve takes the name of one unit: run designs list for the names")
		}
		us, err := named(args[1:])
		if err != nil {
			return 2, err
		}
		return 0, serve(os.Stdin, os.Stdout, us[0])
	case "judge":
		return judgeAll(args[1:])
	}
	return 2, errors.New(usage)
}

// named returns the units of these names, or all.
func named(names []string) ([]*unit, error) {
	if len(names) == 0 {
		return units(), nil
	}
	var us []*unit
	for _, name := range names {
		i := slices.IndexFunc(units(), func(u *unit) bool { return u.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no unit %s: run designs list for the names", name)
		}
		us = append(us, units()[i])
	}
	return us, nil
}

func list() error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, u := range units() {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", u.name, u.signature(), u.k, u.follows, u.defect)
	}
	return w.Flush()
}

// signature returns the formats as A*B+C -> D.
func (u *unit) signature() string {
	s := u.formats[0].name + "*" + u.formats[1].name
	if u.scale != nil {
		s += fmt.Sprintf("*%s/%d", u.scale.name, u.block)
	}
	if u.formats[2] != nil {
		s += "+" + u.formats[2].name
	}
	return s + "->" + u.formats[3].name
}

func judgeAll(args []string) (code int, err error) {
	flags := flag.NewFlagSet("judge", flag.ContinueOnError)
	program := flags.String("mmafuzz", "mmafuzz", "the program to judge")
	seeds := flags.String("seeds", "1", "seeds of infer, with commas")
	out := flags.String("out", "", "file for the verdicts")
	checks := flags.Int("checks", 100_000, "--checks of infer")
	effort := flags.Int("effort", 200, "--effort of infer")
	count := flags.Int("count", 1_000_000, "inputs of mmafuzz run that a model must pass")
	aimed := flags.Int("aimed", 100_000, "inputs at extremes of the unit that it must pass")
	known := flags.String("known", "", "table of verdicts to compare with")
	keep := flags.String("keep", "", "directory for what infer writes (default: a temporary one)")
	if err := flags.Parse(args); err != nil {
		return 2, nil // flags has said why
	}
	self, err := os.Executable()
	if err != nil {
		return 2, err
	}
	us, err := named(flags.Args())
	if err != nil {
		return 2, err
	}
	dir := *keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "designs-"); err != nil {
			return 2, err
		}
		defer os.RemoveAll(dir)
	}
	j := &judge{mmafuzz: *program, self: self, dir: dir, count: *count, aimed: *aimed,
		flags: []string{"--checks", strconv.Itoa(*checks), "--effort", strconv.Itoa(*effort)}}
	t, err := readTable(*out)
	if err != nil {
		return 2, err
	}
	before, err := readTable(*known)
	if err != nil {
		return 2, err
	}
	for _, s := range strings.Split(*seeds, ",") {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return 2, fmt.Errorf("--seeds: %w", err)
		}
		for _, u := range us {
			at := cell{u.name, s}
			if t[at] != "" {
				continue
			}
			began := time.Now()
			r, err := j.rule(u, seed)
			if err != nil {
				return 2, err
			}
			fmt.Printf("%-24s %s %5.0f s  %-13s  %s\n", u.name, s, time.Since(began).Seconds(), r.verdict, r.detail)
			if r.bad() {
				fmt.Println("    " + r.command)
			}
			if was := before[at]; was != "" && was != r.verdict {
				fmt.Printf("    %s: %s\n", *known, was)
				code = 1
			} else if was == "" && r.bad() {
				code = 1
			}
			t[at] = r.verdict
			if err := t.write(*out); err != nil {
				return 2, err
			}
		}
	}
	fmt.Println(t.summary())
	return code, t.write(*out)
}
