package pages_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated" // sim:
	"github.com/mmafuzz/mmafuzz/fuzz/pages"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// TestWithoutNote makes the page of a bundle with the zero Maker.
func TestWithoutNote(t *testing.T) {
	i, err := mma.Lookup("ampere", "mma.m16n8k8.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "bundle")
	err = bundle.Write(dir, &corpus.Mismatch{
		A:       corpus.SideRecord{Target: "sim:ampere", Instruction: i.Name, Arch: "ampere", K: i.K, Result: "3f800000"},
		B:       corpus.SideRecord{Target: "sim:hopper", Instruction: i.Name, Arch: "hopper", K: i.K, Result: "3f7fffff"},
		Formats: i.Formats, K: i.K, Case: "3c00 3c00 b3400000", Class: "value", Bucket: "truncation-width",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(dir)
	if err := os.Rename(dir, filepath.Join(root, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(root, "moved"), filepath.Join(dir, "bundle-1")); err != nil {
		t.Fatal(err)
	}
	// The bundle itself, and directories one and two levels above it.
	for _, path := range []string{filepath.Join(dir, "bundle-1"), dir, root} {
		if p, err := new(pages.Maker).Page(t.Context(), []string{path}); err != nil || p == nil {
			t.Errorf("%s: page %v, %v", path, p, err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "notes.txt"), []byte("notes"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{root, filepath.Dir(root)} {
		if _, err := new(pages.Maker).Page(t.Context(), []string{path}); err == nil {
			t.Errorf("%s has other files, or is three levels above: it has a page", path)
		}
	}
}
