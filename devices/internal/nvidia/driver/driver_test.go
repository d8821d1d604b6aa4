//go:build linux

package driver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices/cuda/testdata/cudatest"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/driver"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/ptx"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// A process binds to the first driver that it loads, and does not get rid of calls
// that hang: every use of the driver is a process of its own, which does what
// scenario says and prints what happened.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "@scenario" {
		cudatest.Register()
		driver.Timeout = time.Second
		fmt.Println(scenarios[os.Args[2]]())
		return
	}
	os.Exit(cudatest.Main(m))
}

// run runs a scenario in a process, with settings of the fake driver, and returns
// what it prints.
func run(t *testing.T, library, settings, scenario string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "@scenario", scenario)
	cmd.Env = append(os.Environ(), driver.Override+"="+library, cudatest.Settings+"="+settings, "GORACE=atexit_sleep_ms=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if strings.Contains(stderr.String(), "panic") || strings.Contains(stderr.String(), "DATA RACE") {
		t.Errorf("%s: %s: %s", settings, scenario, &stderr)
	}
	if err != nil {
		return fmt.Sprintf("the process ended with %v", err)
	}
	return strings.TrimSuffix(string(out), "\n")
}

var scenarios = map[string]func() string{
	"devices": func() string {
		l, err := driver.Open()
		if err != nil {
			return err.Error()
		}
		all, err := l.Devices()
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s %d %+v", filepath.Base(l.Path), l.Version, all)
	},
	"launch": func() string { return text(launch(1, 3)) },
	"many":   func() string { return text(launch(8, 100)) },
	"again": func() string { // after an error, once more
		d, k, err := device()
		if err != nil {
			return err.Error()
		}
		first, second := multiply(d, k, 3), multiply(d, k, 3)
		return fmt.Sprintf("%v\n%v\n%v\n%v", first, second, driver.Lost(second), d.Close())
	},
	"accepts": func() string {
		d, k, err := device()
		if err != nil {
			return err.Error()
		}
		return text(errors.Join(d.Accepts(k.Source), d.Accepts("nonsense")))
	},
	"module": func() string {
		d, k, err := device()
		if err != nil {
			return err.Error()
		}
		m, err := d.Module(k.Source)
		if err != nil {
			return err.Error()
		}
		_, err = d.Function(m, "other", driver.Grid{})
		return fmt.Sprintf("%t %v %v", len(m.Code) > 200, m.NoCode, err)
	},
}

func text(err error) string {
	if err == nil {
		return "good"
	}
	return err.Error()
}

// device opens the first device and makes a kernel for it.
func device() (*driver.Device, *gpu.Kernel, error) {
	l, err := driver.Open()
	if err != nil {
		return nil, nil, err
	}
	d, err := l.Device(0)
	if err != nil {
		return nil, nil, err
	}
	i, err := mma.Lookup("hopper", "mma.m16n8k16.f32.bf16.bf16.f32")
	if err != nil {
		return nil, nil, err
	}
	k, err := ptx.Kernel(i, d.Chip(), 16, 8)
	return d, k, err
}

// launch multiplies on some goroutines, several times each.
func launch(goroutines, times int) error {
	d, k, err := device()
	if err != nil {
		return err
	}
	errs := make([]error, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for n := 1; n <= times && errs[g] == nil; n++ {
				errs[g] = multiply(d, k, n%7+1)
			}
		})
	}
	wg.Wait()
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	errs = slices.CompactFunc(errs, func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
	return errors.Join(append(errs, d.Close())...)
}

// multiply runs tiles of which every one has its number as C, and zeros.
func multiply(d *driver.Device, k *gpu.Kernel, tiles int) error {
	m, err := d.Module(k.Source)
	if err != nil {
		return err
	}
	f, err := d.Function(m, k.Entry, driver.Grid{Threads: k.Threads, Tiles: k.Tiles, InBytes: k.InBytes, OutBytes: k.OutBytes})
	if err != nil {
		return err
	}
	p, err := gpu.NewPacker(k)
	if err != nil {
		return err
	}
	b := mma.NewBatch(k.Instruction.Formats, mma.Shape{M: k.M, N: k.N, K: k.Instruction.K, Tiles: tiles})
	for i := range b.Dots() {
		mma.Store(b.C, 4, i, uint64(0x3f800000+i))
	}
	in, out, got := make([]byte, tiles*k.InBytes), make([]byte, tiles*k.OutBytes), make([]byte, len(b.C))
	if err := p.Pack(in, b); err != nil {
		return err
	}
	took, err := f.Launch(context.Background(), in, out, tiles, time.Second)
	if err != nil {
		return err
	}
	if err := p.Unpack(got, out); err != nil {
		return err
	}
	if took != 125*time.Microsecond {
		return fmt.Errorf("the kernel took %s", took)
	}
	if !bytes.Equal(b.C, got) {
		return errors.New("wrong results")
	}
	return nil
}

func TestDevices(t *testing.T) {
	lib := cudatest.Build(t)
	const want = "libcuda.so.1 12080 [" +
		"{Ordinal:0 Name:Fake GPU 0 UUID:GPU-11111111-1111-1111-1111-111111111111 Major:8 Minor:6 Memory:85899345920 Processors:132 ClockKHz:1980000 MemoryClockKHz:3201000 ECC:true PCI:0000:1b:00.0} " +
		"{Ordinal:1 Name:Fake GPU 1 UUID:GPU-22222222-2222-2222-2222-222222222222 Major:8 Minor:6 Memory:85899345920 Processors:132 ClockKHz:1980000 MemoryClockKHz:3201000 ECC:true PCI:0000:1c:00.0}]"
	if diff := cmp.Diff(want, run(t, lib, "cc=8.6 version=12080", "devices")); diff != "" {
		t.Error(diff)
	}
	for settings, want := range map[string]string{
		"count=-1":      "cuDeviceGetCount: the driver says that there are -1 devices",
		"count=1000000": "cuDeviceGetCount: the driver says that there are 1000000 devices",
		"count=0":       "cuInit: error 100, CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected); no NVIDIA GPU is visible: look at nvidia-smi, CUDA_VISIBLE_DEVICES, and in a container at --gpus",
	} {
		if got := run(t, lib, settings, "devices"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", settings, got, want)
		}
	}
}

// TestLaunch runs kernels, also from many goroutines with buffers that grow.
func TestLaunch(t *testing.T) {
	t.Parallel()
	lib := cudatest.Build(t)
	for scenario, want := range map[string]string{
		"launch": "good", "many": "good", "again": "<nil>\n<nil>\nfalse\n<nil>",
		"accepts": "cuModuleLoadDataEx: error 218, CUDA_ERROR_INVALID_PTX (a PTX JIT compilation failed): " +
			"ptxas application ptx input, line 1; fatal : Missing .version directive ptxas fatal : Ptx assembly aborted; " +
			"the driver's compiler does not take the PTX, or the GPU lacks what it asks for",
		"module": "true <nil> other: cuModuleGetFunction: error 500, CUDA_ERROR_NOT_FOUND (named symbol not found)",
	} {
		if got := run(t, lib, "", scenario); got != want {
			t.Errorf("%s:\n got %s\nwant %s", scenario, got, want)
		}
	}
}

// TestEveryError has every call return every kind of error: each is reported by the
// name of the call and the driver's own words, and what comes after an error says
// what is right to say.
func TestEveryError(t *testing.T) {
	t.Parallel()
	lib := cudatest.Build(t)
	codes := map[string]string{
		"1": "CUDA_ERROR_INVALID_VALUE (invalid argument)", "2": "CUDA_ERROR_OUT_OF_MEMORY (out of memory)",
		"201": "CUDA_ERROR_INVALID_CONTEXT (invalid device context)", "700": "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)",
		"715": "CUDA_ERROR_ILLEGAL_INSTRUCTION (an illegal instruction was encountered)", "998": "an unknown error (no description)",
	}
	for _, call := range cudatest.Calls {
		for code, words := range codes {
			if !tier.Long() && code != "2" && code != "715" {
				continue
			}
			t.Run(call+"="+code, func(t *testing.T) {
				t.Parallel()
				got := run(t, lib, call+"="+code, "launch")
				if want := call + ": error " + code + ", " + words; !strings.Contains(got, want) {
					t.Errorf("\n got %s\nwant %s", got, want)
				}
			})
		}
	}
	for _, call := range cudatest.LinkCalls {
		for _, code := range []string{"2", "715"} {
			want := "good"
			if code == "715" { // that ends everything
				want = "error 715, CUDA_ERROR_ILLEGAL_INSTRUCTION"
			}
			if got := run(t, lib, call+"="+code, "launch"); !strings.Contains(got, want) {
				t.Errorf("%s=%s: %s, want %s", call, code, got, want)
			}
		}
	}
}

// TestAfterError runs a second launch after one that failed.
func TestAfterError(t *testing.T) {
	t.Parallel()
	lib := cudatest.Build(t)
	for settings, want := range map[string]string{
		// What leaves the context alone.
		"cuMemAlloc_v2=2@1":                     "cuMemAlloc_v2: error 2, .*\n<nil>\nfalse\n<nil>",
		"cuMemAllocHost_v2=2@2":                 "cuMemAllocHost_v2: error 2, .*\n<nil>\nfalse\n<nil>",
		"cuMemAllocHost_v2=null@1":              "cuMemAllocHost_v2: the driver returned no memory\n<nil>\nfalse\n<nil>",
		"cuLaunchKernel=701@1":                  "cuLaunchKernel: error 701, .*\n<nil>\nfalse\n<nil>",
		"cuLaunchKernel=null@1":                 "wrong results\n<nil>\nfalse\n<nil>", // a kernel that did nothing
		"cuModuleLoadDataEx=218@1":              "cuModuleLoadDataEx: error 218, .*\n<nil>\nfalse\n<nil>",
		"cuDevicePrimaryCtxRetain=null":         "cuCtxSetCurrent: error 201, .*",
		"cuDeviceGetName=null":                  "<nil>\n<nil>\nfalse\n<nil>",
		"cuGetErrorName=1 cuLaunchKernel=2@1":   "cuLaunchKernel: error 2, an unknown error .*\n<nil>\nfalse\n<nil>",
		"cuGetErrorString=1 cuLaunchKernel=2@1": "cuLaunchKernel: error 2, CUDA_ERROR_OUT_OF_MEMORY .no description.*\n<nil>\nfalse\n<nil>",
		"cuDevicePrimaryCtxRelease_v2=1":        "<nil>\n<nil>\nfalse\ncuDevicePrimaryCtxRelease_v2: error 1, .*",
		// What loses it.
		"poison=715:0000":       "cuEventRecord: error 715, .*the GPU does not know an instruction of the kernel.*\n.*the device is lost to this process since an earlier failure: cuEventRecord: error 715.*\ntrue\n<nil>",
		"poison=700:0000":       "cuEventRecord: error 700, .*\n.*the device is lost .*\ntrue\n<nil>",
		"poison=hang:0000":      "the kernel has not ended within 1s: it hangs, and the context with it\n.*the device is lost .*\ntrue\n<nil>",
		"cuStreamQuery=719@2":   "cuStreamQuery: error 719, .*\n.*the device is lost .*\ntrue\n<nil>",
		"cuCtxSetCurrent=null":  "cuLinkCreate_v2: error 201, .*\n.*the device is lost .*\ntrue\n<nil>",
		"cuLaunchKernel=hang":   "cuLaunchKernel has not returned within 1s: the driver hangs; .*\n.*the device is lost .*\ntrue\n<nil>",
		"cuLaunchKernel=hang@2": "<nil>\ncuLaunchKernel has not returned within 1s: .*\nfalse\n<nil>",
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			got := run(t, lib, settings, "again")
			if !regexp.MustCompile("^(?:" + want + ")$").MatchString(got) {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

// TestHang has every call hang: nothing waits for ever.
func TestHang(t *testing.T) {
	t.Parallel()
	lib := cudatest.Build(t)
	var wg sync.WaitGroup
	for _, call := range slices.Concat(cudatest.Calls, cudatest.LinkCalls) {
		if testing.Short() && call != "cuInit" && call != "cuMemAlloc_v2" && call != "cuLinkComplete" {
			continue
		}
		wg.Go(func() { // all at once: they only wait
			// Calls that are made together are called by the one that begins.
			want := regexp.MustCompile(`(` + call + `|cuLaunchKernel) has not returned within 1s: the driver hangs; `)
			if got := run(t, lib, call+"=hang", "launch"); !want.MatchString(got) {
				t.Errorf("%s: got %s", call, got)
			}
		})
	}
	wg.Wait()
}

// TestCrash has the driver kill the process, which is what child processes are for.
func TestCrash(t *testing.T) {
	lib := cudatest.Build(t)
	if got := run(t, lib, "cuLaunchKernel=crash", "launch"); got != "the process ended with exit status 2" {
		t.Error(got)
	}
}

// TestMissing gives libraries in which a function is missing, and files that are no
// library.
func TestMissing(t *testing.T) {
	lib := cudatest.Build(t)
	body, err := os.ReadFile(lib)
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range slices.Concat(cudatest.Calls, cudatest.LinkCalls) {
		other := filepath.Join(t.TempDir(), "libcuda.so.1")
		renamed := bytes.ReplaceAll(body, []byte("\x00"+call+"\x00"), []byte("\x00xx"+call[2:]+"\x00"))
		if err := os.WriteFile(other, renamed, 0o666); err != nil {
			t.Fatal(err)
		}
		version := "a driver for CUDA 13.0"
		if call == "cuDriverGetVersion" {
			version = "a driver of unknown version"
		}
		want := fmt.Sprintf("%s, %s, has no %s; a driver for CUDA 11.0 or later (450.36) has them", other, version, call)
		if got := run(t, other, "", "devices"); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
		if testing.Short() {
			break
		}
	}
	text := filepath.Join(t.TempDir(), "libcuda.so.1")
	if err := os.WriteFile(text, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{text, filepath.Join(t.TempDir(), "absent.so")} {
		want := "the NVIDIA driver's library cannot be loaded (" + file + "): "
		got := run(t, file, "", "devices")
		if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "or name the file in MMAFUZZ_LIBCUDA") {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

func TestPackageVersion(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "NVRM version: none\n": "", "version 5\n": "",
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n":             "535.129.03",
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (builder@host)  x\n": "580.95.05",
	} {
		if got := driver.PackageVersion(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestVersionText(t *testing.T) {
	for v, want := range map[int]string{12040: "12.4", 13000: "13.0", 11080: "11.8", 12080: "12.8", 0: "0.0"} {
		if got := driver.VersionText(v); got != want {
			t.Errorf("%d: %s, want %s", v, got, want)
		}
	}
}
