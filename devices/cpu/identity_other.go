//go:build purego || !amd64

package cpu

// identity returns "": on other processors model says all there is.
func identity() string { return "" }

// emulator returns "": other processors have no register that gives an emulator away.
func emulator() string { return "" }
