//go:build linux

package cuda_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/cuda"
	"github.com/mmafuzz/mmafuzz/devices/cuda/testdata/cudatest"
	"github.com/mmafuzz/mmafuzz/devices/exec/child"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/driver"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// The test binary is the child process that cuda:0 starts: mmafuzz serve.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		cudatest.Register()
		t, err := devices.Open(os.Args[len(os.Args)-1])
		if err != nil {
			child.Cannot(os.Stdout, errors.Unwrap(err))
			os.Exit(2)
		}
		rows := slices.DeleteFunc(slices.Clone(t.Instructions()), func(i mma.Instruction) bool { return i.Refuse != "" })
		child.Main(child.Options{About: child.About(t), Children: 2}, child.Instructions(t, rows)...)
		return
	}
	gpu.Children = true
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(cudatest.Main(m))
}

// fake makes the fake driver that of the test, with settings.
func fake(t testing.TB, settings string) {
	t.Setenv(driver.Override, cudatest.Build(t))
	t.Setenv(cudatest.Settings, settings)
}

func open(t testing.TB, name string) devices.Target {
	t.Helper()
	target, err := devices.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := target.Close(); err != nil {
			t.Error(err)
		}
	})
	return target
}

func unit(t testing.TB, target devices.Target, name string) devices.Unit {
	t.Helper()
	i, err := devices.Find(target, name)
	if err != nil {
		t.Fatal(err)
	}
	u, err := target.Open(i)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// random returns a batch of random codes.
func random(f mma.Formats, s mma.Shape) *mma.Batch {
	b, rng := mma.NewBatch(f, s), rand.New(rand.NewPCG(1, 1))
	for _, buf := range [][]byte{b.A, b.B, b.C} {
		for i := range buf {
			buf[i] = byte(rng.Uint32())
		}
	}
	return b
}

// TestVolta runs every instruction of a chip and compares with the simulator.
func TestVolta(t *testing.T) {
	fake(t, "cc=7.0 version=12040")
	target := open(t, "cuda:0")
	if target.Name() != "cuda:0" || len(target.Instructions()) != 9 {
		t.Fatalf("%s with %d instructions", target.Name(), len(target.Instructions()))
	}
	for _, i := range target.Instructions() {
		if !devices.Usual(i) { // the fake driver has no wmma
			continue
		}
		u := unit(t, target, i.Name)
		if u.Model() != nil || u.Instruction().Params != i.Params || i.Params == (mma.Params{}) {
			t.Errorf("%s: known, or nothing believed", i.Name)
		}
		model, err := simulated.Open(&i)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []mma.Shape{{M: 1, N: 1, Tiles: 100}, {M: 8, N: 8, Tiles: 3}, {M: 16, N: 8, Tiles: 2}} {
			if s.K = i.K; i.C == i.D {
				s.K *= 2
			}
			in := random(i.Formats, s)
			got, want := make([]byte, s.Dots()*i.D.Width()), make([]byte, s.Dots()*i.D.Width())
			if err := errors.Join(u.Run(t.Context(), in, got), model.Run(t.Context(), in, want)); s.K == i.K && err != nil {
				t.Fatal(err)
			}
			if s.K == i.K && string(got) != string(want) {
				t.Errorf("%s %+v: other results than the simulator's", i.Name, s)
			}
		}
		env := u.(devices.Provenance).Environment()
		if env["self-test"] != "passed: layout, position independence, repeatability" || !strings.HasSuffix(env["kernel"], " for sm_70") || env["code"] != "native (HMMA 1)" {
			t.Errorf("%s: %v", i.Name, env)
		}
	}
}

func TestEnvironment(t *testing.T) {
	fake(t, "cc=8.0 version=12040")
	got := open(t, "cuda:GPU-2222").Environment()
	want := map[string]string{
		"kind": "GPU", "isolation": "child process", "device": "Fake GPU 1", "uuid": "GPU-22222222-2222-2222-2222-222222222222",
		"chip": "sm_80", "compute-capability": "8.0", "pci": "0000:1c:00.0", "driver-api": "12.4", "library": os.Getenv(driver.Override),
		"ecc": "on", "clocks": "up to 1980 MHz, memory 3201 MHz", "multiprocessors": "132", "memory": "81920 MiB",
	}
	delete(got, "driver") // of the machine that the test runs on
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestEager: units want batches that are worth a launch, in a child as in this
// process.
func TestEager(t *testing.T) {
	fake(t, "cc=7.0")
	for _, name := range []string{"cuda:0,force", "cuda:0,inprocess,force"} {
		if n := devices.BatchSize(unit(t, open(t, name), quad)); n < 1<<15 {
			t.Errorf("%s: batches of %d", name, n)
		}
	}
}

// TestCode looks at the machine code: FP8 mma.sync is no FP8 instruction on Hopper.
func TestCode(t *testing.T) {
	for settings, want := range map[string]string{
		"":                    "emulated (HMMA 2, FADD 2)",
		"cuLinkComplete=null": "not seen: cuLinkComplete: the driver returned 0 bytes of machine code",
	} {
		if testing.Short() && settings != "" {
			continue // the lane simulator is slow
		}
		fake(t, "cc=9.0 version=12080 "+settings)
		target := open(t, "cuda:0")
		env := unit(t, target, "mma.m16n8k32.f32.e4m3.e4m3.f32").(devices.Provenance).Environment()
		if env["code"] != want {
			t.Errorf("%s: %q, want %q", settings, env["code"], want)
		}
		target.Close()
	}
}

// TestRows has drivers and chips that lack something.
func TestRows(t *testing.T) {
	for _, tc := range []struct {
		settings, inst, want string
	}{
		{"cc=9.0 version=12080", "wgmma.m64n8k16.f16.f16.f16.c0", ""},
		{"cc=9.0 version=12080", "mma.m16n8k16.f32.e4m3.e4m3.f32", ""}, // has no model, which is no reason
		{"cc=9.0 version=11080", "wgmma.m64n8k16.f16.f16.f16.c0", "its PTX needs a driver for CUDA 12.0, this one is for 11.8"},
		{"cc=9.0 version=12040", "mma.m16n8k32.f16.e4m3.e4m3.f16", "its PTX needs a driver for CUDA 12.8, this one is for 12.4"},
		{"cc=8.6 version=12040", "mma.m16n8k16.f32.bf16.bf16.f32", ""},
	} {
		fake(t, tc.settings)
		target := open(t, "cuda:0")
		i, err := devices.Find(target, tc.inst)
		if err != nil {
			t.Fatal(err)
		}
		if i.Refuse != tc.want {
			t.Errorf("%s %s: %q, want %q", tc.settings, tc.inst, i.Refuse, tc.want)
		}
		if tc.want != "" {
			if _, err := target.Open(i); err == nil {
				t.Errorf("%s %s: opened", tc.settings, tc.inst)
			}
		}
		target.Close()
	}
}

func TestOpenErrors(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent.so")
	for _, tc := range []struct{ settings, name, want string }{
		{"", "cuda:", "the device is missing: cuda:0, or cuda:GPU-... by its UUID"},
		{"", "cuda:0,fast", `unknown option "fast" (known: inprocess, force, deadline=TIME)`},
		{"", "cuda:0,deadline=0", "deadline=0 is no time such as 500ms or 10s"},
		{"", "cuda:2", "there is no device 2: the driver shows 2 (CUDA_VISIBLE_DEVICES hides devices)"},
		{"", "cuda:-1", "there is no device -1: the driver shows 2 (CUDA_VISIBLE_DEVICES hides devices)"},
		{"", "cuda:GPU-", "GPU- is the beginning of several UUIDs: GPU-11111111-1111-1111-1111-111111111111 and GPU-22222222-2222-2222-2222-222222222222"},
		{"", "cuda:GPU-3", "no device has a UUID that begins GPU-3 (GPU-11111111-1111-1111-1111-111111111111, GPU-22222222-2222-2222-2222-222222222222)"},
		{"count=0", "cuda:0", "cuInit: error 100, CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected); no NVIDIA GPU is visible"},
		{"cuCtxSetCurrent=201", "cuda:0", "cuCtxSetCurrent: error 201, CUDA_ERROR_INVALID_CONTEXT (invalid device context)"},
		{"cuInit=crash", "cuda:0", "the child sent no complete header: it ended with exit status 2; its stderr ends: "},
		{"cc=6.1", "cuda:0", "no instructions of compute capability 6.1 are known"},
		{"absent", "cuda:0", "the NVIDIA driver's library cannot be loaded (" + absent + ")"},
	} {
		fake(t, tc.settings)
		if tc.settings == "absent" {
			t.Setenv(driver.Override, absent)
		}
		target, err := devices.Open(tc.name)
		if err == nil {
			target.Close()
		}
		if want := fmt.Sprintf("target %q: %s", tc.name, tc.want); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", tc.settings, err, want)
		}
	}
}

const quad = "mma.m8n8k4.f32.f16.f16.f32"

// TestSelfTest has a GPU with a lane that computes wrongly: its instructions are
// refused, or their results carry the warning.
func TestSelfTest(t *testing.T) {
	fake(t, "cc=7.0 lane=37")
	target := open(t, "cuda:0")
	i, err := devices.Find(target, quad)
	if err != nil {
		t.Fatal(err)
	}
	const want = "it fails its self-test: position independence: one dot product in all places of a tile: D["
	if _, err := target.Open(i); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	u := unit(t, open(t, "cuda:0,force"), quad)
	if env := u.(devices.Provenance).Environment(); !strings.HasPrefix(env["self-test"], "FAILED: position independence: ") {
		t.Errorf("%v", env)
	}
	in := random(i.Formats, mma.Shape{M: 1, N: 1, K: 4, Tiles: 10})
	if err := u.Run(t.Context(), in, make([]byte, 40)); err != nil {
		t.Error(err)
	}
}

// TestFaults has launches that fault, hang or kill the process, in a child and not:
// each is a fault of the target, and what comes after it is right, in a child.
func TestFaults(t *testing.T) {
	for settings, want := range map[string]string{
		"poison=715:1234":  "it ended with exit status 1; its stderr ends: cuda:0,deadline=1s,inprocess: cuEventRecord: error 715, CUDA_ERROR_ILLEGAL_INSTRUCTION",
		"poison=700:1234":  "it ended with exit status 1; its stderr ends: cuda:0,deadline=1s,inprocess: cuEventRecord: error 700, CUDA_ERROR_ILLEGAL_ADDRESS",
		"poison=hang:1234": "it ended with exit status 1; its stderr ends: cuda:0,deadline=1s,inprocess: the kernel has not ended within 1s",
	} {
		if testing.Short() && strings.HasPrefix(settings, "poison=700") {
			continue
		}
		fake(t, "cc=7.0 "+settings)
		target := open(t, "cuda:0,deadline=1s")
		u := unit(t, target, quad)
		in := random(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: 4, Tiles: 10})
		out := make([]byte, 40)
		if err := u.Run(t.Context(), in, out); err != nil {
			t.Fatal(err)
		}
		mma.Store(in.A, 2, 0, 0x1234) // the first of a tile
		err := u.Run(t.Context(), in, out)
		var fault *devices.FaultError
		if !errors.As(err, &fault) || fault.Target != "cuda:0,deadline=1s" || !strings.Contains(fault.What, want) {
			t.Errorf("%s:\n got %v\nwant %s", settings, err, want)
		}
		mma.Store(in.A, 2, 0, 0)
		if err := u.Run(t.Context(), in, out); err != nil {
			t.Errorf("%s: after it: %v", settings, err)
		}
		target.Close()
	}
}

// TestEveryCall has every call fail under a target in a child process: opening the
// target, an instruction or running a batch says which and why, and that there is no
// memory is no fault of an input.
func TestEveryCall(t *testing.T) {
	tier.LongOnly(t) // package driver has the same for one process
	for _, call := range cudatest.Calls {
		if call == "cuDevicePrimaryCtxRelease_v2" {
			continue // the child's end, which nobody waits for
		}
		for code, words := range map[string]string{"2": "CUDA_ERROR_OUT_OF_MEMORY", "719": "CUDA_ERROR_LAUNCH_FAILED"} {
			fake(t, "cc=7.0 "+call+"="+code)
			err := use("cuda:0")
			if err == nil || !strings.Contains(err.Error(), call+": error "+code+", "+words) {
				t.Errorf("%s=%s: %v", call, code, err)
			}
			if fault := errors.As(err, new(*devices.FaultError)); code == "2" && fault {
				t.Errorf("%s=%s: taken for a fault: %v", call, code, err)
			}
		}
	}
}

// use opens a target and runs a dot product.
func use(name string) error {
	target, err := devices.Open(name)
	if err != nil {
		return err
	}
	defer target.Close()
	i, err := devices.Find(target, quad)
	if err != nil {
		return err
	}
	_, err = target.Open(i)
	return err
}

// TestCampaign runs a campaign on a GPU that faults on some inputs and keeps one
// bit too many: both are found, and nothing is lost.
func TestCampaign(t *testing.T) {
	tier.LongOnly(t) // every fault costs a new child
	fake(t, "cc=7.0 poison=715:7c00 set=join.align.f:24")
	pairs, err := devices.Pairs(open(t, "cuda:0"), open(t, "sim:volta"), quad, "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := fuzz.New(fuzz.Config{Pairs: pairs, Seed: 1, Count: 4096, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	st := c.State().Pairs[0]
	if st.Dots < 4096 || st.Classes[oracle.Fault] == 0 || st.Classes[oracle.Value] == 0 {
		t.Errorf("%d dot products, %d faults, %d other values", st.Dots, st.Classes[oracle.Fault], st.Classes[oracle.Value])
	}
	var buckets []string
	for _, f := range st.Findings {
		buckets = append(buckets, f.Bucket)
		if strings.Contains(f.Bucket, "fault") && f.Start.A[0] != 0x7c00 {
			t.Errorf("the blamed input begins with %x", f.Start.A[0])
		}
	}
	slices.Sort(buckets)
	t.Log(buckets, st.Classes)
	if !slices.Contains(buckets, "truncation-width") || !slices.ContainsFunc(buckets, func(b string) bool { return strings.Contains(b, "fault") }) {
		t.Errorf("buckets %v", buckets)
	}
}
