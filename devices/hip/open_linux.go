//go:build linux && (amd64 || arm64)

package hip

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// target is a device in this process.
type target struct{ device *device }

func open(argument string) (devices.Target, error) {
	n, err := parseOrdinal(argument)
	if err != nil {
		return nil, err
	}
	d, err := openDevice(n)
	if err != nil {
		return nil, err
	}
	return &target{d}, nil
}

func (t *target) Name() string                    { return t.device.name }
func (t *target) Instructions() []mma.Instruction { return Instructions(t.device.chip) }
func (t *target) Close() error                    { return nil }

func (t *target) Environment() map[string]string {
	env := t.device.environment()
	env["kind"] = "AMD GPU"
	return env
}

func (t *target) Open(i *mma.Instruction) (devices.Unit, error) {
	k, err := Kernel(i, t.device.chip)
	if err != nil {
		return nil, err
	}
	l, err := t.device.Load(k)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name(), err)
	}
	return gpu.NewUnit(k, l)
}
