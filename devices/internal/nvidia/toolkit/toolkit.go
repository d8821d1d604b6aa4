// Package toolkit finds programs of NVIDIA's toolkit: the assembler ptxas and the
// disassembler nvdisasm. Running kernels does not need them; tests do, and doctor's
// checklist, which assembles the kernels of all chips.
package toolkit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Tool is a program.
type Tool struct {
	Path    string
	Version int      // of the toolkit, as cuDriverGetVersion counts: 12090 for 12.9
	Chips   []string // that it knows: sm_80, sm_90a
}

// Find returns the programs of a name that are on this machine, the oldest first, one of
// each version: those that the environment variable MMAFUZZ_NAME (MMAFUZZ_PTXAS) lists, or
// else the one in PATH, that of an installed toolkit and those of Python wheels
// (nvidia-cuda-nvcc and nvidia-cuda-nvdisasm, with -cu12 for CUDA 12).
func Find(ctx context.Context, name string) []Tool {
	var files []string
	if list := os.Getenv("MMAFUZZ_" + strings.ToUpper(name)); list != "" {
		files = filepath.SplitList(list)
	} else {
		if file, err := exec.LookPath(name); err == nil {
			files = append(files, file)
		}
		files = append(files, filepath.Join("/usr/local/cuda/bin", name))
		for _, dir := range wheels(ctx) {
			found, _ := filepath.Glob(filepath.Join(dir, "nvidia", "*", "bin", name))
			files = append(files, found...)
		}
	}
	var tools []Tool
	for _, file := range files {
		if t, err := open(ctx, file); err == nil && !slices.ContainsFunc(tools, func(o Tool) bool { return o.Version == t.Version }) {
			tools = append(tools, *t)
		}
	}
	slices.SortFunc(tools, func(x, y Tool) int { return x.Version - y.Version })
	return tools
}

// wheels are the directories in which Python has its packages.
func wheels(ctx context.Context) []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	out, err := exec.CommandContext(ctx, "python3", "-c", "import site; print(*site.getsitepackages(), site.getusersitepackages(), sep='\\n')").Output()
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}

var (
	release = regexp.MustCompile(`release (\d+)\.(\d+)`)
	chip    = regexp.MustCompile(`'(?:sm_|SM)(\d+[af]?)'`)
)

// open asks a program for its version and chips.
func open(ctx context.Context, file string) (*Tool, error) {
	out, err := exec.CommandContext(ctx, file, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	v := release.FindSubmatch(out)
	if v == nil {
		return nil, fmt.Errorf("%s does not say its version", file)
	}
	major, _ := strconv.Atoi(string(v[1]))
	minor, _ := strconv.Atoi(string(v[2]))
	t := &Tool{Path: file, Version: 1000*major + 10*minor}
	help, err := exec.CommandContext(ctx, file, "--help").Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, c := range chip.FindAllSubmatch(help, -1) {
		t.Chips = append(t.Chips, "sm_"+string(c[1]))
	}
	return t, nil
}

// Knows reports whether the program can process code for a chip (gpu.Kernel.Target) that
// needs a toolkit of at least a version (gpu.Kernel.Driver).
func (t *Tool) Knows(version int, chip string) bool {
	return version <= t.Version && slices.Contains(t.Chips, chip)
}

// Disassemble returns nvdisasm's listing of machine code. No other call may use dir at the
// same time.
func (t *Tool) Disassemble(ctx context.Context, dir string, code []byte) (string, error) {
	file := filepath.Join(dir, "in.cubin")
	if err := os.WriteFile(file, code, 0o666); err != nil {
		return "", err
	}
	text, err := exec.CommandContext(ctx, t.Path, "-c", file).Output()
	if err != nil {
		return "", fmt.Errorf("nvdisasm %d.%d: %w", t.Version/1000, t.Version%1000/10, err)
	}
	return string(text), nil
}

// Assemble assembles PTX with ptxas and returns the machine code. No other call may use dir
// at the same time. The error has ptxas's messages.
func (t *Tool) Assemble(ctx context.Context, dir, chip, source string) ([]byte, error) {
	in, out := filepath.Join(dir, "in.ptx"), filepath.Join(dir, "out.cubin")
	if err := os.WriteFile(in, []byte(source), 0o666); err != nil {
		return nil, err
	}
	if text, err := exec.CommandContext(ctx, t.Path, "-arch="+chip, in, "-o", out).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("ptxas %d.%d for %s: %w\n%s", t.Version/1000, t.Version%1000/10, chip, err, text)
	}
	return os.ReadFile(out)
}
