//go:build !((linux || windows) && (amd64 || arm64)) || nogpu

package dynamic

import (
	"errors"
	"runtime"
)

// errSystem is the error of all functions here. Without dlopen the program can be one
// static file (CGO_ENABLED=0 -tags nogpu), which also runs under an emulator or without
// glibc.
var errSystem = errors.New("this program reaches GPUs only on Linux and Windows, on amd64 and arm64, if it was built without the tag nogpu; this is " + runtime.GOOS + "/" + runtime.GOARCH)

// Supported explains why this program cannot load libraries.
func Supported() error { return errSystem }

// Open loads no library.
func Open(string) (handle uintptr, err error) { return 0, errSystem }

func bind(uintptr, string, any) error { return errSystem }

// BindAddress does nothing.
func BindAddress(uintptr, any) {}
