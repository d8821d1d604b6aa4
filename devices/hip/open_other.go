//go:build !(linux && (amd64 || arm64))

package hip

import (
	"errors"

	"github.com/mmafuzz/mmafuzz/devices"
)

func open(argument string) (devices.Target, error) {
	if _, err := parseOrdinal(argument); err != nil {
		return nil, err
	}
	return nil, errors.New("AMD GPUs are reached on Linux only, on amd64 and arm64: record there, compare here")
}
