package main

import (
	"cmp"
	"errors"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// opened is a unit that C has opened.
type opened struct {
	target string
	unit   devices.Unit
	close  func() error
}

var units handles[opened]

func openUnit(target, instruction, like string) (opened, error) {
	if instruction == "" {
		target, instruction = devices.Split(target)
	}
	t, err := devices.Open(target)
	if err != nil {
		return opened{}, err
	}
	var u devices.Unit
	i, err := findInstruction(t, instruction, like)
	if err == nil {
		u, err = t.Open(i)
	}
	if err != nil {
		return opened{}, errors.Join(err, t.Close())
	}
	return opened{t.Name(), u, t.Close}, nil
}

// findInstruction finds an instruction of a target, or one that it is to stand in for.
func findInstruction(t devices.Target, instruction, like string) (*mma.Instruction, error) {
	if t.Instructions() != nil {
		return devices.Find(t, instruction)
	}
	switch like = cmp.Or(like, instruction); {
	case strings.HasPrefix(like, "{"):
		return newInstruction(like)
	case like == "":
		return nil, errors.New(t.Name() + " stands in for any instruction: like=\"sim:hopper/mma.m16n8k16.f32.f16.f16.f32\" names one")
	}
	of, name := devices.Split(like)
	l, err := devices.Open(of)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return devices.Find(l, name)
}
