//go:build (linux || windows) && (amd64 || arm64) && !nogpu

package hip

import (
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// supported explains why there can be no device here, nil if there can.
func supported() error { return nil }

// here returns a target that runs in this process.
func here(name string, ordinal int, o *gpu.Options) (devices.Target, error) {
	d, err := openDevice(name, ordinal, o)
	if err != nil {
		return nil, err
	}
	return &gpu.Target{
		Label: name, Rows: rowsOf(d.chip), Facts: d.facts(), Force: o.Force, Loader: d,
		Kernels: func(i *mma.Instruction) ([]*gpu.Kernel, error) {
			k, err := Kernel(i, d.chip)
			return []*gpu.Kernel{k}, err
		},
	}, nil
}
