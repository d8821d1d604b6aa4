//go:build !(linux && (amd64 || arm64))

package hip

import (
	"errors"

	"github.com/mmafuzz/mmafuzz/devices"
)

// supported says why there can be no device here.
func supported() error {
	return errors.New("AMD GPUs are reached on Linux only, on amd64 and arm64: make a recording there and compare it here")
}

func here(string, *options) (devices.Target, error) { return nil, supported() }
