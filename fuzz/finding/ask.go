package finding

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// How triage asks units that fail on some inputs, or give different answers to the same input.
// A campaign counts failures and changed answers (blame, Unstable); they must not
// end the search for a cause or a minimization.

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

// inOneBatch returns the results of two units on the same batches, whose memory is used again.
func inOneBatch(a, b devices.Unit, f mma.Formats) bothSides {
	var in mma.Batch
	var out []byte
	return func(ctx context.Context, dots []*mma.Dot) ([][2]uint64, error) {
		in.Reset(f, mma.Shape{M: 1, N: 1, K: len(dots[0].A), Tiles: len(dots)})
		for i, d := range dots {
			in.Set(i, d)
		}
		w := f.D.Width()
		out = slices.Grow(out[:0], len(dots)*w)[:len(dots)*w]
		both := make([][2]uint64, len(dots))
		for side, u := range []devices.Unit{a, b} {
			if err := u.Run(ctx, &in, out); err != nil {
				return nil, err
			}
			for i := range both {
				both[i][side] = mma.Load(out, w, i)
			}
		}
		return both, nil
	}
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

// oneByOne runs dot products together and, if a unit fails on them, one at a time. failed
// marks those on which it fails (nil: none); err is then the failure.
func oneByOne[R any](ctx context.Context, run func(context.Context, []*mma.Dot) ([]R, error), dots []*mma.Dot) (results []R, failed []bool, err error) {
	results, err = run(ctx, dots)
	if !devices.IsFault(err) {
		return results, nil, err
	}
	results, failed = make([]R, len(dots)), make([]bool, len(dots))
	for i := range dots {
		r, err := run(ctx, dots[i:i+1])
		if failed[i] = devices.IsFault(err); failed[i] {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		results[i] = r[0]
	}
	return results, failed, err
}

// harmless returns a runner for triage. An input on which the unit fails says
// nothing about its arithmetic: it is replaced, in dots, by one on which it does
// not fail.
func harmless(run runner) runner {
	return func(ctx context.Context, dots []*mma.Dot) ([]uint64, error) {
		codes, failed, err := oneByOne(ctx, run, dots)
		if failed == nil {
			return codes, err
		}
		good := len(failed) - 1
		for good >= 0 && failed[good] {
			good--
		}
		if good < 0 {
			return nil, err
		}
		replace(dots, codes, failed, good)
		return codes, nil
	}
}

// replace overwrites marked inputs and their results with another input and its result.
func replace(dots []*mma.Dot, codes []uint64, others []bool, by int) {
	for i, other := range others {
		if other {
			dots[i], codes[i] = dots[by], codes[by]
		}
	}
}

// unsure is how many more times an input is asked if its first answers are not the same.
const unsure = 2

// equality reports whether two codes are the same result.
type equality func(x, y uint64) bool

// steady returns a runner of a unit that changes its answers, for triage. An answer
// counts if at least 4 of 5 are the same; an input without such an answer says nothing, and is
// replaced as harmless does.
func steady(run runner, equal equality) runner {
	return func(ctx context.Context, dots []*mma.Dot) ([]uint64, error) {
		codes, doubtful, err := often(ctx, run, equal, dots)
		if good := slices.Index(doubtful, false); good >= 0 {
			replace(dots, codes, doubtful, good)
		}
		return codes, err
	}
}

// mostly returns a runner of a unit that changes its answers, for the minimizer: it
// gives the most frequent one.
func mostly(run runner, equal equality) runner {
	return func(ctx context.Context, dots []*mma.Dot) ([]uint64, error) {
		codes, _, err := often(ctx, run, equal, dots)
		return codes, err
	}
}

// often asks three times, and twice more about inputs whose answers are not the same. It
// returns the most frequent answers, and marks those that at least two others contradict.
func often(ctx context.Context, run runner, equal equality, dots []*mma.Dot) (codes []uint64, doubtful []bool, err error) {
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
				votes[i][known(votes[i], got[j], equal)]++
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
	differing := slices.DeleteFunc(all, func(i int) bool { return len(votes[i]) == 1 })
	if len(differing) > 0 {
		if err := ask(differing, unsure); err != nil {
			return nil, nil, err
		}
	}
	codes, doubtful = make([]uint64, len(dots)), make([]bool, len(dots))
	for i, v := range votes {
		asked := 0
		for code, n := range v {
			asked += n
			if n > v[codes[i]] || n == v[codes[i]] && code < codes[i] {
				codes[i] = code
			}
		}
		doubtful[i] = v[codes[i]] < asked-1 || v[codes[i]] < repetitions
	}
	return codes, doubtful, nil
}

// known is the code of an earlier answer that is the same result as a code, or else the code.
func known(votes map[uint64]int, code uint64, equal equality) uint64 {
	for earlier := range votes {
		if equal(earlier, code) {
			return earlier
		}
	}
	return code
}
