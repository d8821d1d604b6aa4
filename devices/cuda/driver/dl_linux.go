package driver

import "github.com/ebitengine/purego"

// purego before v0.11.0 must not be used: with cgo on, a process crashes as soon as
// a goroutine that is locked to its thread has called it and ends.

func dlopen(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

func dlsym(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }
