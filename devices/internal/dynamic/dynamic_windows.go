//go:build (amd64 || arm64) && !nogpu

package dynamic

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// Open loads a library. One without a path is looked for in the system's folder alone, where
// drivers install theirs: never in the folder of the program, which may be that of downloads.
func Open(path string) (handle uintptr, err error) {
	flags := uintptr(windows.LOAD_LIBRARY_SEARCH_SYSTEM32)
	if filepath.IsAbs(path) {
		flags = windows.LOAD_WITH_ALTERED_SEARCH_PATH
	}
	h, err := windows.LoadLibraryEx(path, 0, flags)
	return uintptr(h), err
}

func symbol(handle uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(handle), name)
}
