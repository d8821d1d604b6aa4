package driver

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
)

// Error is a call of the driver that failed.
type Error struct {
	Call string
	Code Result
	Name string // CUDA_ERROR_...
	Text string // the driver's description
	Log  string // the compiler's messages about a kernel that it rejects
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: error %d, %s (%s)", e.Call, e.Code, e.Name, e.Text)
	if e.Log != "" {
		s += ": " + e.Log
	}
	if r := e.Remedy(); r != "" {
		s += "; " + r
	}
	return s
}

// notReady (CUDA_ERROR_NOT_READY) is no error: work is still under way.
const notReady = 600

// remedies are what to do about errors, by code.
var remedies = map[Result]string{
	2:   "another program holds the GPU's memory: nvidia-smi shows which",
	3:   "this is a bug of mmafuzz: the driver was not initialised",
	34:  "this is the toolkit's stub library, not the driver: take its folder (lib64/stubs) out of LD_LIBRARY_PATH",
	46:  "another process has the GPU in exclusive mode, or it was taken away: nvidia-smi -q -d COMPUTE",
	100: "no NVIDIA GPU is visible: look at nvidia-smi, CUDA_VISIBLE_DEVICES, and in a container at --gpus",
	101: "mmafuzz doctor lists the devices",
	201: "the context is gone or was never made current on this thread",
	209: "the kernel is for another chip than this GPU",
	214: "the GPU's memory has an error that ECC cannot correct: nvidia-smi -q -d ECC; the GPU needs a reset",
	218: "the driver's compiler does not take the PTX, or the GPU lacks what it asks for",
	220: "an NVLink connection failed: nvidia-smi nvlink -s",
	221: "the driver's PTX compiler, " + compiler + ", is missing: in a container ask for the driver capability compute (NVIDIA_DRIVER_CAPABILITIES=compute,utility), else put its folder into LD_LIBRARY_PATH",
	222: "the driver is too old for this PTX version: a newer driver has it (mmafuzz doctor says which)",
	223: "unset CUDA_DISABLE_PTX_JIT",
	304: "the operating system refused a request of the driver: look at /dev/nvidia* and their permissions",
	700: "the kernel has read or written where it must not: the context is lost",
	701: "the kernel needs more registers or shared memory than a block can have",
	702: "the system's watchdog has ended the kernel: use a GPU without a display",
	709: "the context is lost",
	715: "the GPU does not know an instruction of the kernel: the context is lost",
	716: "a misaligned access: the context is lost",
	719: "the kernel failed: the context is lost",
	721: "the kernel has not given tensor memory back: the context is lost",
	802: "the system is not ready: on machines with NVSwitch the fabric manager must run",
	803: "the kernel module and the driver libraries have different versions: reboot, or install one version",
	804: "the forward-compatibility library does not work with this GPU: take it out of LD_LIBRARY_PATH",
	999: "the driver does not know what is wrong: look at the kernel's log (dmesg) for messages of NVRM; the modules nvidia and nvidia_uvm must be loaded",
}

// Remedy describes what to do about the error, "" if there is nothing to say.
func (e *Error) Remedy() string { return remedies[e.Code] }

// fatal lists the codes below 300 that lose the context; harmless lists the codes from 300 on
// that do not. All others from 300 on are taken to lose it.
var (
	fatal    = map[Result]bool{3: true, 4: true, 201: true, 214: true, 220: true, 226: true}
	harmless = map[Result]bool{300: true, 301: true, 302: true, 303: true, 304: true, 400: true, 500: true, 701: true, 720: true, 801: true}
)

// Fatal reports whether the context, and with it all use of the device by this
// process, is lost after an error, such as a fault of a kernel or a driver that hangs.
// Errors of compiling are not fatal.
func Fatal(err error) bool {
	var e *Error
	if errors.As(err, &e) {
		return fatal[e.Code] || e.Code >= 300 && !harmless[e.Code]
	}
	return errors.As(err, new(*gpu.HungError)) || errors.As(err, new(*lateError))
}

// check returns the error of a status code, nil for success.
func (l *Library) check(call string, r Result) error {
	if r == 0 {
		return nil
	}
	return &Error{Call: call, Code: r, Name: l.text(l.api.getErrorName, r, "an unknown error"), Text: l.text(l.api.getErrorString, r, "no description")}
}

// text asks the driver for a text about a status code.
func (l *Library) text(ask func(Result, **byte) Result, r Result, otherwise string) string {
	var s *byte
	if ask == nil || ask(r, &s) != 0 || s == nil {
		return otherwise
	}
	const most = 256
	n := 0
	for n < most && *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return strings.ToValidUTF8(string(unsafe.Slice(s, n)), "?")
}
