package finding

import (
	"context"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Two units may have zeros of other signs beside a defect that shows in far more cases. The change that
// explains the zeros explains a part of the cases that is too small for a search among all of them.

// signsOfZeros returns the verdict with a change that explains those cases in which only the sign of a
// zero differs; nil if these are all cases, or nothing explains half of them.
func signsOfZeros(ctx context.Context, pr *triage.Unknown) (*triage.Verdict, error) {
	base, err := sim.New(pr.Formats, pr.K, pr.Base)
	if err != nil {
		return nil, err
	}
	classes := pr.Policy
	classes.Zero = oracle.ByClass
	zeros := *pr
	zeros.Differ, zeros.Effort, zeros.Before, zeros.Ask = nil, -1, nil, nil
	for _, c := range pr.Differ {
		if oracle.Compare(pr.Formats.D, classes, base.Dot(c.Dot, nil), c.Want) == oracle.Same {
			zeros.Differ = append(zeros.Differ, c)
		}
	}
	if len(zeros.Differ) == 0 || len(zeros.Differ) == len(pr.Differ) {
		return nil, nil
	}
	v, err := triage.Explain(ctx, &zeros)
	if err != nil || !v.Found() && !v.Partial {
		return nil, err
	}
	v.Partial, v.Differ, v.Explained = true, len(pr.Differ), triage.Right(pr, &v.Program, pr.Differ)
	return v, nil
}

// withSignsOfZeros reports whether the program of a verdict that explains a part of the cases explains all if the zeros
// of its sums have the signs of IEEE 754; the verdict is that then. A brief inference may lack it, which few inputs show.
func withSignsOfZeros(pr *triage.Unknown, v *triage.Verdict) bool {
	p := v.Program
	p.Special.NegZero = true
	if p.Start == mma.StartZero { // whose +0 the first sum would keep
		p.Start = mma.StartEmpty
	}
	with := *v
	if p == v.Program || p.Validate(pr.Formats, pr.K) != nil {
		return false
	}
	if setProgram(&with, pr, &p); with.Explained < len(pr.Differ) || with.Kept < len(pr.Agree) {
		return false
	}
	with.Partial, with.Nearest = false, nil
	*v = with
	return true
}
