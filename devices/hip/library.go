//go:build linux && (amd64 || arm64) && !nogpu

package hip

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/mmafuzz/mmafuzz/devices/internal/dynamic"
)

// majors are the endings of the names of ROCm's libraries that are looked for: the major
// versions, newest first, and then no version.
var majors = []string{".7", ".6", ".5", ""}

// library is a shared library that is loaded.
type library struct {
	path   string
	handle uintptr
}

// loadLibrary loads a library by its name without version. The environment
// variable, if set, names the file to load instead. remedy is what the error advises.
func loadLibrary(variable, name, remedy string) (*library, error) {
	var candidates []string
	for _, m := range majors {
		candidates = append(candidates, name+m)
	}
	for _, m := range majors {
		candidates = append(candidates, filepath.Join(rocm(), "lib", name+m))
	}
	h, path, err := dynamic.Find(variable, candidates...)
	if err != nil {
		if os.Getenv(variable) != "" {
			remedy = variable + " names this file"
		}
		return nil, fmt.Errorf("%s cannot be loaded: %w: %s", name, err, remedy)
	}
	return &library{path, h}, nil
}

// bind looks the functions up. The error names all that are missing.
func (l *library) bind(functions []dynamic.Function) error {
	if missing := dynamic.BindAll(l.handle, functions); missing != nil {
		return fmt.Errorf("%s has no function %s: is it older than ROCm 5, or another library?", l.path, strings.Join(missing, ", "))
	}
	return nil
}

// runtime is the HIP runtime.
type runtime struct {
	*library
	init              func(flags uint32) int32
	runtimeVersion    func(version *int32) int32
	deviceCount       func(count *int32) int32
	deviceName        func(name *byte, size, device int32) int32
	devicePCI         func(id *byte, size, device int32) int32
	setDevice         func(device int32) int32
	malloc            func(p *uintptr, size uintptr) int32
	free              func(p uintptr) int32
	copyIn            func(dst uintptr, src unsafe.Pointer, size uintptr) int32
	copyOut           func(dst unsafe.Pointer, src uintptr, size uintptr) int32
	moduleLoad        func(module *uintptr, image unsafe.Pointer) int32
	moduleUnload      func(module uintptr) int32
	moduleFunction    func(f *uintptr, module uintptr, name string) int32
	moduleLaunch      func(f uintptr, gridX, gridY, gridZ, blockX, blockY, blockZ, shared uint32, stream uintptr, arguments, extra unsafe.Pointer) int32
	deviceSynchronize func() int32
	errorString       func(code int32) string
}

func loadRuntime() (*runtime, error) {
	l, err := loadLibrary("MMAFUZZ_LIBAMDHIP64", "libamdhip64.so",
		"install ROCm's HIP runtime (hip-runtime-amd, in Debian libamdhip64-5), or name the file in MMAFUZZ_LIBAMDHIP64")
	if err != nil {
		return nil, err
	}
	r := &runtime{library: l}
	return r, l.bind([]dynamic.Function{
		{Name: "hipInit", Fn: &r.init},
		{Name: "hipRuntimeGetVersion", Fn: &r.runtimeVersion},
		{Name: "hipGetDeviceCount", Fn: &r.deviceCount},
		{Name: "hipDeviceGetName", Fn: &r.deviceName},
		{Name: "hipDeviceGetPCIBusId", Fn: &r.devicePCI},
		{Name: "hipSetDevice", Fn: &r.setDevice},
		{Name: "hipMalloc", Fn: &r.malloc},
		{Name: "hipFree", Fn: &r.free},
		{Name: "hipMemcpyHtoD", Fn: &r.copyIn},
		{Name: "hipMemcpyDtoH", Fn: &r.copyOut},
		{Name: "hipModuleLoadData", Fn: &r.moduleLoad},
		{Name: "hipModuleUnload", Fn: &r.moduleUnload},
		{Name: "hipModuleGetFunction", Fn: &r.moduleFunction},
		{Name: "hipModuleLaunchKernel", Fn: &r.moduleLaunch},
		{Name: "hipDeviceSynchronize", Fn: &r.deviceSynchronize},
		{Name: "hipGetErrorString", Fn: &r.errorString},
	})
}

// check turns a code into an error.
func (r *runtime) check(call string, code int32) error {
	if code == 0 {
		return nil
	}
	return &runtimeError{call, int(code), r.errorString(code), remedies[int(code)]}
}

// compiler is hiprtc.
type compiler struct {
	*library
	create      func(program *uintptr, source, name string, headers int32, texts, names unsafe.Pointer) int32
	compile     func(program uintptr, n int32, options unsafe.Pointer) int32
	logSize     func(program uintptr, size *uintptr) int32
	log         func(program uintptr, text *byte) int32
	codeSize    func(program uintptr, size *uintptr) int32
	code        func(program uintptr, code *byte) int32
	destroy     func(program *uintptr) int32
	errorString func(code int32) string
	version     func(major, minor *int32) int32
}

// loadCompiler loads hiprtc. Before ROCm 7 the runtime has hiprtc's functions too.
func loadCompiler(r *runtime) (*compiler, error) {
	l, err := loadLibrary("MMAFUZZ_LIBHIPRTC", "libhiprtc.so",
		"install ROCm's hiprtc (hip-runtime-amd, in Debian libhiprtc-builtins5), or name the file in MMAFUZZ_LIBHIPRTC")
	if err != nil {
		if os.Getenv("MMAFUZZ_LIBHIPRTC") != "" {
			return nil, err
		}
		l = r.library
	}
	c := &compiler{library: l}
	bound := l.bind([]dynamic.Function{
		{Name: "hiprtcCreateProgram", Fn: &c.create},
		{Name: "hiprtcCompileProgram", Fn: &c.compile},
		{Name: "hiprtcGetProgramLogSize", Fn: &c.logSize},
		{Name: "hiprtcGetProgramLog", Fn: &c.log},
		{Name: "hiprtcGetCodeSize", Fn: &c.codeSize},
		{Name: "hiprtcGetCode", Fn: &c.code},
		{Name: "hiprtcDestroyProgram", Fn: &c.destroy},
		{Name: "hiprtcGetErrorString", Fn: &c.errorString},
		{Name: "hiprtcVersion", Fn: &c.version},
	})
	if bound != nil && err != nil {
		return nil, err // the runtime has not the functions either: say that hiprtc is missing
	}
	return c, bound
}

// check turns a code into an error.
func (c *compiler) check(call string, code int32) error {
	if code == 0 {
		return nil
	}
	return &runtimeError{Call: call, Code: int(code), Text: c.errorString(code)}
}

// Compile returns the code object of a HIP C++ source for a chip.
func (c *compiler) Compile(source, chip string) (object []byte, err error) {
	var program uintptr
	if err := c.check("hiprtcCreateProgram", c.create(&program, source, "mmafuzz.hip", 0, nil, nil)); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.check("hiprtcDestroyProgram", c.destroy(&program))) }()
	options := newCStrings("--offload-arch="+chip, "-std=c++17")
	defer options.free()
	if err := c.check("hiprtcCompileProgram", c.compile(program, int32(options.count()), options.pointer())); err != nil {
		if log := c.programLog(program); log != "" {
			err = fmt.Errorf("%w\n%s", err, log)
		}
		return nil, err
	}
	var size uintptr
	if err := c.check("hiprtcGetCodeSize", c.codeSize(program, &size)); err != nil {
		return nil, err
	}
	if size == 0 || size > maxObject {
		return nil, fmt.Errorf("hiprtcGetCodeSize: a code object of %d bytes", size)
	}
	object = make([]byte, size)
	return object, c.check("hiprtcGetCode", c.code(program, &object[0]))
}

// maxObject is the largest size of a code object or a log, in bytes, that is accepted. The
// kernels have some thousand bytes.
const maxObject = 64 << 20

// programLog returns the compiler's messages, "" if there are none.
func (c *compiler) programLog(program uintptr) string {
	var size uintptr
	if c.logSize(program, &size) != 0 || size == 0 || size > maxObject {
		return ""
	}
	log := make([]byte, size)
	if c.log(program, &log[0]) != 0 {
		return ""
	}
	return cString(log)
}

// cString returns the text of a buffer up to its zero byte.
func cString(b []byte) string {
	text, _, _ := strings.Cut(string(b), "\x00")
	return strings.TrimSpace(text)
}
