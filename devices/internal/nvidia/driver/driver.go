// Package driver calls NVIDIA's driver, libcuda.so.1 or nvcuda.dll, which is loaded at run time:
// the package needs no CUDA toolkit, no header and no C compiler, and programs that import
// it start on machines without the driver.
//
// # Threads
//
// A CUDA context belongs to an operating system thread. Every Device has one
// goroutine that is locked to a thread, makes the context current on it once, and
// calls the driver for everybody else; it never ends. Waiting for a call has a limit, so
// that a driver that hangs is an error like others.
//
// # Errors
//
// Error has the driver's own name of an error code and what to do about it. After
// an error that Fatal reports the context is lost, and this process can no longer use the
// device: do what may end so in a child process.
package driver

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/dynamic"
)

// Override is the environment variable that names the library to load instead of
// the usual ones.
const Override = "MMAFUZZ_LIBCUDA"

// candidates are the names under which the library is looked for on Linux: by the dynamic linker,
// with the name that drivers install and the name of development packages; in the folder of
// drivers in Windows Subsystem for Linux; and in those that container runtimes mount.
var candidates = []string{
	"libcuda.so.1",
	"libcuda.so",
	"/usr/lib/wsl/lib/libcuda.so.1",
	"/usr/local/nvidia/lib64/libcuda.so.1",
	"/usr/local/nvidia/lib/libcuda.so.1",
}

// compiler is the library with the driver's PTX compiler. The driver loads it by its name
// alone, which fails if the driver itself was found by its path.
const compiler = "libnvidia-ptxjitcompiler.so.1"

// Library is a loaded driver.
type Library struct {
	Path    string // as it was found
	Version int    // of the API: 12040 is 12.4
	api     api
	x       *gpu.Executor // of calls that need no context
}

// Timeout is how long a call of the driver may take. Compiling a kernel takes a
// second at most, creating a context on a machine with many GPUs a few.
var Timeout = 30 * time.Second

// Open loads the driver and initialises it.
func Open() (*Library, error) {
	handle, path, err := find()
	if err != nil {
		return nil, err
	}
	l := &Library{Path: path, x: gpu.NewExecutor()}
	if missing := dynamic.BindAll(handle, l.api.symbols()); len(missing) > 0 {
		return nil, &missingError{path, l.versionText(), missing}
	}
	if err := l.call("cuInit", func() Result { return l.api.init(0) }); err != nil {
		return nil, err
	}
	var v int32
	if err := l.call("cuDriverGetVersion", func() Result { return l.api.driverGetVersion(&v) }); err != nil {
		return nil, err
	}
	l.Version = int(v)
	return l, nil
}

// find loads the first of the candidates that can be loaded.
func find() (handle uintptr, path string, err error) {
	names := candidates
	if runtime.GOOS == "windows" {
		names = []string{"nvcuda.dll"}
	}
	if name := os.Getenv(Override); name != "" {
		names = []string{name}
	}
	var reasons []string
	for _, name := range names {
		if handle, err := dynamic.Open(name); err == nil {
			if filepath.IsAbs(name) {
				_, _ = dynamic.Open(filepath.Join(filepath.Dir(name), compiler)) // if it is not there, the driver will say so
			}
			return handle, name, nil
		} else if reason := err.Error(); !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return 0, "", &AbsentError{names, reasons}
}

// AbsentError reports that no driver library could be loaded.
type AbsentError struct {
	Names   []string
	Reasons []string // of the dynamic linker
}

func (e *AbsentError) Error() string {
	return fmt.Sprintf("the NVIDIA driver's library cannot be loaded (%s): %s; install the driver, in a container ask for it (--gpus all), or name the file in %s",
		strings.Join(e.Names, ", "), strings.Join(e.Reasons, "; "), Override)
}

// missingError reports that the driver lacks functions.
type missingError struct {
	Path    string
	Version string // "" if even that cannot be asked
	Symbols []string
}

func (e *missingError) Error() string {
	version := e.Version
	if version == "" {
		version = "of unknown version"
	}
	return fmt.Sprintf("%s, a driver %s, has no %s; a driver for CUDA 11.0 or later (450.36) has them", e.Path, version, strings.Join(e.Symbols, ", "))
}

// versionText returns the driver's version, for the error about missing functions; "" if
// the driver cannot be asked.
func (l *Library) versionText() string {
	if l.api.driverGetVersion == nil {
		return ""
	}
	var v int32
	if err := l.call("cuDriverGetVersion", func() Result { return l.api.driverGetVersion(&v) }); err != nil {
		return ""
	}
	return "for CUDA " + VersionText(int(v))
}

// VersionText writes a version of the API: 12.4 for 12040.
func VersionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// call makes a call that needs no context, under the limit of time.
func (l *Library) call(name string, f func() Result) error {
	return l.x.Do(name, Timeout, func() error { return l.check(name, f()) })
}
