package hip

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// caseOf makes a case of random codes, of the given number of instructions in a row.
func caseOf(t *testing.T, rng *rand.Rand, chip, name string, repeat int) *gpu.Case {
	t.Helper()
	i, err := mma.Lookup(chip, name)
	if err != nil {
		t.Fatal(err)
	}
	c := &gpu.Case{Side: "a", Target: "hip:0", Instruction: i, K: i.K * repeat, Other: `exec:./sim "100%"`}
	c.Dot = mma.NewDot(i.Formats, c.K)
	draw := func(f fp.ID) uint64 { return rng.Uint64() & f.Get().CodeMask() }
	for n := range c.K {
		c.Dot.A[n], c.Dot.B[n] = draw(i.A), draw(i.B)
	}
	for n := range c.Dot.SA {
		c.Dot.SA[n], c.Dot.SB[n] = draw(i.Scale), draw(i.Scale)
	}
	c.Dot.C = draw(i.C)
	c.Result, c.OtherResult = draw(i.D), draw(i.D)
	return c
}

// program writes the program of a case to a file.
func program(t *testing.T, c *gpu.Case) string {
	t.Helper()
	files, err := gpu.Reproduce(c)
	if err != nil {
		t.Fatal(err)
	}
	text := files["repro_a.hip"]
	if text == nil {
		t.Fatalf("%s: files %v", c.Instruction.FullName(), files)
	}
	file := filepath.Join(t.TempDir(), "repro_a.hip")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestReproCompiles compiles programs for the host and for the device, with a
// header that stands in for HIP's.
func TestReproCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("what a compiler makes of the kernels does not change with -race or without cgo")
	}
	compilers := findClangs()
	rng := rand.New(rand.NewPCG(9, 10))
	for _, tc := range []struct{ chip, name string }{
		{"gfx908", "v_mfma_f32_4x4x2bf16"},
		{"gfx90a", "v_mfma_f64_4x4x4f64"},
		{"gfx942", "v_smfmac_f32_16x16x32_f16"},
		{"gfx942", "v_mfma_f32_32x32x16_fp8_bf8"},
		{"gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4_fp6_fp4"},
		{"gfx1100", "v_wmma_bf16_16x16x16_bf16"},
		{"gfx1200", "v_swmmac_f16_16x16x32_f16"},
	}[:tier.Of(0, 1, 7)] {
		file := program(t, caseOf(t, rng, tc.chip, tc.name, 2))
		n := 0
		for _, c := range compilers {
			if !c.Knows(tc.chip) {
				continue
			}
			n++
			for _, side := range []string{"--offload-device-only", "--offload-host-only"} {
				out, err := exec.Command(c.Path, "-x", "hip", side, "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused-command-line-argument", "--offload-arch="+tc.chip,
					"-nogpulib", "-nogpuinc", "-I", filepath.Join("testdata", "include"), file).CombinedOutput()
				if err != nil {
					t.Errorf("%s %s %s: %v\n%s", c.Path, side, tc.name, err, out)
				}
			}
		}
		if n == 0 {
			t.Logf("THE PROGRAM FOR %s IS NOT COMPILED: no clang knows it", tc.chip)
		}
	}
}

// TestReproRuns runs a program on the host, with one instruction and with a chain
// of three.
func TestReproRuns(t *testing.T) {
	compilers := findClangs()
	if len(compilers) == 0 {
		t.Skip("THE PROGRAMS ARE NOT RUN: there is no clang")
	}
	rng := rand.New(rand.NewPCG(11, 12))
	for _, repeat := range []int{1, 3} {
		c := caseOf(t, rng, "cdna3", "v_mfma_f32_16x16x4_f32", repeat)
		model, err := sim.ForInstruction(c.Instruction)
		if err != nil {
			t.Fatal(err)
		}
		for c.Result = 0; c.Result>>23&0xff == 0 || c.Result>>23&0xff == 0xff; c.Result = model.Dot(c.Dot, nil) {
			again := caseOf(t, rng, "cdna3", "v_mfma_f32_16x16x4_f32", repeat)
			c.Dot = again.Dot
		}
		binary := filepath.Join(t.TempDir(), "repro")
		out, err := exec.Command(compilers[0].Path, "-x", "c++", "-std=c++17", "-w", "-O1", "-I", filepath.Join("testdata", "include"),
			"-o", binary, program(t, c), "-lm").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		said, err := exec.Command(binary).CombinedOutput()
		want := "v_mfma_f32_16x16x4_f32 gives " + mma.FormatCode(fp.FP32, c.Result) + "\n" +
			mma.FormatCode(fp.FP32, c.Result) + ": hip:0\n" + mma.FormatCode(fp.FP32, c.OtherResult) + ": exec:./sim \"100%\"\n"
		if err != nil || string(said) != want {
			t.Errorf("%d in a row: %v\n got %s\nwant %s", repeat, err, said, want)
		}
	}
}

// TestReproOthers has no program for other makers' instructions, nor for a dot
// product that does not fit.
func TestReproOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	if files, err := reproduce(caseOf(t, rng, "hopper", "mma.m16n8k16.f32.f16.f16.f32", 1)); len(files) != 0 || err != nil {
		t.Errorf("hopper: %d files, %v", len(files), err)
	}
	c := caseOf(t, rng, "cdna3", "v_mfma_f32_16x16x4_f32", 2)
	i, own := *c.Instruction, *c
	i.Name, own.Instruction = "mac4", &i
	if files, err := reproduce(&own); len(files) != 0 || err != nil {
		t.Errorf("an instruction of somebody's own: %d files, %v", len(files), err)
	}
	c.K--
	if _, err := reproduce(c); err == nil || !strings.Contains(err.Error(), "7 elements are no multiple of 4") {
		t.Errorf("odd length: %v", err)
	}
}
