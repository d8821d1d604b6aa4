package vectors_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/exec"
	choose "github.com/mmafuzz/mmafuzz/fuzz/vectors"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// The unit of the consumers, and the change that their broken one has: it keeps a bit less.
const (
	rtl    = "../../devices/exec/testdata/verilator/"
	broken = "join.align.f 24→23"
)

// chosen is the set of that unit.
var chosen = sync.OnceValues(func() (*vectors.Set, error) {
	text, err := os.ReadFile(rtl + "tfdpa4.json")
	if err != nil {
		return nil, err
	}
	i, err := mma.ReadModel(text)
	if err != nil {
		return nil, err
	}
	return choose.Choose(context.Background(), i, mma.Catalog())
})

// tfdpa4 writes the set of that unit into a folder in every form, and returns it with the
// tests that the broken unit must fail.
func tfdpa4(t *testing.T) (dir string, s *vectors.Set, fail []string) {
	t.Helper()
	s, err := chosen()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for _, f := range vectors.Formats {
		text, err := f.Write(s)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "tfdpa4"+f.Ext), text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cases, err := s.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		for _, n := range c.Fails {
			if o := s.Others[n]; len(o.Changes) == 1 && o.Changes[0].String() == broken {
				fail = append(fail, c.ID)
			}
		}
	}
	if len(fail) == 0 {
		t.Fatalf("no test fails for %s", broken)
	}
	return dir, s, fail
}

// need skips the test where a program is missing.
func need(t *testing.T, what string, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not here: %s NOT TESTED (Debian: gcc, python3, verilator, make, g++)", p, what)
		}
	}
}

// run runs a command and returns what it prints; whether it succeeds is the caller's to
// judge.
func run(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// firstWords are the words before the colons of lines that have one after the first word.
func firstWords(out string) []string {
	var words []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z]+-[0-9]+): `).FindAllStringSubmatch(out, -1) {
		words = append(words, m[1])
	}
	return words
}

// TestC compiles the consumer in C with a unit, right and broken: it reports the tests that
// the set says, and so do the same tests on the unit as an exec: target.
func TestC(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	need(t, "the consumer in C is", "gcc")
	dir, s, fail := tfdpa4(t)
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	for f, want := range map[int][]string{24: nil, 23: fail} {
		for name, args := range map[string][]string{"check": {"check.c", `-DVECTORS="tfdpa4.h"`}, "child": {"child.c"}} {
			args = append(args, "-std=c99", "-Wall", "-Werror", fmt.Sprintf("-DF=%d", f), "unit.c", "-o", fmt.Sprint(name, f))
			if out, err := run(dir, "gcc", args...); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		out, err := run(dir, filepath.Join(dir, fmt.Sprint("check", f)))
		if d := cmp.Diff(want, firstWords(out)); d != "" || (err == nil) != (want == nil) {
			t.Errorf("F = %d: %v, %s", f, err, d)
		}
		if d := cmp.Diff(want, failing(t, s, "exec:"+filepath.Join(dir, fmt.Sprint("child", f)))); d != "" {
			t.Errorf("F = %d as a target: %s", f, d)
		}
	}
}

// failing lists the tests that a target fails.
func failing(t *testing.T, s *vectors.Set, target string) (fail []string) {
	t.Helper()
	u, err := devices.OpenUnit(target, "", "")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := s.Cases()
	if err != nil {
		t.Fatal(err)
	}
	b := mma.NewBatch(s.Formats, mma.Shape{M: 1, N: 1, K: s.K, Tiles: 1})
	out := make([]byte, s.Formats.D.Width())
	for i := range cases {
		b.Set(0, cases[i].Dot)
		if err := u.Run(t.Context(), b, out); err != nil {
			t.Fatal(err)
		}
		if !cases[i].Right(s.Formats.D, mma.Load(out, len(out), 0)) {
			fail = append(fail, cases[i].ID)
		}
	}
	return fail
}

// TestVerilator runs the bench in SystemVerilog on the unit, right and broken.
func TestVerilator(t *testing.T) {
	if !tier.Long() {
		t.Skip("compiles a program with Verilator: only with " + tier.Variable)
	}
	need(t, "the bench in SystemVerilog is", "verilator", "make", "g++")
	dir, s, fail := tfdpa4(t)
	cases, err := s.Cases()
	if err != nil {
		t.Fatal(err)
	}
	unit := string(read(t, rtl+"tfdpa4.sv"))
	const cut = "        return t.neg ? -{5'b0, cut}"
	for _, c := range []struct {
		rtl  string
		fail []string
	}{{unit, nil}, {strings.Replace(unit, cut, "        cut[0] = 0;\n"+cut, 1), fail}} {
		if err := os.WriteFile(filepath.Join(dir, "tfdpa4.sv"), []byte(c.rtl), 0o666); err != nil {
			t.Fatal(err)
		}
		bench, err := filepath.Abs("testdata/bench.sv")
		if err != nil {
			t.Fatal(err)
		}
		if out, err := run(dir, "verilator", "--binary", "--top", "bench", fmt.Sprintf("-GTESTS=%d", len(cases)), bench, "tfdpa4.sv"); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		out, err := run(dir, "obj_dir/Vbench", "+vectors=tfdpa4.hex")
		var got []string
		for _, m := range regexp.MustCompile(`(?m)^test ([0-9]+): `).FindAllStringSubmatch(out, -1) {
			n, _ := strconv.Atoi(m[1])
			got = append(got, cases[n].ID)
		}
		if d := cmp.Diff(c.fail, got); d != "" || (err == nil) != (c.fail == nil) {
			t.Errorf("%v, %s\n%s", err, d, out)
		}
	}
}

// TestPython runs the reader in Python, whose unit is exact: it fails what the set says that
// the exact sum fails, but for overflows, which Python's rounding reports as errors.
func TestPython(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Python")
	}
	need(t, "the reader in Python is", "python3")
	dir, s, _ := tfdpa4(t)
	script, err := filepath.Abs("testdata/read.py")
	if err != nil {
		t.Fatal(err)
	}
	out, err := run(dir, "python3", script, "tfdpa4.json")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cases, err := s.Cases()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range cases {
		for _, n := range c.Fails {
			if o := s.Others[n]; o.Kind == vectors.KindReference && o.Name == "exact" {
				want = append(want, c.ID)
			}
		}
	}
	if d := cmp.Diff(want, firstWords(out)); d != "" {
		t.Errorf("%s\n%s", d, out)
	}
}
