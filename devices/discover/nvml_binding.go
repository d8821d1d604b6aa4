//go:build nvml && cgo && linux

package discover

import (
	"fmt"
	"os"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// askNVML asks NVML through NVIDIA's own Go binding, in builds with -tags nvml. The tag is
// there because the first compilation of the binding needs a C compiler and prints pages of
// warnings. Both ways must give the same answers (TestNVML).
func askNVML() ([]managed, error) {
	var options []nvml.LibraryOption
	if path := os.Getenv(libraryVar); path != "" {
		options = append(options, nvml.WithLibraryPath(path))
	}
	lib := nvml.New(options...)
	switch ret := lib.Init(); ret {
	case nvml.SUCCESS:
	case nvml.ERROR_LIBRARY_NOT_FOUND, nvml.ERROR_DRIVER_NOT_LOADED:
		return nil, errNoNVML
	default:
		return nil, failed(lib, "nvmlInit", ret)
	}
	defer lib.Shutdown()
	driver, _ := lib.SystemGetDriverVersion()
	n, ret := lib.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return nil, failed(lib, "nvmlDeviceGetCount", ret)
	}
	var all []managed
	for i := range n {
		m := describe(lib, i)
		m.driver = driver
		all = append(all, m)
	}
	return all, nil
}

func failed(lib nvml.Interface, call string, ret nvml.Return) error {
	return fmt.Errorf("%s: error %d, %s", call, ret, lib.ErrorString(ret))
}

func describe(lib nvml.Interface, i int) managed {
	m := managed{name: fmt.Sprintf("GPU %d", i)}
	d, ret := lib.DeviceGetHandleByIndex(i)
	if ret != nvml.SUCCESS {
		m.problem = lib.ErrorString(ret)
		return m
	}
	if name, ret := d.GetName(); ret == nvml.SUCCESS {
		m.name = name
	}
	m.uuid, _ = d.GetUUID()
	m.vbios, _ = d.GetVbiosVersion()
	major, minor, ret := d.GetCudaComputeCapability()
	m.major, m.minor = number(major, ret), number(minor, ret)
	ecc, _, ret := d.GetEccMode()
	m.ecc = number(ecc, ret)
	m.sm, m.maxSM = number(d.GetClockInfo(nvml.CLOCK_SM)), number(d.GetMaxClockInfo(nvml.CLOCK_SM))
	m.memory, m.maxMemory = number(d.GetClockInfo(nvml.CLOCK_MEM)), number(d.GetMaxClockInfo(nvml.CLOCK_MEM))
	m.corrected = number(d.GetTotalEccErrors(nvml.MEMORY_ERROR_TYPE_CORRECTED, nvml.VOLATILE_ECC))
	m.otherwise = number(d.GetTotalEccErrors(nvml.MEMORY_ERROR_TYPE_UNCORRECTED, nvml.VOLATILE_ECC))
	m.throttle = number(d.GetCurrentClocksThrottleReasons())
	return m
}

// number returns an answer of NVML, unknown if there is none.
func number[N ~int | ~int32 | ~uint32 | ~uint64](n N, ret nvml.Return) int {
	if ret != nvml.SUCCESS {
		return unknown
	}
	return int(n)
}
