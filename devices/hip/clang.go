package hip

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// clangProgram is a compiler of HIP C++ that is installed as a program. It is used where
// hiprtc is missing, and by tests.
type clangProgram struct {
	Path  string
	chips map[string]bool
}

// clangVersions are the versions of LLVM that are looked for by name, as Debian
// calls them: newest first.
var clangVersions = []string{"24", "23", "22", "21", "20", "19", "18"}

// findClangs returns the compilers that are found: the one that the environment
// variable MMAFUZZ_CLANG names, or ROCm's and those on the path.
func findClangs() []*clangProgram {
	paths := []string{os.Getenv("MMAFUZZ_CLANG")}
	if paths[0] == "" {
		paths = []string{filepath.Join(rocm(), "llvm", "bin", "clang"), filepath.Join(rocm(), "bin", "clang")}
		for _, v := range clangVersions {
			paths = append(paths, "clang-"+v)
		}
	}
	var found []*clangProgram
	for _, p := range paths {
		if full, err := exec.LookPath(p); err == nil {
			found = append(found, &clangProgram{Path: full})
		}
	}
	return found
}

// rocm returns the directory where ROCm is, if it is installed.
func rocm() string {
	return cmp.Or(os.Getenv("ROCM_PATH"), os.Getenv("HIP_PATH"), "/opt/rocm") // HIP_PATH: the HIP SDK for Windows
}

// compileTime is how long a compilation may take.
const compileTime = 2 * time.Minute

// Knows reports whether the compiler has a chip, such as gfx942, among its targets.
func (c *clangProgram) Knows(chip string) bool {
	if c.chips == nil {
		c.chips = map[string]bool{}
		ctx, cancel := context.WithTimeout(context.Background(), compileTime)
		defer cancel()
		out, _ := exec.CommandContext(ctx, c.Path, "--target=amdgcn-amd-amdhsa", "-nogpulib", "--print-supported-cpus").CombinedOutput()
		for _, word := range strings.Fields(string(out)) {
			c.chips[word] = true
		}
	}
	return c.chips[chip]
}

// Compile returns the code object of a HIP C++ source for a chip.
func (c *clangProgram) Compile(ctx context.Context, source, chip string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, compileTime)
	defer cancel()
	dir, err := os.MkdirTemp("", "mmafuzz-hip-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	object := filepath.Join(dir, "kernel.co")
	cmd := exec.CommandContext(ctx, c.Path, "-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "--offload-arch="+chip,
		"-nogpulib", "-nogpuinc", "-std=c++17", "-O2", "-o", object, "-")
	cmd.Stdin = strings.NewReader(source)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s --offload-arch=%s: %w: %s", c.Path, chip, errors.Join(err, ctx.Err()), strings.TrimSpace(log.String()))
	}
	return os.ReadFile(object)
}
