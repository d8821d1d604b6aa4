//go:build linux && (amd64 || arm64)

package hip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// helper is the environment variable that makes the test program use a device
// instead of testing: a process binds to the first library that it loads.
const helper = "MMAFUZZ_HIP_HELPER"

func TestMain(m *testing.M) {
	if file := os.Getenv(helper); file != "" {
		text := "fine"
		if err := useDevice(os.Getenv("MMAFUZZ_HIP_HELPER_DEVICE")); err != nil {
			text = err.Error()
			if fault := (*devices.FaultError)(nil); errors.As(err, &fault) {
				text = "fault: " + text
			}
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// useDevice makes every call of the runtime: it opens a device, tests an
// instruction, compares it with its model, and closes it.
func useDevice(argument string) error {
	t, err := open(argument)
	if err != nil {
		return err
	}
	defer t.Close()
	if again, err := open(argument); err != nil || again.Name() != t.Name() {
		return fmt.Errorf("opened again it is %v, %w", again, err)
	}
	i, err := devices.Find(t, "v_mfma_f32_16x16x4_f32")
	if err != nil {
		return err
	}
	k, err := Kernel(i, t.(*target).device.chip)
	if err != nil {
		return err
	}
	l, err := t.(*target).device.Load(k)
	if err != nil {
		return err
	}
	return errors.Join(useKernel(k, l), l.Close())
}

// useKernel runs the self-test, then batches of several sizes.
func useKernel(k *gpu.Kernel, l gpu.Loaded) error {
	u, err := gpu.NewUnit(k, l)
	if err != nil {
		return err
	}
	s, err := gpu.Test(context.Background(), u)
	if err != nil {
		return err
	}
	if err := s.Err(); err != nil {
		return err
	}
	model, err := sim.ForInstruction(k.Instruction)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for _, tiles := range []int{1, 5, 300} {
		b := fill(rng, k, tiles)
		got, want := make([]byte, b.Dots()*4), make([]byte, b.Dots()*4)
		if err := u.Run(context.Background(), b, got); err != nil {
			return err
		}
		model.Run(b, want)
		for n := range b.Dots() {
			x, y := mma.Load(got, 4, n), mma.Load(want, 4, n)
			if f := k.Instruction.D.Get(); x != y && !(f.Decode(x).Class == f.Decode(y).Class && f.Decode(x).Class == f.Decode(0x7fc00000).Class) {
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
	file := filepath.Join(t.TempDir(), "said")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helper+"="+file, "MMAFUZZ_HIP_HELPER_DEVICE="+device, "MMAFUZZ_HIP_CHIP=gfx942", "MMAFUZZ_CLANG=/absent/clang",
		"MMAFUZZ_HIP_LIBRARY="+f.runtime, "MMAFUZZ_HIPRTC_LIBRARY="+f.rtc)
	cmd.Env = append(cmd.Env, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	said, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
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
	for _, device := range []string{"", "0"} {
		if said := f.use(t, device); said != "fine" {
			t.Errorf("device %q: %s", device, said)
		}
	}
}

// TestFakeFaults makes each call fail.
func TestFakeFaults(t *testing.T) {
	f := buildFakes(t)
	for _, call := range calls {
		want := call + ": error 1 (fake error)"
		if said := f.use(t, "0", "FAKE_HIP="+call+"=1"); !strings.HasSuffix(strings.TrimSuffix(said, "\nmmafuzz.hip:1:1: error: fake mistake"), want) || strings.HasPrefix(said, "fault") {
			t.Errorf("%s: %s", call, said)
		}
	}
	for _, tc := range []struct{ fault, want string }{
		{"hipDeviceSynchronize=719", "fault: self-test of cdna3/v_mfma_f32_16x16x4_f32: hip:0: v_mfma_f32_16x16x4_f32: hipDeviceSynchronize: error 719 (unspecified launch failure)"},
		{"hipMemcpyDtoH=700", "fault: self-test of cdna3/v_mfma_f32_16x16x4_f32: hip:0: v_mfma_f32_16x16x4_f32: hipMemcpyDtoH: error 700 (fake error)"},
		{"hipMalloc=2", "self-test of cdna3/v_mfma_f32_16x16x4_f32: hipMalloc: error 2 (fake error): another program has the GPU's memory"},
		{"hipGetDeviceCount=100", "hipGetDeviceCount: error 100 (fake error): is the GPU visible (HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES) and may this user open /dev/kfd and /dev/dri/render* (groups render and video)?"},
		{"hiprtcCompileProgram=6", "cdna3/v_mfma_f32_16x16x4_f32: hiprtcCompileProgram: error 6 (HIPRTC_ERROR_COMPILATION)\nmmafuzz.hip:1:1: error: fake mistake"},
	} {
		if said := f.use(t, "0", "FAKE_HIP="+tc.fault); said != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.fault, said, tc.want)
		}
	}
}

// TestFakeMissing has libraries, functions, devices and chips that are not there.
func TestFakeMissing(t *testing.T) {
	f := buildFakes(t)
	absent := filepath.Join(t.TempDir(), "absent.so")
	poor := buildFakes(t, "hipFree", "hipMalloc", "hiprtcGetCode")
	for _, tc := range []struct {
		name   string
		f      fakes
		device string
		env    string
		want   string
	}{
		{"no runtime", fakes{absent, f.rtc}, "0", "", "libamdhip64.so cannot be loaded: " + absent + ": cannot open shared object file: No such file or directory: MMAFUZZ_HIP_LIBRARY names this file"},
		{"no compiler", fakes{f.runtime, absent}, "0", "", "no compiler of kernels for gfx942: libhiprtc.so cannot be loaded: " + absent +
			": cannot open shared object file: No such file or directory: MMAFUZZ_HIPRTC_LIBRARY names this file, or a clang that knows gfx942 (MMAFUZZ_CLANG)"},
		{"runtime without functions", fakes{poor.runtime, f.rtc}, "0", "", poor.runtime + " has no function hipMalloc, hipFree: is it older than ROCm 5, or another library?"},
		{"compiler without functions", fakes{f.runtime, poor.rtc}, "0", "", "no compiler of kernels for gfx942: " + poor.rtc +
			" has no function hiprtcGetCode: is it older than ROCm 5, or another library?, or a clang that knows gfx942 (MMAFUZZ_CLANG)"},
		{"no such device", f, "1", "", "there are 1 devices: hipGetDeviceCount: error 100 (no such device): " + remedies[errorNoDevice]},
		{"no number", f, "zero", "", `"zero" is not the number of a device: hip:0 is the first`},
		{"negative", f, "-1", "", `"-1" is not the number of a device: hip:0 is the first`},
		{"chip without matrix instructions", f, "0", "MMAFUZZ_HIP_CHIP=gfx1030", "AMD Instinct Fake: gfx1030 has no matrix instructions that are known"},
		{"chip of another maker", f, "0", "MMAFUZZ_HIP_CHIP=sm_90", "AMD Instinct Fake: sm_90 has no matrix instructions that are known"},
		{"unknown chip", f, "0", "MMAFUZZ_HIP_CHIP=", "AMD Instinct Fake: the kernel driver's topology in /sys/class/kfd has no GPU at 0000:C1:00.0: say which chip it is in MMAFUZZ_HIP_CHIP (gfx942)"},
		{"other chip", f, "0", "MMAFUZZ_HIP_CHIP=gfx950", "cdna4/v_mfma_f32_16x16x4_f32: hipModuleLoadData: error 209 (fake error): the code is for another chip: check MMAFUZZ_HIP_CHIP if it is set"},
		{"no code", f, "0", "FAKE_EMPTY=1", "cdna3/v_mfma_f32_16x16x4_f32: hiprtcGetCodeSize: a code object of 0 bytes"},
	} {
		if said := tc.f.use(t, tc.device, tc.env); said != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, said, tc.want)
		}
	}
}
