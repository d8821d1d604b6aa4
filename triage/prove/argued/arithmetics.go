package argued

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Arithmetics returns the arithmetics of the catalogue whose mutants all have been told from
// them or have an argument: those of GPUs that have been checked against results. They are
// what the tables of package selfcheck are about, which would take many times as long with
// the others.
//
// Arithmetics of processors are many variations, by modes, of a few; the tests of package cpu
// compare their models with silicon and find their mutants. .ci/nightly vulkan does so for
// that of llvmpipe, which is a program for processors. Arithmetics that have not been checked
// are variations of those that have, with another rounding or fewer products. The tests of
// packages sim and fuzz compare all models with the oracle.
func Arithmetics() []mma.Instruction {
	return slices.DeleteFunc(mma.Arithmetics(), func(i mma.Instruction) bool {
		mnemonic, _ := i.Mnemonic()
		return mnemonic != "" || i.Arch == "llvmpipe" || !i.Checked()
	})
}
