package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// readBundle reads a bundle and says if another version made it.
func (a *app) readBundle(dir string) (*corpus.Bundle, error) {
	b, note, err := bundle.Read(dir)
	a.note(note)
	return b, err
}

// examine explains and shrinks a bundle's case from the beginning.
func examine(ctx context.Context, m *corpus.Mismatch) (*fuzz.Case, error) {
	dot, err := mma.ParseDot(m.Formats, m.K, false, strings.Fields(cmp.Or(m.Found, m.Case)))
	if err != nil {
		return nil, err
	}
	ua, err := bundle.Unit(m, "a")
	if err != nil {
		return nil, err
	}
	ub, err := bundle.Unit(m, "b")
	if err != nil {
		return nil, err
	}
	policy := bundle.Policy(m)
	return fuzz.TriageCase(ctx, fuzz.Config{Seed: m.Origin.Seed, NaN: &policy.NaN, Zero: &policy.Zero, Workers: 1,
		Pairs: []devices.Pair{{A: devices.WithK(ua, m.K), B: devices.WithK(ub, m.K), TargetA: m.A.Target, TargetB: m.B.Target, K: m.K}}}, dot)
}

// directories completes an argument with directories.
func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
