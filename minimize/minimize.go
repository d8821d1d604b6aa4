package minimize

import (
	"context"
	"errors"
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Test says for each candidate which bucket its mismatch falls into, "" if the
// two sides agree. It must not keep the dot products.
type Test func(ctx context.Context, dots []*mma.Dot) ([]string, error)

// Options are the goal and the budget of a minimization.
type Options struct {
	Bucket     string // of the mismatch to keep; required
	MaxQueries int    // dot products to test; 0: as many as it takes
	MaxBatches int    // calls of the test; 0: as many as it takes
	BatchSize  int    // dot products per call, at most; 0: 512. It does not influence the result, but what a budget of batches buys.
	SkipMask   bool   // leave Result.Mask nil

	// Progress, if not nil, is told each improvement, for a journal.
	Progress func(best *mma.Dot, queries, batches int)
}

// Result is what a minimization has found.
type Result struct {
	Dot *mma.Dot // the simplest in the bucket

	Queries, Batches int // spent, those for the mask included
	CacheHits        int // answers known from an earlier batch

	// Minimal: a whole round of all passes has found nothing simpler. It is not
	// set if the budget ended before.
	Minimal bool
	// Mask says what about Dot does not matter; nil if it was not asked for or
	// the budget ended before.
	Mask *Mask
	// Slips are the simplest dot products seen in other buckets.
	Slips map[string]*mma.Dot
}

// FlakyError says that the test contradicts itself: asked again, the result is
// no longer in the bucket.
type FlakyError struct {
	Result *Result
	Bucket string // of the second answer
}

func (e *FlakyError) Error() string {
	return fmt.Sprintf("minimize: the test is flaky: of the minimum it says %s when asked again", bucketName(e.Bucket))
}

func bucketName(b string) string {
	if b == "" {
		return "that both sides agree"
	}
	return fmt.Sprintf("%q", b)
}

// Dot minimizes a dot product. If the context ends or the test fails it returns
// the best so far and the error; if the budget ends, the best so far and no
// error.
func Dot(ctx context.Context, f mma.Formats, start *mma.Dot, test Test, o Options) (*Result, error) {
	if o.Bucket == "" {
		return nil, errors.New("minimize: no bucket to keep")
	}
	l := newLayout(f, len(start.A))
	s := &search{asker: newAsker(l, test, o)}
	s.best = l.candidate(l.vector(start))
	s.best.id = l.id(s.best.v)
	r, err := s.run(ctx)
	return r, err
}

// search is the state of a minimization.
type search struct {
	*asker
	best    candidate
	started bool
	merged  []candidate // to be asked in the next round
}

func (s *search) run(ctx context.Context) (*Result, error) {
	minimal := false
	for !minimal && !s.exhausted {
		better, err := s.round(ctx)
		if err != nil {
			return s.result(false), err
		}
		minimal = !better && !s.exhausted
	}
	return s.result(minimal), nil
}

func (s *search) result(minimal bool) *Result {
	r := &Result{Dot: s.dot(s.best.v), Queries: s.queries, Batches: s.batches, CacheHits: s.hits, Minimal: minimal,
		Slips: map[string]*mma.Dot{}}
	for b, c := range s.slips {
		r.Slips[b] = s.dot(c.v)
	}
	return r
}

// roundSize is the number of candidates that makes a batch worth its while: with
// fewer, a round goes on to the next passes before it asks. It is not
// Options.BatchSize, which must not influence the result.
const roundSize = 256

// round asks for the candidates of all passes, or of as many as it takes to find
// a simpler one, and says whether one was found.
func (s *search) round(ctx context.Context) (bool, error) {
	p := newProposals(s.layout, s.best)
	for _, c := range s.merged {
		p.add(c)
	}
	var q *proposals
	if len(s.merged) > 0 {
		q = newProposals(s.layout, s.merged[len(s.merged)-1])
		q.limit = s.best
	}
	for i, pass := range passes {
		pass.propose(p)
		if q != nil {
			pass.propose(q)
			for _, c := range q.list {
				p.add(c)
			}
			q.list = nil
		}
		if s.unknown(p.list) < roundSize && i+1 < len(passes) {
			continue
		}
		better, err := s.improve(ctx, p.take())
		if better || err != nil {
			return better, err
		}
	}
	return false, nil
}

// improve asks for candidates, the simplest first, and takes the first that is
// in the bucket. What the others change as well is for the next round.
func (s *search) improve(ctx context.Context, list []candidate) (bool, error) {
	hits, err := s.askWithStart(ctx, list)
	if len(hits) == 0 {
		return false, err
	}
	s.merged = s.merges(s.best, hits)
	s.best = hits[0]
	if s.o.Progress != nil {
		s.o.Progress(s.dot(s.best.v), s.queries, s.batches)
	}
	return true, err
}

// askWithStart asks for candidates, the first time together with the start,
// which must be in the bucket.
func (s *search) askWithStart(ctx context.Context, list []candidate) ([]candidate, error) {
	if s.started {
		return s.ask(ctx, list)
	}
	s.started = true
	hits, err := s.ask(ctx, append([]candidate{s.best}, list...))
	bucket, ok := s.buckets[s.best.id]
	if ok && bucket != s.o.Bucket {
		return nil, fmt.Errorf("minimize: the start is not in the bucket %q: the test says %s", s.o.Bucket, bucketName(bucket))
	}
	return hits[min(1, len(hits)):], err
}

// unknown counts the candidates that the test has not seen.
func (s *asker) unknown(list []candidate) int {
	n := 0
	for _, c := range list {
		if _, ok := s.buckets[c.id]; !ok {
			n++
		}
	}
	return n
}
