package fuzz

import (
	"context"
	"errors"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// The limits of one minimization.
const (
	maxQueries = 200_000
	maxBatches = 400
)

// finding shrinks a differing case to one of the same detail. It may be called from
// several goroutines.
func (x *examiner) finding(ctx context.Context, e *example, detail string, number int) (*Finding, error) {
	f := &Finding{
		Pair: x.index, Number: number, Bucket: bucketOf(detail), Detail: detail, Class: e.Class, Origin: e.CaseRef, Seed: x.c.cfg.Seed,
		Start: e.dot, Dot: e.dot, A: e.A, B: e.B, Verdict: x.verdict, Stable: repetitions, Of: repetitions,
		BaseA: x.p.boxIsB, ProgramK: x.k, Place: e.place,
	}
	if e.label != "" || e.Class == oracle.Fault {
		// What depends on the position, does not repeat or kills its target is
		// kept as it was found.
		f.Stable, f.Of = e.same, e.of
		return f, nil
	}
	sides, err := x.shrinkingSides(f)
	if err != nil {
		return f, nil // a recording without an explanation: there is nothing to ask
	}
	res, err := minimize.Dot(ctx, x.p.spec.Formats, e.dot, x.test(sides), minimize.Options{
		Bucket: detail, MaxQueries: maxQueries, MaxBatches: maxBatches,
	})
	var flaky *minimize.FlakyError
	if err != nil && !errors.As(err, &flaky) {
		return nil, err
	}
	if flaky != nil {
		res, f.Stable = flaky.Result, 1
	}
	f.Dot, f.Mask, f.Minimal, f.Queries, f.Batches = res.Dot, res.Mask, res.Minimal, res.Queries, res.Batches
	codes, err := sides(ctx, []*mma.Dot{res.Dot})
	if err != nil {
		return nil, err
	}
	f.A, f.B = codes[0][0], codes[0][1]
	f.Class = oracle.Compare(x.p.spec.D, x.p.policy, f.A, f.B)
	if x.namer != nil && f.Class != oracle.Same {
		var l labeller
		_, causes := x.causesOf(&l, []*mma.Dot{f.Dot}, []Sample{{A: f.A, B: f.B, Class: f.Class}})
		f.Changes, f.Back = x.namer.Changes(causes[0])
	}
	return f, nil
}

// bucketOf returns the bucket of a detail.
func bucketOf(detail string) string {
	labels, _, _ := strings.Cut(detail, ":")
	return string(triage.PrimaryIn(labels))
}

// LabelsIn returns the labels in a detail's name.
func LabelsIn(detail string) []string {
	labels, _, _ := strings.Cut(detail, ":")
	return strings.FieldsFunc(labels, func(r rune) bool { return r == '+' || r == '|' })
}

// bothSides returns the results of both sides.
type bothSides func(ctx context.Context, dots []*mma.Dot) ([][2]uint64, error)

var errNoAnswers = errors.New("the target cannot answer new inputs, and no model explains it")

// shrinkingSides returns the two sides as the minimizer asks them: the units
// themselves, or for a recording the model that explains it.
func (x *examiner) shrinkingSides(f *Finding) (bothSides, error) {
	a, err := x.shrinkingSide(f, x.p.A, !x.p.boxIsB)
	if err != nil {
		return nil, err
	}
	b, err := x.shrinkingSide(f, x.p.B, x.p.boxIsB)
	return together(a, b), err
}

func (x *examiner) shrinkingSide(f *Finding, u devices.Unit, isBox bool) (runner, error) {
	if !recorded(u) {
		run := dotRunner(u, x.p.spec.Formats)
		if x.isOdd() && u.Model() == nil {
			run = mostly(run)
		}
		return run, nil
	}
	if x.namer == nil || f.Bucket == string(triage.Unexplained) {
		return nil, errNoAnswers // no model shows the case
	}
	// The base's program was put to the test on all evidence with x.k.
	program, k := x.p.base, x.k
	switch given := x.namer == x.p.given; {
	case given && isBox:
		program, k = x.p.other, x.p.otherK
	case given:
		k = x.p.baseK
	case isBox:
		program = x.verdict.Program
	}
	m, err := sim.New(x.p.spec.Formats, k, program)
	if err != nil {
		return nil, err
	}
	f.Through = true
	return func(_ context.Context, dots []*mma.Dot) ([]uint64, error) {
		codes := make([]uint64, len(dots))
		for i, d := range dots {
			codes[i] = m.Dot(d, nil)
		}
		return codes, nil
	}, nil
}

// recorded says whether a unit is a recording, which cannot answer new inputs.
func recorded(u devices.Unit) bool {
	_, ok := u.(devices.Recorder)
	return ok
}

type runner func(ctx context.Context, dots []*mma.Dot) ([]uint64, error)

func dotRunner(u devices.Unit, f mma.Formats) runner {
	return func(ctx context.Context, dots []*mma.Dot) ([]uint64, error) { return runDots(ctx, u, f, dots) }
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

// test is the minimizer's predicate: which detail a candidate falls into.
func (x *examiner) test(sides bothSides) minimize.Test {
	return func(ctx context.Context, dots []*mma.Dot) ([]string, error) {
		results, failed, err := tolerant(ctx, sides, dots)
		if err != nil {
			return nil, err
		}
		var l labeller
		names := make([]string, len(dots))
		var at []int // of those that differ
		var differ []*mma.Dot
		var ss []Sample
		for i, r := range results {
			if failed != nil && failed[i] {
				names[i] = oracle.Fault.String() // another finding, of its own
			} else if class := oracle.Compare(x.p.spec.D, x.p.policy, r[0], r[1]); class != oracle.Same {
				at, differ = append(at, i), append(differ, dots[i])
				ss = append(ss, Sample{A: r[0], B: r[1], Class: class})
			}
		}
		_, causes := x.causesOf(&l, differ, ss)
		for j, cause := range causes {
			names[at[j]] = kindKey{cause, ss[j].Class}.name()
		}
		return names, nil
	}
}
