package minimize

import (
	"context"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// bench is a fixed set of mismatches of two units.
type bench struct {
	name   string
	x, y   *sim.Model
	starts []*mma.Dot
}

func benches(t testing.TB) []bench {
	set := func(name string, x, y *sim.Model) bench {
		starts := append(mismatches(t, x, y, "normal", 25), mismatches(t, x, y, "spread", 25)...)
		return bench{name, x, y, starts}
	}
	return []bench{
		set("fused-truncated", fused(t), truncated(t)),
		set("ampere-hopper", instruction(t, "ampere/mma.m16n8k16.f32.f16.f16.f32"), instruction(t, "hopper/mma.m16n8k16.f32.f16.f16.f32")),
	}
}

// tally adds up what minimizations cost and give.
type tally struct {
	n, queries, batches int
	key                 key
	elements            int
}

func (s *tally) add(f mma.Formats, d *mma.Dot, queries, batches int) {
	l := newLayout(f, len(d.A))
	c := l.candidate(l.vector(d))
	s.n++
	s.queries += queries
	s.batches += batches
	for i := range s.key {
		s.key[i] += c.key[i]
	}
	for i, code := range c.v {
		s.elements += count(code != l.plain[i])
	}
}

// report gives the means.
func (s *tally) report(b *testing.B) {
	mean := func(sum int, unit string) { b.ReportMetric(float64(sum)/float64(s.n), unit) }
	mean(s.queries, "queries/op")
	mean(s.batches, "batches/op")
	mean(s.elements, "nonzero")
	mean(int(s.key[keyDistinct]), "values")
	mean(int(s.key[keyFracBits]), "fractionbits")
	mean(int(s.key[keyExponents]), "exponents")
}

// BenchmarkMinimize minimizes one mismatch of 16 products of FP16 per operation,
// the mask included.
func BenchmarkMinimize(b *testing.B) {
	for _, c := range benches(b) {
		b.Run(c.name, func(b *testing.B) {
			var sum tally
			b.ReportAllocs()
			for b.Loop() {
				start := c.starts[sum.n%len(c.starts)]
				r := minimize(b, half, start, differ(c.x, c.y), Options{})
				sum.add(half, r.Dot, r.Queries, r.Batches)
			}
			sum.report(b)
		})
	}
}

// BenchmarkGreedy is the baseline: the passes that a serial minimizer would have,
// each candidate asked alone and taken if it is in the bucket.
func BenchmarkGreedy(b *testing.B) {
	for _, c := range benches(b) {
		b.Run(c.name, func(b *testing.B) {
			var sum tally
			for b.Loop() {
				d, queries := greedy(c.starts[sum.n%len(c.starts)], differ(c.x, c.y))
				sum.add(half, d, queries, queries)
			}
			sum.report(b)
		})
	}
}

// serialPasses are those of greedy.
var serialPasses = []func(p *proposals){dropSingly, setOnes, setPowers, lowerExponents, cutBits}

func dropSingly(p *proposals) {
	for i := range p.terms {
		p.keep(func(j int) bool { return j != i })
	}
}

func greedy(start *mma.Dot, test Test) (*mma.Dot, int) {
	l := newLayout(half, len(start.A))
	s := &search{asker: newAsker(l, test, Options{Bucket: "diff"}), best: l.candidate(l.vector(start))}
	for better := true; better; {
		better = false
		for _, pass := range serialPasses {
			for step(s, pass) {
				better = true
			}
		}
	}
	return l.dot(s.best.v), s.queries
}

// step asks for the candidates of a pass in turn and takes the first in the
// bucket.
func step(s *search, pass func(p *proposals)) bool {
	clear(s.seen)
	pool := &pool{asker: s.asker, ctx: context.Background(), best: s.best}
	pass(newProposals(pool))
	for _, c := range pool.list {
		if hits, _ := s.ask(context.Background(), []*candidate{c}); len(hits) > 0 {
			s.best = c
			return true
		}
	}
	return false
}

// TestBatches holds what the benchmark is there to show. Greedy may find a simpler
// minimum if it comes across another cause of the mismatch.
func TestBatches(t *testing.T) {
	for _, c := range benches(t) {
		var sum, base tally
		simpler := 0
		for _, start := range c.starts {
			r := minimize(t, half, start, differ(c.x, c.y), Options{})
			sum.add(half, r.Dot, r.Queries, r.Batches)
			d, queries := greedy(start, differ(c.x, c.y))
			base.add(half, d, queries, queries)
			simpler += count(Less(half, d, r.Dot))
		}
		if simpler > sum.n/10 || sum.elements >= base.elements || sum.key[keyFracBits] >= base.key[keyFracBits] {
			t.Errorf("%s: greedy finds simpler ones for %d of %d; %+v and %+v", c.name, simpler, sum.n, sum, base)
		}
		if sum.batches > 8*sum.n || 10*sum.batches > base.batches {
			t.Errorf("%s: %d batches for %d mismatches, one at a time %d", c.name, sum.batches, sum.n, base.batches)
		}
	}
}
