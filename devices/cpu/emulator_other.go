//go:build purego || !amd64

package cpu

// emulator returns "": other processors have no register that tells.
func emulator() string { return "" }
