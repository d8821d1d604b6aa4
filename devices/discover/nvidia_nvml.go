//go:build nvml && cgo && linux

package discover

import (
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// nvidiaKnown asks NVML, a library that is part of the driver and loaded at run time: a
// machine without it has no NVIDIA GPU to offer. The build tag is there because
// the first compilation of the Go binding prints pages of warnings.
func nvidiaKnown() []Device { return nvidiaNVML(nvml.New()) }

func nvidiaNVML(lib nvml.Interface) []Device {
	switch ret := lib.Init(); ret {
	case nvml.SUCCESS:
	case nvml.ERROR_LIBRARY_NOT_FOUND:
		return nil
	default: // no other call is allowed now
		return []Device{{Kind: "nvidia", Name: "NVML", Problem: fmt.Sprintf("initialisation failed: error %d", ret),
			Remedy: "check that the kernel module and the driver libraries have one version (nvidia-smi)"}}
	}
	defer lib.Shutdown()
	driver, _ := lib.SystemGetDriverVersion()
	n, ret := lib.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return []Device{{Kind: "nvidia", Name: "NVML", Problem: lib.ErrorString(ret)}}
	}
	var found []Device
	for i := range n {
		found = append(found, describe(lib, i, driver))
	}
	return found
}

func describe(lib nvml.Interface, i int, driver string) Device {
	d := Device{Kind: "nvidia", Name: fmt.Sprintf("GPU %d", i), Driver: driver}
	dev, ret := lib.DeviceGetHandleByIndex(i)
	if ret != nvml.SUCCESS {
		d.Problem = lib.ErrorString(ret)
		return d
	}
	if name, ret := dev.GetName(); ret == nvml.SUCCESS {
		d.Name = name
	}
	d.UUID, _ = dev.GetUUID()
	if major, minor, ret := dev.GetCudaComputeCapability(); ret == nvml.SUCCESS {
		if arch, ok := mma.FindArch(fmt.Sprintf("sm_%d%d", major, minor)); ok {
			d.Arch = arch.Name
		}
		d.Detail = fmt.Sprintf("compute capability %d.%d", major, minor)
	}
	if mode, _, ret := dev.GetEccMode(); ret == nvml.SUCCESS {
		d.Detail += map[nvml.EnableState]string{nvml.FEATURE_ENABLED: ", ECC on", nvml.FEATURE_DISABLED: ", ECC off"}[mode]
	}
	now, ret := dev.GetClockInfo(nvml.CLOCK_SM)
	most, last := dev.GetMaxClockInfo(nvml.CLOCK_SM)
	if ret == nvml.SUCCESS && last == nvml.SUCCESS {
		d.Clocks = fmt.Sprintf("%d of %d MHz", now, most)
	}
	return d
}
