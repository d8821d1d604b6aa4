package prove

import (
	"bytes"
	"math/big"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// TestMain lets the test be the solver that is built in, which is a child process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == BuiltinCommand {
		if err := Builtin(os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// cadical is a solver, or the test is skipped.
func cadical(t *testing.T) []string {
	t.Helper()
	if _, err := exec.LookPath("cadical"); err != nil {
		t.Skip("there is no SAT solver: ", err)
	}
	return []string{"cadical", "-q"}
}

// program is an instruction of the catalogue and a program made of its own.
func program(t *testing.T, arch, name string, set map[string]string) (*mma.Instruction, mma.Params) {
	t.Helper()
	i, err := mma.Lookup(arch, name)
	if err != nil {
		t.Fatal(err)
	}
	q := i.Params
	for path, text := range set {
		f, ok := mma.FindField(path)
		if !ok {
			t.Fatalf("there is no field %s", path)
		}
		if err := q.Apply([]mma.Change{{Path: f.Path, To: text}}); err != nil {
			t.Fatal(err)
		}
	}
	return i, q
}

// TestRanges decides without a solver.
func TestRanges(t *testing.T) {
	for _, tc := range []struct {
		arch, name string
		set        map[string]string
		want       Verdict
		by         string
	}{
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", nil, Proved, "ranges"},
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"order": "descending"}, Proved, "ranges"},
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"join.align.floor": "-200"}, Proved, "ranges"},
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"join.cdrop": "25"}, Proved, "ranges"},
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"join.cdrop": "20"}, Refuted, "generators"},
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"acc.over": "max"}, Open, ""},
	} {
		i, q := program(t, tc.arch, tc.name, tc.set)
		r, err := Programs(t.Context(), i.Formats, i.K, i.Params, q, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != tc.want || r.By != tc.by || (r.Witness != nil) != (tc.want == Refuted) {
			t.Errorf("%s %v: %+v", tc.name, tc.set, r)
		}
	}
}

// pairs are hand-made questions about an instruction and itself with another value of a
// parameter or two, with their answers.
var pairs = []struct {
	arch, name string
	set        map[string]string
	want       Verdict
	hard       bool // too hard for the solver that is built in
}{
	// A sum of 16 products below 4, aligned at 2^0 with 25 bits below, and a c below 2: less than
	// 66 * 2^25. An adder of 2^32 is large enough, one of 2^31 is not.
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"join.align.bits": "32"}, Proved, false},
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"join.align.bits": "31"}, Refuted, false},
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"join.align.bits": "31", "join.align.saturate": "true"}, Refuted, false},
	// Terms of exponents 26 below the largest still reach the last place, terms 27 below do not.
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"join.align.drop": "27"}, Proved, false},
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"join.align.drop": "25"}, Refuted, false},
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"join.cdrop": "25"}, Proved, false},
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"join.cdrop": "24"}, Refuted, false},
	// The largest exponent of a product is 30: a c is lost beside finite terms up to there.
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"join.clost": "31"}, Proved, false},
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"join.clost": "30"}, Refuted, false},
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"acc.emax": "20"}, Refuted, false},
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"join.post.emax": "20"}, Refuted, false},
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"prod.round.emax": "20"}, Refuted, false},
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"prod.round.emax": "31"}, Proved, false},
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"in.a.over": "sat"}, Refuted, false},
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32", map[string]string{"acc.over": "max"}, Proved, false},
	{"x86", "vdpbf16ps", map[string]string{"in.a.over": "sat"}, Refuted, false},
	{"ampere", "mma.m16n8k8.f32.tf32.tf32.f32", map[string]string{"join.post.frac": "31", "join.post.mode": "rz", "join.post.emin": "-126"}, Proved, true},
	{"volta", "mma.m8n8k4.f16.f16.f16.f16", map[string]string{"join.align.f": "24"}, Refuted, false},
	{"hopper", "mma.m16n8k8.f32.tf32.tf32.f32", map[string]string{"join.cdrop": "24"}, Refuted, false},
}

// TestSolver decides with cadical and with the solver that is built in, to which the search
// for inputs leaves everything.
func TestSolver(t *testing.T) {
	solvers := [][]string{{os.Args[0], BuiltinCommand}}
	if _, err := exec.LookPath("cadical"); err == nil && tier.Long() {
		solvers = append(solvers, []string{"cadical", "-q"})
	}
	for n, tc := range pairs {
		if n%tier.Of(9, 4, 3, 1) != 0 {
			continue
		}
		i, q := program(t, tc.arch, tc.name, tc.set)
		for at, solver := range solvers {
			if tc.hard && (at == 0 || !tier.Long()) {
				continue
			}
			r, err := Programs(t.Context(), i.Formats, i.K, i.Params, q, Options{Solver: solver, Searched: true})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != tc.want || r.By == "generators" {
				t.Errorf("%s %v by %s: %+v", tc.name, tc.set, solver, r)
			}
			if w := r.Witness; w != nil {
				before, after := oracle.Eval(&i.Params, i.Formats, i.K, w.Dot), oracle.Eval(&q, i.Formats, i.K, w.Dot)
				if before != w.Before || after != w.After || before == after {
					t.Errorf("%s %v: %s gives %x and %x, the oracle says %x and %x", tc.name, tc.set, mma.FormatDot(i.Formats, w.Dot), w.Before, w.After, before, after)
				}
			}
			if !tier.Long() || at < len(solvers)-1 && !tier.Nightly() {
				continue
			}
			// The other way round it is the same question.
			if back, err := Programs(t.Context(), i.Formats, i.K, q, i.Params, Options{Solver: solver, Searched: true}); err != nil || back.Verdict != tc.want {
				t.Errorf("%s %v the other way round by %s: %+v %v", tc.name, tc.set, solver, back, err)
			}
		}
	}
}

// TestVacuous checks that assumptions that contradict each other prove nothing.
func TestVacuous(t *testing.T) {
	i, q := program(t, "ampere", "mma.m16n8k8.f32.tf32.tf32.f32", map[string]string{"join.align.f": "23"})
	s, err := newSession(i.Formats, i.K, &i.Params, &q, Options{Solver: cadical(t)})
	if err != nil {
		t.Fatal(err)
	}
	s.assume = []*graph.Node{s.Eq(s.Var("x", big.NewInt(3)), s.AddInt(s.Var("y", big.NewInt(3)), 1)), s.Eq(s.Var("x", big.NewInt(3)), s.Var("y", big.NewInt(3)))}
	_, err = s.ask(t.Context(), s.a, s.b, nothingFree)
	if err == nil || !strings.Contains(err.Error(), "contradict") {
		t.Errorf("got %v", err)
	}
}

// TestTooHard checks that what is not encoded is named.
func TestTooHard(t *testing.T) {
	i, q := program(t, "cdna2", "v_mfma_f64_16x16x4f64", nil)
	q.L = 0
	r, err := Programs(t.Context(), i.Formats, i.K, q, i.Params, Options{Searched: true})
	if err != nil || r.Verdict != Open || r.Reason != "an exact sum of more than 700 bits is not encoded" {
		t.Errorf("%+v %v", r, err)
	}
}

// TestWriteSMTLIB checks the form of a question, and the answer of z3 if it is there.
func TestWriteSMTLIB(t *testing.T) {
	i, q := program(t, "volta", "mma.m8n8k4.f16.f16.f16.f16", map[string]string{"join.align.f": "24"})
	var text bytes.Buffer
	if err := writeSMTLIB(&text, i.Formats, i.K, i.Params, q); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"(set-logic QF_BV)\n", "; a0.sign\n", "(assert (distinct ", "\n(check-sat)\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the question does not have %q", want)
		}
	}
	if open, shut := strings.Count(text.String(), "("), strings.Count(text.String(), ")"); open != shut {
		t.Errorf("%d parentheses are opened, %d are closed", open, shut)
	}
	z3, err := exec.LookPath("z3")
	if err != nil || !tier.Long() {
		return
	}
	c := exec.CommandContext(t.Context(), z3, "-in", "-T:60")
	c.Stdin = &text
	if out, err := c.Output(); err != nil || string(out) != "sat\n" {
		t.Errorf("z3 says %q, %v", out, err)
	}
}
