package cuda

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/cuda/sass"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestTimed makes loops of all instructions that can be chained, and has ptxas
// assemble them where it can be had.
func TestTimed(t *testing.T) {
	ptxas := tool("ptxas")
	if ptxas == "" {
		t.Log("there is no ptxas: LOOPS ARE NOT ASSEMBLED")
	}
	loops := 0
	for _, arch := range []string{"volta", "ampere", "ada", "hopper", "rtx-blackwell"} {
		a, _ := mma.FindArch(arch)
		for _, i := range mma.Of(arch) {
			ks, err := kernels(&i, a.Chip)
			if err != nil {
				continue
			}
			for _, chains := range []int{1, 4} {
				source, ok := timed(ks[0], chains)
				if want := strings.HasPrefix(i.Name, "mma.") && i.C == i.D; ok != want {
					t.Errorf("%s: %v, want %v", i.Name, ok, want)
				}
				if !ok {
					continue
				}
				if n := strings.Count(source, "\tmma."); n != unroll {
					t.Errorf("%s: %d instructions in a round", i.Name, n)
				}
				if loops++; ptxas != "" && loops%64 == 1 {
					t.Log(i.FullName(), chains, assemble(t, ptxas, ks[0], source))
				}
			}
		}
	}
	if loops < 100 {
		t.Errorf("only %d loops", loops)
	}
}

// assemble returns what the machine code of a loop is made of: as many matrix
// instructions as it has, or more, if they are no emulation, of which the compiler
// leaves out of the loop what does not depend on it.
func assemble(t *testing.T, ptxas string, k *gpu.Kernel, source string) sass.Counts {
	t.Helper()
	file := filepath.Join(t.TempDir(), "loop.ptx")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(ptxas, "-arch="+k.Target, "-o", file+".cubin", file).CombinedOutput()
	if strings.Contains(string(out), "is not defined for option 'gpu-name'") {
		return nil
	}
	if err != nil {
		t.Errorf("%s: %v\n%s\n%s", k.Target, err, out, source)
		return nil
	}
	body, err := os.ReadFile(file + ".cubin")
	if err != nil {
		t.Fatal(err)
	}
	counts, err := sass.Scan(body)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for _, n := range counts {
		most = max(most, n)
	}
	if counts.Native(k.Needs) && most < unroll {
		t.Errorf("%s: %s in a round of %d\n%s", k.Target, counts, unroll, source)
	}
	return counts
}
