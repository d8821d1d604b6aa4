package infer

import (
	"context"
	"errors"

	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// witnessQueries is the number of dot products that the unit is asked to make a
// witness small.
const witnessQueries = 20_000

// witnessShare is the part of the queries and of the time, one in so many, that is kept to make
// the witness small if the rest is spent.
const witnessShare = 25

// Before a unit counts as unexplained it is asked to confirm at most recheckMost of the
// cases that its program does not explain, and one in recheckEach of all cases.
const (
	recheckMost = 500
	recheckEach = 40
)

// witness returns the smallest input found on which the best program is wrong in the most
// frequent way: it begins with the smallest such case of the evidence. There is none if there is
// no program, or if it explains all evidence. The error is an *Unstable if the unit gives other
// answers now; with any other error, such as that the time is spent, the witness is what was
// found before.
func (l *loop) witness(ctx context.Context) (*Witness, error) {
	m, err := sim.New(l.Formats, l.K, l.p)
	if err != nil {
		return nil, nil
	}
	all := l.mismatches(m)
	start, count := telling(l.Formats, all)
	if start == nil {
		return nil, nil
	}
	w := &Witness{start.dot, start.want, m.Dot(start.dot, nil), start.kind, count, len(all)}
	dots, want := l.sample(all)
	if err := l.unit.repeat(ctx, dots, want); err != nil {
		return w, err
	}
	answers := map[string]uint64{} // to the dot products that show it
	text := func(d *mma.Dot) string { return mma.FormatDot(l.Formats, d) }
	wrong := func(ctx context.Context, dots []*mma.Dot) ([]bool, error) {
		out := make([]bool, len(dots))
		kept, want, err := l.unit.ask(ctx, dots)
		code := byDot(kept, want)
		for i, d := range dots {
			c, ok := code[d]
			would := m.Dot(d, nil)
			if out[i] = ok && !l.Same(c, would) && mismatchKind(l.D.Get(), c, would) == start.kind; out[i] {
				answers[text(d)] = c
			}
		}
		return out, err
	}
	small, err := evidence.Shrink(ctx, l.Formats, start.dot, wrong, minimize.Options{MaxQueries: witnessQueries})
	if errors.Is(err, minimize.ErrStart) {
		return w, l.changed(ctx, start.dot, start.want)
	}
	var flaky *minimize.FlakyError
	if errors.As(err, &flaky) {
		return w, nil
	}
	if small != nil {
		if got, ok := answers[text(small)]; ok {
			w.Dot, w.Got, w.Would = small, got, m.Dot(small, nil)
		}
	}
	return w, err
}

// sample returns the cases to confirm: some of the mismatches, and every
// recheckEach'th case.
func (l *loop) sample(mismatches []mismatch) (dots []*mma.Dot, want []uint64) {
	taken := map[*mma.Dot]bool{}
	for _, x := range mismatches[:min(len(mismatches), recheckMost)] {
		dots, want, taken[x.dot] = append(dots, x.dot), append(want, x.want), true
	}
	n := 0
	for _, s := range l.Families {
		for i, d := range s.Dots {
			if n++; n%recheckEach == 0 && !taken[d] {
				dots, want = append(dots, d), append(want, s.Want[i])
			}
		}
	}
	return dots, want
}

// changed repeats the question to which the unit has just given another answer than
// before, and returns an *Unstable; nil if the unit fails on it now, which is recorded as
// a fault.
func (l *loop) changed(ctx context.Context, d *mma.Dot, was uint64) error {
	kept, now, err := l.unit.ask(ctx, []*mma.Dot{d})
	if err != nil || len(kept) == 0 {
		return err
	}
	return &Unstable{Dot: d, First: was, Second: now[0], Asked: 1, Changed: 1, How: "once more"}
}
