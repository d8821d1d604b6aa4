package search

import (
	"time"

	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// Budget is what the searches of one task may spend together: dot products that programs
// compute, which is the same on every machine, and processor time. They end soon after it is
// spent; a search is also broken off when its context is done.
type Budget struct {
	e      *evidence.Evidence
	began  int64         // dot products computed when the limit was set
	most   int64         // that may be computed from then on; 0: any number
	time   time.Duration // of e.Time, at which the processor time is spent; 0: never
	within *Budget       // which has this one as a part; nil: none

	Doing string                           // what is being tried, in plain words
	Show  func(Progress)                   // called often; nil: nobody looks
	Trace func(format string, args ...any) // what happens inside, for developers; may be nil
}

// Progress is how far the searches of a budget are.
type Progress struct {
	Doing          string // what is being tried
	Computed, Most int64  // dot products, and how many there may be; 0: any number
}

// NewBudget returns a budget without limits for searches in some evidence, and in what is made
// of it.
func NewBudget(e *evidence.Evidence) *Budget { return &Budget{e: e, began: e.Computed.Load()} }

// Allow sets the number of dot products that may be computed from now on.
func (b *Budget) Allow(dots int64) { b.began, b.most = b.e.Computed.Load(), dots }

// AllowTime sets the processor time that programs may run from now on.
func (b *Budget) AllowTime(d time.Duration) { b.time = b.e.Time() + d }

// Limited reports whether Allow was called.
func (b *Budget) Limited() bool { return b.most > 0 }

// Left returns how many dot products may still be computed, of a budget that has such a limit.
func (b *Budget) Left() int64 { return b.most - b.computed() }

func (b *Budget) computed() int64 { return b.e.Computed.Load() - b.began }

// Part returns a budget of some of the dot products that are left.
func (b *Budget) Part(dots int64) *Budget {
	part := &Budget{e: b.e, within: b, Trace: b.Trace}
	part.Allow(dots)
	return part
}

// Spent reports whether a search has to end, and shows the progress.
func (b *Budget) Spent() bool {
	if b.Show != nil {
		p := Progress{b.Doing, b.computed(), b.most}
		if b.most > 0 {
			p.Computed = min(p.Computed, b.most)
		}
		b.Show(p)
	}
	return b.most > 0 && b.computed() >= b.most || b.timeSpent() || b.within != nil && b.within.Spent()
}

// timeSpent reports whether the processor time is spent.
func (b *Budget) timeSpent() bool { return b.time > 0 && b.e.Time() >= b.time }

func (b *Budget) tracef(format string, args ...any) {
	if b.Trace != nil {
		b.Trace(format, args...)
	}
}
