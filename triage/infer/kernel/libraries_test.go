package kernel_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/infer/kernel"

	_ "github.com/mmafuzz/mmafuzz/devices/exec"
)

// TestNumPy infers products of NumPy, on one path of its BLAS that every x86 processor of
// today has. What is found there at 64 x 64 has two schedules by position.
func TestNumPy(t *testing.T) {
	python := cmp.Or(os.Getenv("MMAFUZZ_PYTHON"), "python3")
	if exec.Command(python, "-c", "import numpy").Run() != nil {
		t.Skip("the package numpy is not here: NOT TESTED")
	}
	for _, s := range []schedule.Shape{{M: 64, N: 64, K: 64}, {M: 8, N: 8, K: 400}, {M: 1, N: 64, K: 100}, {M: 1, N: 1, K: 103}}[:tier.Of(1, 2, 4)] {
		shape := fmt.Sprintf("%dx%dx%d", s.M, s.N, s.K)
		t.Run(shape, func(t *testing.T) {
			const child = "../../../devices/exec/children/matmul.py "
			target, u, err := open.Live("exec:env OPENBLAS_CORETYPE=Haswell OPENBLAS_NUM_THREADS=1 "+python+" "+child+shape, "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer target.Close()
			r, err := kernel.Infer(t.Context(), u, s, kernel.Options{Seed: 1, Checks: tier.Of(4_000, 4_000, 100_000, 1_000_000), Policy: oracle.Policy{NaN: oracle.ByClass}})
			if err != nil {
				t.Fatal(err)
			}
			report := kernel.Report{Target: "numpy", Instruction: "matmul", Result: r}
			var b strings.Builder
			if err := report.Document().Write(&b, "text", document.Options{Width: 100}); err != nil {
				t.Fatal(err)
			}
			t.Log(b.String())
			if r.Verdict != kernel.Found {
				t.Errorf("%s: %s", r.Verdict, r.Why)
			}
		})
	}
}
