//go:build !linux

package driver

import (
	"errors"
	"runtime"
)

var errSystem = errors.New("NVIDIA GPUs are reached on Linux only (and in WSL), not on " + runtime.GOOS)

func dlopen(string) (uintptr, error) { return 0, errSystem }

func dlsym(uintptr, string) (uintptr, error) { return 0, errSystem }
