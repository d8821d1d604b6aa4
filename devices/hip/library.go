//go:build (linux || windows) && (amd64 || arm64) && !nogpu

package hip

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/mmafuzz/mmafuzz/devices/internal/dynamic"
)

// majors are the endings of the names of ROCm's libraries that are looked for on Linux: the
// major versions, newest first, and then no version.
var majors = []string{".7", ".6", ".5", ""}

// candidates are the files of a library, such as amdhip64, that are tried.
func candidates(name string) []string {
	var all []string
	if goruntime.GOOS == "windows" { // amdhip64_6.dll and hiprtc0602.dll, of the driver and of the HIP SDK
		for _, dir := range []string{filepath.Join(os.Getenv("SystemRoot"), "System32"), filepath.Join(rocm(), "bin")} {
			found, _ := filepath.Glob(filepath.Join(dir, name+"*.dll"))
			for _, file := range slices.Backward(found) {
				if version.MatchString(strings.TrimPrefix(filepath.Base(file), name)) {
					all = append(all, file)
				}
			}
		}
		if all == nil {
			all = []string{name + ".dll"} // for the error
		}
		return all
	}
	for _, dir := range []string{"", filepath.Join(rocm(), "lib")} {
		for _, m := range majors {
			all = append(all, filepath.Join(dir, "lib"+name+".so"+m))
		}
	}
	return all
}

// version is what follows a library's name on Windows: not that of hiprtc-builtins.
var version = regexp.MustCompile(`^_?\d*\.dll$`)

// library is a shared library that is loaded.
type library struct {
	path   string
	handle uintptr
}

// loadLibrary loads a library by its name without version. The environment
// variable, if set, names the file to load instead. remedy is what the error advises.
func loadLibrary(variable, name, remedy string) (*library, error) {
	files := candidates(name)
	h, path, err := dynamic.Find(variable, files...)
	if err != nil {
		name, _, _ = strings.Cut(filepath.Base(files[len(files)-1]), "_")
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
	properties        func(properties *byte, device int32) int32 // nil if the runtime has none
}

func loadRuntime() (*runtime, error) {
	l, err := loadLibrary("MMAFUZZ_LIBAMDHIP64", "amdhip64",
		"install ROCm's HIP runtime (hip-runtime-amd, in Debian libamdhip64-5; on Windows AMD's driver or the HIP SDK), or name the file in MMAFUZZ_LIBAMDHIP64")
	if err != nil {
		return nil, err
	}
	r := &runtime{library: l}
	if dynamic.BindAll(l.handle, []dynamic.Function{{Name: "hipGetDevicePropertiesR0600", Fn: &r.properties}}) != nil {
		dynamic.BindAll(l.handle, []dynamic.Function{{Name: "hipGetDeviceProperties", Fn: &r.properties}}) // before ROCm 6
	}
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

// chip is the name of a device's chip in its properties, "" if there is none. Their structure has
// another layout in each major version, and in all the name as text (gcnArchName).
func (r *runtime) chip(device int) string {
	properties := make([]byte, 16<<10) // ROCm 6 has 1,472 bytes
	if r.properties == nil || r.properties(&properties[0], int32(device)) != 0 {
		return ""
	}
	return string(chipName().Find(properties))
}

var chipName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`gfx[0-9a-f]{3,4}`) })

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
	l, err := loadLibrary("MMAFUZZ_LIBHIPRTC", "hiprtc",
		"install ROCm's hiprtc (hip-runtime-amd, in Debian libhiprtc-builtins5; on Windows the HIP SDK), or name the file in MMAFUZZ_LIBHIPRTC")
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
