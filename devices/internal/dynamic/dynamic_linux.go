//go:build (amd64 || arm64) && !nogpu

package dynamic

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// Open loads a library. The dynamic linker keeps its last error for each thread, so the
// goroutine stays on its thread until purego has read the error.
func Open(path string) (handle uintptr, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

func symbol(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }
