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

// witness returns the smallest input found on which the best program is wrong: it
// begins with the smallest such case of the evidence.
func (l *loop) witness(ctx context.Context) (*Witness, error) {
	m, err := sim.New(l.Formats, l.k, l.p)
	if err != nil {
		return nil, err
	}
	var start *mma.Dot
	for _, s := range l.sets {
		for i, d := range s.dots {
			if !l.same(m.Dot(d, nil), s.want[i]) && (start == nil || minimize.Less(l.Formats, d, start)) {
				start = d
			}
		}
	}
	if start == nil {
		return nil, nil
	}
	const wrong = "wrong"
	test := func(ctx context.Context, dots []*mma.Dot) ([]string, error) {
		out := make([]string, len(dots))
		kept, want, err := l.unit.ask(ctx, dots)
		code := map[*mma.Dot]uint64{}
		for i, d := range kept {
			code[d] = want[i]
		}
		for i, d := range dots {
			if c, ok := code[d]; ok && !l.same(c, m.Dot(d, nil)) {
				out[i] = wrong
			}
		}
		return out, err
	}
	o := minimize.Options{Bucket: wrong, MaxQueries: witnessQueries, SkipMask: true}
	res, err := minimize.Dot(ctx, l.Formats, start, test, o)
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
