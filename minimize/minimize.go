// Package minimize shrinks a dot product on which two units disagree to the
// simplest one on which they disagree in the same way. It knows neither unit: a
// Test tells it, for a whole batch of candidates at a time, which bucket each
// falls into. On a GPU a launch costs far more than the dot products in it, so
// what is kept low is the number of batches.
//
// # The order
//
// Two dot products of the same formats and K are compared by the items of this list,
// and the first item in which they differ decides. The simpler one (Less) has
//
//	terms      fewer products; then c = 0; then fewer factors beside a zero.
//	           A product counts unless a factor is zero, and always if one is
//	           an infinity or a NaN.
//	values     fewer different magnitudes other than 0 and 1
//	ranks      added up over all elements, one after the other: fewer NaNs,
//	           infinities, subnormals (and zero scales), numbers that are not a
//	           power of two, numbers other than 0 and +-1, significant fraction
//	           bits, fraction bits that are set, smaller |exponent|, fewer sign
//	           bits, fewer bits that are not part of a value (TF32's low 13)
//	positions  a smaller sum of the positions k of terms, and of the numbers of
//	           blocks whose scales are not 1; then fewer b other than 0 and +-1
//	codes      smaller, at the first difference of a0, b0, a1, b1, ..., c, sa0,
//	           sb0, sa1, ...
//
// So single codes come in the order +0; 1; other powers of two, by |exponent|; other
// normal numbers, by significant bits and then |exponent|, plus before minus;
// subnormals; Inf; NaN, the one of the top payload bit first. A scale's simplest code
// is 1, not 0. The order is total: only equal dot products compare as equal.
//
// # The search
//
// A pass proposes simpler variants of the best dot product so far: all of its
// kind at once (passes.go). A round puts the candidates of one pass after the
// other into one batch, until that is worth a launch, and takes the simplest
// that is in the bucket. What the other successes changed is added to that,
// success by success (merge.go), and tested in the batch of the next round, so that a
// round costs one batch. When all passes have found nothing the result
// is 1-minimal under them (Result.Minimal): no single change that a pass makes
// keeps the bucket and is simpler.
//
// The result depends on the formats, the start and the answers of the test, not
// on the size of batches: candidates are asked in the order above, and all
// answers of a round are there before any is used.
package minimize

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/byvalue"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Test returns the bucket of each candidate's mismatch, "" if the two sides agree. It
// may keep and change the dot products.
type Test func(ctx context.Context, dots []*mma.Dot) ([]string, error)

// Options are the goal and the budget of a minimization.
type Options struct {
	Bucket     string // of the mismatch to keep; required
	MaxQueries int    // dot products to test; 0: as many as it takes, and as fit into half a gigabyte
	MaxBatches int    // calls of the test; 0: as many as it takes
	BatchSize  int    // dot products per call, at most; 0: 512. The result depends on it only if MaxBatches ends the search.
	SkipMask   bool   // leave Result.Mask nil, which saves a few batches

	// Progress, if not nil, is called after each improvement, for a journal.
	Progress func(best *mma.Dot, queries, batches int)
}

// Result is what a minimization has found.
type Result struct {
	Dot *mma.Dot // the simplest in the bucket

	Queries, Batches int // spent, also on the mask
	CacheHits        int // proposals of what was proposed before, or was asked about

	// Minimal: a whole round of all passes has found nothing simpler. False if
	// the budget ended before.
	Minimal bool
	// Mask specifies which parts of Dot do not matter; nil with SkipMask, or if the budget
	// ended before.
	Mask *Mask
}

// FlakyError reports that the test contradicts itself: asked again, the result is
// no longer in the bucket.
type FlakyError struct {
	Result *Result
	Bucket string // of the second answer
}

// Error describes what the second answer was.
func (e *FlakyError) Error() string {
	return "minimize: the test is flaky: asked again about the minimum it says " + answer(e.Bucket)
}

// answer names an answer of the test for an error.
func answer(bucket string) string {
	if bucket == "" {
		return "that both sides agree"
	}
	return fmt.Sprintf("%q", bucket)
}

// Dot minimizes a dot product, which must be in the bucket. If the context ends
// or the test fails it returns the best so far and the error; if the budget
// ends, the best so far and no error. A test that contradicts itself on the
// minimum gives a FlakyError.
//
// The number of elements stays K: terms are removed by zeroing them. A C that
// the formats do not have is taken as 0.
func Dot(ctx context.Context, f mma.Formats, start *mma.Dot, test Test, o Options) (*Result, error) {
	if o.Bucket == "" {
		return nil, errors.New("minimize: no bucket to keep")
	}
	k, blocks := len(start.A), f.Blocks(len(start.A))
	if len(start.B) != k || len(start.SA) != blocks || len(start.SB) != blocks {
		return nil, fmt.Errorf("minimize: %d and %d elements with %d and %d scales are not a dot product of %s",
			k, len(start.B), len(start.SA), len(start.SB), f)
	}
	if f.Common {
		test = shared(f, test)
	}
	l := newLayout(f, k)
	s := &search{asker: newAsker(l, test, o), best: l.candidate(l.vector(start))}
	defer s.forget()
	return s.run(ctx)
}

// shared makes a test that all dot products fail whose operands the formats do not allow.
func shared(f mma.Formats, test Test) Test {
	return func(ctx context.Context, dots []*mma.Dot) ([]string, error) {
		var allowed []*mma.Dot
		all, at := make([]string, len(dots)), []int{}
		for i, d := range dots {
			if byvalue.IsShared(f, d) {
				allowed, at = append(allowed, d), append(at, i)
			}
		}
		if allowed == nil {
			return all, nil
		}
		buckets, err := test(ctx, allowed)
		for n, b := range buckets {
			all[at[n]] = b
		}
		return all, err
	}
}

// search is the state of a minimization.
type search struct {
	*asker
	best    *candidate
	started bool         // the start was asked about
	merged  []*candidate // the successes of the last round combined, not yet asked about
	minimal bool
}

func (s *search) run(ctx context.Context) (*Result, error) {
	for !s.minimal && !s.exhausted {
		better, err := s.round(ctx)
		if errors.Is(err, ErrStart) {
			return nil, err
		}
		if err != nil {
			return s.result(nil), err
		}
		s.minimal = !better && !s.exhausted
	}
	mask, again, err := s.explain(ctx)
	r := s.result(mask)
	if err == nil && again != s.o.Bucket {
		err = &FlakyError{Result: r, Bucket: again}
	}
	return r, err
}

func (s *search) result(mask *Mask) *Result {
	return &Result{
		Dot: s.dot(s.best.v), Queries: s.queries, Batches: s.batches, CacheHits: s.hits,
		Minimal: s.minimal, Mask: mask,
	}
}

// roundSize is the number of candidates that makes a batch worth its while:
// with fewer, a round goes on to the next pass before it asks. It is not
// Options.BatchSize, on which the result must not depend.
const roundSize = 256

// round asks about the candidates of the passes until one is in the bucket, and
// reports whether one was.
func (s *search) round(ctx context.Context) (bool, error) {
	s.vectors.used, s.candidates.used = 0, 0
	pool := &pool{asker: s.asker, ctx: ctx, best: s.best}
	for _, c := range s.merged {
		if !pool.has(c.id) {
			pool.add(c.v, c.key, c.id)
		}
	}
	p := newProposals(pool)
	for i, pass := range passes {
		pass.propose(p)
		if len(pool.list) < roundSize && i < len(passes)-1 {
			continue
		}
		better, err := s.improve(ctx, pool.take())
		if better || err != nil {
			return better, err
		}
	}
	s.exhausted = s.exhausted || pool.full
	return false, ctx.Err()
}

// improve asks about candidates, the simplest first, and makes the first one that is in the
// bucket, if any, the best.
func (s *search) improve(ctx context.Context, list []*candidate) (bool, error) {
	hits, err := s.askAfterStart(ctx, list)
	if len(hits) == 0 {
		return false, err
	}
	s.merged = s.merges(s.best, hits)
	s.best = &candidate{slices.Clone(hits[0].v), hits[0].key, hits[0].id} // the round's memory is used again
	if s.o.Progress != nil {
		s.o.Progress(s.dot(s.best.v), s.queries, s.batches)
	}
	return true, err
}

// ErrStart reports that there is nothing to minimize: the start is not in the bucket.
var ErrStart = errors.New("the start is not in the bucket")

// askAfterStart asks about candidates. The first time it asks about the start before them, in
// the same batch; the start must be in the bucket.
func (s *search) askAfterStart(ctx context.Context, list []*candidate) ([]*candidate, error) {
	if s.started {
		return s.ask(ctx, list)
	}
	s.started = true
	hits, err := s.ask(ctx, append([]*candidate{s.best}, list...))
	if bucket, ok := s.buckets[s.best.id]; ok && bucket != s.o.Bucket {
		return nil, fmt.Errorf("minimize: %w %q: the test says %s", ErrStart, s.o.Bucket, answer(bucket))
	}
	return hits[min(1, len(hits)):], err
}
