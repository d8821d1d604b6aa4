//go:build linux && (amd64 || arm64) && !nogpu

package hip

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/testdata/devicetest"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func TestMain(m *testing.M) { devicetest.DriverMain(m, useDevice) }

// useDevice makes every call of the runtime: it opens a device and an instruction,
// which is tested, runs it, and compares the results with the model's. In this
// process it unloads the kernel at last.
func useDevice(argument string) error {
	t, err := devices.Open("hip:" + argument)
	if err != nil {
		return err
	}
	defer t.Close()
	i, err := devices.Find(t, "v_mfma_f32_16x16x4_f32")
	if err != nil {
		return err
	}
	u, err := t.Open(i)
	if err != nil {
		return err
	}
	if err := useUnit(u); err != nil {
		return err
	}
	if g, ok := t.(*gpu.Target); ok {
		ks, err := g.Kernels(i)
		if err != nil {
			return err
		}
		l, err := g.Load(ks[0])
		if err != nil {
			return err
		}
		return l.Close()
	}
	return nil
}

// useUnit runs batches of several sizes.
func useUnit(u devices.Unit) error {
	i := u.Instruction()
	model, err := sim.ForInstruction(i)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(7, 8))
	f := i.D.Get()
	nan := f.Decode(f.QuietNaN(false)).Class
	for _, tiles := range []int{1, 5, 300} {
		b := fill(rng, &gpu.Kernel{Instruction: i, M: 16, N: 16}, tiles)
		got, want := make([]byte, b.Dots()*4), make([]byte, b.Dots()*4)
		if err := u.Run(context.Background(), b, got); err != nil {
			return err
		}
		model.Run(b, want)
		for n := range b.Dots() {
			x, y := mma.Load(got, 4, n), mma.Load(want, 4, n)
			if x != y && (f.Decode(x).Class != nan || f.Decode(y).Class != nan) {
				return fmt.Errorf("output %d of %d tiles is %08x, want %08x", n, tiles, x, y)
			}
		}
	}
	return nil
}

// fakes are the libraries that the tests build.
type fakes struct{ runtime, rtc string }

// buildFakes builds a library of the runtime and one of hiprtc, the runtime
// without some functions.
func buildFakes(t *testing.T, without ...string) fakes {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("HIP IS NOT TESTED: there is no gcc to build libraries of its interface with")
	}
	dir := t.TempDir()
	f := fakes{filepath.Join(dir, "libamdhip64.so"), filepath.Join(dir, "libhiprtc.so")}
	for define, lib := range map[string]string{"-DRUNTIME": f.runtime, "-DRTC": f.rtc} {
		arguments := []string{"-Wall", "-Werror", "-shared", "-fPIC", define, "-o", lib, filepath.Join("testdata", "fake_hip.c"), "-lm"}
		for _, name := range without {
			arguments = append(arguments, "-D"+name+"=other_"+name)
		}
		if out, err := exec.Command(gcc, arguments...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return f
}

// use runs useDevice in a process of its own and returns what it says.
func (f fakes) use(t *testing.T, device string, env ...string) string {
	t.Helper()
	return devicetest.UseDevice(t, device, append([]string{"MMAFUZZ_HIP_CHIP=gfx942", "MMAFUZZ_CLANG=/absent/clang",
		"MMAFUZZ_LIBAMDHIP64=" + f.runtime, "MMAFUZZ_LIBHIPRTC=" + f.rtc}, env...)...)
}

// calls are all functions that can fail, with what an error of them is.
var calls = []string{
	"hipInit", "hipRuntimeGetVersion", "hipGetDeviceCount", "hipDeviceGetName", "hipDeviceGetPCIBusId", "hipSetDevice", "hipMalloc", "hipFree",
	"hipMemcpyHtoD", "hipMemcpyDtoH", "hipModuleLoadData", "hipModuleUnload", "hipModuleGetFunction", "hipModuleLaunchKernel", "hipDeviceSynchronize",
	"hiprtcCreateProgram", "hiprtcCompileProgram", "hiprtcGetCodeSize", "hiprtcGetCode", "hiprtcDestroyProgram", "hiprtcVersion",
}

// TestFake uses a device of libraries that are made for the test.
func TestFake(t *testing.T) {
	f := buildFakes(t)
	for _, device := range []string{"0", "0,force,deadline=20s", "0,inprocess"} {
		if said := f.use(t, device); said != "fine" {
			t.Errorf("device %q: %s", device, said)
		}
	}
	if said := f.use(t, "0,inprocess", "MMAFUZZ_HIP_CHIP=", "FAKE_CHIP=gfx942:sramecc+:xnack-"); said != "fine" {
		t.Errorf("a chip that the runtime names: %s", said)
	}
	// A program that cannot be its own child.
	if said := f.use(t, "0", devicetest.AloneVar+"=1", "FAKE_HIP=hipInit=1"); said != `target "hip:0": hipInit: error 1 (fake error)` {
		t.Errorf("alone: %s", said)
	}
}

// selfTest is how the errors of a launch begin.
const selfTest = "cdna3/v_mfma_f32_16x16x4_f32: self-test: "

// TestFakeFaults makes each call fail.
func TestFakeFaults(t *testing.T) {
	f := buildFakes(t)
	for _, call := range calls {
		want := call + ": error 1 (fake error)"
		said := f.use(t, "0,inprocess", "FAKE_HIP="+call+"=1")
		if !strings.HasSuffix(strings.TrimSuffix(said, "\nmmafuzz.hip:1:1: error: fake mistake"), want) || strings.HasPrefix(said, "fault") {
			t.Errorf("%s: %s", call, said)
		}
	}
	for _, tc := range []struct{ fault, want string }{
		{"hipDeviceSynchronize=719", "fault: " + selfTest + "hip:0,inprocess: hipDeviceSynchronize: error 719 (unspecified launch failure)"},
		{"hipMemcpyDtoH=700", "fault: " + selfTest + "hip:0,inprocess: hipMemcpyDtoH: error 700 (fake error)"},
		{"hipMalloc=2", selfTest + "hipMalloc: error 2 (fake error): another program has the GPU's memory"},
		{"hipGetDeviceCount=100", `target "hip:0,inprocess": hipGetDeviceCount: error 100 (fake error): ` + remedies[errorNoDevice]},
		{"hiprtcCompileProgram=6", "cdna3/v_mfma_f32_16x16x4_f32: hiprtcCompileProgram: error 6 (HIPRTC_ERROR_COMPILATION)\nmmafuzz.hip:1:1: error: fake mistake"},
	} {
		if said := f.use(t, "0,inprocess", "FAKE_HIP="+tc.fault); said != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.fault, said, tc.want)
		}
	}
}

// TestFakeHangs has calls that never return, in this process and in a child, and
// a fault that kills the process.
func TestFakeHangs(t *testing.T) {
	f := buildFakes(t)
	const late = "a launch has not returned within 200ms: the driver hangs; look at the kernel's log (dmesg)"
	for _, tc := range []struct{ device, fault, want string }{
		{"0,inprocess,deadline=200ms", "hipDeviceSynchronize=hang", "fault: " + selfTest + "hip:0,inprocess,deadline=200ms: " + late},
		{"0,deadline=200ms", "hipDeviceSynchronize=hang", "hip:0,deadline=200ms: the child gave no answer: it ended with exit status 2; its stderr ends: " +
			selfTest + "hip:0,deadline=200ms,inprocess: " + late},
		{"0", "hipModuleLaunchKernel=abort", "hip:0: the child gave no answer: it ended with exit status 2; its stderr ends: "},
	} {
		if said := f.use(t, tc.device, "FAKE_HIP="+tc.fault); !strings.Contains(said, tc.want) || !strings.HasPrefix(said, "fault: ") {
			t.Errorf("%s %s:\n got %s\nwant %s", tc.device, tc.fault, said, tc.want)
		}
	}
}

// TestFakeMissing has libraries, functions, devices and chips that are not there.
func TestFakeMissing(t *testing.T) {
	f := buildFakes(t)
	absent := filepath.Join(t.TempDir(), "absent.so")
	poor := buildFakes(t, "hipFree", "hipMalloc", "hiprtcGetCode")
	const noFile = ": cannot open shared object file: No such file or directory: "
	const clang = ", or a clang that knows gfx942 (MMAFUZZ_CLANG)"
	for _, tc := range []struct {
		name   string
		f      fakes
		device string
		env    string
		want   string
	}{
		{"no runtime", fakes{absent, f.rtc}, "0", "", "libamdhip64.so cannot be loaded: " + absent + noFile + "MMAFUZZ_LIBAMDHIP64 names this file"},
		{"no compiler", fakes{f.runtime, absent}, "0", "", "no compiler of kernels for gfx942: libhiprtc.so cannot be loaded: " + absent + noFile + "MMAFUZZ_LIBHIPRTC names this file" + clang},
		{"runtime without functions", fakes{poor.runtime, f.rtc}, "0", "", poor.runtime + " has no function hipMalloc, hipFree: is it older than ROCm 5, or another library?"},
		{"compiler without functions", fakes{f.runtime, poor.rtc}, "0", "", "no compiler of kernels for gfx942: " + poor.rtc +
			" has no function hiprtcGetCode: is it older than ROCm 5, or another library?" + clang},
		{"no such device", f, "1", "", "there are 1 devices: hipGetDeviceCount: error 100 (no such device): " + remedies[errorNoDevice]},
		{"chip without matrix instructions", f, "0", "MMAFUZZ_HIP_CHIP=gfx1030", "AMD Instinct Fake: gfx1030 has no matrix instructions that are known"},
		{"chip of another maker", f, "0", "MMAFUZZ_HIP_CHIP=sm_90", "AMD Instinct Fake: sm_90 has no matrix instructions that are known"},
		{"unknown chip", f, "0", "MMAFUZZ_HIP_CHIP=", "AMD Instinct Fake: neither the kernel driver's topology in /sys/class/kfd nor the runtime says what the GPU at 0000:C1:00.0 is: say which chip it is in MMAFUZZ_HIP_CHIP (gfx942)"},
		{"other chip", f, "0", "MMAFUZZ_HIP_CHIP=gfx950", "cdna4/v_mfma_f32_16x16x4_f32: hipModuleLoadData: error 209 (fake error): the code is for another chip: check MMAFUZZ_HIP_CHIP if it is set"},
		{"no code", f, "0", "FAKE_EMPTY=1", "cdna3/v_mfma_f32_16x16x4_f32: hiprtcGetCodeSize: a code object of 0 bytes"},
	} {
		for _, where := range []string{"", ",inprocess"} {
			if said := tc.f.use(t, tc.device+where, tc.env); !strings.HasSuffix(said, tc.want) {
				t.Errorf("%s:\n got %s\nwant %s", tc.name, said, tc.want)
			}
		}
	}
}

// TestParse has bad names of targets.
func TestParse(t *testing.T) {
	for argument, want := range map[string]string{
		"":                     `"" is not the number of a device: hip:0 is the first`,
		"zero":                 `"zero" is not the number of a device: hip:0 is the first`,
		"-1":                   `"-1" is not the number of a device: hip:0 is the first`,
		"0,fast":               `unknown option "fast" (known: inprocess, force, deadline=TIME)`,
		"0,":                   `unknown option "" (known: inprocess, force, deadline=TIME)`,
		"0,deadline=":          "deadline= is no time such as 500ms or 10s",
		"0,force,deadline=-1s": "deadline=-1s is no time such as 500ms or 10s",
	} {
		if o, err := open(argument); err == nil || err.Error() != want {
			t.Errorf("%q: %+v, %v, want %s", argument, o, err, want)
		}
	}
}
