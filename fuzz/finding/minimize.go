package finding

import (
	"context"
	"errors"
	"strings"
	"sync"

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

// labellers are those of minimizations that have ended: their memory is used again.
var labellers = sync.Pool{New: func() any { return new(Labeller) }}

// minimize shrinks a case, keeping its detail (labels and class), and finds the changes of
// parameters that make the sides agree on the small one. It may be called from several goroutines.
func (x *pairTriage) minimize(ctx context.Context, f *Case) error {
	f.Verdict, f.BaseA, f.ProgramK = x.verdict, x.p.unknownIsB, x.k
	if f.asFound() {
		return nil
	}
	f.Stable, f.Of = repetitions, repetitions
	sides, err := x.shrinkingSides(f)
	if err != nil {
		return nil // a recording without an explanation: there is nothing to ask
	}
	l := labellers.Get().(*Labeller)
	defer labellers.Put(l)
	res, err := minimize.Dot(ctx, x.p.Spec.Formats, f.Start, x.test(l, sides, f.Detail), minimize.Options{
		Bucket: f.Detail, MaxQueries: maxQueries, MaxBatches: maxBatches,
	})
	var flaky *minimize.FlakyError
	if err != nil && !errors.As(err, &flaky) {
		return err
	}
	if flaky != nil {
		res, f.Stable = flaky.Result, 1
	}
	f.Dot, f.Mask, f.Minimal, f.Queries, f.Batches = res.Dot, res.Mask, res.Minimal, res.Queries, res.Batches
	codes, err := sides(ctx, []*mma.Dot{res.Dot})
	if err != nil {
		return err
	}
	f.A, f.B = codes[0][0], codes[0][1]
	f.Class = oracle.Compare(x.p.Spec.D, x.p.Policy, f.A, f.B)
	if x.attributor != nil && f.Class != oracle.Same {
		var l Labeller
		_, causes := x.causesOf(&l, []*mma.Dot{f.Dot}, []Sample{f.sample()})
		f.Changes, f.Back = x.attributor.Changes(causes[0])
	}
	return nil
}

var errNoAnswers = errors.New("the target cannot answer new inputs, and no model explains it")

// shrinkingSides returns the two sides as the minimizer asks them: the units
// themselves, or for a recording the model that explains it.
func (x *pairTriage) shrinkingSides(f *Case) (bothSides, error) {
	if plain := func(u devices.Unit) bool {
		return !devices.IsRecording(u) && (u.Model() != nil || !x.isUnstable())
	}; plain(x.p.A) && plain(x.p.B) {
		return inOneBatch(x.p.A, x.p.B, x.p.Spec.Formats), nil
	}
	a, err := x.shrinkingSide(f, x.p.A, !x.p.unknownIsB)
	if err != nil {
		return nil, err
	}
	b, err := x.shrinkingSide(f, x.p.B, x.p.unknownIsB)
	return together(a, b), err
}

func (x *pairTriage) shrinkingSide(f *Case, u devices.Unit, isUnknown bool) (runner, error) {
	if !devices.IsRecording(u) {
		run := dotRunner(u, x.p.Spec.Formats)
		if x.isUnstable() && u.Model() == nil {
			run = mostly(run, x.p.Equal)
		}
		return run, nil
	}
	if x.attributor == nil || triage.Label(f.Bucket).Open() {
		return nil, errNoAnswers // no model shows the case
	}
	// By default it is base's program with x.k products, as triage tested it.
	program, k := x.p.base, x.k
	switch known := x.attributor == x.p.Programs; {
	case known && isUnknown:
		program, k = x.p.other, x.p.otherK
	case known:
		k = x.p.baseK
	case isUnknown:
		program = x.verdict.Program
	}
	m, err := sim.New(x.p.Spec.Formats, k, program)
	if err != nil {
		return nil, err
	}
	f.OnModel = true
	return func(_ context.Context, dots []*mma.Dot) ([]uint64, error) {
		codes := make([]uint64, len(dots))
		for i, d := range dots {
			codes[i] = m.Dot(d, nil)
		}
		return codes, nil
	}, nil
}

// test is the minimizer's predicate: the detail that a candidate belongs to, or another one
// if that is not the one to keep.
func (x *pairTriage) test(l *Labeller, sides bothSides, keep string) minimize.Test {
	l.attribution.Only, _, _ = strings.Cut(keep, ":") // the class

	return func(ctx context.Context, dots []*mma.Dot) ([]string, error) {
		results, failed, err := oneByOne(ctx, sides, dots)
		if failed == nil && err != nil {
			return nil, err
		}
		names := make([]string, len(dots))
		var at []int // of those that differ
		var differ []*mma.Dot
		var ss []Sample
		for i, r := range results {
			if failed != nil && failed[i] {
				names[i] = oracle.Fault.String() // another finding, of its own
			} else if class := oracle.Compare(x.p.Spec.D, x.p.Policy, r[0], r[1]); class != oracle.Same {
				at, differ = append(at, i), append(differ, dots[i])
				ss = append(ss, Sample{A: r[0], B: r[1], Class: class})
			}
		}
		_, causes := x.causesOf(l, differ, ss)
		for j, cause := range causes {
			cause = Left(cause, ss[j].Class)
			names[at[j]] = detailName(cause.Primary, cause.Detail, ss[j].Class)
		}
		return names, nil
	}
}
