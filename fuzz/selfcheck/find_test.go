package selfcheck

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Find returns the catalogue's instruction with a name ARCH/INSTRUCTION.
func Find(name string) (*mma.Instruction, error) {
	arch, inst, ok := strings.Cut(name, "/")
	if !ok {
		return nil, fmt.Errorf("%q is not ARCH/INSTRUCTION", name)
	}
	return mma.Lookup(arch, inst)
}
