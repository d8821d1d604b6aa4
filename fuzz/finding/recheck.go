package finding

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// Some units are unstable: they give different answers to the same input. A difference
// that comes from this alone is not one of arithmetic: such cases are counted as unstable,
// belong to no bucket and are not evidence.
//
// Every case that is to be evidence is rechecked: it is run alone in a tile. If its results
// change, it is run where it was found: in its tile, then in its batch. If its results are the
// same there every time, they depend on what is around it; if not, it is unstable. A pair
// with such a case is an unstable pair: from then on every differing case that the verdict does
// not explain is rechecked (confirm.go), and triage asks for every answer several times.
//
// How often a case is run is limited: 3 times alone, for at most 8 cases of each class and
// generator in an epoch and for 384 cases that agree; those that change, 8 times in their
// tiles, and 8 times in at most two batches of an epoch; an unexplained case of an unstable pair,
// at most 6 times, or if cases of the pair are unstable as often as it takes to rule out
// chance: up to 40 times, and more only if most cases change.

// Unstable is the bucket name of findings that cannot be repeated.
const Unstable = bundle.Unstable

const (
	repetitions  = 3  // of a case, alone
	trials       = 8  // of a case that changed, where it was found
	trialBatches = 2  // batches of an epoch that are run for it
	stableSample = 64 // unexplained cases that are rechecked in a pair that is not unstable
)

// trial is what repetitions of a case gave.
type trial struct {
	same   int       // of them gave the result of the case
	of     int       // repetitions
	first  [2]uint64 // result
	steady bool      // all gave the first result
	sides  [2]bool   // A or B gave another result than was found
}

// add adds a repetition of a case of a pair.
func (t *trial) add(p *Pair, want, got [2]uint64) {
	if t.of == 0 {
		t.first, t.steady = got, true
	}
	t.steady = t.steady && p.alike(got, t.first)
	if p.alike(got, want) {
		t.same++
	}
	for s := range got {
		t.sides[s] = t.sides[s] || !p.Equal(got[s], want[s])
	}
	t.of++
}

// alike reports whether the results of both sides are the same by the pair's policy: where NaNs are
// compared by class, one that has another code each time is no change.
func (p *Pair) alike(these, those [2]uint64) bool {
	return p.Equal(these[0], those[0]) && p.Equal(these[1], those[1])
}

// trials runs a batch several times, and counts what it gives for cases at some outputs.
func (x *pairTriage) trials(ctx context.Context, times int, b *mma.Batch, cases []*Case, output func(i int) int) ([]trial, error) {
	ts := make([]trial, len(cases))
	for range times {
		got, err := x.bothOf(ctx, b)
		if err != nil {
			return ts, err
		}
		for i, f := range cases {
			ts[i].add(x.p, [2]uint64{f.A, f.B}, got(output(i)))
		}
	}
	return ts, nil
}

// trial does that for one case.
func (x *pairTriage) trial(ctx context.Context, b *mma.Batch, f *Case, output int) (trial, error) {
	ts, err := x.trials(ctx, trials, b, []*Case{f}, func(int) int { return output })
	return ts[0], err
}

// repeats reports whether every repetition gave the result of the case.
func (t *trial) repeats() bool { return t.same == t.of }

// recheck runs cases once more, each alone in its tile. Cases that change are then run where they
// were found.
func (x *pairTriage) recheck(ctx context.Context, cases []*Case) error {
	alone, err := x.alone(ctx, repetitions, cases)
	if alone == nil || err != nil {
		return err // after a fault nothing is concluded from the repetitions
	}
	x.d.Checked += uint64(len(cases))
	batches := map[int]bool{}
	for i, f := range cases {
		if f.Class == oracle.Fault || alone[i].repeats() {
			f.Stable, f.Of = alone[i].same, alone[i].of
			continue
		}
		x.d.Changed++
		x.changes(&alone[i])
		if err := x.whereFound(ctx, f, &alone[i], batches); err != nil {
			return err
		}
	}
	return x.setAside(ctx, cases)
}

// alone runs cases alone in their tiles, so many times; nil if a side fails on one that was no fault
// when it was found. A fault is not rechecked.
func (x *pairTriage) alone(ctx context.Context, times int, cases []*Case) ([]trial, error) {
	ts := make([]trial, len(cases))
	var at []int
	var retried []*Case
	var dots []*mma.Dot
	for i, f := range cases {
		if f.Class != oracle.Fault {
			at, retried, dots = append(at, i), append(retried, f), append(dots, f.Start)
		}
	}
	if len(dots) == 0 {
		return ts, nil
	}
	some, err := x.trials(ctx, times, mma.BatchOf(x.p.Spec.Formats, x.p.K, dots), retried, func(i int) int { return i })
	if devices.IsFault(err) {
		return nil, nil
	}
	for j, i := range at {
		ts[i] = some[j]
	}
	return ts, err
}

// bothOf runs both sides on a batch and returns the results of its outputs.
func (x *pairTriage) bothOf(ctx context.Context, b *mma.Batch) (func(output int) [2]uint64, error) {
	w := x.p.Spec.D.Width()
	a, o := make([]byte, b.Dots()*w), make([]byte, b.Dots()*w)
	if err := x.p.A.Run(ctx, b, a); err != nil {
		return nil, err
	}
	err := x.p.B.Run(ctx, b, o)
	return func(i int) [2]uint64 { return [2]uint64{mma.Load(a, w, i), mma.Load(o, w, i)} }, err
}

// whereFound runs a case that is not the same alone where it was found.
func (x *pairTriage) whereFound(ctx context.Context, f *Case, alone *trial, batches map[int]bool) error {
	t, err := x.inTile(ctx, f)
	if devices.IsFault(err) {
		return nil
	}
	if err != nil {
		return err
	}
	f.Stable, f.Of, f.Sides = t.same, t.of, t.sides
	switch {
	case t.repeats() && alone.steady && f.Origin.Source != Recorded:
		return x.extract(ctx, f, alone.first)
	case t.repeats(): // but alone its result changes from run to run
		f.Bucket, f.Stable, f.Of, f.Sides = Unstable, alone.same, alone.of, alone.sides
	case t.same > 0:
		f.Bucket = Unstable
	default:
		return x.inBatch(ctx, f, batches)
	}
	return nil
}

// inTile runs a case in its tile; a recorded case has none but its own.
func (x *pairTriage) inTile(ctx context.Context, f *Case) (trial, error) {
	if f.Origin.Source == Recorded {
		return x.trial(ctx, mma.BatchOf(x.p.Spec.Formats, x.p.K, []*mma.Dot{f.Start}), f, 0)
	}
	tile, output := SourceOf(f.Origin.Source).Tile(x.p.Spec, x.t.Seed, f.Origin.Index)
	return x.trial(ctx, tile, f, output)
}

// inBatch runs a case that was never reproduced in its tile in the complete batch that showed
// it, because the surrounding tiles may matter. It does so for a
// few batches only, unless the batch is known to matter.
func (x *pairTriage) inBatch(ctx context.Context, f *Case, batches map[int]bool) error {
	f.Bucket = Unstable
	i := slices.IndexFunc(x.d.Chunks, func(ch Chunk) bool { return ch.Has(f.Origin) })
	if i < 0 || !x.batchMatters && !batches[i] && len(batches) == trialBatches {
		return nil
	}
	ch := &x.d.Chunks[i]
	batches[i] = true
	b, err := x.batchOf(ch)
	if err != nil {
		return err
	}
	t, err := x.trial(ctx, b, f, int(f.Origin.Index-ch.First))
	if devices.IsFault(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if f.Stable, f.Of, f.Sides = t.same, t.of, t.sides; t.repeats() {
		f.Bucket = string(triage.Layout)
		if f.Origin.Source != Recorded { // whose batches are not kept in bundles
			f.Place = minimize.Nowhere.String()
		}
		x.batchMatters = true
	}
	return nil
}

// batchOf returns the inputs of a chunk as a worker makes them.
func (x *pairTriage) batchOf(ch *Chunk) (*mma.Batch, error) {
	shape := x.tileShape(ch.Ref(0).Source)
	shape.Tiles = (ch.Dots + shape.M*shape.N - 1) / (shape.M * shape.N)
	b := mma.NewBatch(x.p.Spec.Formats, shape)
	if ch.Recorded {
		err := x.p.Recorder.Load(int(ch.First), b, make([]byte, b.Dots()*x.p.Spec.D.Width()))
		return b, err
	}
	ch.Source.Fill(b, x.t.Seed, ch.First)
	return b, nil
}

// isUnstable reports whether a pair has had cases that did not repeat themselves alone.
func (x *pairTriage) isUnstable() bool { return x.st.UnstablePair || x.d.UnstablePair }

// changes takes note of a case that did not repeat itself.
func (x *pairTriage) changes(t *trial) {
	x.d.UnstablePair = true
	for side, changed := range t.sides {
		x.d.Changing[side] = x.d.Changing[side] || changed
	}
}

// repeatsItself reports whether a side, 0 for A, has always given the same result for a case.
func (x *pairTriage) repeatsItself(side int) bool {
	return !x.isUnstable() || x.hasChanged() && !x.st.Changing[side] && !x.d.Changing[side]
}

// hasChanged reports whether it is known which side has given other results for the same case.
func (x *pairTriage) hasChanged() bool {
	return x.st.Changing != [2]bool{} || x.d.Changing != [2]bool{}
}

// recheckAgreeing runs new cases that agree again and drops those that change: they are
// evidence.
func (x *pairTriage) recheckAgreeing(ctx context.Context) error {
	if x.p.certain() || len(x.d.Agree) == 0 {
		return nil
	}
	cases := x.newCases(x.d.Agree)
	ts, err := x.alone(ctx, repetitions, cases)
	if err != nil {
		return err
	}
	var kept []Sample
	for i := range ts {
		if ts[i].repeats() {
			kept = append(kept, x.d.Agree[i])
		} else {
			x.changes(&ts[i])
		}
	}
	if ts != nil {
		x.d.Agree = kept
	}
	return nil
}
