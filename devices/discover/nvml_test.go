package discover

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices/internal/dynamic"
)

// TestHelperNVML is run by TestNVML in a process of its own, because a process
// binds to the first library that it loads. It prints what is found.
func TestHelperNVML(t *testing.T) {
	file := os.Getenv("FAKE_NVML_OUT")
	if file == "" {
		t.Skip("for TestNVML")
	}
	out, err := json.Marshal(nvidiaKnown())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestNVML asks a library made for this test. With -tags nvml it is NVIDIA's binding that asks,
// which must give the same.
func TestNVML(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("NVML IS NOT TESTED: there is no gcc to build a library of NVML's interface with")
	}
	if err := dynamic.Supported(); err != nil {
		t.Skip("NVML IS NOT TESTED: ", err)
	}
	lib := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	if out, err := exec.Command(gcc, "-Wall", "-Werror", "-shared", "-fPIC", "-o", lib, filepath.Join("testdata", "fake_nvml.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	broken := func(problem string) []Device {
		return []Device{{Kind: "nvidia", Name: "NVML", Problem: problem, Remedy: "check that the kernel module and the driver libraries have one version (nvidia-smi)"}}
	}
	for _, tc := range []struct {
		name, lib, fault string
		want             []Device
	}{
		{"three GPUs", lib, "", []Device{
			{Kind: "nvidia", Name: "NVIDIA H200", Arch: "hopper", Detail: "compute capability 9.0, ECC on", UUID: "GPU-11111111-1111-1111-1111-111111111111",
				Driver: "570.124.06", VBIOS: "96.00.74.00.01", Clocks: "345 of 1980 MHz, memory 3200 of 3201 MHz", ECC: "7 errors corrected, 2 not",
				Throttle: "software power cap, hardware thermal slowdown, 0x1000"},
			{Kind: "nvidia", Name: "GPU 1", Driver: "570.124.06", Problem: "GPU is lost"},
			{Kind: "nvidia", Name: "NVIDIA Something", Detail: "compute capability 99.0", UUID: "GPU-3333", Driver: "570.124.06", Throttle: "none"},
		}},
		{"no driver", lib, "driver", nvidiaProc("/proc/driver/nvidia")},
		{"other version", lib, "init", broken("nvmlInit: error 18, Driver/library version mismatch")},
		{"no count", lib, "count", broken("nvmlDeviceGetCount: error 1, Uninitialized")},
		{"no library", filepath.Join(t.TempDir(), "absent.so"), "", nvidiaProc("/proc/driver/nvidia")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "found.json")
			cmd := exec.Command(os.Args[0], "-test.run=^TestHelperNVML$")
			cmd.Env = append(os.Environ(), libraryVar+"="+tc.lib, "FAKE_NVML="+tc.fault, "FAKE_NVML_OUT="+file)
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
