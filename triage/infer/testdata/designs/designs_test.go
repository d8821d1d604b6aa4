package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// of returns what the tests are to use with -short, usually, with MMAFUZZ_LONG, and if
// that is nightly: package sim/testdata/tier, which this module does not import, like
// anything else of mmafuzz.
func of(short, usual, long, nightly int) int {
	switch l := os.Getenv("MMAFUZZ_LONG"); {
	case testing.Short():
		return short
	case l == "nightly":
		return nightly
	case l != "":
		return long
	}
	return usual
}

// TestMain lets the test program be the child that judge starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		main()
	}
	os.Exit(m.Run())
}

// TestUnits checks that every unit answers every input, and gives the same answer when it
// is asked again, and that an input is the same after it was written and read.
func TestUnits(t *testing.T) {
	names := map[string]bool{}
	for _, u := range units() {
		if names[u.name] || u.follows == "" {
			t.Errorf("%s: a name for two units, or no word on what it follows", u.name)
		}
		names[u.name] = true
		r, d, again := rand.New(rand.NewPCG(1, 1)), newDot(u), newDot(u)
		different := map[string]bool{}
		for range of(100, 300, 1_000, 5_000) {
			d.aimed(r)
			text := d.String()
			if err := again.parse(text); err != nil || again.String() != text {
				t.Fatalf("%s: %s is read as %s: %v", u.name, text, again, err)
			}
			first := d.result()
			if len(first) != 2*u.formats[3].bytes || first != again.result() && !u.unstable {
				t.Fatalf("%s: %s gives %s, then %s", u.name, text, first, again.result())
			}
			different[first] = true
		}
		if len(different) < 20 {
			t.Errorf("%s: %d different results", u.name, len(different))
		}
	}
}

// TestJudge infers a few units and judges the answers. It also compares a model with a unit
// other than its own: the campaign notices that, and where the campaign is given the
// model's own unit, the aimed inputs do.
func TestJudge(t *testing.T) {
	if of(0, 0, 4, 6) == 0 {
		t.Skip("builds the program and runs it on whole units: only with MMAFUZZ_LONG=1")
	}
	mmafuzz := filepath.Join(t.TempDir(), "mmafuzz")
	if out, err := exec.Command("go", "build", "-C", "../../../..", "-o", mmafuzz, "./cmd/mmafuzz").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	j := &judge{mmafuzz: mmafuzz, self: self, dir: t.TempDir(), count: 20_000, aimed: 5000, flags: []string{"--checks", "5000", "--effort", "5"}}
	for _, tc := range []struct{ name, want string }{
		{"fma-ascending", right},
		{"remembers", unstable},
		{"fused-24", right},
		{"mitchell", unexplained},
		{"tree-8", right},
		{"fused-floor", right},
	}[:of(0, 0, 4, 6)] {
		name, want := tc.name, tc.want
		u, err := named([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := j.rule(u[0], 1); err != nil || r.verdict != want {
			t.Errorf("%s: %s %s: %v, want %s\n%s", name, r.verdict, r.detail, err, want, r.command)
		}
	}
	model := filepath.Join(j.dir, "fma-ascending-1", "model.json")
	other, err := named([]string{"mul-then-add"})
	if err != nil {
		t.Fatal(err)
	}
	for _, served := range []string{"fma-ascending", "mul-then-add"} {
		var r ruling
		if err := j.compare(&r, other[0], model, "exec:"+self+" serve "+served); err != nil || r.verdict != wrong {
			t.Errorf("a model of fma-ascending and mul-then-add, a campaign with %s: %s %s: %v, want %s", served, r.verdict, r.detail, err, wrong)
		}
	}
}

// TestTable checks that the table of verdicts is of these units, and that it is read as
// it is written.
func TestTable(t *testing.T) {
	const file = "verdicts.tsv"
	table, err := readTable(file)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "table")
	if err := table.write(again); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(again)
	want, _ := os.ReadFile(file)
	if !bytes.Equal(got, want) {
		t.Errorf("%s is of other units: delete the lines that changed, and run\n%s", file, made[2:])
	}
}

// TestCommandErrors gives command lines that are wrong.
func TestCommandErrors(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"", "usage: "},
		{"help", "usage: "},
		{"serve", "serve takes the name of one unit: run designs list for the names"},
		{"serve tree-8 tree-odd", "serve takes the name of one unit: run designs list for the names"},
		{"serve nobody", "there is no unit nobody: run designs list for the names"},
		{"judge nobody", "there is no unit nobody: run designs list for the names"},
	} {
		code, err := command(strings.Fields(tc.line))
		if code != 2 || err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%q: %d, %v, want 2, %s", tc.line, code, err, tc.want)
		}
	}
}
