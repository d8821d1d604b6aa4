package finding

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// A side of which nothing is known is inferred where two units differ and nothing else explains
// it: where nothing is known of either side, first, so that there is a program to change; where
// no change of one side's program explains the other, the other one, so that two programs can be
// compared as those of two models are.

// The limits of an inference, which depend on no clock: the same seed finds the same programs. A
// campaign with a time limit has an effort that half of it is enough for. Only on a machine that is
// much slower may the clock end an inference before; what was found says so.
const (
	inferEffort  = 8       // millions of dot products of models at most
	inferQuickly = 2       // the same in one attempt, which comes first
	inferLeast   = 4       // and in several where nothing is known of either side
	inferChecks  = 1000    // inputs of each generator on which a program is validated
	inferQueries = 1 << 20 // dot products that the unit is asked
	inferNear    = 4       // a program that is wrong in at most one case in so many is near

	inferPerTime = 800 * time.Millisecond // of a time limit, for a million dot products of models
)

// Inferred is what inference has found of a side.
type Inferred struct {
	Target     string        `json:"target"`
	Side       string        `json:"side"` // a or b
	Verdict    infer.Verdict `json:"verdict"`
	Arithmetic string        `json:"arithmetic,omitempty"` // the program in words, if it was found
	Params     *mma.Params   `json:"params,omitempty"`     // the program, if it was found
	Nearest    *mma.Params   `json:"nearest,omitempty"`    // the program that came nearest, if it is right in most cases and none was found
	Tested     int           `json:"tested,omitempty"`     // inputs on which it was compared with the unit: none differs
	Effort     int           `json:"effort"`               // the most that the search might spend, in millions of dot products of models
	Brief      bool          `json:"brief,omitempty"`      // there was one attempt
	ByClass    bool          `json:"by_class,omitempty"`   // NaNs were compared by class: no program has the codes of the side's
	Late       bool          `json:"late,omitempty"`       // the time limit of the campaign has ended it before: another run may find a program
}

// sideNames are the values of Inferred.Side.
var sideNames = []string{"a", "b"}

// CheckInferred returns an error if a journal cannot have this of a pair.
func (p *Pair) CheckInferred(r *Inferred) error {
	if !slices.Contains(sideNames, r.Side) || r.Tested < 0 || r.Effort < 0 || (r.Params != nil) != (r.Verdict == infer.Found) {
		return fmt.Errorf("an inference of side %q with verdict %q", r.Side, r.Verdict)
	}
	for _, of := range []*mma.Params{r.Params, r.Nearest} {
		if of == nil {
			continue
		}
		if err := of.Validate(p.Spec.Formats, p.unitOf(r.Side).Instruction().K); err != nil {
			return err
		}
	}
	return nil
}

func (p *Pair) unitOf(side string) devices.Unit {
	return p.side(slices.Index(sideNames, side))
}

// Learn takes in what inference has found: hypotheses are about a program that was found, or if the
// other side's is known, the two are compared.
func (p *Pair) Learn(all []Inferred) {
	for i := range all {
		r := &all[i]
		if r.Params == nil {
			continue
		}
		p.byClass = p.byClass || r.ByClass
		if p.Known = append(slices.Clip(p.Known), r.Params); r.Side == sideNames[0] {
			p.ProgramA = r.Params
		} else {
			p.ProgramB = r.Params
		}
		if p.baseUnit == nil {
			p.chooseSides()
		}
		p.choosePrograms()
		p.Attributor = nil
	}
}

// inferSome infers a side where nothing is known of either. It reports whether it has learned
// anything.
func (x *pairTriage) inferSome(ctx context.Context) (bool, error) {
	for _, brief := range []bool{true, false} {
		effort := min(inferEffort, max(inferLeast, x.left()-x.always(inferAlways)))
		if brief {
			effort = inferQuickly
		}
		for _, side := range sideNames {
			if learned, err := x.infer(ctx, side, effort, brief); learned || err != nil {
				return learned, err
			}
		}
	}
	return false, nil
}

// inferUnknown infers the side that no change of the other one's program explains: quickly, whatever the
// searches before have taken, if the effort is the usual one and enough for that alone; and where the other
// one's program was inferred too, or not quick, with an effort that grows with the campaign, as that of a
// search for such a change does.
func (x *pairTriage) inferUnknown(ctx context.Context, quick bool) (bool, error) {
	side, known := sideNames[0], Believed(x.p.baseUnit) != nil
	if x.p.unknownIsB {
		side = sideNames[1]
	}
	if quick && (!known || x.left() > 0 || cmp.Or(x.t.Effort, freeEffort) >= max(freeEffort, x.perK(x.quickly()+inferBriefly))) {
		if learned, err := x.infer(ctx, side, x.quickly(), true); learned || err != nil {
			return learned, err
		}
	}
	e := min(inferEffort, x.usualEffort()-x.always(inferAlways))
	if e <= 0 || known && (quick || 2*x.perK(e+inferAlways) > x.left()) { // in a short campaign the quick one has to do
		return false, nil
	}
	return x.infer(ctx, side, e, false)
}

// quickly is the effort of a quick inference, smaller for wide operands.
func (x *pairTriage) quickly() int { return max(1, inferQuickly/x.wide()) }

// infer looks for the program of a side, unless it may not be asked, its program is known, or
// it was looked for with about the same effort. brief: in one attempt. It reports whether it has
// learned anything.
func (x *pairTriage) infer(ctx context.Context, side string, effort int, brief bool) (bool, error) {
	u := x.p.unitOf(side)
	effort = x.t.withinTime(effort)
	for _, before := range slices.Concat(x.st.Inferred, x.d.Inferred) {
		if before.Side == side && (before.Params != nil || effort < longerEffort*before.Effort && (brief || !before.Brief)) {
			return false, nil
		}
	}
	if !x.mayInfer(u) || !x.repeatsItself(slices.Index(sideNames, side)) {
		return false, nil
	}
	r := x.t.Memory.Inferred(x.index, x.d.Units, side, effort)
	if r == nil || r.Brief != brief {
		var err error
		if r, err = x.inferNow(ctx, u, side, effort, brief); err != nil {
			return false, err
		}
		x.t.Memory.KeepInferred(x.index, x.d.Units, r)
	}
	x.d.Inferred = append(x.d.Inferred, *r)
	x.p.Learn([]Inferred{*r})
	x.st.BaseA = x.p.unknownIsB
	return r.Params != nil, nil
}

// mayInfer reports whether a unit may be asked for a program that is not known.
func (x *pairTriage) mayInfer(u devices.Unit) bool {
	return x.mayAsk(u) && u.Instruction().K <= mma.MaxK
}

// mayAsk reports whether a unit of which no program is known may be asked what it computes.
func (x *pairTriage) mayAsk(u devices.Unit) bool {
	return x.t.Infer && Believed(u) == nil && !devices.IsRecording(u) && u.Instruction().D.Flags() == 0
}

// withinTime is an effort, or what a campaign with a time limit has time for.
func (o *Options) withinTime(effort int) int {
	if o.Time > 0 {
		effort = min(effort, max(1, int(o.Time/inferPerTime)))
	}
	return effort
}

// inferNow infers a unit. One that stops answering has failed, which the campaign will say, too.
func (x *pairTriage) inferNow(ctx context.Context, u devices.Unit, side string, effort int, brief bool) (*Inferred, error) {
	r := &Inferred{Target: x.p.TargetA, Side: side, Verdict: infer.Failing, Effort: effort, Brief: brief}
	if side == sideNames[1] {
		r.Target = x.p.TargetB
	}
	o := infer.Options{Seed: x.t.Seed, Checks: inferChecks, Queries: inferQueries, Effort: effort, Policy: x.p.Policy, Workers: x.t.Workers, Brief: brief,
		Show: func(p infer.Progress) {
			x.say(fmt.Sprintf("looking for the arithmetic of %s: %s", r.Target, p.Phase))
		}}
	if until, ok := ctx.Deadline(); ok { // the campaign has a time limit, within which it has to explain what it finds
		o.Time = time.Until(until) * 3 / 4
	}
	found, err := infer.Infer(ctx, u, o)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return r, nil
	}
	// A function may give NaNs codes that no program gives, such as quiet ones of the operand's sign, which says
	// nothing about its numbers.
	if found.Verdict == infer.Unexplained && found.Codes > 0 && 2*found.Codes >= found.Left && !onlyNaNCodes(x.allEvidence()) {
		r.ByClass, o.Policy.NaN = true, oracle.ByClass
		if found, err = infer.Infer(ctx, u, o); err != nil {
			return r, ctx.Err()
		}
	}
	r.Late = found.Note == infer.TimeSpent
	if r.Verdict = found.Verdict; r.Verdict == infer.Found {
		p, hidden := withSigns(ctx, x.p.Spec.Formats, u.Instruction().K, found.Params, x.t.Seed)
		r.Params, r.Arithmetic = &p, inWords(&p, o.Policy.NaN, hidden)
		for _, c := range found.Classes {
			r.Tested += c.Asked
		}
	}
	if r.Verdict == infer.Unexplained && inferNear*found.Left <= found.Evidence && found.Params.Validate(x.p.Spec.Formats, u.Instruction().K) == nil {
		p, _ := withSigns(ctx, x.p.Spec.Formats, u.Instruction().K, found.Params, x.t.Seed)
		r.Nearest = &p
	}
	return r, ctx.Err()
}

// signsOfIEEE are the fields that IEEE 754 sets: a result that underflows to zero keeps its sign, and a sum that is
// zero has that of its terms.
var signsOfIEEE = []struct {
	word string
	of   func(s *mma.Special) *bool
}{
	{"special.tinysign=", func(s *mma.Special) *bool { return &s.TinySign }},
	{"special.negzero=", func(s *mma.Special) *bool { return &s.NegZero }},
}

// withSigns returns a program that has these fields as IEEE 754 does, those that no input tells from the others: a
// defect may make results that are as small, or zeros that no sum else is. hidden are their words.
func withSigns(ctx context.Context, f mma.Formats, k int, p mma.Params, seed uint64) (q mma.Params, hidden []string) {
	for _, sign := range signsOfIEEE {
		other := p
		field := sign.of(&other.Special)
		if *field = !*field; other.Validate(f, k) != nil {
			continue
		}
		if w, err := triage.FindWitness(ctx, f, k, p, other, seed); w == nil && err == nil {
			*sign.of(&p.Special), hidden = true, append(hidden, sign.word)
		}
	}
	return p, hidden
}

// inWords names a program: as an arithmetic with changes, or by all parameters that are not the
// default. Where NaN codes were not compared nothing is said of them, and nothing of signs that are
// hidden.
func inWords(p *mma.Params, nan oracle.Strictness, hidden []string) string {
	if s := p.String(); s != "custom" {
		return strings.Join(slices.DeleteFunc(strings.Fields(s), func(word string) bool {
			return nan == oracle.ByClass && strings.HasPrefix(word, "special.nan=") || slices.ContainsFunc(hidden, func(of string) bool { return strings.HasPrefix(word, of) })
		}), " ")
	}
	return "a program that differs from an exact sum by " + mma.Brief(mma.Diff(&mma.Params{}, p))
}

// say reports what is being done if it takes long.
func (x *pairTriage) say(doing string) {
	if x.t.Searching != nil {
		x.t.searching.Lock()
		defer x.t.searching.Unlock()
		x.t.Searching(x.index, doing)
	}
}

// withBase returns the cases in which the base has the known side's results, if its program was
// inferred: it may be wrong in a few, which remain unexplained.
func (x *pairTriage) withBase(evidence []*Case) []*Case {
	if Believed(x.p.baseUnit) != nil {
		return evidence
	}
	return slices.DeleteFunc(slices.Clone(evidence), func(f *Case) bool { return !x.baseHolds(x.p.baseUnit.Instruction().K, []*Case{f}) })
}
