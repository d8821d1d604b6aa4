package infer

import (
	"context"
	"errors"

	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// witnessQueries is the number of dot products that the unit is asked to make a
// witness small.
const witnessQueries = 20_000

// Before a unit counts as unexplained it is asked again for so many of the cases that
// its program does not explain, and for one in so many of all.
const (
	againMost = 500
	againEach = 40
)

// witness returns the smallest input found on which the best program is wrong: it
// begins with the smallest such case of the evidence. A unit that does not stand by
// its answers any more is *Unstable.
func (l *loop) witness(ctx context.Context) (*Witness, error) {
	m, err := sim.New(l.Formats, l.k, l.p)
	if err != nil {
		return nil, err
	}
	var start *mma.Dot
	var startWant uint64
	var again []*mma.Dot
	var want []uint64
	n := 0
	for _, s := range l.sets {
		for i, d := range s.dots {
			right := l.same(m.Dot(d, nil), s.want[i])
			if !right && (start == nil || minimize.Less(l.Formats, d, start)) {
				start, startWant = d, s.want[i]
			}
			if n++; !right && len(again) < againMost || n%againEach == 0 {
				again, want = append(again, d), append(want, s.want[i])
			}
		}
	}
	if start == nil {
		return nil, nil
	}
	if err := l.unit.repeat(ctx, again, want); err != nil {
		return nil, err
	}
	const wrong = "wrong"
	test := func(ctx context.Context, dots []*mma.Dot) ([]string, error) {
		out := make([]string, len(dots))
		kept, want, err := l.unit.ask(ctx, dots)
		code := byDot(kept, want)
		for i, d := range dots {
			if c, ok := code[d]; ok && !l.same(c, m.Dot(d, nil)) {
				out[i] = wrong
			}
		}
		return out, err
	}
	o := minimize.Options{Bucket: wrong, MaxQueries: witnessQueries, SkipMask: true}
	res, err := minimize.Dot(ctx, l.Formats, start, test, o)
	if errors.Is(err, minimize.ErrStart) {
		return nil, l.changed(ctx, start, startWant)
	}
	var flaky *minimize.FlakyError
	if errors.As(err, &flaky) {
		err = nil
	}
	if res == nil || err != nil {
		return nil, err
	}
	kept, want, err := l.unit.ask(ctx, []*mma.Dot{res.Dot})
	if err != nil || len(kept) == 0 {
		return nil, err
	}
	return &Witness{res.Dot, want[0], m.Dot(res.Dot, nil)}, nil
}

// changed asks for a case that the unit has just answered otherwise than it did before:
// *Unstable, or nil if it fails on it now, which is known as a fault.
func (l *loop) changed(ctx context.Context, d *mma.Dot, was uint64) error {
	kept, now, err := l.unit.ask(ctx, []*mma.Dot{d})
	if err != nil || len(kept) == 0 {
		return err
	}
	return &Unstable{Dot: d, First: was, Second: now[0], Asked: 1, Changed: 1, How: "once more"}
}
