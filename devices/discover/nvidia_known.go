//go:build !(nvml && cgo && linux)

package discover

// nvidiaKnown reads what the kernel's part of the driver publishes. Built for Linux
// with -tags nvml and cgo, the program asks NVML instead and knows more.
func nvidiaKnown() []Device { return nvidiaProc("/proc/driver/nvidia") }
