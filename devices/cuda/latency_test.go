package cuda

import (
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/sass"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/toolkit"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestTimed makes loops of all instructions that can be chained, and has ptxas
// assemble them where it can be had.
func TestTimed(t *testing.T) {
	tools := toolkit.Find(t.Context(), "ptxas")
	if len(tools) == 0 {
		t.Log("SKIPPED: no ptxas, so no loop was assembled: python3 -m pip install 'nvidia-cuda-nvcc-cu12==12.9.*'")
	}
	loops := 0
	for _, arch := range []string{"volta", "ampere", "ada", "hopper", "rtx-blackwell"} {
		a, _ := mma.FindArch(arch)
		for _, i := range mma.Of(arch) {
			ks, err := kernels(&i, a.Chip)
			if err != nil {
				continue
			}
			for _, s := range []issue{{1, 1}, {16, 3}} {
				source, ok := timed(ks[0], s)
				if want := strings.HasPrefix(i.Name, "mma.") && i.C == i.D; ok != want {
					t.Errorf("%s: %v, want %v", i.Name, ok, want)
				}
				if !ok {
					continue
				}
				if n := strings.Count(source, "\tmma."); n != iterations*s.ilp {
					t.Errorf("%s: %d instructions in a round", i.Name, n)
				}
				loops++
				n := slices.IndexFunc(tools, func(t toolkit.Tool) bool { return t.Knows(ks[0].Driver, ks[0].Target) })
				if n >= 0 && loops%61 == 1 {
					t.Log(i.FullName(), s, loopCode(t, &tools[n], ks[0], source, s))
				}
			}
		}
	}
	if loops < 100 {
		t.Errorf("only %d loops", loops)
	}
}

// loopCode returns what the machine code of a loop is made of: as many matrix
// instructions as it has, or more, if they are no emulation, of which the compiler
// leaves out of the loop what does not depend on it.
func loopCode(t *testing.T, ptxas *toolkit.Tool, k *gpu.Kernel, source string, s issue) sass.Counts {
	t.Helper()
	code, err := ptxas.Assemble(t.Context(), t.TempDir(), k.Target, source)
	if err != nil {
		t.Errorf("%s: %v\n%s", k.Target, err, source)
		return nil
	}
	counts, err := sass.Scan(code)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for _, n := range counts {
		most = max(most, n)
	}
	if counts.Native(k.Needs) && most < iterations*s.ilp {
		t.Errorf("%s: %s in a round of %d\n%s", k.Target, counts, iterations*s.ilp, source)
	}
	return counts
}
