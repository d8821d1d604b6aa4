package bundle

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	kernels "github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestPrograms writes the programs of every instruction of a GPU.
func TestPrograms(t *testing.T) {
	want := map[string][]string{"sm_": {"repro_b.cu", "repro_b.py"}, "gfx": {"repro_b.hip"}}
	rows := mma.Catalog()
	for n := 0; n < len(rows); n += tier.Of(7, 3, 1) {
		i := &rows[n]
		arch, _ := mma.FindArch(i.Arch)
		zero := mma.NewDot(i.Formats, i.K)
		files, err := kernels.Reproduce(&kernels.Case{Side: "b", Instruction: i, Dot: zero, K: i.K})
		if err != nil {
			t.Errorf("%s: %v", i.FullName(), err)
			continue
		}
		names := want[arch.Chip[:3]]
		if strings.HasPrefix(i.Name, "v_dot") || i.Conversion() || i.D.Get().Integer() && strings.HasPrefix(arch.Chip, "gfx") {
			names = nil // there is no kernel for it yet
		}
		if len(files) != len(names) {
			t.Errorf("%s: %d files, want %d", i.FullName(), len(files), len(names))
		}
		for _, name := range names {
			if !strings.Contains(string(files[name]), i.Name) {
				t.Errorf("%s: %s does not name the instruction", i.FullName(), name)
			}
		}
	}
}

// TestProgramsOfBundles asks for the programs of sides that are and are not
// instructions of GPUs.
func TestProgramsOfBundles(t *testing.T) {
	i, err := mma.Lookup("hopper", "mma.m16n8k8.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	side := corpus.SideRecord{Target: "sim:hopper", Arch: "hopper", Instruction: i.Name, Result: "3f800000"}
	other := corpus.SideRecord{Target: "model:x.json", Arch: "model", Instruction: "x", Result: "3f800001"}
	m := &corpus.Mismatch{A: side, B: other, Formats: i.Formats, K: i.K, Case: "3c00 3c00 00000000"}
	if files := programs(m); len(files) != 2 || files["repro_a.cu"] == nil || files["repro_a.py"] == nil {
		t.Errorf("%d files for one side", len(files))
	}
	m.A.Result = corpus.NoResult
	if files := programs(m); len(files) != 0 {
		t.Errorf("%d files without a result", len(files))
	}
	m.A, m.B = side, other
	m.K = 12 // no multiple of the instruction's
	if files := programs(m); len(files) != 0 {
		t.Errorf("%d files for 12 elements", len(files))
	}
	m.K, m.Formats.D = i.K, i.A
	if files := programs(m); len(files) != 0 {
		t.Errorf("%d files for other operands", len(files))
	}
}
