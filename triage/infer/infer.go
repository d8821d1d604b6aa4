package infer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
)

// Options are the options of an inference. The zero Options are good defaults.
type Options struct {
	Seed    uint64
	Checks  int // inputs of every generator that a program must pass; 0: DefaultChecks
	Queries int // dot products that may be asked; 0: no limit
	// Time is what an inference may take by the clock, whatever else the machine does
	// meanwhile: on a busy one less is found in it. Effort is the limit that gives the same
	// result on every machine. 0: no limit.
	Time    time.Duration
	Workers int // of the search; 0: one for each processor
	// Effort limits the search for a program that explains the evidence: the dot products
	// that models may compute, in millions, in all attempts together (attempts.go). To these
	// come half as many for other shapes in the last attempt, the first steps of every search,
	// which are made in any case, and after a refutation the share of its attempt once more. If it
	// is reached, the unit counts as unexplained. 0: DefaultEffort.
	Effort int
	// Brief: there is one attempt, and of a unit that it does not explain the result does not say on
	// which input the nearest program fails, nor has the unit been asked which one that is.
	Brief   bool
	Policy  oracle.Policy                    // what of a result counts; zero: every bit
	Journal string                           // file; "": none
	Target  string                           // name of the target, for the journal
	Digest  string                           // of its files (devices.DigestOf), for the journal
	Trace   func(format string, args ...any) // what happens inside, for developers
	Show    func(Progress)                   // how far it is, called often
}

// DefaultChecks is the number of inputs of every generator on which a program is
// validated.
const DefaultChecks = 100_000

// DefaultEffort takes two processors some minutes. Most units need a tenth of it or less.
const DefaultEffort = 200

// million is the unit of the effort.
const million = 1_000_000

// Verdict is the outcome of an inference.
type Verdict string

// The verdicts.
const (
	Found       Verdict = "found"       // a program that passed every test
	Unexplained Verdict = "unexplained" // no program was found that explains all answers
	NotStable   Verdict = "unstable"    // the unit gives different answers to the same question
	Failing     Verdict = "failing"     // the unit fails on too many inputs
	Exhausted   Verdict = "exhausted"   // the queries or the time are spent
)

// TimeSpent is the Note of an inference that Options.Time has ended.
const TimeSpent = "the time is spent"

// Result is the result of an inference.
type Result struct {
	Verdict Verdict
	Formats mma.Formats
	K       int
	Params  mma.Params // the best program
	Policy  oracle.Policy
	Stats   Stats
	Seconds float64

	// Evidence is the number of cases from which the program was found, Left of those
	// that it does not explain (0 if it was found), and Codes of these those that it explains if NaNs
	// are compared by class.
	Evidence, Left, Codes int
	Families              []Family
	Repairs               int        // hypotheses that questions proved wrong on the way
	Effort                int        // as in Options
	Computed              int64      // dot products that models have computed in all
	Classes               []Class    // what the program was validated on, if it was found
	Tiles                 *TileSizes // if it was found: sizes of tiles on which it was validated; nil: they were not varied
	Mutants               []*Mutant

	Witness  *Witness  // Unexplained, and Exhausted if there is one: the smallest input found on which the program is wrong
	Unstable *Unstable // NotStable
	Faults   []Fault   // inputs on which the unit failed
	Failures []Failure // calls that failed, though each of their inputs did not
	Note     string    // what ended it, for Failing and Exhausted
}

// Family is a part of the evidence.
type Family struct {
	Name  string `json:"name"`
	Doc   string `json:"doc"`
	Cases int    `json:"cases"`
	Wrong int    `json:"wrong"` // those that the program does not explain
}

// Witness is an input on which the unit and the best program differ.
type Witness struct {
	Dot        *mma.Dot
	Got, Would uint64 // by the unit; by the program
	// Kind is what is different about the results. Of the Wrong cases of the evidence that
	// the program does not explain, Alike are of this kind; no kind has more.
	Kind         string
	Alike, Wrong int
}

// Infer finds the arithmetic of a unit. Trouble with the unit is a verdict of the result.
// An error means trouble with the journal or an interrupt; there is no result then.
func Infer(ctx context.Context, u devices.Unit, o Options) (*Result, error) {
	began := time.Now()
	l, err := newLoop(u, o)
	if err != nil {
		return nil, err
	}
	defer l.unit.log.close()
	limited, searching := ctx, ctx
	if o.Time > 0 {
		var stop context.CancelFunc
		limited, stop = context.WithTimeout(ctx, o.Time)
		defer stop()
		searching, stop = context.WithTimeout(limited, o.Time-o.Time/witnessShare)
		defer stop()
	}
	l.unit.reserved = o.Queries / witnessShare
	l.Done = searching.Done()
	err = l.run(searching)
	l.Done, l.unit.reserved = nil, 0
	r, err := l.conclude(limited, err)
	if l.unit.doubt != nil && ctx.Err() == nil && (r == nil || r.Verdict != NotStable) {
		r, err = l.conclude(limited, l.unit.recheck(ctx))
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if r != nil {
		r.Seconds = time.Since(began).Seconds()
	}
	return r, err
}

func newLoop(u devices.Unit, o Options) (*loop, error) {
	i := u.Instruction()
	if err := i.Formats.Validate(); err != nil {
		return nil, err
	}
	if i.D.Flags() != 0 {
		return nil, fmt.Errorf("flags (%s) are not inferred; a campaign against a reference says what differs", i.D)
	}
	if i.K < 1 || i.K > mma.MaxK {
		return nil, fmt.Errorf("k = %d is not in 1..%d", i.K, mma.MaxK)
	}
	if o.Checks == 0 {
		o.Checks = DefaultChecks
	}
	if o.Effort == 0 {
		o.Effort = DefaultEffort
	}
	e := evidence.New(change.Space{Formats: i.Formats, K: i.K}, o.Policy)
	e.Workers = o.Workers
	s := &asker{Evidence: e, unit: u, budget: o.Queries}
	if o.Journal != "" {
		var err error
		h := header{Target: o.Target, Files: o.Digest, Name: i.Name, K: i.K, Formats: i.Formats,
			Seed: o.Seed, Checks: o.Checks, Effort: o.Effort, NaN: o.Policy.NaN.String(), Zero: o.Policy.Zero.String()}
		if s.log, err = openJournal(o.Journal, h); err != nil {
			return nil, err
		}
	}
	if o.Trace == nil {
		o.Trace = func(string, ...any) {}
	}
	l := &loop{brief: o.Brief, Evidence: e, unit: s, show: o.Show, seed: o.Seed, checks: o.Checks, effort: int64(o.Effort) * million}
	s.asked = l.progress
	l.budget = search.NewBudget(e)
	l.trace = func(format string, args ...any) {
		o.Trace(format, args...)
		l.progress()
	}
	l.budget.Trace = l.trace
	return l, nil
}

// spent reports whether the limits of an inference have ended it.
func spent(err error) bool {
	return errors.Is(err, errBudget) || errors.Is(err, context.DeadlineExceeded)
}

// conclude makes a result of how the loop ended: with the program found, or else with the
// nearest one, wherever the loop was.
func (l *loop) conclude(ctx context.Context, err error) (*Result, error) {
	if spent(err) {
		l.unit.log = nil // an inference that is resumed goes on where the search has ended
	}
	if !l.brief && (err != nil || l.left > 0) {
		if len(l.met) > 0 && (err == nil || spent(err)) {
			l.askUnbiased(ctx)
		}
		l.p = l.nearest()
		if len(l.met) > 0 {
			l.Done = ctx.Done()
			l.p = l.settled(ctx, l.p)
			l.Done = nil
		}
		if err == nil && l.explains(&l.p) { // nothing has been asked yet that could refute it
			l.left, err = l.refute(ctx)
		}
	}
	if l.brief && (err != nil || l.left > 0) {
		l.p = l.simplest(l.nearest())
	}
	r := &Result{Formats: l.Formats, K: l.K, Params: l.p, Policy: l.Policy, Repairs: l.repairs}
	byClass := *l.Evidence
	byClass.Policy.NaN = oracle.ByClass
	for _, s := range l.Families {
		r.Evidence += len(s.Dots)
		c := l.Pack(s.Dots, s.Want)
		right := evidence.Total(l.Hits(&l.p, c))
		wrong := len(s.Dots) - right
		r.Codes += evidence.Total(byClass.Hits(&l.p, c)) - right
		r.Left += wrong
		r.Families = append(r.Families, Family{s.Name, docOf(s.Name), len(s.Dots), wrong})
	}
	var unstable *Unstable
	switch {
	case errors.As(err, &unstable):
		r.Verdict, r.Unstable = NotStable, unstable
	case errors.Is(err, errFaults):
		r.Verdict, r.Note = Failing, err.Error()
	case spent(err):
		r.Verdict, r.Note = Exhausted, TimeSpent
		if errors.Is(err, errBudget) {
			r.Note = err.Error()
		}
		l.unit.log = nil // as above
	case err != nil:
		return nil, err
	case l.left > 0:
		r.Verdict = Unexplained
	default:
		r.Verdict, r.Classes, r.Tiles, r.Mutants = Found, l.classes, l.tiled, l.ruled
	}
	if !l.brief && (r.Verdict == Unexplained || r.Verdict == Exhausted) {
		l.enter(shrinking)
		r.Witness, err = l.witness(ctx)
		switch {
		case errors.As(err, &unstable):
			r.Verdict, r.Unstable, r.Note = NotStable, unstable, ""
		case err != nil && ctx.Err() == nil && !errors.Is(err, errBudget) && !errors.Is(err, errFaults):
			return nil, err
		}
	}
	r.Stats, r.Faults, r.Failures = l.unit.stats, l.unit.faults, l.unit.failures
	r.Effort, r.Computed = int(l.effort/million), l.Computed.Load()
	return r, nil
}
