package defect

import "sync/atomic"

// Budget limits the work of searches, which is the same on every machine. It may be shared by several
// searches that follow each other.
type Budget struct {
	Most  int64 // 0: any
	Spent int64
	Show  func(*Budget) // called now and then; nil: nobody looks
	shown int64

	stopped atomic.Bool
}

// PerDot is the work of a dot product of a model, of usualK products. It was measured: a unit is
// about a nanosecond on a processor of 2023.
const PerDot = 1250

// The work of other steps.
const (
	usualK        = 16
	ofTrace       = 4 * PerDot // to look at a dot product with a trace
	ofCombination = 20         // to try conditions together
	ofInstance    = 20         // to test the conditions of a rule
	ofValue       = 1          // to compare a feature with a condition
	ofWord        = 1          // to look at 64 conditions at once
)

// Stop makes the searches that share the budget end soon, whatever is left of it: nobody waits for them.
func (b *Budget) Stop() { b.stopped.Store(true) }

// Over reports whether the budget is spent. A search ends soon after that.
func (b *Budget) Over() bool {
	if b == nil {
		return false
	}
	if b.stopped.Load() {
		return true
	}
	if b.Show != nil && b.Spent >= b.shown {
		b.shown = b.Spent + b.Most/64 + 1
		b.Show(b)
	}
	return b.Ended()
}

// Ended reports whether a search was ended by the budget.
func (b *Budget) Ended() bool { return b.Most > 0 && b.Spent >= b.Most }

// leaves reports whether something is left of the budget after so much more work.
func (b *Budget) leaves(work int64) bool {
	return b == nil || !b.stopped.Load() && (b.Most == 0 || b.Spent+work < b.Most)
}

// dots counts steps that take so long with usualK products, but have k: a part of the time does not
// depend on k.
func (b *Budget) dots(work, k int) { b.add(work * (usualK + k) / (2 * usualK)) }

func (b *Budget) add(work int) {
	if b != nil {
		b.Spent += int64(work)
	}
}
