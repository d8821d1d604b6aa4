package main

import (
	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/triage/prove"
)

// newSolve is what prove runs as its solver where none is installed.
func newSolve(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    prove.BuiltinCommand,
		Short:  "answer a formula in DIMACS from standard input, as SAT solvers do",
		Hidden: true,
		Args:   takes(),
		RunE:   func(*cobra.Command, []string) error { return prove.Builtin(a.stdin, a.stdout) },
	}
}
