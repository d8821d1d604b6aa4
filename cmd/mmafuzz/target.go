package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/cpu"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// openUnit opens the unit that --target, --inst and --like name. The caller closes the
// target.
func openUnit(target, inst, like string) (devices.Target, devices.Unit, error) {
	if target == "" {
		return nil, nil, hint.New("for example --target sim:hopper; mmafuzz list targets lists them", "--target is missing")
	}
	spec, name := devices.Split(target)
	if name != "" {
		if inst != "" {
			return nil, nil, hint.New("leave one out", "--target %s and --inst %s both name the instruction", target, inst)
		}
		target, inst = spec, name
	}
	t, err := openTarget(target)
	if err != nil {
		return nil, nil, err
	}
	i, err := chooseInstruction(t, inst, like)
	if err != nil {
		t.Close()
		return nil, nil, err
	}
	u, err := t.Open(i)
	if err != nil {
		t.Close()
		return nil, nil, err
	}
	return t, u, nil
}

// chooseInstruction finds the instruction that is meant: of the target, or of
// another one for a target that works on any formats.
func chooseInstruction(t devices.Target, inst, like string) (*mma.Instruction, error) {
	switch any := t.Instructions() == nil; {
	case any && like == "":
		return nil, hint.New("give them with --like, for example --like sim:hopper", "%s works on any formats", t.Name())
	case !any && like != "":
		return nil, hint.New("leave --like out", "--like is for reference arithmetic, %s has instructions of its own", t.Name())
	case any:
		other, err := openTarget(like)
		if err != nil {
			return nil, err
		}
		defer other.Close()
		t = other
	}
	if n := len(t.Instructions()); inst == "" && n > 1 {
		return nil, hint.New(instructionHint(t, ""), "--inst is missing: %s has %d instructions", t.Name(), n)
	}
	i, err := devices.Find(t, inst)
	return i, hint.Add(err, "%s", instructionHint(t, inst))
}

// errAsked is the error of a command that asks a target questions and was given a recording.
func errAsked(t devices.Target) error {
	return hint.New("compare it: mmafuzz compare, or mmafuzz run --a "+t.Name()+" --b TARGET",
		"%s is a recording: it answers what was recorded, and nothing that is asked", t.Name())
}

// openTarget opens a target; the error of an unknown one has suggestions.
func openTarget(name string) (devices.Target, error) {
	t, err := devices.Open(name)
	return t, explainTarget(name, err)
}

// explainTarget adds a remedy to the error of opening a target.
func explainTarget(name string, err error) error {
	if err == nil {
		return nil
	}
	kind, _, ok := strings.Cut(name, ":")
	if ok && pathKinds[kind] {
		return err // about the file or command; suggestions of targets would not help
	}
	if ok && gpuKinds[kind] {
		return hint.Add(err, "mmafuzz doctor says what this machine can run")
	}
	near := hint.Nearest(name, targetNames())
	if !strings.Contains(name, ":") {
		near = hint.Nearest("sim:"+name, targetNames())
	}
	return hint.Add(err, "%smmafuzz list targets lists them", hint.DidYouMean(near))
}

// orMisspelt returns the error of a misspelt target or instruction, or err if both are
// right: the user should hear of the misspelling before what is missing beside it. It looks
// only at targets that cost nothing to open.
func orMisspelt(name, inst string, err error) error {
	target, own := devices.Split(name)
	if own != "" {
		inst = own
	}
	kind, _, _ := strings.Cut(target, ":")
	if _, known := devices.Kinds()[kind]; name == "" || known && kind != "sim" && kind != "ref" {
		return err
	}
	t, wrong := openTarget(target)
	if wrong != nil {
		return wrong
	}
	defer t.Close()
	if inst != "" && t.Instructions() != nil {
		if _, wrong := devices.Find(t, inst); wrong != nil {
			return hint.Add(wrong, "%s", instructionHint(t, inst))
		}
	}
	return err
}

// pathKinds are the kinds of targets that are named by a file or a command.
var pathKinds = map[string]bool{"replay": true, "model": true, "exec": true}

// gpuKinds are the kinds of targets that are devices of a driver.
var gpuKinds = map[string]bool{"cuda": true, "hip": true, "vulkan": true}

// instructionHint says where a target's instructions are listed; if it lacks the named one,
// also which simulators have it, what the processor lacks for it, or what name is close.
func instructionHint(t devices.Target, name string) string {
	listed := fmt.Sprintf("mmafuzz list instructions %s lists them with their formats", readable.ShellWord(t.Name()))
	if !slices.ContainsFunc(t.Instructions(), func(i mma.Instruction) bool { return i.Refuse == "" }) {
		return fmt.Sprintf("mmafuzz list instructions %s --unverified says why it has no model", readable.ShellWord(t.Name()))
	}
	if _, err := devices.Find(t, name); name == "" || err == nil {
		return listed
	}
	if why := cpu.Missing(name); why != "" && t.Name() == "cpu:0" {
		return fmt.Sprintf("%s; mmafuzz doctor lists what it has", why)
	}
	var owners []string
	for _, i := range mma.Catalog() {
		if i.Refuse == "" && (i.Name == name || i.Alias == name) {
			owners = append(owners, "sim:"+i.Arch)
		}
	}
	switch len(owners) {
	case 0:
		var names []string
		for _, i := range t.Instructions() {
			names = append(names, i.Name)
		}
		return hint.DidYouMean(hint.Nearest(name, names)) + listed
	case 1:
		return owners[0] + " has it; " + listed
	}
	return strings.Join(owners, ", ") + " have it; " + listed
}
