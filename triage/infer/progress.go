package infer

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Progress is how far an inference is.
type Progress struct {
	Phase            string
	Queries, Batches int // as in Stats
	Repairs          int // hypotheses that were refuted
	// Best is the best program so far, nil if there is none yet. It is wrong in Left
	// cases of the evidence from which it was found; Refuted: later answers do not agree
	// with it.
	Best    *mma.Params
	Left    int
	Refuted bool
}

// The phases.
const (
	asking      = "asking first questions"
	searching   = "searching for a program"
	challenging = "challenging it"
	rulingOut   = "ruling out other values"
	validating  = "validating"
	comparing   = "comparing the nearest programs"
	shrinking   = "looking for the smallest witness"
)

// String is a line for people.
func (p Progress) String() string {
	s := fmt.Sprintf("%s  %d queries in %d batches", p.Phase, p.Queries, p.Batches)
	if p.Repairs > 0 {
		s += fmt.Sprintf("  %d refuted", p.Repairs)
	}
	switch {
	case p.Best == nil:
		return s + "  no program yet"
	case p.Left > 0:
		return s + fmt.Sprintf("  best so far: %s, wrong in %d cases", p.Best, p.Left)
	case p.Refuted:
		return s + fmt.Sprintf("  refuted: %s", p.Best)
	}
	return s + fmt.Sprintf("  right so far: %s", p.Best)
}

// enter begins a phase.
func (l *loop) enter(phase string) {
	l.phase = phase
	l.progress()
}

// progress reports how far the inference is.
func (l *loop) progress() {
	if l.show == nil {
		return
	}
	p := Progress{Phase: l.phase, Queries: l.unit.stats.Queries, Batches: l.unit.stats.Batches, Repairs: l.repairs}
	if len(l.ends)+len(l.earlier) > 0 {
		b := best{l.p, l.left}
		if l.phase == searching && l.best != nil {
			b = *l.best
		}
		p.Best, p.Left, p.Refuted = &b.p, b.left, b.left == 0 && l.phase == searching
	}
	l.show(p)
}
