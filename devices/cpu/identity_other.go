//go:build purego || !amd64

package cpu

// identity returns "": the names of other processors have it all.
func identity() string { return "" }

// emulator returns "": other processors have no register that tells.
func emulator() string { return "" }
