package minimize

import (
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestCatalogue minimizes mismatches of instructions of all formats: of two that
// compute differently, or of one and a variant of it.
func TestCatalogue(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	total, batches := 0, 0
	for i, p := range catalogue(t) {
		if i%tier.Of(8, 8, 2) != 0 {
			continue
		}
		for _, kind := range []string{"spread", "raw"} {
			for range 100 {
				start := draw(r, p.x.Formats(), p.x.K(), kind)
				if p.x.Dot(start, nil) == p.y.Dot(start, nil) {
					continue
				}
				batches += checked(t, p, start)
				total++
				break
			}
		}
	}
	if total < 30 || batches > 13*total {
		t.Errorf("%d mismatches in %d batches", total, batches)
	}
}

// pair is two simulators that differ.
type pair struct {
	name string
	x, y *sim.Model
}

func catalogue(t *testing.T) []pair {
	t.Helper()
	var pairs []pair
	type kind struct {
		mma.Formats
		k int
	}
	done := map[kind]bool{}
	add := func(x, y *mma.Instruction) {
		id := kind{x.Formats, x.K}
		if x.Refuse != "" || y.Refuse != "" || x.Formats != y.Formats || x.K != y.K || x.Params == y.Params || done[id] {
			return
		}
		done[id] = true
		keep := func(*mma.Params) {}
		pairs = append(pairs, pair{x.FullName() + " " + y.FullName(), changed(t, x, keep), changed(t, y, keep)})
	}
	all := mma.Catalog()
	for i := range all {
		for j := range i {
			add(&all[i], &all[j])
		}
	}
	for i := range all {
		y := all[i]
		y.Params.L /= 2
		add(&all[i], &y)
	}
	return pairs
}

// checked minimizes a mismatch, checks what holds of every result, and returns
// the number of batches.
func checked(t *testing.T, p pair, start *mma.Dot) int {
	t.Helper()
	f := p.x.Formats()
	r := minimize(t, f, start, differ(p.x, p.y), Options{})
	switch {
	case p.x.Dot(r.Dot, nil) == p.y.Dot(r.Dot, nil):
		t.Errorf("%s: %s is no mismatch", p.name, mma.FormatDot(f, r.Dot))
	case !r.Minimal || r.Mask == nil:
		t.Errorf("%s: %+v", p.name, r)
	case Less(f, start, r.Dot):
		t.Errorf("%s: %s is simpler than %s", p.name, mma.FormatDot(f, start), mma.FormatDot(f, r.Dot))
	case r.Batches > 40 || r.Queries > 10000:
		t.Errorf("%s: %d queries in %d batches", p.name, r.Queries, r.Batches)
	}
	if r.Mask != nil {
		checkMask(t, p, r)
	}
	return r.Batches
}
