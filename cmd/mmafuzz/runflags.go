package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
)

// checkFlags returns an error if flags contradict each other or have impossible values.
func (r *runCmd) checkFlags(f *pflag.FlagSet) error {
	if err := errors.Join(excluded(f, "targets", "a", "b", "all", "inst-b"), excluded(f, "all", "b", "inst-b")); err != nil {
		return hint.Add(err, "mmafuzz run --help shows which flags go together")
	}
	if err := r.shard.check(f); err != nil {
		return err
	}
	if err := r.checkInstructions(f); err != nil {
		return err
	}
	switch {
	case f.Changed("count") && r.count == 0:
		return hint.New(fmt.Sprintf("leave --count out for %d, or give --time for no limit", defaultCount), "--count is 0")
	case f.Changed("time") && r.time <= 0:
		return hint.New("give a time such as 90s, 10m or 8h", "--time is %s, it must be positive", r.time)
	}
	if err := cmp.Or(upTo(mostBundles, "per-bucket", r.perBucket), upTo(mostBundles, "max-bundles", r.maxBundles), checkWorkers(r.workers), r.policy.check(f)); err != nil {
		return err
	}
	return r.list.check()
}

// checkInstructions returns an error if a target or an instruction is missing, or an
// instruction is named twice.
func (r *runCmd) checkInstructions(f *pflag.FlagSet) error {
	_, instA := devices.Split(r.a)
	_, instB := devices.Split(r.b)
	for _, side := range []struct{ flag, value string }{{"a", r.a}, {"b", r.b}} {
		if f.Changed(side.flag) && side.value == "" {
			return hint.New("for example --"+side.flag+" sim:hopper; mmafuzz list targets lists them", "--%s is empty", side.flag)
		}
	}
	for _, inst := range []struct{ flag, target, value string }{{"inst", "a", r.inst}, {"inst-b", "b", r.instB}} {
		if target := targetMeant(inst.value); target != "" {
			return hint.New(fmt.Sprintf("it is a target: --%s %s", inst.target, readable.ShellWord(target)), "--%s is the name of an instruction, not %s", inst.flag, inst.value)
		}
	}
	switch {
	case f.Changed("a") && !f.Changed("b") && !r.all:
		return open.OrMisspelt(r.a, r.inst, hint.New("add --b, the target to compare it with, or --all", "--a is given without --b"))
	case f.Changed("b") && !f.Changed("a"):
		return open.OrMisspelt(r.b, r.instB, hint.New("add --a, the target to compare it with", "--b is given without --a"))
	case f.Changed("targets") && len(r.several) < 2:
		return open.OrMisspelt(strings.Join(r.several, ","), "", hint.New("for example --targets sim:ampere,sim:hopper", "--targets needs at least two targets"))
	case instA != "" && r.inst != "":
		return hint.New("leave one out", "--a %s and --inst %s both name the first target's instruction", r.a, r.inst)
	case instB != "" && r.instB != "":
		return hint.New("leave one out", "--b %s and --inst-b %s both name the second target's instruction", r.b, r.instB)
	case r.all && r.inst == "" && instA == "":
		return open.OrMisspelt(r.a, "", hint.New("add --inst, the instruction of --a", "--all is given without --inst"))
	}
	return nil
}

// targetMeant returns the target that a word names in place of an instruction: one with its kind, or a
// model file; "" if it names none.
func targetMeant(word string) string {
	kind, _, ok := strings.Cut(word, ":")
	if _, known := devices.Kinds()[kind]; ok && known {
		return word
	}
	if strings.HasSuffix(word, ".json") {
		return "model:" + word
	}
	return ""
}

// checkGenerators returns an error if a generator does not exist or would not be used.
func (r *runCmd) checkGenerators(pairs []devices.Pair) error {
	var names []string
	for _, g := range gen.Current() {
		names = append(names, g.Name)
	}
	for _, name := range r.generators {
		base, _, _ := strings.Cut(name, "@")
		if bare, _, has := strings.Cut(name, "["); has {
			return hint.New("give the generator alone, --gen "+bare+": a campaign chooses the arguments itself", "--gen takes no arguments of generators")
		}
		switch _, err := gen.Find(name); {
		case err != nil && slices.Contains(names, base):
			return hint.New("leave out @ and the number to get the newest version", "--gen: %v", err)
		case err != nil:
			return hint.New(hint.DidYouMean(hint.Nearest(base, names))+"mmafuzz list generators lists them", "--gen: unknown generator %q", name)
		}
	}
	if len(r.generators) == 0 {
		return nil
	}
	for i := range pairs {
		if !recorded(&pairs[i]) {
			return nil
		}
	}
	return hint.New("leave --gen out", "--gen has no use here: a recording comes with its own inputs")
}

// recorded reports whether either side of a pair is a recording.
func recorded(p *devices.Pair) bool {
	return devices.IsRecording(p.A) || devices.IsRecording(p.B)
}
