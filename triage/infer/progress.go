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
	Spent   int // per cent of the effort that searches have taken
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
	s := p.Phase
	if p.Phase == searching && p.Spent > 0 {
		s += fmt.Sprintf(", %d %% of the effort", p.Spent)
	}
	s += fmt.Sprintf("  %d queries in %d batches", p.Queries, p.Batches)
	if p.Repairs > 0 {
		s += fmt.Sprintf("  %d refuted", p.Repairs)
	}
	if p.Best == nil {
		return s + "  no program yet"
	}
	name := p.Best.String()
	if name == custom {
		name = "a program without a name"
	}
	switch {
	case p.Left > 0:
		return s + fmt.Sprintf("  best so far: %s, wrong in %d cases", name, p.Left)
	case p.Refuted:
		return s + "  refuted: " + name
	}
	return s + "  right so far: " + name
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
	if l.effort > 0 {
		p.Spent = int(min(100, 100*l.Computed.Load()/l.effort))
	}
	if len(l.ends)+len(l.earlier) > 0 {
		b := best{l.p, l.left}
		if l.phase == searching && l.best != nil {
			b = *l.best
		}
		p.Best, p.Left, p.Refuted = &b.p, b.left, b.left == 0 && l.phase == searching
	}
	l.show(p)
}
