package ptx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/toolkit"
	"github.com/mmafuzz/mmafuzz/sim/testdata/golden"
)

// TestHalfModes asks the assembler which rounding modes the FP16 arithmetic of CUDA cores has, which
// Fasi et al. use to tell it from that of tensor cores: testdata/half.tsv.
func TestHalfModes(t *testing.T) {
	tools := assemblers(t)
	const target, driver = "sm_70", 10010
	var tool *toolkit.Tool
	for n := range tools {
		if tools[n].Knows(driver, target) {
			tool = &tools[n]
		}
	}
	if tool == nil {
		t.Skip("SKIPPED: no ptxas knows " + target)
	}
	var table strings.Builder
	for _, op := range []struct {
		name     string
		operands string
	}{{"add", "%h0, %h1"}, {"mul", "%h0, %h1"}, {"fma", "%h0, %h1, %h2"}} {
		var taken []string
		for _, mode := range []string{"rn", "rz", "rm", "rp"} {
			text := fmt.Sprintf(".version 6.4\n.target %s\n.address_size 64\n.entry k() { .reg .b16 %%h<4>; %s.%s.f16 %%h3, %s; }\n", target, op.name, mode, op.operands)
			if _, err := tool.Assemble(t.Context(), t.TempDir(), target, text); err == nil {
				taken = append(taken, mode)
			} else if !strings.Contains(err.Error(), "Illegal rounding modifier") {
				t.Fatal(err)
			}
		}
		fmt.Fprintf(&table, "%s\t%s\n", op.name, strings.Join(taken, ", "))
	}
	golden.File(t, "testdata/half.tsv", table.String())
}
