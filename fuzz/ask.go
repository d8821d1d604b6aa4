package fuzz

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// How triage asks units that fail on some inputs, or give another answer when they are
// asked again. A campaign counts what they do (blame, Unstable); where it looks for a cause
// or minimizes a case they must not end it.

// runner returns the results of a unit.
type runner func(ctx context.Context, dots []*mma.Dot) ([]uint64, error)

// bothSides returns the results of both sides.
type bothSides func(ctx context.Context, dots []*mma.Dot) ([][2]uint64, error)

func dotRunner(u devices.Unit, f mma.Formats) runner {
	return func(ctx context.Context, dots []*mma.Dot) ([]uint64, error) { return runDots(ctx, u, f, dots) }
}

// runDots runs dot products, each in a tile of its own.
func runDots(ctx context.Context, u devices.Unit, f mma.Formats, dots []*mma.Dot) ([]uint64, error) {
	b := mma.BatchOf(f, len(dots[0].A), dots)
	w := f.D.Width()
	out := make([]byte, len(dots)*w)
	if err := u.Run(ctx, b, out); err != nil {
		return nil, err
	}
	codes := make([]uint64, len(dots))
	for i := range codes {
		codes[i] = mma.Load(out, w, i)
	}
	return codes, nil
}

func together(a, b runner) bothSides {
	return func(ctx context.Context, dots []*mma.Dot) ([][2]uint64, error) {
		x, err := a(ctx, dots)
		if err != nil {
			return nil, err
		}
		y, err := b(ctx, dots)
		if err != nil {
			return nil, err
		}
		both := make([][2]uint64, len(dots))
		for i := range both {
			both[i] = [2]uint64{x[i], y[i]}
		}
		return both, nil
	}
}

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
// not fail.
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

// unsure is the number of more answers that are asked for where the first ones are not
// the same.
const unsure = 2

// steady returns a runner of a unit that changes its answers, for triage. An answer
// counts if it comes at least 4 times of 5; an input that has none says nothing, and is
// replaced as harmless does.
func steady(run runner) runner {
	return func(ctx context.Context, dots []*mma.Dot) ([]uint64, error) {
		codes, sure, err := often(ctx, run, dots)
		if err != nil {
			return nil, err
		}
		good := slices.Index(sure, true)
		for i := range dots {
			if !sure[i] && good >= 0 {
				dots[i], codes[i] = dots[good], codes[good]
			}
		}
		return codes, nil
	}
}

// mostly returns a runner of a unit that changes its answers, for the minimizer: it
// gives the most frequent one.
func mostly(run runner) runner {
	return func(ctx context.Context, dots []*mma.Dot) ([]uint64, error) {
		codes, _, err := often(ctx, run, dots)
		return codes, err
	}
}

// often asks three times, and where the answers are not the same twice more. It returns
// the most frequent answers, and which of them came all times but one at most.
func often(ctx context.Context, run runner, dots []*mma.Dot) (codes []uint64, sure []bool, err error) {
	votes := make([]map[uint64]int, len(dots))
	ask := func(at []int, times int) error {
		some := make([]*mma.Dot, len(at))
		for range times {
			for j, i := range at {
				some[j] = dots[i]
			}
			got, err := run(ctx, some)
			if err != nil {
				return err
			}
			for j, i := range at {
				dots[i] = some[j] // harmless may have replaced it
				votes[i][got[j]]++
			}
		}
		return nil
	}
	all := make([]int, len(dots))
	for i := range dots {
		all[i], votes[i] = i, map[uint64]int{}
	}
	if err := ask(all, repetitions); err != nil {
		return nil, nil, err
	}
	again := slices.DeleteFunc(all, func(i int) bool { return len(votes[i]) == 1 })
	if len(again) > 0 {
		if err := ask(again, unsure); err != nil {
			return nil, nil, err
		}
	}
	codes, sure = make([]uint64, len(dots)), make([]bool, len(dots))
	for i, v := range votes {
		asked := 0
		for code, n := range v {
			asked += n
			if n > v[codes[i]] || n == v[codes[i]] && code < codes[i] {
				codes[i] = code
			}
		}
		sure[i] = v[codes[i]] >= asked-1 && v[codes[i]] >= repetitions
	}
	return codes, sure, nil
}
