package exec_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/replay"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// python returns the interpreter that runs the children below children: that of the
// variable MMAFUZZ_PYTHON, which may have the packages that they need, or python3.
func python(t testing.TB) string {
	t.Helper()
	name := cmp.Or(os.Getenv("MMAFUZZ_PYTHON"), "python3")
	path, err := osexec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not here: the children in Python are NOT TESTED", name)
	}
	return path
}

// framework names a child of the directory children as a target.
func framework(t testing.TB, child, options string) string {
	name, words, _ := strings.Cut(child+" "+options, " ")
	return strings.TrimSpace(fmt.Sprintf("exec:%s %s %s", python(t), filepath.Join("children", name+".py"), words))
}

// TestPackages looks at what children say whose package is missing, too old or damaged. A
// package that stands in for the real one is all that the interpreter has.
func TestPackages(t *testing.T) {
	cases := []struct{ name, child, module, text, want string }{
		{"missing", "torch_matmul", "", "", "the Python package torch is not installed for "},
		{"old", "torch_matmul", "torch", "__version__ = '1.13.1'", "the Python package torch is of version 1.13.1, 2.1 or later is needed: pip install torch"},
		{"damaged", "torch_matmul", "torch", "raise OSError('libcublas.so.13: cannot open shared object file')",
			"cannot be imported (OSError: libcublas.so.13: cannot open shared object file)"},
		{"missing", "mmasim_dpa cdna3", "torch", "__version__ = '2.9'", "the Python package mmasim is not installed for "},
		{"missing", "numpy_matmul", "", "", "the Python package numpy is not installed for "},
		{"missing", "onnxruntime_matmul", "numpy", "__version__ = '2.0'", "the Python package onnxruntime is not installed for "},
		{"missing", "jax_matmul", "", "", ": pip install jax"},
		{"old", "numpy_matmul", "numpy", "__version__ = '1.9'", "the Python package numpy is of version 1.9, 1.20 or later is needed"},
		{"odd", "numpy_matmul", "numpy", "", "the Python package numpy is of version unknown, 1.20 or later is needed"},
		{"damaged", "torch_matmul", "torch", "import filelock", "cannot be imported (ModuleNotFoundError: No module named 'filelock')"},
		{"missing", "triton_dot", "torch", "__version__ = '2.9'", "the Python package triton is not installed for "},
		{"missing", "tinygrad_wmma sm_80", "", "", "the Python package tinygrad is not installed for "},
		{"missing", "tinygrad_matmul", "", "", "the Python package tinygrad is not installed for "},
		{"missing", "triton_matmul", "numpy", "__version__ = '2.0'", "the Python package torch is not installed for "},
		{"missing", "scipy_matmul", "numpy", "__version__ = '2.0'", "the Python package scipy is not installed for "},
		{"missing", "ggml_matmul", "numpy", "__version__ = '2.0'", "the Python package ggml is not installed for "},
		{"missing", "ggml_q8_0 2x2x64", "numpy", "__version__ = '2.0'", "the Python package ggml is not installed for "},
		{"missing", "blas_matmul libabsent.so.9", "numpy", "__version__ = '2.0'", "no library libabsent.so.9 with cblas_sgemm and cblas_dgemm"},
		{"missing", "spike_dota --spike /absent/spike", "", "", "there is no program /absent/spike, RISC-V's simulator: build it from its sources, or pip install"},
	}
	children, err := filepath.Glob(filepath.Join("children", "*_*.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range children {
		name := strings.TrimSuffix(filepath.Base(file), ".py")
		if !slices.ContainsFunc(cases, func(c struct{ name, child, module, text, want string }) bool { return strings.HasPrefix(c.child, name) }) {
			t.Errorf("what %s says without its package is not tested", file)
		}
	}
	for _, tc := range cases[:tier.Of(1, 5, len(cases))] {
		t.Run(tc.name+" "+tc.child, func(t *testing.T) {
			dir := t.TempDir()
			if tc.module != "" {
				if err := os.WriteFile(filepath.Join(dir, tc.module+".py"), []byte(tc.text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PYTHONPATH", dir)
			name := strings.Replace(framework(t, tc.child, ""), " ", " -S ", 1) // -S: without the packages of this machine
			if _, err := devices.Open(name); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// TestOptions looks at what children say to wrong options.
func TestOptions(t *testing.T) {
	cases := []struct{ child, options, want string }{
		{"torch_matmul", "--type int8", "there is no type int8 here; types: f32,f64,bf16,f16,e4m3,e5m2"},
		{"torch_matmul", "--op conv", "there is no operation conv here; operations: matmul,addmm,_scaled_mm"},
		{"numpy_matmul", "--size 64", "'64' is not ROWSxCOLUMNS"},
		{"numpy_matmul", "-k 0", "-k and --threads are positive numbers"},
		{"onnxruntime_matmul", "--transposed", "--transposed is an attribute of Gemm: --op addmm"},
		{"numpy_matmul", "--at 1x0 --fit", "--at is a place in a matrix of --size, which --fit does not make"},
		{"torch_matmul", "--at 64x0", "--at is a place in a matrix of 64x64"},
	}
	for _, tc := range cases[:tier.Of(1, 2, len(cases))] {
		if _, err := devices.Open(framework(t, tc.child, tc.options)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s %s: %v, want %q", tc.child, tc.options, err, tc.want)
		}
	}
}

// TestSpikeRefused looks at what the child for Spike says of programs that are not what it
// needs.
func TestSpikeRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts of a Unix shell")
	}
	for _, tc := range []struct{ name, script, want string }{
		{"another program", "echo 'usage: spike COMMAND'", "is not RISC-V's simulator, it says 'usage: spike COMMAND' (Debian has another program of that name)"},
		{"too old", "echo 'Spike RISC-V ISA Simulator 1.1.0'; case $1 in --isa*) echo 'unsupported extension: zvfwdota16bf' >&2; exit 255;; esac",
			"Spike RISC-V ISA Simulator 1.1.0 does not have Zvdota and Zvbdota, which came in 2026 " +
				"(spike --isa=rv64gcv_zvfwdota16bf_zvfqwdota8f_zvfwbdota16bf_zvfqwbdota8f: exit status 255: unsupported extension: zvfwdota16bf)"},
		{"no device tree compiler", "echo 'Spike RISC-V ISA Simulator 1.1.0'; case $1 in --isa*) echo 'Failed to run dtc' >&2; exit 1;; esac", "exit status 1: Failed to run dtc"},
	} {
		program := filepath.Join(t.TempDir(), "spike")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+tc.script+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
		if _, err := devices.Open(framework(t, "spike_dota", "--spike "+program)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

// TestSpike compares Spike with the rows of the catalogue, in tiles, in every bit.
func TestSpike(t *testing.T) {
	if _, err := osexec.LookPath("spike"); err != nil {
		t.Skip("there is no program spike: RISC-V's dot products are NOT TESTED")
	}
	target := open(t, framework(t, "spike_dota", ""))
	for _, i := range target.Instructions() {
		u, err := target.Open(&i)
		if err != nil {
			t.Fatal(err)
		}
		in := fill(mma.NewBatch(i.Formats, mma.Shape{M: 3, N: 5, K: i.K, Tiles: 40}))
		got, want := make([]byte, in.Dots()*4), make([]byte, in.Dots()*4)
		if err := u.Run(t.Context(), in, got); err != nil {
			t.Fatal(err)
		}
		if err := sims(t, "riscv", i.Name).Run(t.Context(), in, want); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: D is\n%x, by the model\n%x", i.Name, got, want)
		}
	}
	if n := len(target.Instructions()); n != 10 {
		t.Errorf("%d instructions, want 10", n)
	}
}

// TestMisbehaviour looks at a child that uses protocol.py and dies, hangs and so on.
func TestMisbehaviour(t *testing.T) {
	t.Parallel()
	script := filepath.Join("testdata", "children", "misbehaves.py")
	cases := []struct{ what, want string }{
		{"dies", "the child gave no answer: it "},
		{"hangs", "no answer within 2s"},
		{"prints", ""}, // to stderr: the answer is right
		{"raises", "the child says: ValueError: wrong shape: (3, 4)"},
		{"exhausts", "out of memory: 4 TiB"},
		{"short", "it announced a D of 3 bytes, but D has 16"},
	}
	for _, tc := range cases[:tier.Of(1, len(cases), len(cases))] {
		if runtime.GOOS == "windows" && tc.what == "dies" {
			continue // there is no such signal
		}
		u := unit(t, fmt.Sprintf("exec:%s %s children %s", python(t), script, tc.what), "one")
		b := mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 2, N: 2, K: 1, Tiles: 1})
		mma.Store(b.A, 4, 0, 0x3f800000)
		err := u.Run(t.Context(), b, make([]byte, 16))
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", tc.what, err, tc.want)
		}
	}
}

// TestFrameworks compares the children that multiply matrices with the exact sum on small
// integers, which any order and any format get right: what is tested is how dot products
// are laid out in matrices. A library that is not here is left out, loudly.
func TestFrameworks(t *testing.T) {
	packages := map[string]string{"numpy_matmul": "numpy", "torch_matmul": "torch", "onnxruntime_matmul": "onnxruntime", "jax_matmul": "jax",
		"triton_dot": "triton", "tinygrad_wmma": "tinygrad", "triton_matmul": "triton", "tinygrad_matmul": "tinygrad", "scipy_matmul": "scipy",
		"ggml_matmul": "ggml", "blas_matmul": `numpy, importlib.metadata; importlib.metadata.version("mkl")`}
	for _, tc := range []struct{ child, options string }{
		{"numpy_matmul", "--type f32,f64,f16 -k 1,16,33 --size 8x6"},
		{"numpy_matmul", "--type f32 --transposed --size 5x64"},
		{"numpy_matmul", "--type f32 --size 5x7 --at 4x6"},
		{"numpy_matmul", "--type f32 -k 16 --size 8x6 --fit"},
		{"torch_matmul", "--type f32,bf16 -k 16 --size 8x6 --fit"},
		{"torch_matmul", "--type f32,f64,bf16,f16 --op matmul,addmm -k 1,16,33 --size 8x6"},
		{"torch_matmul", "--type f32,bf16 --transposed --size 5x64"},
		{"torch_matmul", "--type bf16 --op addmm --size 5x7 --at 4x6"},
		{"torch_matmul", "--op _scaled_mm --type e4m3 --out f32 --size 16x16"},
		{"onnxruntime_matmul", "--op matmul,addmm -k 1,16 --size 8x6"},
		{"onnxruntime_matmul", "--op addmm --transposed --size 5x64"},
		{"jax_matmul", "-k 1,16 --size 8x6"},
		{"triton_dot", "--type f16,f32,e4m3,e5m2 -k 16,32 --size 16x32"},
		{"onnxruntime_matmul", "--type u8s8,s8s8,u8u8 -k 16 --size 8x6"},
		{"torch_matmul", "--op _int_mm --type s8 -k 16 --size 32x32"},
		{"scipy_matmul", "-k 1,16 --size 8x6"},
		{"blas_matmul", "libmkl_rt.so.3 -k 1,16 --size 8x6"},
		{"blas_matmul", "libmkl_rt.so.3 --type f32 --transposed --size 5x64"},
		{"ggml_matmul", "-k 16,33 --size 8x6"},
		{"tinygrad_matmul", "-k 1,16 --size 13x7"},
		{"triton_matmul", "-k 16,33 --size 13x7"},
		{"tinygrad_wmma", "sm_89 --type f16,e4m3"},
		{"tinygrad_wmma", "gfx942 --type bf16 -k 32"},
	} {
		t.Run(tc.child+" "+tc.options, func(t *testing.T) {
			if !tier.Long() && tc.child != "numpy_matmul" {
				t.Skip("starts a large library: only with " + tier.Variable)
			}
			if err := osexec.Command(python(t), "-c", "import "+packages[tc.child]).Run(); err != nil {
				t.Skipf("the package %s is not here: NOT TESTED", packages[tc.child])
			}
			target := open(t, framework(t, tc.child, tc.options))
			for _, i := range target.Instructions() {
				u, err := target.Open(&i)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range []mma.Shape{{M: 1, N: 1, Tiles: 29}, {M: 2, N: 3, Tiles: 7}, {M: 13, N: 7, Tiles: 2}} {
					s.K = i.K
					exactIntegers(t, u, s)
				}
			}
		})
	}
}

// TestFrameworkRecordings compares what libraries gave on one machine with the models that
// were inferred of them there (children/RESULTS.md), but for the codes of NaNs.
func TestFrameworkRecordings(t *testing.T) {
	for _, tc := range []struct{ recording, inst, model string }{
		{"torch-zen5", "matmul.m64n64k16.f32", "torch-f32"},
		{"torch-zen5", "matmul.m64n64k16.bf16", "torch-bf16"},
		{"torch-zen5", "matmul.m64n64k16.f16", "torch-f16"},
		{"torch-sapphire-rapids", "matmul.m64n64k16.f32", "torch-xeon-f32"},
		{"torch-sapphire-rapids", "matmul.m64n64k16.bf16", "torch-xeon-bf16"},
		{"torch-sapphire-rapids", "matmul.m64n64k16.f16", "torch-xeon-f16"},
		{"numpy-0x0-zen5", "matmul.m16n16k16.f32.at0x0", "numpy-0x0"},
		{"numpy-6x0-zen5", "matmul.m16n16k16.f32.at6x0", "numpy-6x0"},
	} {
		model := unit(t, "model:"+filepath.Join("testdata", "children", tc.model+".json"), tc.inst)
		in, want := recorded(t, tc.recording, tc.inst)
		got := make([]byte, len(want))
		if err := model.Run(t.Context(), in, got); err != nil {
			t.Fatal(err)
		}
		sameNumbers(t, tc.recording+" "+tc.inst, in.Formats.D, got, want)
	}
}

// TestRecordedAMX compares what PyTorch gave in BF16 on a processor with AMX with TDPBF16PS: one
// for 32 products, on zeros where there are fewer, the next with the result of the last as C. The
// last result is rounded to BF16.
func TestRecordedAMX(t *testing.T) {
	for _, tc := range []struct{ recording, inst string }{
		{"torch-sapphire-rapids", "matmul.m64n64k16.bf16"},
		{"torch-k64-sapphire-rapids", "matmul.m64n64k64.bf16"},
	} {
		in, want := recorded(t, tc.recording, tc.inst)
		u := sims(t, "x86", "tdpbf16ps")
		k := u.Instruction().K
		b := mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: (in.K + k - 1) / k * k, Tiles: in.Tiles})
		for n := range in.Tiles {
			copy(b.A[n*b.K*2:], in.A[n*in.K*2:][:in.K*2])
			copy(b.B[n*b.K*2:], in.B[n*in.K*2:][:in.K*2])
		}
		sums, got := make([]byte, len(want)*2), make([]byte, len(want))
		if err := u.Run(t.Context(), b, sums); err != nil {
			t.Fatal(err)
		}
		for n := range in.Tiles {
			mma.Store(got, 2, n, bf16(mma.Load(sums, 4, n)))
		}
		sameNumbers(t, tc.recording+" "+tc.inst, fp.BF16, got, want)
	}
}

// bf16 rounds the code of an FP32 number to BF16, which is its upper half.
func bf16(x uint64) uint64 {
	if fp.FP32.Get().Decode(x).Class == fp.NaN {
		return fp.BF16.Get().QuietNaN(false)
	}
	return (x + 0x7fff + x>>16&1) >> 16
}

// recorded returns the 512 dot products of an instruction in one of corpus/recordings, and their
// results.
func recorded(t *testing.T, recording, inst string) (in *mma.Batch, d []byte) {
	t.Helper()
	u := unit(t, "replay:"+filepath.Join("..", "..", "corpus", "recordings", recording+".rec"), inst)
	rec := u.(devices.Recorder)
	in = mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: rec.Length(), Tiles: rec.Recorded()})
	d = make([]byte, in.Dots()*in.Formats.D.Width())
	if err := rec.Load(0, in, d); err != nil {
		t.Fatal(err)
	}
	if in.Dots() != 512 {
		t.Errorf("%s %s: %d dot products, want 512", recording, inst, in.Dots())
	}
	return in, d
}

// sameNumbers compares results, the codes of NaNs aside.
func sameNumbers(t *testing.T, what string, f fp.ID, got, want []byte) {
	t.Helper()
	w := f.Width()
	for n := range len(want) / w {
		x, y := mma.Load(want, w, n), mma.Load(got, w, n)
		if oracle.Compare(f, oracle.Policy{NaN: oracle.ByClass}, x, y) != oracle.Same {
			t.Errorf("%s: dot product %d is %x, by the model %x", what, n, x, y)
		}
	}
}

// exactIntegers compares sums of products of the integers from -2 to 2.
func exactIntegers(t *testing.T, u devices.Unit, s mma.Shape) {
	t.Helper()
	i := u.Instruction()
	b := mma.NewBatch(i.Formats, s)
	state := uint32(1)
	integers := func(buf []byte, f fp.ID) {
		for n := range len(buf) / max(1, f.Width()) {
			state = state*1664525 + 1013904223
			mma.Store(buf, f.Width(), n, f.Get().FromFloat64(float64(int(state>>16)%5-2)))
		}
	}
	integers(b.A, i.A)
	integers(b.B, i.B)
	integers(b.C, i.C)
	got, want := make([]byte, s.Dots()*i.D.Width()), make([]byte, s.Dots()*i.D.Width())
	if err := u.Run(t.Context(), b, got); err != nil {
		t.Fatal(err)
	}
	d := mma.NewDot(i.Formats, i.K)
	for n := range s.Dots() {
		b.Get(n, d)
		sum := 0.0
		if i.C != fp.None {
			sum = i.C.Get().Float64(d.C)
		}
		for k := range d.A {
			sum += i.A.Get().Float64(d.A[k]) * i.B.Get().Float64(d.B[k])
		}
		code := i.D.Get().FromFloat64(sum + 0) // no negative zero
		mma.Store(want, i.D.Width(), n, code)
		if x := mma.Load(got, i.D.Width(), n); i.D.Get().Float64(x) == 0 { // of either sign
			mma.Store(got, i.D.Width(), n, code&^i.D.Get().SignBit())
		}
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s %+v: D is\n%x, want\n%x", i.Name, s, got, want)
	}
}
