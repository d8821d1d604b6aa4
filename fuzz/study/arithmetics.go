package study

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Arithmetics returns the arithmetics of the catalogue that the tables are about:
// those of GPUs. Those of processors are many variations of a few by modes, which
// would take the tables hours; their models are compared with silicon, and their
// mutants found, in the tests of package cpu, and with the oracle in those of
// packages sim and fuzz.
func Arithmetics() []mma.Instruction {
	return slices.DeleteFunc(mma.Arithmetics(), func(i mma.Instruction) bool { return i.Mnemonic() != "" })
}
