package exec_test

import (
	"bytes"
	"os"
	osexec "os/exec"
	"path/filepath"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// verilated builds the RTL simulation of the documentation and returns the program.
func verilated(t testing.TB) string {
	t.Helper()
	for _, program := range []string{"verilator", "make", "g++"} {
		if _, err := osexec.LookPath(program); err != nil {
			t.Skipf("%s is not here: the RTL simulation in testdata/verilator is NOT TESTED (Debian: verilator, make, g++)", program)
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/verilator")); err != nil {
		t.Fatal(err)
	}
	cmd := osexec.Command("verilator", "-O3", "--cc", "--exe", "--build", "tfdpa4.sv", "main.cpp")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "obj_dir", "Vtfdpa4")
}

// TestVerilator runs the RTL against its model, in both modes, and against a model
// that keeps a bit more.
func TestVerilator(t *testing.T) {
	if !tier.Nightly() {
		t.Skip("compiles a program with Verilator, as TestVerilator of corpus/vectors does: only with " + tier.Variable + "=nightly")
	}
	program := verilated(t)
	wide := filepath.Join(t.TempDir(), "wide.json")
	text, err := os.ReadFile("testdata/verilator/tfdpa4.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(wide, bytes.Replace(text, []byte(`"f": 24`), []byte(`"f": 25`), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args, model string
		count       uint64
		label       string
	}{
		{"", "testdata/verilator/tfdpa4.json", 200_000, ""},
		{" binary", "testdata/verilator/tfdpa4.json", 1_000_000, ""},
		{" binary", wide, 20_000, "truncation-width"},
	} {
		pairs, err := devices.Pairs(open(t, "exec:"+program+tc.args), open(t, "model:"+tc.model), "", "")
		if err != nil {
			t.Fatal(err)
		}
		c, err := fuzz.New(fuzz.Config{Pairs: pairs, Seed: 1, Count: tc.count})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		p := c.State().Pairs[0]
		switch {
		case tc.label == "" && (p.Classes[oracle.Same] != p.Dots || p.Dots < tc.count):
			t.Errorf("%q: %d dot products, classes %v, %v", tc.args, p.Dots, p.Classes, p.Findings)
		case tc.label != "" && (p.Buckets[tc.label] == nil || p.Verdict == nil || len(p.Verdict.Changes) != 1 || p.Verdict.Changes[0].String() != "join.align.f 25→24"):
			t.Errorf("buckets %v, verdict %+v", p.Buckets, p.Verdict)
		}
	}
}
