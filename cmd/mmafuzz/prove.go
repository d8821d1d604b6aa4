package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove"
)

// solver is the default solver, used if it is installed.
const solver = "cadical -q"

// proveCmd is the command prove.
type proveCmd struct {
	*app
	inst, smtlib string
	solver       solverFlag
	time         time.Duration
}

// solverFlag is the command of a solver.
type solverFlag struct{ command string }

func (s *solverFlag) add(c *cobra.Command) {
	c.Flags().StringVar(&s.command, "solver", solver, "`command` of a SAT solver that reads DIMACS from standard input; empty: no solver, only generators of inputs and range analysis")
}

// words returns the words of the command. It returns none and missing = true if the default
// solver is not installed.
func (s *solverFlag) words() (words []string, missing bool, err error) {
	words = strings.Fields(s.command)
	if len(words) == 0 {
		return nil, false, nil
	}
	_, err = exec.LookPath(words[0])
	if err != nil && s.command == solver {
		return nil, true, nil
	}
	return words, false, hint.Add(err, `--solver "" does without one`)
}

func newProve(a *app) *cobra.Command {
	p := &proveCmd{app: a}
	c := &cobra.Command{
		Use:   "prove A B",
		Short: "whether the arithmetics of two targets are the same function",
		Long: `prove decides, instruction by instruction, whether the arithmetics of two simulated
targets give the same results for all inputs: proved, with what is assumed, or a
smallest input on which they differ. It is decided by generators of inputs, which find
nearly every difference, by the ranges of all numbers between the operands and the
result, and by a SAT solver if there is one (Debian: apt-get install cadical).

  mmafuzz prove hopper model:mine.json
  mmafuzz prove hopper blackwell --inst mma.m16n8k16.f32.f16.f16.f32
  mmafuzz prove hopper model:mine.json --smtlib question.smt2 && bitwuzla question.smt2

Exit status: 0 all instructions proved, 1 all decided and some refuted, 2 trouble, 75
some not decided, even if others are refuted.`,
		Args: takes("A", "B"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return open.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd.Context(), args[0], args[1]) },
	}
	c.Flags().StringVar(&p.inst, "inst", "", "only this `instruction` of A")
	p.solver.add(c)
	c.Flags().DurationVar(&p.time, "time", time.Minute, "how long to try, at most, for each instruction")
	c.Flags().StringVar(&p.smtlib, "smtlib", "", "write the question to this `file` for an SMT solver of bit vectors, for which \"unsat\" is a proof")
	return c
}

// proof is the answer for one pair of instructions.
type proof struct {
	A       string        `json:"a"`
	B       string        `json:"b"`
	Verdict prove.Verdict `json:"verdict"`
	By      string        `json:"by,omitempty"`
	Assumed []string      `json:"assumed"`
	Reason  string        `json:"reason,omitempty"`
	// Witness is the smallest input found on which the two differ, in the text form of
	// eval.
	Witness string `json:"witness,omitempty"`
	ResultA string `json:"result_a,omitempty"`
	ResultB string `json:"result_b,omitempty"`
}

func (p *proveCmd) run(ctx context.Context, nameA, nameB string) error {
	words, missing, err := p.solver.words()
	if err != nil {
		return err
	}
	var targets open.Set
	defer targets.Close()
	pairs, err := targets.Pairs(nameA, nameB, p.inst, "")
	if err != nil {
		return err
	}
	if p.smtlib != "" && len(pairs) > 1 {
		return hint.New("name one with --inst", "--smtlib writes one question: %s and %s share %s", nameA, nameB, readable.Plural(len(pairs), "instruction"))
	}
	refuted, open := false, 0
	for i := range pairs {
		answer, err := p.pair(ctx, &pairs[i], words)
		if err != nil {
			return err
		}
		refuted = refuted || answer.Verdict == prove.Refuted
		if answer.Verdict == prove.Open {
			open++
		}
		if err := answer.write(p.app); err != nil {
			return err
		}
	}
	switch {
	case open > 0 && missing:
		return incomplete(hint.New("apt-get install cadical, or name another with --solver", "%s not decided: there is no solver", readable.Plural(open, "question")))
	case open > 0:
		return incomplete(fmt.Errorf("%s not decided", readable.Plural(open, "question")))
	case refuted:
		return errMismatch
	}
	return nil
}

func (p *proveCmd) pair(ctx context.Context, pair *devices.Pair, solver []string) (*proof, error) {
	pa, pb := pair.A.Model(), pair.B.Model()
	if pa == nil || pb == nil {
		return nil, hint.New("mmafuzz run compares anything", "prove compares known arithmetics, those of simulators and model files: not %s and %s", pair.TargetA, pair.TargetB)
	}
	ia, ib := pair.A.Instruction(), pair.B.Instruction()
	if p.smtlib != "" {
		var text bytes.Buffer
		if err := prove.WriteSMTLIB(&text, ia.Formats, pair.K, *pa, *pb); err != nil {
			return nil, err
		}
		if err := corpus.ReplaceFile(p.smtlib, text.Bytes()); err != nil {
			return nil, err
		}
	}
	res, err := prove.Programs(ctx, ia.Formats, pair.K, *pa, *pb, prove.Options{Solver: solver, Time: p.time})
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	a := &proof{
		A: pair.TargetA + "/" + ia.Name, B: pair.TargetB + "/" + ib.Name,
		Verdict: res.Verdict, By: res.By, Assumed: append([]string{}, res.Assumed...), Reason: res.Reason,
	}
	if w := res.Witness; w != nil {
		a.Witness = mma.FormatDot(ia.Formats, w.Dot)
		a.ResultA, a.ResultB = mma.FormatCode(ia.D, w.Before), mma.FormatCode(ia.D, w.After)
	}
	return a, nil
}

func (p *proof) write(a *app) error {
	if a.json {
		return a.writeJSON(p)
	}
	fmt.Fprintf(a.stdout, "%s  %s\n", p.A, p.B)
	switch p.Verdict {
	case prove.Proved:
		fmt.Fprintf(a.stdout, "  proved: the same function (by %s)\n", p.By)
		for _, text := range p.Assumed {
			fmt.Fprintf(a.stdout, "  for %s\n", text)
		}
	case prove.Refuted:
		fmt.Fprintf(a.stdout, "  refuted (by %s): %s\n  A gives %s, B %s\n", p.By, p.Witness, p.ResultA, p.ResultB)
	default:
		fmt.Fprintf(a.stdout, "  not decided: %s\n", p.Reason)
	}
	fmt.Fprintln(a.stdout)
	return a.stdout.Err()
}
