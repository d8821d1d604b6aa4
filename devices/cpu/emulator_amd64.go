//go:build !purego

package cpu

// emulator returns "QEMU" if QEMU translates this program instead of a processor
// executing it, "" otherwise. The signature is that of QEMU's translator, TCG: a
// virtual machine, whose processor executes, has another.
func emulator() string {
	_, b, c, d := cpuid(0x40000000, 0)
	if string(words(b, c, d)) == "TCGTCGTCGTCG" {
		return "QEMU"
	}
	return ""
}
