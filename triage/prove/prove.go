// Package prove decides whether two parameter programs compute the same function, and whether
// one has a property (property.go).
//
// A third interpreter of the programs writes both as one graph of integers over the bits of
// the operands (internal/encode, internal/graph). Much is decided there: equal expressions
// are one node, the terms of a sum and of a maximum have no order, and a comparison is a
// constant where the ranges of its nodes decide it, as for a floor below every exponent.
// Where the two
// results are not one node, a SAT solver (internal/sat) is asked about nodes that agree
// on thousands of inputs, from the operands up, and at last about the results
// (sweep.go). Nodes that both programs share are left free in most questions: then
// "these cannot differ" holds all the more, and "these can" says nothing.
//
// Before that the solver is asked about inputs of few variables (few in sweep.go), on which
// almost all differences show that generators do not find.
//
// Where cadical is not installed, a solver in Go answers, so that the classic questions are
// decided on every machine: github.com/crillab/gophersat, which is maintained, has no
// dependencies and needs no C compiler. It cannot be interrupted, so it runs as a child process
// like any other solver.
//
// What a proof assumes is in the Result; every set of assumptions of a question whose
// answer is a proof is checked to be satisfiable on its own. An input on which the
// solver says that the programs differ is computed by both interpreters, sim and
// oracle, before it is believed.
//
// The tests of internal/encode compare graphs with both interpreters.
//
// # JSON
//
// go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common, and what ? and * mark.
//
// prove, an object for each pair of instructions:
//
//	a          string   TARGET/INSTRUCTION
//	b          string   TARGET/INSTRUCTION
//	verdict    string   proved, refuted or not decided
//	by         string?  what decided it: ranges, generators or solver
//	assumed[]  string?  assumptions under which the proof holds
//	reason     string?  why it is not decided
//	witness    string?  the smallest input found on which the two differ, as eval reads it
//	result_a   string?  its result by the first arithmetic
//	result_b   string?  its result by the second one
//
// prove --property, an object for each property of each instruction:
//
//	unit       string   TARGET/INSTRUCTION
//	property   string   its name
//	statement  string   what it says
//	verdict    string   holds, fails, not decided, or no question: the program has nothing that the statement is about
//	by         string?  what decided it: ranges, generators or solver
//	assumed[]  string?  assumptions under which the proof holds
//	reason     string?  why it is not decided, or no question
//	bits       number?  of adder: bits of the sum, without its sign
//	proved     number?  of error: a bound that is proved, in units of the last place of the last rounding times the sum of all magnitudes
//	refuted    number?  of error: the error on the witness is at least this
//	witness    string?  the smallest input found that decides, as eval reads it
//	related    string?  the input that it is compared with, if that is another one
//	result     string?  the witness' result
//	expected   string?  that of the related input, or what the result would be if the statement were the other way round; of error the exact value, rounded to nearest
//
// The API of this package is not promised: it may change in any version.
package prove

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/encode"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// Verdict is whether two programs are the same function.
type Verdict string

// The verdicts.
const (
	Proved  Verdict = "proved"      // equal on all inputs that the assumptions allow
	Refuted Verdict = "refuted"     // there is a witness
	Open    Verdict = "not decided" // see Result.Reason
)

// Options are the means of a proof.
type Options struct {
	// Solver is the command, with its arguments, of a SAT solver that reads DIMACS from
	// standard input. Without one only range analysis decides.
	Solver []string
	// Time is how long to try, at most.
	Time time.Duration
	// Searched is that generators were asked for a witness already, and found none.
	Searched bool
}

// Result is a verdict and the evidence for it.
type Result struct {
	Verdict Verdict
	// By is what has decided: "ranges", "solver" or, of a witness, "generators" or
	// "solver".
	By      string
	Assumed []string // of a proof
	Witness *triage.Witness
	Reason  string // why it is not decided
	Asked   int    // questions to the solver

	related *mma.Dot // of a relation: the input that the witness is compared with
}

// Programs decides whether two programs give the same results for dot products of k
// products, bit for bit. An error is one of the programs, the solver or of this package,
// never that something is too hard.
func Programs(ctx context.Context, f mma.Formats, k int, p, q mma.Params, o Options) (*Result, error) {
	for _, r := range []*mma.Params{&p, &q} {
		if err := r.Validate(f, k); err != nil {
			return nil, err
		}
	}
	if o.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Time)
		defer cancel()
	}
	s, hard := newSession(f, k, &p, &q, o)
	if hard != nil && !errors.As(hard, new(*encode.TooHard)) {
		return nil, hard
	}
	if hard == nil && s.a == s.b {
		return &Result{Verdict: Proved, By: "ranges", Assumed: s.assumed()}, nil
	}
	if !o.Searched {
		w, err := triage.FindWitness(ctx, f, k, p, q, 1)
		switch {
		case err != nil && ctx.Err() == nil:
			return nil, err
		case w != nil:
			return &Result{Verdict: Refuted, By: "generators", Witness: w}, nil
		}
	}
	switch {
	case hard != nil:
		return &Result{Verdict: Open, Reason: hard.Error()}, nil
	case len(o.Solver) == 0:
		return &Result{Verdict: Open, Reason: "range analysis does not decide it, and there is no solver"}, nil
	}
	return s.solve(ctx)
}

// assumed is what a proof assumes, in words.
func (s *session) assumed() []string {
	all := []string{readable.Converted(s.in.Formats, fmt.Sprintf("dot products of %s, in one execution of the instruction", readable.Plural(s.in.K, "product")))}
	if s.in.NoNaN {
		all = append(all, "no operand is a NaN: otherwise the result may be one of several NaN operands")
	}
	if s.rel != nil && s.rel.words != "" {
		all = append(all, s.rel.words)
	}
	return all
}

// writeSMTLIB writes the question whether two programs can differ, for SMT solvers of bit
// vectors (QF_BV): their answer "unsat" is a proof that is independent of this package's
// gates and clauses.
func writeSMTLIB(w io.Writer, f mma.Formats, k int, p, q mma.Params) error {
	s, err := newSession(f, k, &p, &q, Options{})
	if err != nil {
		return err
	}
	return graph.WriteSMTLIB(w, s.a, s.b, s.in.Assumed()...)
}

// session is a proof in the making: the graphs of two programs over the same variables.
type session struct {
	*graph.Graph
	in      *encode.Inputs
	a, b    *graph.Node // the results
	p, q    *mma.Params
	o       Options
	answers map[[32]byte]answer
	asked   int

	signatures map[*graph.Node][32]byte // on the inputs of the simulation
	assume     []*graph.Node            // what else is assumed

	rel   *relation      // that the nodes are about; nil: that the programs are equal
	other *encode.Inputs // of the related input
}

func newSession(f mma.Formats, k int, p, q *mma.Params, o Options) (*session, error) {
	s := &session{Graph: graph.New(), p: p, q: q, o: o, answers: map[[32]byte]answer{}, signatures: map[*graph.Node][32]byte{}}
	s.in = encode.NewInputs(s.Graph, f, k, p.Special.OperandNaN() || q.Special.OperandNaN())
	a, err := encode.Program(s.in, p)
	if err != nil {
		return nil, err
	}
	b, err := encode.Program(s.in, q)
	if err != nil {
		return nil, err
	}
	s.a, s.b = a, b
	return s, nil
}
