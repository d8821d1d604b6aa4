package main

import (
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// openUnit opens the unit that --target, --inst and --like name. The target is to
// be closed.
func openUnit(target, inst, like string) (devices.Target, devices.Unit, error) {
	if target == "" {
		return nil, nil, hinted("for example --target sim:hopper; mmafuzz list targets lists them", "--target is missing")
	}
	spec, name := devices.Split(target)
	if name != "" {
		if inst != "" {
			return nil, nil, hinted("leave one out", "--target %s and --inst %s both name the instruction", target, inst)
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
		return nil, hinted("give them with --like, for example --like sim:hopper", "%s works on any formats", t.Name())
	case !any && like != "":
		return nil, hinted("leave --like out", "--like is for reference arithmetic, %s has instructions of its own", t.Name())
	case any:
		other, err := openTarget(like)
		if err != nil {
			return nil, err
		}
		defer other.Close()
		t = other
	}
	if n := len(t.Instructions()); inst == "" && n > 1 {
		return nil, hinted(instructionHint(t, ""), "--inst is missing: %s has %d instructions", t.Name(), n)
	}
	i, err := devices.Find(t, inst)
	return i, withHint(err, "%s", instructionHint(t, inst))
}

// errAsked says that a recording was given to a command that asks a target.
func errAsked(t devices.Target) error {
	return hinted("compare it: mmafuzz compare, or mmafuzz run --a "+t.Name()+" --b TARGET",
		"%s is a recording: it answers what was recorded, and nothing that is asked", t.Name())
}
