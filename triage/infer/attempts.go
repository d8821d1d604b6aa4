package infer

import (
	"context"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A search goes uphill. Whether it ends at the unit's program, or beside it at a program from
// which no change leads further, is a matter of chance: of which inputs the evidence is made.
// Many of the units that one search does not explain are soon explained by another that begins
// with other inputs of the same kinds. So the effort is spent in several attempts. Only the
// last one looks at the programs of all of them, and tries these in all other shapes.

// attemptPercent is how much of the effort each attempt may spend on a search.
var attemptPercent = []int64{30, 30, 40}

// run makes attempts until a program passes all tests.
func (l *loop) run(ctx context.Context) error {
	if l.D.Integer() {
		return l.runIntegers(ctx)
	}
	if l.brief {
		l.share = l.effort
		if err := l.begin(ctx, 0); err != nil {
			return err
		}
		return l.attempt(ctx)
	}
	for n, percent := range attemptPercent {
		l.share, l.last = l.effort*percent/100, n == len(attemptPercent)-1
		if err := l.begin(ctx, n); err != nil {
			return err
		}
		if err := l.attempt(ctx); err != nil || l.left == 0 || l.repairs > maxRepairs {
			return err
		}
	}
	return nil
}

// begin asks the first questions of an attempt. Of the evidence of the attempt before, only
// some cases remain that refute the program with which it ended.
func (l *loop) begin(ctx context.Context, n int) error {
	if n == 0 {
		return l.gather(ctx)
	}
	l.trace("attempt %d", n+1)
	best := l.bestEnds()
	m, err := sim.New(l.Formats, l.K, best[0])
	if err != nil {
		return err
	}
	var dots []*mma.Dot
	var want []uint64
	for _, x := range l.mismatches(m) {
		dots, want = append(dots, x.dot), append(want, x.want)
	}
	before := l.Replace(nil)
	l.seed += 1 << 32 // far from the seeds of other steps
	if err := l.gather(ctx); err != nil {
		l.Replace(before)
		return err
	}
	l.earlier, l.ends, l.starts = append(l.earlier, best...), nil, 0
	return l.learn(ctx, dots, want)
}

// attempt closes the loop: explain, challenge, rule out, validate, and from the start when one of these
// finds the hypothesis wrong.
func (l *loop) attempt(ctx context.Context) error {
	if err := l.improve(ctx); err != nil {
		return err
	}
	for l.left == 0 {
		wrong, err := l.refute(ctx)
		if err != nil || wrong == 0 {
			return err
		}
		l.met = append(l.met, l.p)
		l.trace("%d wrong with %s", wrong, brief(&l.p))
		if l.repairs++; l.repairs > maxRepairs {
			l.left = wrong
			return nil
		}
		if err := l.improve(ctx, l.p); err != nil {
			return err
		}
	}
	return nil
}
