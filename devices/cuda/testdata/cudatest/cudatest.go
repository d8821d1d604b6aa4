// Package cudatest is an NVIDIA driver for tests on machines without one: a shared
// library in C (fake_cuda.c) with the functions of libcuda.so.1, whose kernels are
// executed by the lane simulator. Environment variables choose what goes wrong.
//
// The API of this package is not promised: it may change in any version.
package cudatest

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

//go:embed testdata/fake_cuda.c
var source []byte

// Settings is the environment variable that chooses what goes wrong; fake_cuda.c has
// the list. In addition to that, the simulated kernels understand
//
//	poison=HOW:CODE  a launch whose inputs have a tile with this code as A[0][0]
//	                 faults with error HOW, or hangs
//	set=PATH:VALUE   a parameter of the arithmetic (mmafuzz list parameters)
//	lane=N           the result in this place of a tile has a wrong last bit
const Settings = "FAKE_CUDA"

// Calls are the functions of the driver that a launch needs. The linker's are not among
// them: a kernel runs even if there is no machine code to look at.
var Calls = []string{
	"cuInit", "cuDriverGetVersion", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetUuid", "cuDeviceTotalMem_v2",
	"cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuModuleLoadDataEx", "cuModuleGetFunction",
	"cuMemAlloc_v2", "cuMemAllocHost_v2", "cuStreamCreate", "cuEventCreate", "cuMemcpyHtoDAsync_v2", "cuMemsetD8Async", "cuEventRecord",
	"cuLaunchKernel", "cuMemcpyDtoHAsync_v2", "cuStreamQuery", "cuEventElapsedTime", "cuDevicePrimaryCtxRelease_v2",
}

// LinkCalls are the functions of the driver's linker.
var LinkCalls = []string{"cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkComplete", "cuLinkDestroy"}

// Main runs the tests of a package that uses Build, and returns the exit code.
func Main(m *testing.M) int {
	defer func() {
		if dir != "" {
			os.RemoveAll(dir)
		}
	}()
	return m.Run()
}

// dir is the directory of the library, which is built once.
var dir string

var build = sync.OnceValues(func() (string, error) {
	var err error
	if dir, err = os.MkdirTemp("", "fake-cuda"); err != nil {
		return "", err
	}
	return Compile(dir)
})

// Build compiles the library and returns its file. Without a C compiler the test is
// skipped.
func Build(t testing.TB) string {
	t.Helper()
	file, err := build()
	if err != nil {
		t.Skipf("THE CUDA DRIVER IS NOT TESTED: %v", err)
	}
	return file
}

// Compile compiles the library into a directory.
func Compile(dir string) (string, error) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		return "", err
	}
	file, lib := filepath.Join(dir, "fake_cuda.c"), filepath.Join(dir, "libcuda.so.1")
	if err := os.WriteFile(file, source, 0o666); err != nil {
		return "", err
	}
	out, err := exec.Command(gcc, "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-shared", "-fPIC", "-pthread", "-o", lib, file).CombinedOutput()
	if err != nil {
		return "", &compileError{err, string(out)}
	}
	return lib, nil
}

type compileError struct {
	err error
	out string
}

func (e *compileError) Error() string { return e.err.Error() + "\n" + e.out }

// setting returns the value of a word of Settings.
func setting(name string) (value string, ok bool) {
	for _, w := range strings.Fields(os.Getenv(Settings)) {
		if v, found := strings.CutPrefix(w, name+"="); found {
			return v, true
		}
	}
	return "", false
}
