package minimize

import (
	"context"
	"fmt"
	"sync"
)

// asker puts candidates to the test: in batches, each once, within the budget.
type asker struct {
	*layout
	test Test
	o    Options
	*memory

	queries, batches, hits int
	exhausted              bool // the budget ended before an answer
}

// memory is what a minimization knows and what the next one uses again.
type memory struct {
	buckets map[id]string // answers
	seen    map[id]bool   // all that were proposed, simpler than the best or not

	vectors    arena[uint64] // the candidates of a round
	candidates arena[candidate]
}

var memories = sync.Pool{New: func() any { return &memory{buckets: map[id]string{}, seen: map[id]bool{}} }}

// mostKept is the number of answers up to which a minimization leaves its memory to the next one.
const mostKept = 1 << 16

// forget gives the memory back.
func (s *asker) forget() {
	if m := s.memory; len(m.seen) < mostKept && len(m.buckets) < mostKept {
		clear(m.buckets)
		clear(m.seen)
		memories.Put(m)
	}
	s.memory = nil
}

// Limits of what a minimization keeps in memory. Only dot products of a thousand elements
// and more come near them. Variables for tests.
var (
	maxBatchBytes = 64 << 20  // of the dot products of a batch
	maxCacheBytes = 512 << 20 // of the candidates whose answers are known
)

func newAsker(l *layout, test Test, o Options) *asker {
	if o.BatchSize <= 0 {
		o.BatchSize = 512
	}
	o.BatchSize = max(1, min(o.BatchSize, maxBatchBytes/l.bytes()))
	if most := maxCacheBytes / l.bytes(); o.MaxQueries <= 0 || o.MaxQueries > most {
		o.MaxQueries = most
	}
	return &asker{layout: l, test: test, o: o, memory: memories.Get().(*memory)}
}

// ask returns the candidates that are in the bucket, in their order. Those that get no
// answer, because of an error or the end of the budget, do not count as in it.
func (s *asker) ask(ctx context.Context, list []*candidate) ([]*candidate, error) {
	err := s.fill(ctx, list)
	var hits []*candidate
	for _, c := range list {
		if s.buckets[c.id] == s.o.Bucket {
			hits = append(hits, c)
		}
	}
	return hits, err
}

// fill asks about the candidates that are not in the cache.
func (s *asker) fill(ctx context.Context, list []*candidate) error {
	unknown := make([]*candidate, 0, len(list))
	for _, c := range list {
		if _, ok := s.buckets[c.id]; ok {
			s.hits++
			continue
		}
		unknown = append(unknown, c)
	}
	for len(unknown) > 0 {
		n := s.allowed(min(len(unknown), s.o.BatchSize))
		if n == 0 {
			s.exhausted = true
			return nil
		}
		if err := s.askBatch(ctx, unknown[:n]); err != nil {
			return err
		}
		unknown = unknown[n:]
	}
	return nil
}

// allowed returns how many of n queries the budget allows in one batch.
func (s *asker) allowed(n int) int {
	if s.o.MaxBatches > 0 && s.batches >= s.o.MaxBatches {
		return 0
	}
	if s.o.MaxQueries > 0 {
		n = min(n, s.o.MaxQueries-s.queries)
	}
	return n
}

func (s *asker) askBatch(ctx context.Context, list []*candidate) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	buckets, err := s.test(ctx, s.dots(list))
	if err != nil {
		return err
	}
	if len(buckets) != len(list) {
		return fmt.Errorf("minimize: the test gave %d answers for %d dot products", len(buckets), len(list))
	}
	s.batches++
	s.queries += len(list)
	for i, c := range list {
		s.buckets[c.id] = buckets[i]
	}
	return nil
}
