package infer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// A journal may come from anybody, with correct checksums. A record that no inference of
// the same formats and K would have written is an error.

// check returns an error for a record that is impossible, whatever was asked.
func (r *record) check(h *header) error {
	switch {
	case r.Ask != nil && r.Check == nil && r.Search == nil:
		return r.Ask.check(h)
	case r.Check != nil && r.Ask == nil && r.Search == nil:
		return r.Check.check(h)
	case r.Search != nil && r.Ask == nil && r.Check == nil:
		return r.Search.check(h)
	}
	return errors.New("it is not one of ask, check and search")
}

func (c *cost) check(h *header) error {
	if c.Queries < 0 || c.Batches < 0 {
		return fmt.Errorf("%d queries in %d batches", c.Queries, c.Batches)
	}
	for _, f := range c.Failures {
		if f.Inputs < 1 {
			return fmt.Errorf("a failure on %d inputs", f.Inputs)
		}
		if err := corpus.CheckDot(h.Formats, h.K, f.Dot); err != nil {
			return fmt.Errorf("failure: %w", err)
		}
	}
	return nil
}

func (a *asked) check(h *header) error {
	switch {
	case a.N < 1 || a.N > maxBatch:
		return fmt.Errorf("a batch of %d dot products", a.N)
	case len(a.Codes) != a.N*h.Formats.D.Width():
		return fmt.Errorf("%d bytes of results of %d dot products", len(a.Codes), a.N)
	case len(a.Failed) != len(a.Why):
		return fmt.Errorf("%d failed, with %d reasons", len(a.Failed), len(a.Why))
	}
	last := -1
	for _, i := range a.Failed {
		if i <= last || i >= a.N {
			return fmt.Errorf("dot product %d failed, of %d", i, a.N)
		}
		last = i
	}
	return a.cost.check(h)
}

func (c *checked) check(h *header) error {
	if len(c.Wrong) > wrongKept {
		return fmt.Errorf("%d wrong answers, more than are kept", len(c.Wrong))
	}
	for _, w := range c.Wrong {
		if w.Output < 0 || w.Code > h.Formats.D.Get().CodeMask() {
			return fmt.Errorf("wrong answer %x to output %d", w.Code, w.Output)
		}
	}
	return c.cost.check(h)
}

// within checks that the wrong answers are to outputs of a batch.
func (c *checked) within(dots int) error {
	for _, w := range c.Wrong {
		if w.Output >= dots {
			return fmt.Errorf("the journal is damaged: it has a wrong answer to output %d of %d", w.Output, dots)
		}
	}
	return nil
}

func (f *found) check(h *header) error {
	switch {
	case len(f.Leaders) == 0:
		return errors.New("a search that found no program")
	case f.Draws < f.Step || f.Evals < 0 || f.Left < 0:
		return fmt.Errorf("a search from step %d to %d, with %d computed and %d left", f.Step, f.Draws, f.Evals, f.Left)
	}
	for i, p := range append(slices.Clip(f.Leaders), f.Nearest) {
		if err := p.Validate(h.Formats, h.K); err != nil {
			return fmt.Errorf("program %d: %w", i, err)
		}
	}
	return nil
}
