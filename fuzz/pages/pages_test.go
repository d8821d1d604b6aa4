package pages_test

import (
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
	if p, err := new(pages.Maker).Page(t.Context(), []string{dir}); err != nil || p == nil {
		t.Errorf("page %v, %v", p, err)
	}
}
