package bundle

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Unit opens the unit of a side of a mismatch: which is "a" or "b". It runs no other command
// than those that are the targets.
func Unit(m *corpus.Mismatch, which string) (devices.Unit, error) {
	s := &m.A
	if which == "b" {
		s = &m.B
	}
	if err := functionError(m); err != nil { // the other side may take its formats from it
		return nil, err
	}
	// What is before a slash in an instruction's name would be taken for the end of the target.
	for _, name := range []string{m.A.Instruction, m.B.Instruction} {
		if err := mma.CheckName(name); err != nil {
			return nil, fmt.Errorf("the bundle's instruction is %w", err)
		}
	}
	u, err := devices.OpenUnit(s.Target, s.Instruction, like(m, which))
	if err != nil || !m.Formats.Common {
		return u, err
	}
	return devices.ByValue(u)
}

// like names the other side's instruction, from which reference arithmetic takes its formats:
// as ARCH/INSTRUCTION, or as TARGET/INSTRUCTION if its Arch is not one of the catalogue's.
func like(m *corpus.Mismatch, which string) string {
	other := m.B
	if which == "b" {
		other = m.A
	}
	if _, ok := mma.FindArch(other.Arch); !ok {
		return other.Target + "/" + other.Instruction
	}
	return other.Arch + "/" + other.Instruction
}
