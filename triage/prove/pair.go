package prove

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/sat"
)

// DefaultSolver is the solver that is used if it is installed.
const DefaultSolver = "cadical -q"

// BuiltinCommand is the argument that makes this program the solver that is used where the
// default one is not installed: it calls Builtin.
const BuiltinCommand = "solve"

// Builtin answers a formula as the solvers of Options do. It decides questions that take
// cadical some seconds.
func Builtin(r io.Reader, w io.Writer) error { return sat.Builtin(r, w) }

// SolverWords returns the words of the command of a solver; "" is no solver. For the default
// solver, if it is not installed, they start this program with BuiltinCommand, and builtin is
// true.
func SolverWords(command string) (words []string, builtin bool, err error) {
	words = strings.Fields(command)
	if len(words) == 0 {
		return nil, false, nil
	}
	_, err = exec.LookPath(words[0])
	if err != nil && command == DefaultSolver {
		self, err := os.Executable()
		return []string{self, BuiltinCommand}, true, err
	}
	return words, false, hint.Add(err, `--solver "" does without one`)
}

// Proof is the answer for one pair of instructions.
type Proof struct {
	A       string   `json:"a"`
	B       string   `json:"b"`
	Verdict Verdict  `json:"verdict"`
	By      string   `json:"by,omitempty"`
	Assumed []string `json:"assumed"`
	Reason  string   `json:"reason,omitempty"`
	// Witness is the smallest input found on which the two differ, in the text form of
	// eval.
	Witness string `json:"witness,omitempty"`
	ResultA string `json:"result_a,omitempty"`
	ResultB string `json:"result_b,omitempty"`

	values [3]string // those of the witness and of the results
}

// Pair decides whether the arithmetics of the two units of a pair, which have to be known, are
// the same function.
func Pair(ctx context.Context, pair *devices.Pair, o Options) (*Proof, error) {
	pa, pb, err := programs(pair)
	if err != nil {
		return nil, err
	}
	ia, ib := pair.A.Instruction(), pair.B.Instruction()
	res, err := Programs(ctx, ia.Formats, pair.K, *pa, *pb, o)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	p := &Proof{
		A: pair.TargetA + "/" + ia.Name, B: pair.TargetB + "/" + ib.Name,
		Verdict: res.Verdict, By: res.By, Assumed: append([]string{}, res.Assumed...), Reason: res.Reason,
	}
	if w := res.Witness; w != nil {
		p.Witness = mma.FormatDot(ia.Formats, w.Dot)
		p.ResultA, p.ResultB = mma.FormatCode(ia.D, w.Before), mma.FormatCode(ia.D, w.After)
		p.values = [3]string{dotValue(ia.Formats, w.Dot), value(ia.D, w.Before), value(ia.D, w.After)}
	}
	return p, nil
}

// SMTLIB returns the question that Pair answers as writeSMTLIB writes it.
func SMTLIB(pair *devices.Pair) ([]byte, error) {
	pa, pb, err := programs(pair)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = writeSMTLIB(&text, pair.Formats(), pair.K, *pa, *pb)
	return text.Bytes(), err
}

// programs returns the programs of the two units of a pair.
func programs(pair *devices.Pair) (a, b *mma.Params, err error) {
	a, b = pair.A.Model(), pair.B.Model()
	if a == nil || b == nil {
		return nil, nil, hint.New("mmafuzz run compares anything", "prove compares known arithmetics, those of simulators and model files: not %s and %s", pair.TargetA, pair.TargetB)
	}
	return a, b, nil
}

// Write writes the answer for people.
func (p *Proof) Write(w io.Writer, width int) {
	line := func(format string, args ...any) {
		fmt.Fprint(w, readable.Indented(2, fmt.Sprintf(format, args...), width))
	}
	fmt.Fprint(w, readable.Flowing(p.A+"  "+p.B, width))
	switch p.Verdict {
	case Proved:
		line("proved: the same function (by %s)", p.By)
		for _, text := range p.Assumed {
			line("for %s", text)
		}
	case Refuted:
		line("refuted (by %s): %s%s", p.By, p.Witness, p.values[0])
		line("A gives %s%s, B %s%s", p.ResultA, p.values[1], p.ResultB, p.values[2])
	default:
		line("not decided: %s", p.Reason)
	}
	fmt.Fprintln(w)
}
