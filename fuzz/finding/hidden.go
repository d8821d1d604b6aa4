package finding

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// A program that was inferred says nothing of what no input shows: where no sum of the right unit is too
// large for its result, its program may have infinities there, and the broken one, whose sums may be too
// large, the largest number.

// overflowPaths are the parameters that say what becomes of a sum that is too large.
var overflowPaths = []string{"join.post.over", "acc.over"}

// asOverflows returns the program of a verdict with the largest number in place of infinities, if it was
// inferred, no input shows the difference, and the unit's results have that number where they differ.
func (x *pairTriage) asOverflows(ctx context.Context, pr *triage.Unknown, program mma.Params) (mma.Params, error) {
	d := pr.Formats.D.Get()
	largest := slices.ContainsFunc(pr.Differ, func(c triage.Case) bool { return c.Want&^d.SignBit() == d.MaxFinite() })
	if !x.oneInferred() || !largest || !d.HasInf() {
		return program, nil
	}
	for _, path := range overflowPaths {
		q := program
		if err := q.Apply([]mma.Change{{Path: path, From: mma.OverInf.String(), To: mma.OverMax.String()}}); err != nil || q.Validate(pr.Formats, pr.K) != nil || q == program {
			continue
		}
		if w, err := triage.FindWitness(ctx, pr.Formats, pr.K, program, q, pr.Seed); err != nil {
			return program, err
		} else if w == nil {
			return q, nil
		}
	}
	return program, nil
}
