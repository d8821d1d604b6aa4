package bundle

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestNumPyRepro runs the Python program of bundles: with NumPy's own product, a function, and
// children, of which one does not answer.
func TestNumPyRepro(t *testing.T) {
	python := cmp.Or(os.Getenv("MMAFUZZ_PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import numpy").Run(); err != nil {
		t.Skipf("%s has no NumPy: the Python programs of bundles are NOT RUN", python)
	}
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("mine.py", `import numpy as np
def zero(a, b, c): return np.zeros((a.shape[0], b.shape[1]), np.float32)
def fails(a, b, c): raise ValueError("no")
def same(a): return a
def largest(a): return np.minimum(a, 448)
def code(a): return np.uint8([0x7e])
def scaled(a, b): return a * b
def random(a, b): return b.astype(np.float32)
def total(a): return a.sum()
def no_flags(a, b): return np.uint8([0])
def quiet(a, b): return np.uint32([0x7fc00001]).view(np.float32)
`)
	write("child.py", "import sys\nprint('mmafuzz-exec 1 text')\nprint('instruction x k=8 a=fp16 b=fp16 c=fp32 d=fp32')\nprint('ready', flush=True)\n"+
		"for line in sys.stdin:\n    print('3f7fffff' if line.split() == ['3c00' + ',0000' * 7] * 2 + ['b3400000'] else '00000000', flush=True)\n")
	half := ampereHopper(t)
	write("two.py", fmt.Sprintf("import sys\nprint('mmafuzz-exec 1 text')\nfor name in ('other', %q):\n    print('instruction ' + name + ' k=8 a=fp16 b=fp16 c=fp32 d=fp32')\nprint('ready', flush=True)\n"+
		"for line in sys.stdin:\n    print('3f7fffff' if line.split()[0] == %[1]q else '00000000', flush=True)\n", half.A.Instruction))
	scaled := &corpus.Mismatch{Formats: mma.Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: fp.UE4M3, Block: 2}, K: 4,
		Case: "02,00,02,00 02,00,04,00 3f800000 sa=38,40 sb=38,38",
		A:    corpus.SideRecord{Target: "x", Result: "40c00000"}, B: corpus.SideRecord{Target: "y", Result: corpus.NoResult}} // 1*1 + 2*1*2 + 1
	narrow := &corpus.Mismatch{Formats: mma.Formats{A: fp.BF16, B: fp.BF16, D: fp.BF16}, K: 1, Case: "3fc0 3f80 -",
		A: corpus.SideRecord{Target: "x", Result: "3fc0"}, B: corpus.SideRecord{Target: "y", Result: "7fc0"}}
	of := func(a, b, c, d fp.ID, k int, operands, resultA, resultB string) *corpus.Mismatch {
		return &corpus.Mismatch{Formats: mma.Formats{A: a, B: b, C: c, D: d}, K: k, Case: operands, NaN: "class",
			A: corpus.SideRecord{Target: "x", Result: resultA}, B: corpus.SideRecord{Target: "y", Result: resultB}}
	}
	over := of(fp.FP16, fp.One, fp.None, fp.E4M3, 1, "6000 00 -", "7e", "7f") // 512
	flags, err := fp.FP32.WithFlags(fp.FlagsX86)
	if err != nil {
		t.Fatal(err)
	}
	raised := of(fp.FP32, fp.FP32, fp.None, flags, 1, "7f000000 7f000000 -", "00", "05")
	down := of(fp.E4M3, fp.E4M3, fp.None, fp.FP32, 1, "38 40 -", "40000000", "3e000000")
	down.Formats.Down = 4
	payload := of(fp.FP32, fp.FP32, fp.None, fp.FP32, 1, "7fc00001 3f800000 -", "7fc00001", "7fffffff")
	payload.NaN = "bits"
	classes := of(fp.FP32, fp.FP32, fp.None, fp.FP32, 1, "7fc00001 3f800000 -", "7fffffff", "00000000")
	for _, tc := range []struct {
		name string
		m    *corpus.Mismatch
		args []string
		code int
		want string
	}{
		{"NumPy", half, nil, 0, "here: 0.9999999403953552, the result of sim:hopper " + half8},
		{"a function", half, []string{"mine:zero"}, 1, "here: 0.0, neither of them"},
		{"no module", half, []string{"nowhere:zero"}, 2, "No module named"},
		{"a child", half, []string{"--child", python, "child.py"}, 0, "here: 3f7fffff, the result of sim:hopper " + half8},
		{"a child of two instructions", half, []string{"--child", python, "two.py"}, 0, "here: 3f7fffff, the result of sim:hopper " + half8},
		{"the other side", half, []string{"--expect", "a", "--child", python, "child.py"}, 1, "the result of sim:hopper " + half8},
		{"the side", half, []string{"--expect", "b", "--child", python, "child.py"}, 0, "the result of sim:hopper " + half8},
		{"no side", half, []string{"--expect", "c"}, 2, "--expect needs a or b"},
		{"no child", half, []string{"--child", python, "mine.py"}, 2, "has not answered"},
		{"scales", scaled, nil, 0, "here: 6.0, the result of x"},
		{"bfloat16", narrow, nil, 0, "here: 1.5, the result of x"},
		{"a function that fails", half, []string{"mine:fails"}, 2, "ValueError: no"},
		{"too few arguments", half, []string{"mine:same"}, 2, "TypeError"},
		{"a conversion", over, nil, 0, "here: nan, the result of y"},
		{"a conversion's function", over, []string{"mine:largest"}, 0, "here: 448.0, the result of x"},
		{"a conversion's codes", over, []string{"mine:code"}, 0, "here: 126, the result of x"},
		{"no conversion", over, []string{"mine:same"}, 1, "here: 512.0, neither"},
		{"to the even one", of(fp.FP32, fp.One, fp.None, fp.BF16, 1, "3f818000 00 -", "3f81", "3f82"), nil, 0, "here: 1.015625, the result of y"},
		{"a subnormal", of(fp.FP32, fp.One, fp.None, fp.E5M2, 1, "b7400000 00 -", "81", "80"), nil, 0, "the result of x"},
		{"to FP16", of(fp.FP32, fp.One, fp.None, fp.FP16, 1, "477ff000 00 -", "7bff", "7c00"), nil, 0, "here: inf, the result of y"},
		{"no infinities", of(fp.FP32, fp.One, fp.None, fp.E2M1, 1, "ff800000 00 -", "0f", "07"), nil, 0, "here: -6.0, the result of x"},
		{"no sign", of(fp.FP32, fp.One, fp.None, fp.UE4M3, 1, "bf800000 00 -", "38", "00"), nil, 0, "here: 0.0, the result of y"},
		{"a scale", of(fp.E4M3, fp.E8M0, fp.None, fp.BF16, 1, "38 81 -", "3f80", "4080"), nil, 0, "here: 4.0, the result of y"},
		{"a scale's function", of(fp.E4M3, fp.E8M0, fp.None, fp.BF16, 1, "38 81 -", "3f80", "4080"), []string{"mine:scaled"}, 0, "here: 4.0, the result of y"},
		{"random bits", of(fp.FP32, randomBits(t), fp.None, fp.BF16, 1, "3f800001 0003 -", "3f80", "4040"), nil, 0, "the result of x"},
		{"a function of random bits", of(fp.FP32, randomBits(t), fp.None, fp.BF16, 1, "3f800001 0003 -", "3f80", "4040"), []string{"mine:random"}, 0, "the result of y"},
		{"a sum", of(fp.FP32, fp.One, fp.None, fp.FP32, 2, "3f800000,40000000 00,00 -", "40400000", "3f800000"), nil, 0, "the result of x"},
		{"a sum's function", of(fp.FP32, fp.One, fp.None, fp.FP32, 2, "3f800000,40000000 00,00 -", "40400000", "3f800000"), []string{"mine:total"}, 0, "the result of x"},
		{"integers", of(fp.S8, fp.U8, fp.S32, fp.S32, 1, "ff 01 7fffffff", "7ffffffe", "7fffffff"), nil, 0, "here: 2147483646, the result of x\n"},
		{"integers that wrap", of(fp.S8, fp.U8, fp.S32, fp.S32, 1, "01 01 7fffffff", "7fffffff", "80000000"), nil, 0, "here: -2147483648, the result of y\n"},
		{"a sign of zero", of(fp.BF16, fp.FP32, fp.None, fp.FP32, 1, "8000 3f800000 -", "80000000", "00000000"), nil, 0, "here: -0.0, the result of x\n"},
		{"flags", raised, nil, 2, "no exception flags"},
		{"a function of flags", raised, []string{"mine:no_flags"}, 0, "here: 0, the result of x\n"},
		{"products times 2^-4", down, nil, 0, "here: 0.125, the result of y\n"},
		{"NaNs", classes, nil, 0, "here: nan, the result of x\n"},
		{"bits of NaNs", payload, []string{"mine:quiet"}, 0, "here: nan, the result of x\n"},
	} {
		program, err := numpyRepro(tc.m)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		write("repro_numpy.py", string(program))
		c := exec.Command(python, append([]string{"repro_numpy.py"}, tc.args...)...)
		out, _ := c.CombinedOutput()
		if got := c.ProcessState.ExitCode(); got != tc.code || !strings.Contains(string(out), tc.want) {
			t.Errorf("%s: exit status %d, want %d and %q:\n%s", tc.name, got, tc.code, tc.want, out)
		}
	}
}

func randomBits(t *testing.T) fp.ID {
	id, err := fp.Parse("rbits16")
	if err != nil {
		t.Fatal(err)
	}
	return id
}
