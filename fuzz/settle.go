package fuzz

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Cases of an odd pair that the verdict does not explain are run again too, many at a time,
// before they are counted: they may be unstable, or depend on the tiles around them.

// settled is the outcome of running unexplained cases again.
type settled struct {
	labels   map[CaseRef]string // layout or unstable; cases without a label are unexplained
	unstable []Sample           // cases that are counted as unstable
}

// settle runs again the cases that the verdict does not explain: all of an odd pair, and a few
// of any other pair that has a unit other than a model or a recording. rechecked are cases that
// have been run again already.
func (x *pairTriage) settle(ctx context.Context, ss []Sample, rechecked []*Case) (*settled, error) {
	s := &settled{labels: map[CaseRef]string{}}
	if x.p.certain() || len(ss) == 0 {
		return s, nil
	}
	if !x.isOdd() && x.attributor != nil {
		few := ss[:min(len(ss), oddSample)]
		stays, err := x.stays(ctx, few)
		if err != nil {
			return nil, err
		}
		x.d.Odd = slices.Contains(stays, false)
	}
	if !x.isOdd() {
		return s, nil
	}
	known := map[CaseRef]string{}
	for _, f := range rechecked {
		known[f.Origin] = f.Bucket
	}
	stays, err := x.stays(ctx, ss)
	if err != nil {
		return nil, err
	}
	around, err := x.dependsOnTile(ctx, ss, stays)
	if err != nil {
		return nil, err
	}
	if x.batchMatters {
		if err := x.inBatches(ctx, ss, stays, around); err != nil {
			return nil, err
		}
	}
	for i := range ss {
		ref := ss[i].CaseRef
		switch {
		case ss[i].Class == oracle.Fault:
		case known[ref] != "":
			s.labels[ref] = known[ref]
		case !stays[i]:
			s.labels[ref] = Unstable
		case around[i]:
			s.labels[ref] = string(triage.Layout)
		}
	}
	return s, nil
}

// stays reports for each case whether it gives the same in its tile, several times. A
// case that has changed once is not run again.
func (x *pairTriage) stays(ctx context.Context, ss []Sample) ([]bool, error) {
	stays := make([]bool, len(ss))
	var left []int
	for i := range ss {
		stays[i] = true
		if ss[i].Class != oracle.Fault && ss[i].Source != recordedSource {
			left = append(left, i)
		}
	}
	for range repetitions {
		for _, t := range x.tilesOf(ss, left) {
			got, err := x.bothOf(ctx, t.batch)
			if devices.IsFault(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			for j, i := range t.cases {
				stays[i] = got(t.outputs[j]) == [2]uint64{ss[i].A, ss[i].B}
			}
		}
		left = slices.DeleteFunc(left, func(i int) bool { return !stays[i] })
	}
	return stays, nil
}

// tiles is a batch of tiles, of which some cases are outputs.
type tiles struct {
	batch   *mma.Batch
	cases   []int
	outputs []int // of the cases, in the batch
}

// tileRef names a tile.
type tileRef struct {
	source string
	first  uint64 // index of its first output
}

// tilesOf returns the tiles of some cases, those of a shape together, in batches of at
// most as many dot products as a chunk.
func (x *pairTriage) tilesOf(ss []Sample, some []int) []*tiles {
	var all []*tiles
	for _, one := range []bool{true, false} { // generators of single dot products, and of tiles
		var refs []tileRef
		var g *gen.Generator
		cases := map[tileRef][]int{}
		for _, i := range some {
			src := sourceOf(ss[i].Source)
			if (src.Generator.M*src.Generator.N == 1) != one {
				continue
			}
			g = src.Generator
			ref := tileRef{ss[i].Source, ss[i].Index - ss[i].Index%uint64(g.M*g.N)}
			if cases[ref] == nil {
				refs = append(refs, ref)
			}
			cases[ref] = append(cases[ref], i)
		}
		for len(refs) > 0 {
			n := min(len(refs), chunkDots/(g.M*g.N))
			all = append(all, x.fill(mma.Shape{M: g.M, N: g.N, K: x.p.K, Tiles: n}, refs[:n], cases, ss))
			refs = refs[n:]
		}
	}
	return all
}

// fill makes a batch of tiles.
func (x *pairTriage) fill(shape mma.Shape, refs []tileRef, cases map[tileRef][]int, ss []Sample) *tiles {
	t := &tiles{batch: mma.NewBatch(x.p.spec.Formats, shape)}
	for n, ref := range refs {
		sourceOf(ref.source).Fill(t.batch.Part(n, 1), x.c.cfg.Seed, ref.first)
		for _, i := range cases[ref] {
			t.cases = append(t.cases, i)
			t.outputs = append(t.outputs, n*shape.M*shape.N+int(ss[i].Index-ref.first))
		}
	}
	return t
}

// dependsOnTile reports which of the cases that stay as they are in their tiles give
// something else alone.
func (x *pairTriage) dependsOnTile(ctx context.Context, ss []Sample, stays []bool) ([]bool, error) {
	around := make([]bool, len(ss))
	var some []int
	var picked []Sample
	for i := range ss {
		if !stays[i] || ss[i].Class == oracle.Fault || ss[i].Source == recordedSource {
			continue
		}
		if g := sourceOf(ss[i].Source).Generator; g.M*g.N > 1 {
			some, picked = append(some, i), append(picked, ss[i])
		}
	}
	ts, err := x.alone(ctx, x.newCases(picked))
	for j := range ts {
		around[some[j]] = 2*ts[j].same < ts[j].of
	}
	return around, err
}

// inBatches runs whole batches of cases whose results change when only their tiles are run.
// Cases that keep their results in the batches depend on the tiles around them.
func (x *pairTriage) inBatches(ctx context.Context, ss []Sample, stays, around []bool) error {
	for _, ch := range x.chunks {
		var at []int
		for i := range ss {
			if !stays[i] && ch.has(ss[i].CaseRef) {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			continue
		}
		b := x.batchOf(ch)
		for n := 0; n < repetitions && len(at) > 0; n++ {
			got, err := x.bothOf(ctx, b)
			if devices.IsFault(err) {
				break
			}
			if err != nil {
				return err
			}
			at = slices.DeleteFunc(at, func(i int) bool {
				return got(int(ss[i].Index-ch.index)) != [2]uint64{ss[i].A, ss[i].B}
			})
		}
		for _, i := range at {
			stays[i], around[i] = true, true
		}
	}
	return nil
}
