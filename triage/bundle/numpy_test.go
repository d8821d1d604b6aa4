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
	write("mine.py", "import numpy as np\ndef zero(a, b, c):\n    return np.zeros((a.shape[0], b.shape[1]), np.float32)\n")
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
