package triage

import (
	"context"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// Part is a part of the difference between two programs: fields that appear,
// disappear or change as one.
type Part struct {
	Label   Label
	Changes []mma.Change
}

// Parts returns the difference between two programs in parts.
func Parts(p, q *mma.Params) []Part {
	var parts []Part
	for _, changes := range changedParts(p, q) {
		parts = append(parts, Part{labelOf(changes[0], p, q), changes})
	}
	return parts
}

// Witness is an input on which two programs differ.
type Witness struct {
	Dot           *mma.Dot
	Before, After uint64 // D by the first and by the second program
}

// FindWitness returns the smallest input that shows a difference between two
// programs, bit for bit; nil if the inputs of gen.Probe with seed show none.
func FindWitness(ctx context.Context, f mma.Formats, k int, p, q mma.Params, seed uint64) (*Witness, error) {
	mp, err := sim.New(f, k, p)
	if err != nil {
		return nil, err
	}
	mq, err := sim.New(f, k, q)
	if err != nil {
		return nil, err
	}
	differ := func(d *mma.Dot) bool { return mp.Dot(d, nil) != mq.Dot(d, nil) }
	for round := 0; ; round++ {
		dots := gen.Probe(gen.Spec{Formats: f, K: k}, seed, round, &p, &q)
		if len(dots) == 0 || ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if n := firstDifference(f, k, dots, mp, mq); n >= 0 {
			d, err := evidence.Shrink(ctx, f, dots[n], evidence.OneByOne(differ), minimize.Options{})
			if err != nil {
				return nil, err
			}
			return &Witness{d, mp.Dot(d, nil), mq.Dot(d, nil)}, nil
		}
	}
}

// firstDifference returns the place of the first dot product of which two models give other
// results, -1 if there is none.
func firstDifference(f mma.Formats, k int, dots []*mma.Dot, p, q *sim.Model) int {
	const most = 1024 // in a batch: the first difference often comes soon
	width := f.D.Width()
	x, y := make([]byte, most*width), make([]byte, most*width)
	for first := 0; first < len(dots); first += most {
		part := dots[first:min(first+most, len(dots))]
		in, n := mma.BatchOf(f, k, part), len(part)*width
		var both parallel.Group
		both.Go(func() { p.Run(in, x[:n]) })
		q.Run(in, y[:n])
		both.Wait()
		for i := range part {
			if mma.Load(x, width, i) != mma.Load(y, width, i) {
				return first + i
			}
		}
	}
	return -1
}
