package infer

import (
	"context"
	"errors"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"

	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// witnessQueries is the number of dot products that the unit is asked to make a
// witness small.
const witnessQueries = 20_000

// Before a unit counts as unexplained it is asked again for at most againMost of the
// cases that its program does not explain, and for one in againEach of all cases.
const (
	againMost = 500
	againEach = 40
)

// witness returns the smallest input found on which the best program is wrong: it
// begins with the smallest such case of the evidence. The error is an *Unstable if the
// unit gives other answers now.
func (l *loop) witness(ctx context.Context) (*Witness, error) {
	m, err := sim.New(l.Formats, l.K, l.p)
	if err != nil {
		return nil, err
	}
	var start *mma.Dot
	var startWant uint64
	var again []*mma.Dot
	var want []uint64
	n := 0
	for _, s := range l.Families {
		for i, d := range s.Dots {
			right := l.Same(m.Dot(d, nil), s.Want[i])
			if !right && (start == nil || minimize.Less(l.Formats, d, start)) {
				start, startWant = d, s.Want[i]
			}
			if n++; !right && len(again) < againMost || n%againEach == 0 {
				again, want = append(again, d), append(want, s.Want[i])
			}
		}
	}
	if start == nil {
		return nil, nil
	}
	if err := l.unit.repeat(ctx, again, want); err != nil {
		return nil, err
	}
	wrong := func(ctx context.Context, dots []*mma.Dot) ([]bool, error) {
		out := make([]bool, len(dots))
		kept, want, err := l.unit.ask(ctx, dots)
		code := byDot(kept, want)
		for i, d := range dots {
			c, ok := code[d]
			out[i] = ok && !l.Same(c, m.Dot(d, nil))
		}
		return out, err
	}
	small, err := evidence.Shrink(ctx, l.Formats, start, wrong, minimize.Options{MaxQueries: witnessQueries})
	if errors.Is(err, minimize.ErrStart) {
		return nil, l.changed(ctx, start, startWant)
	}
	var flaky *minimize.FlakyError
	if errors.As(err, &flaky) {
		err = nil
	}
	if small == nil || err != nil {
		return nil, err
	}
	kept, want, err := l.unit.ask(ctx, []*mma.Dot{small})
	if err != nil || len(kept) == 0 {
		return nil, err
	}
	return &Witness{small, want[0], m.Dot(small, nil)}, nil
}

// changed asks again for a case to which the unit has just given another answer than
// before, and returns an *Unstable; nil if the unit fails on it now, which is recorded as
// a fault.
func (l *loop) changed(ctx context.Context, d *mma.Dot, was uint64) error {
	kept, now, err := l.unit.ask(ctx, []*mma.Dot{d})
	if err != nil || len(kept) == 0 {
		return err
	}
	return &Unstable{Dot: d, First: was, Second: now[0], Asked: 1, Changed: 1, How: "once more"}
}
