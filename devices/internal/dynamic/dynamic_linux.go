//go:build (amd64 || arm64) && !nogpu

package dynamic

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// purego before v0.11.0 must not be used: with cgo on, a process crashes as soon as
// a goroutine that is locked to its thread has called it and ends.

// Supported explains why this program cannot load libraries, nil if it can.
func Supported() error { return nil }

// Open loads a library. What went wrong is known to the thread alone that tried: the
// goroutine has to stay on it until it has asked.
func Open(path string) (handle uintptr, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

// bind makes fn, the address of a variable of function type, call a function of a
// library. RegisterFunc panics if there is none.
func bind(handle uintptr, name string, fn any) error {
	address, err := purego.Dlsym(handle, name)
	if err == nil {
		BindAddress(address, fn)
	}
	return err
}

// BindAddress makes fn, the address of a variable of function type, call the function at
// an address.
func BindAddress(address uintptr, fn any) { purego.RegisterFunc(fn, address) }
