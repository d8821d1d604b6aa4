//go:build !(nvml && cgo && linux)

package discover

import (
	"bytes"
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices/internal/dynamic"
)

// Numbers from nvml.h.
const (
	nvmlDriverNotLoaded = 9
	nvmlClockSM         = 1
	nvmlClockMemory     = 2
	nvmlText            = 96 // bytes, the longest of the texts
)

// nvml has the functions of NVML that are used; all drivers that CUDA 11 needs have them. A
// device is a pointer of the library's.
type nvml struct {
	init, shutdown    func() int32
	errorString       func(result int32) string
	systemDriver      func(text *byte, n uint32) int32
	count             func(n *uint32) int32
	handle            func(index uint32, device *uintptr) int32
	name, uuid, vbios func(device uintptr, text *byte, n uint32) int32
	capability, ecc   func(device uintptr, a, b *int32) int32
	clock, maxClock   func(device uintptr, kind int32, mhz *uint32) int32
	errors            func(device uintptr, kind, counter int32, n *uint64) int32
	throttle          func(device uintptr, bits *uint64) int32
}

func (l *nvml) symbols() []dynamic.Function {
	return []dynamic.Function{
		{Name: "nvmlInit_v2", Fn: &l.init},
		{Name: "nvmlShutdown", Fn: &l.shutdown},
		{Name: "nvmlErrorString", Fn: &l.errorString},
		{Name: "nvmlSystemGetDriverVersion", Fn: &l.systemDriver},
		{Name: "nvmlDeviceGetCount_v2", Fn: &l.count},
		{Name: "nvmlDeviceGetHandleByIndex_v2", Fn: &l.handle},
		{Name: "nvmlDeviceGetName", Fn: &l.name},
		{Name: "nvmlDeviceGetUUID", Fn: &l.uuid},
		{Name: "nvmlDeviceGetVbiosVersion", Fn: &l.vbios},
		{Name: "nvmlDeviceGetCudaComputeCapability", Fn: &l.capability},
		{Name: "nvmlDeviceGetEccMode", Fn: &l.ecc},
		{Name: "nvmlDeviceGetClockInfo", Fn: &l.clock},
		{Name: "nvmlDeviceGetMaxClockInfo", Fn: &l.maxClock},
		{Name: "nvmlDeviceGetTotalEccErrors", Fn: &l.errors},
		{Name: "nvmlDeviceGetCurrentClocksThrottleReasons", Fn: &l.throttle},
	}
}

// askNVML loads NVML as the driver installs it, and needs no C compiler to be built.
func askNVML() ([]managed, error) {
	handle, path, err := dynamic.Find(libraryVar, "libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1",
		"/usr/local/nvidia/lib64/libnvidia-ml.so.1")
	if err != nil {
		return nil, errNoNVML
	}
	l := &nvml{}
	if missing := dynamic.BindAll(handle, l.symbols()); missing != nil {
		return nil, fmt.Errorf("%s has no %s", path, missing[0])
	}
	switch r := l.init(); r {
	case 0:
	case nvmlDriverNotLoaded:
		return nil, errNoNVML
	default:
		return nil, l.failed("nvmlInit", r)
	}
	defer l.shutdown()
	driver := text(l.systemDriver)
	var n uint32
	if r := l.count(&n); r != 0 {
		return nil, l.failed("nvmlDeviceGetCount", r)
	}
	var all []managed
	for i := range n {
		m := l.describe(i)
		m.driver = driver
		all = append(all, m)
	}
	return all, nil
}

func (l *nvml) failed(call string, r int32) error {
	return fmt.Errorf("%s: error %d, %s", call, r, l.errorString(r))
}

func (l *nvml) describe(i uint32) managed {
	m := managed{name: fmt.Sprintf("GPU %d", i)}
	var d uintptr
	if r := l.handle(i, &d); r != 0 {
		m.problem = l.errorString(r)
		return m
	}
	ask := func(f func(uintptr, *byte, uint32) int32) string {
		return text(func(to *byte, n uint32) int32 { return f(d, to, n) })
	}
	if name := ask(l.name); name != "" {
		m.name = name
	}
	m.uuid, m.vbios = ask(l.uuid), ask(l.vbios)
	m.major, m.minor = pair(func(a, b *int32) int32 { return l.capability(d, a, b) })
	m.ecc, _ = pair(func(now, later *int32) int32 { return l.ecc(d, now, later) })
	clock := func(f func(uintptr, int32, *uint32) int32, kind int32) int {
		return number(func(mhz *uint32) int32 { return f(d, kind, mhz) })
	}
	m.sm, m.maxSM = clock(l.clock, nvmlClockSM), clock(l.maxClock, nvmlClockSM)
	m.memory, m.maxMemory = clock(l.clock, nvmlClockMemory), clock(l.maxClock, nvmlClockMemory)
	errors := func(kind int32) int {
		return number(func(n *uint64) int32 { return l.errors(d, kind, 0, n) })
	}
	m.corrected, m.otherwise = errors(0), errors(1)
	m.throttle = number(func(bits *uint64) int32 { return l.throttle(d, bits) })
	return m
}

// text, number and pair call a function and return its answer, "" or unknown if it fails.
func text(f func(to *byte, n uint32) int32) string {
	var b [nvmlText]byte
	if f(&b[0], nvmlText) != 0 {
		return ""
	}
	s, _, _ := bytes.Cut(b[:], []byte{0})
	return string(bytes.ToValidUTF8(s, []byte("?")))
}

func number[N uint32 | uint64](f func(*N) int32) int {
	var n N
	if f(&n) != 0 {
		return unknown
	}
	return int(n)
}

func pair(f func(a, b *int32) int32) (int, int) {
	var a, b int32
	if f(&a, &b) != 0 {
		return unknown, unknown
	}
	return int(a), int(b)
}
