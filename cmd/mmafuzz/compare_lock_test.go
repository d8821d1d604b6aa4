package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// TestCompareHolds starts a comparison while another one is writing its directory, or its
// list of known differences: it is refused, and what is there stays.
func TestCompareHolds(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.rec"), filepath.Join(dir, "b.rec")
	for file, arch := range map[string]string{a: "ampere", b: "hopper"} {
		if err := writeRecording(file, arch, arch, "mma.m16n8k8.f32.f16.f16.f32"); err != nil {
			t.Fatal(err)
		}
	}
	out, known := filepath.Join(dir, "out"), filepath.Join(dir, "known.json")
	args := []string{"compare", a, b, "--out", out, "--known", known, "--update-known", "--reason", "x"}
	compare := func() (int, string) {
		var stderr bytes.Buffer
		code := run(args, strings.NewReader(""), &bytes.Buffer{}, &stderr)
		return code, stderr.String()
	}
	if code, text := compare(); code != exitMismatch {
		t.Fatalf("exit code %d: %s", code, text)
	}
	before, err := readTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	for file, hint := range map[string]string{
		filepath.Join(out, "compare.json"): "mmafuzz: hint: wait for the other mmafuzz compare, or name another directory with --out\n",
		known:                              "mmafuzz: hint: wait for the other mmafuzz, or name another file with --known\n",
	} {
		r, err := corpus.Replace(file)
		if err != nil {
			t.Fatal(err)
		}
		code, text := compare()
		if want := "mmafuzz: " + file + ": another process is writing this file\n" + hint; code != exitTrouble || text != want {
			t.Errorf("exit code %d, %q, want %q", code, text, want)
		}
		if err := r.Discard(); err != nil {
			t.Error(err)
		}
		after, err := readTree(dir)
		if err != nil {
			t.Fatal(err)
		}
		if d := differences(before, after); d != "" {
			t.Errorf("%s has changed", d)
		}
	}
	// What a killed one has left is no lock. Without the list all is new again.
	if err := os.Remove(known); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, ".compare.json.mmafuzz-tmp"), []byte("half"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, text := compare(); code != exitMismatch {
		t.Errorf("exit code %d: %s", code, text)
	}
	after, err := readTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := differences(before, after); d != "" {
		t.Errorf("%s is not as the first time", d)
	}
}
