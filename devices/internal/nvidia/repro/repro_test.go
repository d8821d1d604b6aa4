package repro

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/gpu/testdata/lanes"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/ptx"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

var update = flag.Bool("update", false, "write the golden files")

// caseOf makes a case of an instruction, run the given number of times in a row, with the
// model's result.
func caseOf(t *testing.T, arch, name string, repeat int) *gpu.Case {
	t.Helper()
	i, err := mma.Lookup(arch, name)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, uint64(i.K)))
	c := &gpu.Case{Side: "a", Target: "sim:" + arch, Instruction: i, K: i.K * repeat, Other: `exec:./sim "100%\n"` + "\n*/ x"}
	c.Dot = mma.NewDot(i.Formats, c.K)
	draw := func(f fp.ID) uint64 {
		for {
			code := rng.Uint64() & f.Get().CodeMask()
			if v := f.Get().Float64(code); v > -1e3 && v < 1e3 || f.Integer() { // no NaN either
				return code
			}
		}
	}
	for n := range c.K {
		c.Dot.A[n], c.Dot.B[n] = draw(i.A), draw(i.B)
	}
	for n := range c.Dot.SA {
		c.Dot.SA[n], c.Dot.SB[n] = draw(i.Scale), draw(i.Scale)
	}
	if i.C != fp.None {
		c.Dot.C = draw(i.C)
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		t.Fatal(err)
	}
	c.Result = m.Dot(c.Dot, nil)
	c.OtherResult = c.Result ^ 1
	return c
}

// programs writes the programs of a case to a directory.
func programs(t *testing.T, c *gpu.Case) (dir string, files map[string][]byte) {
	t.Helper()
	files, err := gpu.Reproduce(c)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir, files
}

func TestGolden(t *testing.T) {
	_, files := programs(t, caseOf(t, "hopper", "mma.m16n8k8.f32.f16.f16.f32", 2))
	if len(files) != 2 {
		t.Errorf("%d files", len(files))
	}
	for name, text := range files {
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(text)); diff != "" {
			t.Errorf("%s (run with -update and look at the difference):\n%s", golden, diff)
		}
	}
}

// TestOthers has no program where NVIDIA has no instruction.
func TestOthers(t *testing.T) {
	if files, err := reproduce(caseOf(t, "cdna3", "v_mfma_f32_32x32x8_f16", 1)); files != nil || err != nil {
		t.Errorf("a program for AMD's instruction: %v, %v", files, err)
	}
	made := caseOf(t, "hopper", "mma.m16n8k8.f32.f16.f16.f32", 1)
	i := *made.Instruction
	i.Arch, made.Instruction = "model", &i
	if files, err := reproduce(made); files != nil || err != nil {
		t.Errorf("a program for a made-up instruction: %v, %v", files, err)
	}
	c := caseOf(t, "hopper", "wgmma.m64n8k16.f32.f16.f16.c0", 1)
	c.K *= 2
	c.Dot.A, c.Dot.B = append(c.Dot.A, c.Dot.A...), append(c.Dot.B, c.Dot.B...)
	if _, err := reproduce(c); err == nil || err.Error() != "c is none and d is fp32: it cannot be repeated for 32 elements" {
		t.Errorf("two instructions without C in a row: %v", err)
	}
	c.K = 7
	if _, err := reproduce(c); err == nil || err.Error() != "7 elements are no multiple of 16" {
		t.Errorf("seven elements: %v", err)
	}
}

// fakeDriver compiles the fake driver and returns its directory.
func fakeDriver(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	compile(t, "-shared", "-fPIC", "-o", filepath.Join(dir, "libcuda.so.1"), "testdata/fake_cuda.c")
	return dir
}

// compile runs a C compiler without any header but the system's.
func compile(t *testing.T, args ...string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: the programs are compiled and run on Linux only")
	}
	cc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("SKIPPED: no gcc, so no program was compiled")
	}
	if out, err := exec.CommandContext(t.Context(), cc, append([]string{"-Wall", "-Wextra", "-Werror"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// way is a way to run the programs of a directory.
type way struct {
	name    string
	command func(t *testing.T, dir string) []string
}

func ways() []way {
	build := func(language string, more ...string) func(t *testing.T, dir string) []string {
		return func(t *testing.T, dir string) []string {
			file := filepath.Join(dir, "repro")
			compile(t, append(append([]string{"-x", language}, more...), "-o", file, filepath.Join(dir, "repro_a.cu"), "-ldl")...)
			return []string{file}
		}
	}
	return []way{
		{"c", build("c")},
		{"c++", build("c++", "-std=c++11")},
		{"nvcc", func(t *testing.T, dir string) []string {
			nvcc, err := exec.LookPath("nvcc")
			if err != nil {
				t.Skip("no nvcc: the program was compiled as C and C++ only")
			}
			file := filepath.Join(dir, "repro-nvcc")
			if out, err := exec.CommandContext(t.Context(), nvcc, "-o", file, filepath.Join(dir, "repro_a.cu")).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			return []string{file}
		}},
		{"python", func(t *testing.T, dir string) []string {
			python, err := exec.LookPath("python3")
			if err != nil {
				t.Skip("SKIPPED: no python3, so no program was run by it")
			}
			return []string{python, filepath.Join(dir, "repro_a.py")}
		}},
	}
}

// launches returns what a device is given and what it answers, launch by launch,
// as the lane simulator sees it.
func launches(t *testing.T, c *gpu.Case) (in, out []byte) {
	t.Helper()
	a, _ := mma.FindArch(c.Instruction.Arch)
	m, n := ptx.Tile(c.Instruction, 1, 1)
	k, err := ptx.Kernel(c.Instruction, a.Chip, m, n)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := lanes.Loader(func(i *mma.Instruction) (func(*mma.Batch, []byte), error) {
		m, err := sim.ForInstruction(i)
		return m.Run, err
	}).Load(k)
	if err != nil {
		t.Fatal(err)
	}
	p, err := gpu.NewPacker(k)
	if err != nil {
		t.Fatal(err)
	}
	i := c.Instruction
	acc := c.Dot.C
	for from := 0; from < c.K; from += i.K {
		b := mma.NewBatch(i.Formats, mma.Shape{M: m, N: n, K: i.K, Tiles: 1})
		s, e := i.Blocks(from), i.Blocks(from+i.K)
		b.Set(0, &mma.Dot{A: c.Dot.A[from : from+i.K], B: c.Dot.B[from : from+i.K], C: acc, SA: c.Dot.SA[s:e], SB: c.Dot.SB[s:e]})
		packed, results, d := make([]byte, k.InBytes), make([]byte, k.OutBytes), make([]byte, m*n*i.D.Width())
		if err := p.Pack(packed, b); err != nil {
			t.Fatal(err)
		}
		if err := loaded.Launch(t.Context(), packed, results, 1); err != nil {
			t.Fatal(err)
		}
		if err := p.Unpack(d, results); err != nil {
			t.Fatal(err)
		}
		acc = mma.Load(d, i.D.Width(), 0)
		in, out = append(in, packed...), append(out, results...)
	}
	return in, out
}

// TestRun runs the programs on a fake driver, which checks what it is given.
func TestRun(t *testing.T) {
	driver := fakeDriver(t)
	for _, tc := range []struct {
		arch, name string
		repeat     int
	}{
		{"volta", "mma.m8n8k4.f16.f16.f16.f16", 1},
		{"ampere", "mma.m16n8k16.f32.bf16.bf16.f32", 1},
		{"ampere", "mma.m16n8k8.f16.f16.f16.f16", 3},
		{"ampere", "mma.m16n8k64.s32.s4.s4.s32.satfinite", 2},
		{"volta", "wmma.m8n32k16.f32.f16.f16.f32", 1},
		{"hopper", "mma.m16n8k4.f64.f64.f64.f64.rm", 2},
		{"hopper", "mma.sp.m16n8k16.f32.tf32.tf32.f32", 2},
		{"hopper", "wgmma.m64n8k32.f32.e4m3.e5m2.c0", 1},
		{"blackwell", "tcgen05.m128n8k32.kind::f8f6f4.f16.e2m3.e2m1", 2},
		{"rtx-blackwell", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3", 2},
	} {
		if !tier.Long() && tc.repeat != 3 {
			continue
		}
		c := caseOf(t, tc.arch, tc.name, tc.repeat)
		dir, _ := programs(t, c)
		in, out := launches(t, c)
		for _, w := range ways() {
			t.Run(tc.name+" "+w.name, func(t *testing.T) {
				command := w.command(t, dir)
				file := filepath.Join(dir, w.name+".out")
				if err := os.WriteFile(file, out, 0o666); err != nil {
					t.Fatal(err)
				}
				said := run(t, command, 0, "LD_LIBRARY_PATH="+driver, "FAKE_IN="+filepath.Join(dir, w.name+".in"), "FAKE_OUT="+file)
				d := c.Instruction.D
				want := "Fake 3: " + c.Instruction.Name + " gives " + mma.FormatCode(d, c.Result) + "\n" +
					mma.FormatCode(d, c.Result) + ": sim:" + tc.arch + "\n" + mma.FormatCode(d, c.OtherResult) + ": exec:./sim \"100%\\n\" */ x\n"
				if said != want {
					t.Errorf("got %s\nwant %s", said, want)
				}
				got, err := os.ReadFile(filepath.Join(dir, w.name+".in"))
				if err != nil || !bytes.Equal(got, in) {
					t.Errorf("the device is given other inputs: %v", err)
				}
			})
		}
	}
}

// run runs a command on device 3, requires its exit code and returns what it says.
func run(t *testing.T, command []string, code int, environment ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], "3")...)
	cmd.Env = append(os.Environ(), environment...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		t.Fatalf("%v: %v, want exit status %d\n%s", command, err, code, out)
	}
	return string(out)
}

// TestTrouble has another result, errors of the driver and no driver.
func TestTrouble(t *testing.T) {
	driver := fakeDriver(t)
	c := caseOf(t, "hopper", "mma.m16n8k8.f32.f16.f16.f32", 1)
	dir, _ := programs(t, c)
	_, out := launches(t, c)
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			command := w.command(t, dir)
			wrong := bytes.Clone(out)
			wrong[0] ^= 1 // of D[0][0]
			file := filepath.Join(dir, w.name+".out")
			if err := os.WriteFile(file, wrong, 0o666); err != nil {
				t.Fatal(err)
			}
			fake := []string{"LD_LIBRARY_PATH=" + driver, "FAKE_IN=" + os.DevNull, "FAKE_OUT=" + file}
			if said := run(t, command, 1, fake...); !strings.Contains(said, " gives "+mma.FormatCode(fp.FP32, c.Result^1)+"\n") {
				t.Errorf("another result: %s", said)
			}
			for _, name := range []string{"cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuModuleGetFunction", "cuLaunchKernel", "cuCtxSynchronize"}[tier.Of(5, 5, 0):] {
				said := run(t, command, 2, append(fake, "FAKE_FAIL="+name)...)
				if !strings.HasPrefix(said, name+": error 218: a PTX JIT compilation failed\n") {
					t.Errorf("%s fails: %s", name, said)
				}
			}
			said := run(t, command, 2, append(fake, "FAKE_FAIL=cuModuleLoadDataEx")...)
			if want := "cuModuleLoadDataEx: error 218: a PTX JIT compilation failed\nptxas says why\n"; strings.TrimSpace(said) != strings.TrimSpace(want) {
				t.Errorf("the module is refused: %q", said)
			}
			if _, err := os.Stat("/usr/lib/x86_64-linux-gnu/libcuda.so.1"); err != nil { // else the machine has a driver
				if said := run(t, command, 2, "LD_LIBRARY_PATH="+dir); !strings.HasPrefix(said, "NVIDIA's driver is not on this machine: libcuda.so.1") {
					t.Errorf("no driver: %s", said)
				}
			}
		})
	}
}
