//go:build !(nvml && cgo && linux)

package discover

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNVIDIAProc(t *testing.T) {
	want := []Device{
		{Kind: "nvidia", Name: "NVIDIA H100 80GB HBM3", UUID: "GPU-0b1d6f0a-1111-2222-3333-444455556666", Driver: "570.124.06"},
		{Kind: "nvidia", Name: "Unknown", UUID: "GPU-????????-????-????-????-????????????", Driver: "570.124.06"},
	}
	if diff := cmp.Diff(want, nvidiaProc("testdata/nvidia")); diff != "" {
		t.Error(diff)
	}
	if got := nvidiaProc(filepath.Join("testdata", "absent")); got != nil {
		t.Errorf("without the driver: %v", got)
	}
}

// TestNVIDIAProcUnreadable has files that cannot be read.
func TestNVIDIAProcUnreadable(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "gpus", "0", "information")
	if err := os.MkdirAll(file, 0o777); err != nil { // a directory in its place
		t.Fatal(err)
	}
	got := nvidiaProc(root)
	if len(got) != 1 || got[0].Kind != "nvidia" || got[0].Name != file || got[0].Problem == "" || got[0].Remedy != "read access to "+root {
		t.Errorf("%+v", got)
	}
}

func TestDriverVersion(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "NVRM version: none\n": "", "version 5\n": "",
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n": "535.129.03",
	} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, "version"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := driverVersion(root); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
