package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// mmasimVersion is the version of MMA-Sim that mmafuzz was last compared with.
const mmasimVersion = "2.1.1"

// cacheDir is where MMA-Sim is installed.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place to install MMA-Sim: %w; --cache names one", err)
	}
	return filepath.Join(dir, "mmafuzz", "mmasim"), nil
}

// interpreter returns a Python that has MMA-Sim: that from the virtual environment below
// cache, which is created if necessary.
func interpreter(ctx context.Context, cache, version string, log io.Writer) (string, error) {
	env := filepath.Join(cache, version)
	python := filepath.Join(env, "bin", "python")
	if runtime.GOOS == "windows" {
		python = filepath.Join(env, "Scripts", "python.exe")
	}
	if has(ctx, python) {
		return python, nil
	}
	system, err := exec.LookPath("python3")
	if err != nil {
		return "", errors.New("python3 is missing: install Python 3.10 or later with venv")
	}
	fmt.Fprintf(log, "peerbench: installing the packages mmasim %s and torch, with what they need, from pip's package index into %s; this takes minutes and gigabytes\n", version, env)
	if err := command(ctx, system, "-m", "venv", env); err != nil {
		return "", fmt.Errorf("python3 -m venv: %w", err)
	}
	if err := command(ctx, python, "-m", "pip", "install", "--quiet", "--no-cache-dir", "mmasim=="+version); err != nil {
		return "", fmt.Errorf("mmasim %s cannot be installed: %w; --python names an interpreter that has it", version, err)
	}
	if !has(ctx, python) {
		return "", fmt.Errorf("mmasim %s was installed, and yet %s cannot import it", version, python)
	}
	return python, nil
}

// has reports whether an interpreter has MMA-Sim.
func has(ctx context.Context, python string) bool {
	return command(ctx, python, "-c", "import importlib.metadata as m; m.version('mmasim'); m.version('torch')") == nil
}

// command runs a program; the error has the last line of what it said.
func command(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil && len(strings.TrimSpace(string(out))) > 0 {
		return fmt.Errorf("%w: %s", err, lastLine(string(out)))
	}
	return err
}
