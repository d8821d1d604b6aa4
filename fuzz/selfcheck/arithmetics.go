package selfcheck

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Arithmetics returns the arithmetics of the catalogue that the tables are about:
// those of GPUs that have been checked against results. The others would take the
// tables hours. Those of processors are many variations of a few by modes; their
// models are compared with silicon, and their mutants found, in the tests of
// package cpu; that of llvmpipe, which is a program for processors, by .ci/nightly
// vulkan. What has not been checked varies what has, in another rounding or
// with fewer products. The tests of packages sim and fuzz compare the models of
// all with the oracle.
func Arithmetics() []mma.Instruction {
	return slices.DeleteFunc(mma.Arithmetics(), func(i mma.Instruction) bool {
		return i.Mnemonic() != "" || i.Arch == "llvmpipe" || !i.Checked()
	})
}
