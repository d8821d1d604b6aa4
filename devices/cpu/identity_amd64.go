//go:build !purego

package cpu

import "fmt"

// identity returns what tells processors of the same name apart: vendor, family, model
// and stepping from CPUID (Intel SDM vol. 2, CPUID, figure 3-6).
func identity() string {
	a, _, _, _ := cpuid(1, 0)
	family, number := a>>8&15, a>>4&15
	if family == 6 || family == 15 {
		number |= a >> 16 & 15 << 4
	}
	if family == 15 {
		family += a >> 20 & 255
	}
	return fmt.Sprintf("%s, family %d, model %d, stepping %d", vendor(), family, number, a&15)
}

// emulator returns "QEMU" if QEMU translates this program instead of a processor
// executing it, "" otherwise. The signature is that of QEMU's translator, TCG; a
// virtual machine, whose instructions the processor executes, has another signature.
func emulator() string {
	_, b, c, d := cpuid(0x40000000, 0)
	if string(words(b, c, d)) == "TCGTCGTCGTCG" {
		return "QEMU"
	}
	return ""
}
