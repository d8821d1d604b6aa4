//go:build !(linux && (amd64 || arm64)) || nogpu

package driver

import (
	"errors"
	"runtime"
)

// Without dlopen the program can be one static file (CGO_ENABLED=0 -tags nogpu),
// which also runs under an emulator or without glibc.
var errSystem = errors.New("this program reaches NVIDIA GPUs only on Linux (and in WSL) on amd64 and arm64, if it was built without the tag nogpu; this is " + runtime.GOOS + "/" + runtime.GOARCH)

// Supported reports whether there can be a driver for this program.
const Supported = false

func dlopen(string) (uintptr, error) { return 0, errSystem }

func bind(uintptr, string, any) error { return errSystem }
