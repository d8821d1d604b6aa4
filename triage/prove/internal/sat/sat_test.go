package sat

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		text  string
		want  Answer
		model []bool
		fault string
	}{
		{"s UNSATISFIABLE\n", Unsatisfiable, nil, ""},
		{"c hello\ns SATISFIABLE\nv 1 -2\nv 3 0\n", Satisfiable, []bool{false, true, false, true}, ""},
		{"s SATISFIABLE\nv 2 0\n", Satisfiable, []bool{false, false, true, false}, ""},
		{"", Unknown, nil, ""},
		{"s UNKNOWN\n", Unknown, nil, ""},
		{"s MAYBE\n", Unknown, nil, `its answer is "MAYBE"`},
		{"s SATISFIABLE\ns UNSATISFIABLE\n", Unknown, nil, `its answer is "UNSATISFIABLE"`},
		{"s SATISFIABLE\nv 4 0\n", Unknown, nil, `"4" is no literal of 3 variables`},
		{"s SATISFIABLE\nv -9223372036854775808 0\n", Unknown, nil, `"-9223372036854775808" is no literal of 3 variables`},
		{"s SATISFIABLE\nv x\n", Unknown, nil, `"x" is no literal of 3 variables`},
		{"s SATISFIABLE\nv 1 -1 0\n", Unknown, nil, "variable 1 is both true and false"},
	} {
		a, model, err := parse([]byte(tc.text), 3)
		fault := ""
		if err != nil {
			fault = err.Error()
		}
		if a != tc.want || fault != tc.fault || tc.model != nil && !slices.Equal(model, tc.model) {
			t.Errorf("%q: %v %v %q", tc.text, a, model, fault)
		}
	}
}

// TestSolve asks programs that are no solvers but answer like some.
func TestSolve(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the solvers of this test are shell commands: ", err)
	}
	for _, tc := range []struct {
		name, script string
		want         Answer
		fault        string
	}{
		{"unsatisfiable", "cat >/dev/null; echo s UNSATISFIABLE; exit 20", Unsatisfiable, ""},
		{"satisfiable", "cat >/dev/null; echo s SATISFIABLE; echo v 1 0; exit 10", Satisfiable, ""},
		{"status 0", "cat >/dev/null; echo s UNSATISFIABLE", Unsatisfiable, ""},
		{"two answers", "cat >/dev/null; echo s UNSATISFIABLE; exit 10", Unknown, "says one thing and ends with exit status 10"},
		{"it gives up", "cat >/dev/null", Unknown, ""},
		{"it is killed", "kill -9 $$", Unknown, ""},
		{"it fails", "echo no such option >&2; exit 1", Unknown, "no such option"},
		{"it says too much", "cat >/dev/null; yes c | head -c 70000000; echo s UNSATISFIABLE; exit 20", Unknown, "says more than"},
		{"it reads what is written", `test "$(cat)" = "p cnf 1 0" && echo s SATISFIABLE`, Satisfiable, ""},
	} {
		a, _, err := Solve(t.Context(), []string{"sh", "-c", tc.script}, 1, func(w io.Writer) error {
			_, err := io.WriteString(w, "p cnf 1 0\n")
			return err
		})
		if a != tc.want || (err == nil) != (tc.fault == "") || err != nil && !strings.Contains(err.Error(), tc.fault) {
			t.Errorf("%s: %v %v", tc.name, a, err)
		}
	}
}

// TestDeadline checks that a solver that does not end is ended.
func TestDeadline(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the solver of this test is a shell command: ", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	a, _, err := Solve(ctx, []string{"sh", "-c", "cat >/dev/null; exec sleep 1000"}, 1, func(io.Writer) error { return nil })
	if a != Unknown || err != nil {
		t.Errorf("%v %v", a, err)
	}
}

// TestBuiltin answers formulas of which the number of satisfying assignments is counted.
func TestBuiltin(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	answers := map[Answer]int{}
	for range 300 {
		const vars = 8
		var clauses [][]int
		for range 20 + r.IntN(30) {
			var c []int
			for range 3 {
				c = append(c, (1+r.IntN(vars))*(1-2*r.IntN(2)))
			}
			clauses = append(clauses, c)
		}
		satisfied := func(set func(int) bool) bool {
			return !slices.ContainsFunc(clauses, func(c []int) bool {
				return !slices.ContainsFunc(c, func(l int) bool { return set(max(l, -l)) == (l > 0) })
			})
		}
		want := Unsatisfiable
		for bits := range 1 << vars {
			if satisfied(func(v int) bool { return bits>>(v-1)&1 != 0 }) {
				want = Satisfiable
			}
		}
		var in, out bytes.Buffer
		fmt.Fprintf(&in, "p cnf %d %d\n", vars, len(clauses))
		for _, c := range clauses {
			fmt.Fprintln(&in, c[0], c[1], c[2], 0)
		}
		if err := Builtin(&in, &out); err != nil {
			t.Fatal(err)
		}
		got, model, err := parse(out.Bytes(), vars)
		if err != nil || got != want || got == Satisfiable && !satisfied(func(v int) bool { return model[v] }) {
			t.Fatalf("%v: %v %v %v, want %v", clauses, got, model, err, want)
		}
		answers[got]++
	}
	if answers[Satisfiable] < 30 || answers[Unsatisfiable] < 30 {
		t.Errorf("the formulas are no test: %v", answers)
	}
}
