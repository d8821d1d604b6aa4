//go:build gofuzz || gofuzzci

package fuzz

import (
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The planted mistake: the fast model of one arithmetic keeps a bit less than
// the oracle.
const (
	plantedArch = "hopper"
	plantedInst = "mma.m16n8k16.f32.bf16.bf16.f32"
)

// newPlantedChecker returns a checker of all arithmetics with a mistake in one.
func newPlantedChecker() *Checker {
	c := NewChecker(mma.Arithmetics())
	for n := range c.insts {
		i := &c.insts[n]
		if i.Arch != plantedArch || i.Name != plantedInst {
			continue
		}
		mutant := i.Params
		mutant.Join.Align.F--
		m, err := sim.New(i.Formats, i.K, mutant)
		if err != nil {
			panic("fuzz: " + err.Error())
		}
		c.models[i] = m
		return c
	}
	panic("fuzz: " + plantedArch + "/" + plantedInst + " is not among the arithmetics")
}
