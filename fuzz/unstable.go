package fuzz

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// A unit may give another answer when it is asked again. What differs by that alone is
// no difference of arithmetic: such cases are counted as unstable, beside the buckets,
// and are evidence of nothing.
//
// Every case that is to be evidence is run again, alone. One that does not give the same
// is run again where it was found: in its tile, then in its batch. If it repeats itself
// there every time, what is around it matters; if not, it is unstable. Once a pair has had
// one of these it is odd, and from there on every differing case that the verdict does
// not explain is run again, and answers that triage asks for must repeat themselves.
//
// The numbers do not depend on what is found: alone 3 times for at most 8 cases of each
// class and generator in an epoch and for 384 cases that agree, in its tile 8 times and
// in two batches of an epoch 8 times for those that changed; at most 6 times for each
// unexplained case of an odd pair.

// Unstable is the name that findings have which do not repeat themselves.
const Unstable = bundle.Unstable

const (
	repetitions  = 3  // of a case, alone
	trials       = 8  // of a case that changed, where it was found
	trialBatches = 2  // batches of an epoch that are run again
	oddSample    = 64 // unexplained cases that are run again in a pair that is not odd
)

// trial is what repetitions of a case gave.
type trial struct {
	same   int       // of them gave the result of the case
	of     int       // repetitions
	first  [2]uint64 // result
	steady bool      // all gave the first result
}

// add adds a repetition of a case.
func (t *trial) add(want, got [2]uint64) {
	if t.of == 0 {
		t.first, t.steady = got, true
	}
	t.steady = t.steady && got == t.first
	if got == want {
		t.same++
	}
	t.of++
}

// whole reports whether every repetition gave the result of the case.
func (t *trial) whole() bool { return t.same == t.of }

// repeat runs cases again, each alone in its tile, and settles those that change.
func (x *examiner) repeat(ctx context.Context, ex []example) error {
	alone, err := x.alone(ctx, ex, repetitions)
	if alone == nil || err != nil {
		return err // a fault: its class says it already
	}
	x.d.Checked += uint64(len(ex))
	batches := map[*chunk]bool{}
	for i := range ex {
		e := &ex[i]
		if e.Class == oracle.Fault || alone[i].whole() {
			e.same, e.of = alone[i].same, alone[i].of
			continue
		}
		x.d.Changed++
		x.d.Odd = true
		if err := x.found(ctx, e, &alone[i], batches); err != nil {
			return err
		}
	}
	return nil
}

// alone runs cases alone in their tiles; nil if a side fails on one that was no fault
// when it was found. A fault is not run again.
func (x *examiner) alone(ctx context.Context, ex []example, times int) ([]trial, error) {
	ts := make([]trial, len(ex))
	var at []int
	var dots []*mma.Dot
	for i := range ex {
		if ex[i].Class != oracle.Fault {
			at, dots = append(at, i), append(dots, ex[i].dot)
		}
	}
	if len(dots) == 0 {
		return ts, nil
	}
	for range times {
		got, err := x.bothOf(ctx, mma.BatchOf(x.p.spec.Formats, len(dots[0].A), dots))
		if devices.IsFault(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for j, i := range at {
			ts[i].add([2]uint64{ex[i].A, ex[i].B}, got(j))
		}
	}
	return ts, nil
}

// bothOf runs both sides on a batch and returns the results of its outputs.
func (x *examiner) bothOf(ctx context.Context, b *mma.Batch) (func(output int) [2]uint64, error) {
	w := x.p.spec.D.Width()
	a, o := make([]byte, b.Dots()*w), make([]byte, b.Dots()*w)
	if err := x.p.A.Run(ctx, b, a); err != nil {
		return nil, err
	}
	err := x.p.B.Run(ctx, b, o)
	return func(i int) [2]uint64 { return [2]uint64{mma.Load(a, w, i), mma.Load(o, w, i)} }, err
}

// found runs a case that is not the same alone where it was found.
func (x *examiner) found(ctx context.Context, e *example, alone *trial, batches map[*chunk]bool) error {
	if e.Source == recordedSource {
		return nil // a recording repeats itself
	}
	t, err := x.inTile(ctx, e)
	if devices.IsFault(err) {
		return nil
	}
	if err != nil {
		return err
	}
	e.same, e.of = t.same, t.of
	switch {
	case t.whole() && alone.steady:
		return x.place(ctx, e, alone.first)
	case t.whole(): // alone it changes
		e.label, e.same, e.of = Unstable, alone.same, alone.of
	case t.same > 0:
		e.label = Unstable
	default:
		return x.inBatch(ctx, e, batches)
	}
	return nil
}

// inTile runs a case in its tile.
func (x *examiner) inTile(ctx context.Context, e *example) (t trial, err error) {
	src, err := gen.ParseSource(e.Source)
	if err != nil {
		return t, err
	}
	tile, output := src.Tile(x.p.spec, x.c.cfg.Seed, e.Index)
	for range trials {
		got, err := x.bothOf(ctx, tile)
		if err != nil {
			return t, err
		}
		t.add([2]uint64{e.A, e.B}, got(output))
	}
	return t, nil
}

// inBatch runs a case that never was the same in its tile in the batch that showed it,
// if not too many of these have been run: what is around the tile may matter.
func (x *examiner) inBatch(ctx context.Context, e *example, batches map[*chunk]bool) error {
	e.label = Unstable
	i := slices.IndexFunc(x.chunks, func(c *chunk) bool {
		return c.name == e.Source && e.Index >= c.index && e.Index < c.index+uint64(c.n)
	})
	if i < 0 || !x.batchMatters && !batches[x.chunks[i]] && len(batches) == trialBatches {
		return nil
	}
	ch := x.chunks[i]
	batches[ch] = true
	b := x.batchOf(ch)
	var t trial
	for range trials {
		got, err := x.bothOf(ctx, b)
		if devices.IsFault(err) {
			return nil
		}
		if err != nil {
			return err
		}
		t.add([2]uint64{e.A, e.B}, got(int(e.Index-ch.index)))
	}
	if e.same, e.of = t.same, t.of; t.whole() {
		e.label, e.place = string(triage.Layout), minimize.Nowhere.String()
		x.batchMatters = true
	}
	return nil
}

// batchOf returns the inputs of a chunk as a worker makes them.
func (x *examiner) batchOf(ch *chunk) *mma.Batch {
	g := ch.source.Generator
	b := mma.NewBatch(x.p.spec.Formats, mma.Shape{M: g.M, N: g.N, K: x.p.K, Tiles: (ch.n + g.M*g.N - 1) / (g.M * g.N)})
	ch.source.Fill(b, x.c.cfg.Seed, ch.index)
	return b
}

// isOdd reports whether a pair has had cases that did not repeat themselves alone.
func (x *examiner) isOdd() bool { return x.st.Odd || x.d.Odd }

// certain reports whether both sides compute here, by their parameters, or are
// recorded: nothing of them changes.
func (p *pairRun) certain() bool {
	return (p.A.Model() != nil || recorded(p.A)) && (p.B.Model() != nil || recorded(p.B))
}

// checkAgree runs new cases that agree again and drops those that change: they are
// evidence.
func (x *examiner) checkAgree(ctx context.Context) error {
	if x.p.certain() || len(x.d.Agree) == 0 {
		return nil
	}
	ex := x.examples(x.d.Agree)
	ts, err := x.alone(ctx, ex, repetitions)
	if err != nil {
		return err
	}
	var kept []Sample
	for i := range ts {
		if ts[i].whole() {
			kept = append(kept, x.d.Agree[i])
		}
	}
	if ts != nil && len(kept) < len(ex) {
		x.d.Agree, x.d.Odd = kept, true
	}
	return nil
}

// settled is what running unexplained cases again has shown: their labels.
type settled struct {
	labels   map[CaseRef]string // layout or unstable; none: as they are
	unstable []Sample           // those that are counted as that
}

// settle runs differing cases again that the verdict does not explain: those of an odd
// pair, and a few of any other with a black box. fresh have been run already.
func (x *examiner) settle(ctx context.Context, ss []Sample, fresh []example) (*settled, error) {
	s := &settled{labels: map[CaseRef]string{}}
	if x.p.certain() || len(ss) == 0 {
		return s, nil
	}
	if !x.isOdd() && x.namer != nil {
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
	for i := range fresh {
		known[fresh[i].CaseRef] = fresh[i].label
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
func (x *examiner) stays(ctx context.Context, ss []Sample) ([]bool, error) {
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

// tiles is a batch of the tiles that some cases are outputs of.
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
func (x *examiner) tilesOf(ss []Sample, some []int) []*tiles {
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
func (x *examiner) fill(shape mma.Shape, refs []tileRef, cases map[tileRef][]int, ss []Sample) *tiles {
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

// sourceOf returns the source of a name of our own.
func sourceOf(name string) gen.Source {
	src, err := gen.ParseSource(name)
	if err != nil {
		panic("fuzz: " + err.Error())
	}
	return src
}

// dependsOnTile reports which of the cases that stay as they are in their tiles give
// something else alone.
func (x *examiner) dependsOnTile(ctx context.Context, ss []Sample, stays []bool) ([]bool, error) {
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
	ts, err := x.alone(ctx, x.examples(picked), repetitions)
	for j := range ts {
		around[some[j]] = 2*ts[j].same < ts[j].of
	}
	return around, err
}

// inBatches runs the batches of cases that do not stay as they are in their tiles. Those
// that do in their batches depend on what is around them.
func (x *examiner) inBatches(ctx context.Context, ss []Sample, stays, around []bool) error {
	for _, ch := range x.chunks {
		var at []int
		for i := range ss {
			if !stays[i] && ss[i].Source == ch.name && ss[i].Index >= ch.index && ss[i].Index < ch.index+uint64(ch.n) {
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
