package prove

import (
	"bytes"
	"math/big"
	"os/exec"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

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

// TestSolver decides with a solver, to which the search for inputs leaves everything.
func TestSolver(t *testing.T) {
	solver := cadical(t)
	for n, tc := range []struct {
		arch, name string
		set        map[string]string
		want       Verdict
	}{
		{"ampere", "mma.m16n8k8.f32.tf32.tf32.f32", map[string]string{"join.post.frac": "31", "join.post.mode": "rz", "join.post.emin": "-126"}, Proved},
		{"volta", "mma.m8n8k4.f16.f16.f16.f16", map[string]string{"join.align.f": "24"}, Refuted},
		{"hopper", "mma.m16n8k8.f32.tf32.tf32.f32", map[string]string{"join.cdrop": "24"}, Refuted},
	} {
		if n >= tier.Of(1, 1, 3) {
			break
		}
		i, q := program(t, tc.arch, tc.name, tc.set)
		r, err := Programs(t.Context(), i.Formats, i.K, i.Params, q, Options{Solver: solver, Searched: true})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != tc.want || r.By != "solver" || r.Asked == 0 {
			t.Errorf("%s %v: %+v", tc.name, tc.set, r)
		}
		if w := r.Witness; w != nil {
			before, after := oracle.Eval(&i.Params, i.Formats, i.K, w.Dot), oracle.Eval(&q, i.Formats, i.K, w.Dot)
			if before != w.Before || after != w.After || before == after {
				t.Errorf("%s %v: %s gives %x and %x, the oracle says %x and %x", tc.name, tc.set, mma.FormatDot(i.Formats, w.Dot), w.Before, w.After, before, after)
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
	s.impossible = []*graph.Node{s.Eq(s.Var("x", big.NewInt(3)), s.AddInt(s.Var("y", big.NewInt(3)), 1)), s.Eq(s.Var("x", big.NewInt(3)), s.Var("y", big.NewInt(3)))}
	_, err = s.ask(t.Context(), s.a, s.b, nothingFree)
	if err == nil || !strings.Contains(err.Error(), "contradict") {
		t.Errorf("got %v", err)
	}
}

// TestTooHard checks that what is not encoded is named.
func TestTooHard(t *testing.T) {
	i, q := program(t, "cdna3", "v_mfma_f32_16x16x16_f16", nil)
	q.Join.Align = mma.Align{}
	q.Join.CF, q.Join.CMode = 24, fp.RZ
	r, err := Programs(t.Context(), i.Formats, i.K, q, i.Params, Options{Searched: true})
	if err != nil || r.Verdict != Open || r.Reason != "join.cf of an exact sum is not encoded" {
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
