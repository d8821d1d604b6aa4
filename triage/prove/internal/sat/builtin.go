package sat

import (
	"bufio"
	"fmt"
	"io"

	"github.com/crillab/gophersat/solver"
)

// Builtin reads a formula in DIMACS and answers it as the solvers of the SAT competitions do,
// by a solver in Go that needs nothing installed: for Solve, it runs in a process of its own,
// which can be ended and whose memory can be limited.
func Builtin(r io.Reader, w io.Writer) error {
	problem, err := solver.ParseCNF(r)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	s := solver.New(problem)
	if s.Solve() == solver.Unsat {
		fmt.Fprintln(out, "s UNSATISFIABLE")
		return out.Flush()
	}
	fmt.Fprint(out, "s SATISFIABLE\nv")
	for i, set := range s.Model() {
		literal := i + 1
		if !set {
			literal = -literal
		}
		fmt.Fprint(out, " ", literal)
	}
	fmt.Fprintln(out, " 0")
	return out.Flush()
}
