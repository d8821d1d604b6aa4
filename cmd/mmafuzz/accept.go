package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/triage/tolerance"
)

// acceptFlag says how far apart results may be.
type acceptFlag struct{ text string }

func (x *acceptFlag) add(f *pflag.FlagSet) {
	f.StringVar(&x.text, "accept", "", "what counts as equal: bits (the default), ulp=N or bound=EXPRESSION, `HOW`")
}

// hunted is the default of --count with --accept: each costs as much as thousands of comparisons.
const hunted = 20_000

// hunt looks for the inputs of each pair that are furthest beyond what is accepted.
func (r *runCmd) hunt(ctx context.Context, f *pflag.FlagSet) error {
	accept, err := tolerance.Parse(r.accept.text)
	if err != nil {
		return err
	}
	for _, name := range []string{"campaign", "known", "update-known", "gen", "nan", "zero", "out", "time", "workers", "per-bucket", "max-bundles", "no-infer"} {
		if f.Changed(name) {
			return hint.New("leave one out", "--%s does not go with --accept %s", name, r.accept.text)
		}
	}
	if r.count > mostSamples {
		return fmt.Errorf("--count is %d, and there are %d at most with --accept", r.count, mostSamples)
	}
	defer r.targets.Close()
	pairs, err := r.pairs()
	if err != nil {
		return err
	}
	r.notePairs(pairs)
	beyond := false
	line := newStatusLine(r.app)
	for i := range pairs {
		p := &pairs[i]
		found, err := tolerance.Hunt(ctx, p, accept, r.seed, int(cmp.Or(r.count, hunted)), func(tried int) {
			if !r.json {
				line.show(statusField{fmt.Sprintf("%s: %s inputs tried", p.Name(), readable.Thousands(uint64(tried))), 1})
			}
		})
		line.clear()
		if err != nil {
			return err
		}
		beyond = beyond || found.Beyond > 0
		if err := r.result(found, found.Write); err != nil {
			return err
		}
	}
	if beyond {
		return errMismatch
	}
	return nil
}
