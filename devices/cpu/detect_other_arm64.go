//go:build !purego && !linux && !darwin

package cpu

// detect finds nothing: how to ask this system is not known here.
func detect() feature { return feature{} }

func model() string { return "aarch64" }
