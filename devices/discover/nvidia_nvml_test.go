//go:build nvml && cgo && linux

package discover

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/google/go-cmp/cmp"
)

// TestHelperNVML is run by TestNVML in a process of its own, because a process
// binds to the first library that it loads. It prints what is found.
func TestHelperNVML(t *testing.T) {
	lib := os.Getenv("FAKE_NVML_LIBRARY")
	if lib == "" {
		t.Skip("for TestNVML")
	}
	out, err := json.Marshal(nvidiaNVML(nvml.New(nvml.WithLibraryPath(lib))))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(os.Getenv("FAKE_NVML_OUT"), out, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestNVML asks a library made for this test.
func TestNVML(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("NVML IS NOT TESTED: there is no gcc to build a library of NVML's interface with")
	}
	lib := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	if out, err := exec.Command(gcc, "-Wall", "-Werror", "-shared", "-fPIC", "-o", lib, filepath.Join("testdata", "fake_nvml.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tc := range []struct {
		name, lib, fault string
		want             []Device
	}{
		{"three GPUs", lib, "", []Device{
			{Kind: "nvidia", Name: "NVIDIA H200", Arch: "hopper", Detail: "compute capability 9.0, ECC on", UUID: "GPU-1111", Driver: "570.124.06", Clocks: "345 of 1980 MHz"},
			{Kind: "nvidia", Name: "GPU 1", Driver: "570.124.06", Problem: "GPU is lost"},
			{Kind: "nvidia", Name: "NVIDIA Something", Detail: "compute capability 99.0", UUID: "GPU-3333", Driver: "570.124.06"},
		}},
		{"no driver", lib, "init", []Device{{Kind: "nvidia", Name: "NVML", Problem: "initialisation failed: error 9",
			Remedy: "check that the kernel module and the driver libraries have one version (nvidia-smi)"}}},
		{"no count", lib, "count", []Device{{Kind: "nvidia", Name: "NVML", Problem: "Uninitialized"}}},
		{"no library", filepath.Join(t.TempDir(), "absent.so"), "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "found.json")
			cmd := exec.Command(os.Args[0], "-test.run=^TestHelperNVML$")
			cmd.Env = append(os.Environ(), "FAKE_NVML_LIBRARY="+tc.lib, "FAKE_NVML="+tc.fault, "FAKE_NVML_OUT="+file)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got []Device
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
