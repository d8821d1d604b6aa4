package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/triage/prove"
	"github.com/mmafuzz/mmafuzz/triage/study"
)

// proveCmd is the command prove.
type proveCmd struct {
	*app
	inst, smtlib, solver string
	property             string
	time                 time.Duration
}

// solverFlag adds --solver to a command.
func solverFlag(c *cobra.Command, command *string) {
	c.Flags().StringVar(command, "solver", prove.DefaultSolver, "`command` of a SAT solver that reads DIMACS from standard input; empty: no solver, only generators of inputs and range analysis")
}

func newProve(a *app) *cobra.Command {
	p := &proveCmd{app: a}
	c := &cobra.Command{
		Use:   "prove A [B]",
		Short: "whether two arithmetics are the same function, or one has a property",
		Long: `prove decides, instruction by instruction, whether the arithmetics of two simulated
targets give the same results for all inputs: proved, with what is assumed, or a
smallest input on which they differ. It is decided by generators of inputs, which find
nearly every difference, by the ranges of all numbers between the operands and the
result, and by a SAT solver: cadical (Debian: apt-get install cadical) or, where it is not
installed, one that is built in, which decides the easy questions.

  mmafuzz prove hopper model:mine.json
  mmafuzz prove hopper blackwell --inst mma.m16n8k16.f32.f16.f16.f32
  mmafuzz prove hopper model:mine.json --smtlib question.smt2 && bitwuzla question.smt2
  mmafuzz prove naive openblas-sgemm

Two kernels are the same function for every K for which they add the same numbers in the same
tree; else a product is looked for on which they differ (mmafuzz diff --help).

With --property it decides statements about one arithmetic, with an input for each that
fails, or that shows the difference it makes. "No question" is what has no meaning for the
unit, such as of subnormal operands in formats that have none. The statements are all, or a
list of

` + propertyList() + `
  mmafuzz prove ampere --inst mma.m16n8k8.f32.f16.f16.f32 --property order,monotonic
  mmafuzz prove hopper --inst wgmma.m64n8k32.f32.e4m3.e4m3 --property error

Exit status: 0 all instructions proved, or all properties hold; 1 all decided and some
refuted; 2 trouble; 75 some not decided, even if others are refuted.`,
		Args: takes("A", "[B]"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return open.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		PreRunE: func(cmd *cobra.Command, _ []string) error { return notNegative(cmd.Flags()) },
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case p.property != "" && len(args) == 2:
				return hint.New("leave "+args[1]+" out", "--property is about one target")
			case p.property != "":
				return p.properties(cmd.Context(), args[0])
			case len(args) < 2:
				return hint.New("or ask for a --property of "+args[0], "B is missing")
			}
			return p.run(cmd.Context(), args[0], args[1])
		},
	}
	selecting(c.Flags(), &p.inst, "(default: all of A)")
	solverFlag(c, &p.solver)
	c.Flags().StringVar(&p.property, "property", "", "decide these `statements` about A alone: all, or a list")
	c.Flags().DurationVar(&p.time, "time", time.Minute, "how long to try, at most, for each instruction and property")
	c.Flags().StringVar(&p.smtlib, "smtlib", "", "write the question to this `file` for an SMT solver of bit vectors, for which \"unsat\" is a proof: of a --property that compares two inputs, too")
	return c
}

func (p *proveCmd) run(ctx context.Context, nameA, nameB string) error {
	if err := open.NotInput(p.smtlib, nameA, nameB); err != nil {
		return err
	}
	words, builtin, err := prove.SolverWords(p.solver)
	if err != nil {
		return err
	}
	if p.inst == "" && p.smtlib == "" && (study.IsKernel(nameA) || study.IsKernel(nameB)) {
		return p.diffKernels(ctx, nameA, nameB)
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
	line := newStatusLine(p.app)
	defer line.clear()
	var n decided
	for i := range pairs {
		line.show(statusField{fmt.Sprintf("%d of %d  deciding whether the two compute the same function: %s", i+1, len(pairs), pairs[i].Name()), 1})
		if p.smtlib != "" {
			if err := p.writeSMTLIB(&pairs[i]); err != nil {
				return err
			}
		}
		answer, err := prove.Pair(ctx, &pairs[i], prove.Options{Solver: words, Time: p.time})
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		line.clear()
		n.add(answer.Verdict == prove.Refuted, answer.Verdict == prove.Open)
		if err := p.result(answer, answer.Write); err != nil {
			return err
		}
	}
	return n.status(builtin)
}

// properties decides properties of all instructions of a target.
func (p *proveCmd) properties(ctx context.Context, name string) error {
	some, err := prove.PropertiesNamed(p.property)
	if err != nil {
		return err
	}
	words, builtin, err := prove.SolverWords(p.solver)
	if err != nil {
		return err
	}
	var targets open.Set
	defer targets.Close()
	spec, _ := devices.Split(name)
	target, err := targets.Target(spec)
	if err != nil {
		return err
	}
	if target.Instructions() == nil {
		return prove.NotKnown(spec)
	}
	pairs, err := targets.Pairs(name, name, p.inst, "")
	if err != nil {
		return err
	}
	if p.smtlib != "" && (len(pairs) > 1 || len(some) > 1) {
		return hint.New("name one property, and one instruction with --inst", "--smtlib writes one question: there are %d properties of %s", len(some), readable.Plural(len(pairs), "instruction"))
	}
	line := newStatusLine(p.app)
	defer line.clear()
	var n decided
	for i := range pairs {
		unit := ""
		if p.smtlib != "" {
			text, err := prove.PropertySMTLIB(pairs[i].TargetA, pairs[i].A, some[0])
			if err == nil {
				err = corpus.ReplaceFile(p.smtlib, text)
			}
			if err != nil {
				return err
			}
		}
		for _, property := range some {
			line.show(statusField{fmt.Sprintf("%d of %d  deciding %s of %s", i+1, len(pairs), property.Name, pairs[i].Name()), 1})
			answer, err := prove.Ask(ctx, pairs[i].TargetA, pairs[i].A, property, prove.Options{Solver: words, Time: p.time})
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return err
			}
			line.clear()
			n.add(answer.Verdict == prove.Fails, answer.Verdict == prove.Undecided)
			if answer.Unit != unit && !p.json {
				unit = answer.Unit
				of := fmt.Sprintf("dot products of %s, in one execution of the instruction", readable.Plural(pairs[i].K, "product"))
				if pairs[i].A.Instruction().Conversion() {
					of = "a conversion of a number"
				}
				fmt.Fprintf(p.stdout, "%s: %s\n", unit, of)
			}
			if err := p.result(answer, answer.Write); err != nil {
				return err
			}
		}
	}
	return n.status(builtin)
}

// propertyList lists the properties for the help.
func propertyList() string {
	var all strings.Builder
	for _, p := range prove.Properties() {
		fmt.Fprintf(&all, "  %-18s  %s\n", p.Name, p.Statement)
	}
	return all.String()
}

// decided counts answers.
type decided struct{ refuted, undecided int }

func (n *decided) add(refuted, undecided bool) {
	if refuted {
		n.refuted++
	}
	if undecided {
		n.undecided++
	}
}

// status is the command's error: what its exit status says.
func (n *decided) status(builtin bool) error {
	switch {
	case n.undecided > 0 && builtin:
		return incomplete(hint.New("apt-get install cadical, or name another with --solver", "%s not decided by the solver that is built in, which decides the easy ones", readable.Plural(n.undecided, "question")))
	case n.undecided > 0:
		return incomplete(fmt.Errorf("%s not decided", readable.Plural(n.undecided, "question")))
	case n.refuted > 0:
		return errMismatch
	}
	return nil
}

// writeSMTLIB writes the question about a pair to the file of --smtlib.
func (p *proveCmd) writeSMTLIB(pair *devices.Pair) error {
	text, err := prove.SMTLIB(pair)
	if err != nil {
		return err
	}
	return corpus.ReplaceFile(p.smtlib, text)
}
