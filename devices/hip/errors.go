package hip

import "fmt"

// runtimeError is a call of the HIP runtime or of hiprtc that failed.
type runtimeError struct {
	Call   string // name of the function
	Code   int
	Text   string // what the library says
	Remedy string
}

func (e *runtimeError) Error() string {
	s := fmt.Sprintf("%s: error %d (%s)", e.Call, e.Code, e.Text)
	if e.Remedy != "" {
		s += ": " + e.Remedy
	}
	return s
}

// Codes of hipError_t (hip_runtime_api.h).
const (
	errorOutOfMemory  = 2
	errorNoDevice     = 100
	errorIllegalAddr  = 700
	errorLaunchLimits = 701
	errorTimeOut      = 702
	errorDestroyed    = 709
	errorAssert       = 710
	errorLaunch       = 719
	errorUnknown      = 999
)

// remedies say what to do about an error of the runtime.
var remedies = map[int]string{
	errorOutOfMemory:  "another program has the GPU's memory",
	3:                 "the driver does not start: is the amdgpu kernel module loaded (ls -l /dev/kfd)?",
	35:                "the kernel driver is older than the HIP runtime: update it, or install the ROCm that belongs to it",
	98:                "the code is for another chip: check MMAFUZZ_HIP_CHIP if it is set",
	errorNoDevice:     "is the GPU visible (HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES) and may this user open /dev/kfd and /dev/dri/render* (groups render and video)?",
	101:               "there is no such device: mmafuzz doctor lists what there is",
	200:               "the code is for another chip: check MMAFUZZ_HIP_CHIP if it is set",
	209:               "the code is for another chip: check MMAFUZZ_HIP_CHIP if it is set",
	errorLaunchLimits: "the kernel wants more registers or threads than this chip has",
}

// faults are errors of a kernel that was running: the device can no longer be used by this
// process.
var faults = map[int]bool{
	errorIllegalAddr: true, errorTimeOut: true, errorDestroyed: true, errorAssert: true, errorLaunch: true, errorUnknown: true,
}
