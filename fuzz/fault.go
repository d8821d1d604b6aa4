package fuzz

import (
	"context"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A target that fails on a batch is asked for its dot products one by one.
// The campaign counts the failures as faults (blame); where it looks for a cause or
// shrinks a case they must not end it.

// tolerant returns the results of both sides, and which dot products a side
// fails on; nil: none.
func tolerant(ctx context.Context, sides bothSides, dots []*mma.Dot) (results [][2]uint64, failed []bool, err error) {
	results, err = sides(ctx, dots)
	if !devices.IsFault(err) {
		return results, nil, err
	}
	results, failed = make([][2]uint64, len(dots)), make([]bool, len(dots))
	for i := range dots {
		r, err := sides(ctx, dots[i:i+1])
		switch {
		case devices.IsFault(err):
			failed[i] = true
		case err != nil:
			return nil, nil, err
		default:
			results[i] = r[0]
		}
	}
	return results, failed, nil
}

// harmless returns a runner for triage. An input on which the unit fails says
// nothing about its arithmetic: it is replaced, in dots, by one on which it does
// not.
func harmless(run runner) runner {
	return func(ctx context.Context, dots []*mma.Dot) ([]uint64, error) {
		codes, err := run(ctx, dots)
		if !devices.IsFault(err) {
			return codes, err
		}
		codes = make([]uint64, len(dots))
		good := -1
		var failed []int
		for i := range dots {
			c, err := run(ctx, dots[i:i+1])
			switch {
			case devices.IsFault(err):
				failed = append(failed, i)
			case err != nil:
				return nil, err
			default:
				codes[i], good = c[0], i
			}
		}
		if good < 0 {
			return nil, err // the first error: it fails on all of them
		}
		for _, i := range failed {
			dots[i], codes[i] = dots[good], codes[good]
		}
		return codes, nil
	}
}
