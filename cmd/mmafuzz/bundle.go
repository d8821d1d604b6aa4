package main

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// readBundle reads a bundle; what is wrong with a bad one comes with a remedy. A bundle
// carries its input, so that one of another version can be used, which is said.
func (a *app) readBundle(dir string) (*corpus.Bundle, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, hint.New("mmafuzz run writes bundles and says where", "bundle %s: %w", dir, hint.Bare(err))
	case !info.IsDir():
		return nil, hint.New("name the directory that mmafuzz run has written", "bundle %s: a bundle is a directory, not a file", dir)
	}
	b, err := corpus.ReadBundle(dir)
	if err == nil {
		a.noteVersions("bundle "+dir, b.Mismatch.Versions, "simulators may compute otherwise now")
		return b, nil
	}
	if below, _ := bundle.Below(dir); !bundle.Is(dir) && len(below) > 0 {
		return nil, hint.New("for example "+below[0]+"; mmafuzz triage looks at all of them", "bundle %s: it is not a bundle, but has %s below it", dir, readable.Plural(len(below), "bundle"))
	}
	if made := bundle.MadeByOther(dir); made != "" {
		return nil, hint.Add(err, "it was made by %s; use that program, or make the bundle again with mmafuzz run", made)
	}
	return nil, hint.Add(err, "copy the bundle again from where it was made, or make it again with mmafuzz run")
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
