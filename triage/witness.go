package triage

import (
	"context"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
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
		for _, d := range dots {
			if differ(d) {
				d, err = evidence.Shrink(ctx, f, d, evidence.OneByOne(differ), minimize.Options{})
				if err != nil {
					return nil, err
				}
				return &Witness{d, mp.Dot(d, nil), mq.Dot(d, nil)}, nil
			}
		}
	}
}
