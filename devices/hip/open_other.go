//go:build !((linux || windows) && (amd64 || arm64)) || nogpu

package hip

import (
	"errors"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
)

// supported explains why there can be no device here.
func supported() error {
	return errors.New("HIP is called on Linux and Windows only, on amd64 and arm64, by a program built without the tag nogpu")
}

func here(string, int, *gpu.Options) (devices.Target, error) { return nil, supported() }
