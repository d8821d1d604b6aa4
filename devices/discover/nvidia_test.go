package discover

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/driver"
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

// TestJoin has GPUs that the driver offers, hides, or offers alone.
func TestJoin(t *testing.T) {
	offered := []Device{
		{Kind: "nvidia", Name: "H100", UUID: "GPU-b", Arch: "hopper", Detail: "compute capability 9.0", Target: "cuda:0"},
		{Kind: "nvidia", Name: "T4", UUID: "GPU-c", Arch: "turing", Detail: "compute capability 7.5", Target: "cuda:1"},
	}
	known := []Device{
		{Kind: "nvidia", Name: "A100", UUID: "GPU-a", Driver: "570.1"},
		{Kind: "nvidia", Name: "H100", UUID: "GPU-b", Driver: "570.1", Detail: "less"},
		{Kind: "nvidia", Name: "GPU 2", Driver: "570.1", Problem: "GPU is lost"},
	}
	hidden := Device{Kind: "nvidia", Name: "A100", UUID: "GPU-a", Driver: "570.1",
		Problem: "the driver does not offer it to this program", Remedy: "look at CUDA_VISIBLE_DEVICES, and in a container at --gpus"}
	want := []Device{hidden,
		{Kind: "nvidia", Name: "H100", UUID: "GPU-b", Driver: "570.1", Arch: "hopper", Detail: "compute capability 9.0", Target: "cuda:0"},
		known[2], {Kind: "nvidia", Name: "T4", UUID: "GPU-c", Arch: "turing", Detail: "compute capability 7.5", Target: "cuda:1"},
	}
	if diff := cmp.Diff(want, join(known, offered, nil)); diff != "" {
		t.Error(diff)
	}
	const remedy = "get nvidia-smi to work first; simulators and recordings need no GPU"
	broken := errors.New("driver broken")
	for _, tc := range []struct {
		known, want []Device
		err         error
	}{
		{nil, nil, &driver.AbsentError{}},
		{nil, nil, &driver.Error{Call: "cuInit", Code: 100}},
		{nil, []Device{{Kind: "nvidia", Name: "CUDA", Problem: "driver broken", Remedy: remedy}}, broken},
		{known[:1], []Device{{Kind: "nvidia", Name: "A100", UUID: "GPU-a", Driver: "570.1", Problem: "driver broken", Remedy: remedy}}, broken},
		{known[2:], known[2:], broken},
	} {
		in := slices.Clone(tc.known)
		if diff := cmp.Diff(tc.want, join(in, nil, tc.err)); diff != "" {
			t.Errorf("%v:\n%s", tc.err, diff)
		}
	}
}
