package fleet

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/engine"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// unknownPair is a pair of units that differ now and then and whose arithmetic is not known, as
// that of two children.
func unknownPair() devices.Pair {
	i := &mma.Instruction{Name: "mine", Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}, K: 4}
	a := devices.Func(i, func(d *mma.Dot) uint64 { return d.C ^ d.A[0] })
	b := devices.Func(i, func(d *mma.Dot) uint64 {
		if d.A[0]&7 == 5 {
			return d.C
		}
		return d.C ^ d.A[0]
	})
	return devices.Pair{A: a, B: b, TargetA: "mine", TargetB: "yours", K: i.K}
}

// TestUnknownUnits splits a campaign of units whose arithmetic is not known. There are no features,
// and so nothing to mutate: all that is planned is done, and the result is the same whatever the
// number of shards.
func TestUnknownUnits(t *testing.T) {
	pairs := []devices.Pair{unknownPair()}
	cfg := fuzz.Config{Pairs: pairs, Seed: 1, Count: 20000, PerBucket: 1, MaxFindings: 8}
	p, err := cutPlan(t.Context(), cfg, Rule{Rounds: 3, Unit: 512})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(p.Pairs[0].Sources, func(s Source) bool { return s.Source == engine.Mutated }) {
		t.Error("mutations are planned")
	}
	var results []map[string]string
	for _, n := range []int{1, 3} {
		dir := t.TempDir()
		shards(t, p, pairs, dir, n)
		s := look(t, dir)
		if s.Done != s.Units || s.Dots != s.Count || s.Count < cfg.Count {
			t.Errorf("%d shards: %d of %d units done, %d of %d dot products, %d are asked for", n, s.Done, s.Units, s.Dots, s.Count, cfg.Count)
		}
		results = append(results, merge(t, pairs, dir))
	}
	if names := differing(results[0], results[1]); names != nil {
		t.Errorf("one shard and three shards differ in %v", names)
	}
}
