package ptx_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestLLVM compares the spelling of some instructions, and the number of registers
// of each operand, with what LLVM's back end prints for its intrinsics.
func TestLLVM(t *testing.T) {
	llc, err := exec.LookPath("llc-19")
	if err != nil {
		t.Skip("SKIPPED: no llc-19, so LLVM's spelling was not compared: apt-get install llvm-19")
	}
	for _, tc := range []struct {
		arch, name string
		intrinsic  string
		ab, c, d   string // types of registers
		a, b, n    int    // registers of A, of B, of C and D
	}{
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", "m8n8k4.row.col.f32.f32", "<2 x half>", "float", "float", 2, 2, 8},
		{"turing", "mma.m16n8k8.f16.f16.f16.f16", "m16n8k8.row.col.f16.f16", "<2 x half>", "<2 x half>", "<2 x half>", 2, 1, 2},
		{"ampere", "mma.m16n8k16.f32.f16.f16.f32", "m16n8k16.row.col.f32.f32", "<2 x half>", "float", "float", 4, 2, 4},
		{"ampere", "mma.m16n8k16.f32.bf16.bf16.f32", "m16n8k16.row.col.bf16", "i32", "float", "float", 4, 2, 4},
		{"ampere", "mma.m16n8k4.f32.tf32.tf32.f32", "m16n8k4.row.col.tf32", "i32", "float", "float", 2, 1, 4},
		{"ampere", "mma.m16n8k8.f32.tf32.tf32.f32", "m16n8k8.row.col.tf32", "i32", "float", "float", 4, 2, 4},
		{"ampere", "mma.m8n8k4.f64.f64.f64.f64", "m8n8k4.row.col.f64", "double", "double", "double", 1, 1, 2},
	} {
		k := kernelsOf(t, tc.arch, tc.name, 0)[0]
		cmd := exec.CommandContext(t.Context(), llc, "-march=nvptx64", "-mcpu="+k.Target, "-mattr=+ptx70", "-o", "-")
		cmd.Stdin = strings.NewReader(ir(tc.intrinsic, tc.ab, tc.c, tc.d, tc.a, tc.b, tc.n))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v\n%s", tc.name, err, stderr.Bytes())
			continue
		}
		if got, want := instruction(k.Source), instruction(string(out)); got != want || want == "" {
			t.Errorf("%s:\n got %s\nLLVM %s", tc.name, got, want)
		}
	}
}

// ir is a function that calls an intrinsic.
func ir(intrinsic, ab, c, d string, a, b, n int) string {
	types := strings.TrimSuffix(strings.Repeat(ab+", ", a+b)+strings.Repeat(c+", ", n), ", ")
	args := strings.TrimSuffix(strings.Repeat(ab+" %ab, ", a+b)+strings.Repeat(c+" %c, ", n), ", ")
	result := "{ " + strings.TrimSuffix(strings.Repeat(d+", ", n), ", ") + " }"
	return fmt.Sprintf(`declare %[1]s @llvm.nvvm.mma.%[2]s(%[3]s)
define void @k(ptr %%p, %[4]s %%ab, %[5]s %%c) {
  %%r = call %[1]s @llvm.nvvm.mma.%[2]s(%[6]s)
  %%x = extractvalue %[1]s %%r, 0
  store %[7]s %%x, ptr %%p
  ret void
}
`, result, intrinsic, types, ab, c, args, d)
}

var (
	blank    = regexp.MustCompile(`\s+`)
	register = regexp.MustCompile(`%[a-z]+\d+`)
)

// instruction returns the mma instruction of a text, every register as %r.
func instruction(text string) string {
	_, rest, ok := strings.Cut(text, "mma.sync.")
	if !ok {
		return ""
	}
	rest, _, _ = strings.Cut(rest, ";")
	return blank.ReplaceAllString(register.ReplaceAllString(rest, "%r"), " ")
}
