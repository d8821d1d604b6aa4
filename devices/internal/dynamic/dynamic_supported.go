//go:build (linux || windows) && (amd64 || arm64) && !nogpu

package dynamic

import "github.com/ebitengine/purego"

// purego before v0.11.0 must not be used: with cgo on, a process crashes as soon as
// a goroutine that is locked to its thread has called it and ends.

// Supported explains why this program cannot load libraries, nil if it can.
func Supported() error { return nil }

// bind sets the variable of function type at address fn to a function of a library. It
// returns an error if the library has no such function.
func bind(handle uintptr, name string, fn any) error {
	address, err := symbol(handle, name)
	if err == nil {
		BindAddress(address, fn)
	}
	return err
}

// BindAddress sets the variable of function type at fn to the C function at an address.
func BindAddress(address uintptr, fn any) { purego.RegisterFunc(fn, address) }
