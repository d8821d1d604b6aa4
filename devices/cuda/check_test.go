//go:build linux

package cuda_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/cuda"
	"github.com/mmafuzz/mmafuzz/devices/cuda/testdata/cudatest"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/toolkit"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestChecker compiles kernels on the fake device, a Hopper, and by ptxas where it can
// be had.
func TestChecker(t *testing.T) {
	fake(t, "")
	cudatest.Register()
	c, err := cuda.NewChecker("cuda:0,force")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	i, err := mma.Lookup("hopper", "wgmma.m64n8k32.f16.e4m3.e5m2")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text, err := c.Accept(i, dir)
	if err != nil || text != "native (QGMMA 1); a in registers: native (QGMMA 1)" {
		t.Errorf("%q, %v", text, err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*.cubin")); len(files) != 2 {
		t.Errorf("machine code: %v", files)
	}
	other, err := mma.Lookup("blackwell", "tcgen05.m128n8k16.kind::f16.f32.f16.f16")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Accept(other, dir); err == nil {
		t.Error("a kernel for another chip")
	}
	if len(toolkit.Find(t.Context(), "ptxas")) == 0 {
		t.Skip("SKIPPED: no ptxas, so no kernel was assembled: python3 -m pip install 'nvidia-cuda-nvcc-cu12==12.9.*'")
	}
	if chips := strings.Join(cuda.Chips(t.Context()), " "); !strings.Contains(chips, "sm_75 sm_80 sm_89 sm_90") {
		t.Errorf("chips %s", chips)
	}
	a, err := c.Assemble(t.Context(), "sm_75", dir)
	if a.Assembled < 3 || len(a.Refused) > 0 || a.Later > 0 || err != nil {
		t.Errorf("kernels of sm_75: %+v, %v", a, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("listings of another chip's code: %v, %v", entries, err)
	}
}
