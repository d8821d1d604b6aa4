package exec_test

import (
	osexec "os/exec"
	"path/filepath"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestProcessor compares the references, with their flags and in the rounding modes of IEEE 754, with
// the processor that runs this test. At night they are a million operations of each kind.
func TestProcessor(t *testing.T) {
	gcc, err := osexec.LookPath("gcc")
	if err != nil {
		t.Skip("there is no gcc: results and flags of this processor are NOT TESTED")
	}
	program := filepath.Join(t.TempDir(), "processor")
	if out, err := osexec.Command(gcc, "-O1", "-frounding-math", "-ffp-contract=off", "-o", program, "testdata/processor.c", "-lm").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	child := open(t, "exec:"+program)
	for selection, ref := range map[string]string{"mul*": "ref:mul", "fma32*": "ref:fma32", "fma64*": "ref:fma64", "cvt*": "ref:exact"} {
		pairs, err := devices.Pairs(child, open(t, ref), selection, "")
		if err != nil {
			t.Fatal(err)
		}
		c, err := fuzz.New(fuzz.Config{Pairs: pairs, Seed: 1, Count: uint64(tier.Of(1_000, 5_000, 20_000, 1_000_000))})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, p := range c.State().Pairs {
			if p.Classes[oracle.Same] != p.Dots || p.Dots == 0 {
				t.Errorf("%s and %s: %d dot products, classes %v", p.Name, ref, p.Dots, p.Classes)
				for _, f := range p.Findings {
					t.Logf("%s: %v gives %x here, %x by %s", f.Detail, *f.Dot, f.A, f.B, ref)
				}
			}
		}
	}
}
