package minimize

import (
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// asker puts candidates to the test: in batches, each only once, within the
// budget.
type asker struct {
	*layout
	test    Test
	o       Options
	buckets map[string]string // answers by id
	slips   map[string]candidate

	queries, batches, hits int
	exhausted              bool // the budget ended before an answer
}

func newAsker(l *layout, test Test, o Options) *asker {
	if o.BatchSize <= 0 {
		o.BatchSize = 512
	}
	return &asker{layout: l, test: test, o: o, buckets: map[string]string{}, slips: map[string]candidate{}}
}

// ask returns those of the candidates that are in the bucket, in their order.
// Those for which there is no budget, or which an error kept from an answer, are
// not.
func (s *asker) ask(ctx context.Context, list []candidate) ([]candidate, error) {
	err := s.askUnknown(ctx, list)
	var hits []candidate
	for _, c := range list {
		if s.buckets[c.id] == s.o.Bucket {
			hits = append(hits, c)
		}
	}
	return hits, err
}

// askUnknown fills the cache.
func (s *asker) askUnknown(ctx context.Context, list []candidate) error {
	var unknown []candidate
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

func (s *asker) askBatch(ctx context.Context, list []candidate) error {
	buckets, err := s.run(ctx, list)
	if err != nil {
		return err
	}
	for i, c := range list {
		s.buckets[c.id] = buckets[i]
		s.slip(c, buckets[i])
	}
	return nil
}

// run asks without the cache.
func (s *asker) run(ctx context.Context, list []candidate) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dots := make([]*mma.Dot, len(list))
	for i, c := range list {
		dots[i] = s.dot(c.v)
	}
	buckets, err := s.test(ctx, dots)
	if err != nil {
		return nil, err
	}
	if len(buckets) != len(dots) {
		return nil, fmt.Errorf("minimize: %d answers for %d dot products", len(buckets), len(dots))
	}
	s.batches++
	s.queries += len(dots)
	return buckets, nil
}

// slip keeps the simplest candidate of every other bucket.
func (s *asker) slip(c candidate, bucket string) {
	if bucket == "" || bucket == s.o.Bucket {
		return
	}
	if old, ok := s.slips[bucket]; !ok || c.compare(old) < 0 {
		s.slips[bucket] = c
	}
}
