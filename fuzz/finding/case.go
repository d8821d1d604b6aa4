package finding

import (
	"context"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Case is a differing case on its way from the batch that showed it to its bundle. It gains
// its parts in the order of the fields; a case that has them all is a finding.
type Case struct {
	// Where it was found: the seed and the origin give its operands, Start. A and B are
	// what both sides gave, and after minimization what they give on Dot.
	Pair   int          `json:"pair"`
	Seed   uint64       `json:"seed"`
	Origin CaseRef      `json:"origin"`
	Start  *mma.Dot     `json:"start"`
	A      uint64       `json:"a"`
	B      uint64       `json:"b"`
	Class  oracle.Class `json:"class"`
	// Rechecked: Stable of Of repetitions gave the same results; 0 of 0: a failure, which
	// is not run again.
	Stable int `json:"stable"`
	Of     int `json:"of"`
	// Sides: whether A and B gave another result in a repetition.
	Sides [2]bool `json:"sides,omitzero"`
	// Of TriageCase: the repetitions in which the sides differed in any way.
	Differed int `json:"-"`
	// Extracted: where in its tile the case shows, if the dot product alone does not show
	// it. See minimize.Place.
	Place string `json:"place,omitempty"`
	// Spots says at which positions of its tile it shows, if that alone matters.
	Spots *corpus.Defect `json:"spots,omitempty"`
	// Past says of a case that repeats itself that a side gives another result in a new process.
	Past *corpus.Defect `json:"past,omitempty"`
	// Before is a question right after which the case differs, of one that depends on what was asked before.
	Before *mma.Dot `json:"before,omitempty"`
	// In a bucket, and of one of its details.
	Bucket string `json:"bucket"`
	Detail string `json:"detail"`
	// Chosen to be a finding: its number within its bucket.
	Number int `json:"number"`
	// Minimized: the smallest dot product that shows the same, and what does not matter
	// about it. OnModel: minimized on a model, because the target cannot answer new inputs.
	Dot     *mma.Dot       `json:"dot"`
	Mask    *minimize.Mask `json:"mask,omitempty"`
	Minimal bool           `json:"minimal"`
	Queries int            `json:"queries"`
	Batches int            `json:"batches"`
	OnModel bool           `json:"through_model,omitempty"`
	// Explained: the verdict on the pair changes A's arithmetic to explain B (BaseA), or
	// the other way round, and runs it with ProgramK products an execution. Changes are
	// what this case needs, from A to B: with them A gives B's result. Back: that it does
	// not, but with them taken back B gives A's result.
	Verdict  *triage.Verdict `json:"verdict"`
	BaseA    bool            `json:"base_a"`
	ProgramK int             `json:"program_k,omitempty"`
	Changes  []mma.Change    `json:"changes,omitempty"`
	Back     bool            `json:"back,omitempty"`
	// Bundled: mismatch.json, and the directory of the bundle if there is one. Both are
	// made for Config.Bundles and Config.Observe alone.
	Mismatch *corpus.Mismatch `json:"-"`
	Dir      string           `json:"-"`
	spot     *spot            // one of Spots
	renamed  bool             // a later verdict has another name for it
}

// newCase begins the way of a case.
func (x *pairTriage) newCase(s Sample) *Case { return x.newCases([]Sample{s})[0] }

func (x *pairTriage) newCases(samples []Sample) []*Case {
	cases := make([]*Case, len(samples))
	for i, dot := range x.p.dots(x.t.Seed, samples) {
		s := samples[i]
		cases[i] = &Case{Pair: x.index, Seed: x.t.Seed, Origin: s.CaseRef, Start: dot, Dot: dot, A: s.A, B: s.B, Class: s.Class}
	}
	return cases
}

// sample returns where a case was found, with its results.
func (f *Case) sample() Sample { return Sample{f.Origin, f.A, f.B, f.Class} }

// asFound reports whether a case stays as it was found: what depends on its place, does not
// repeat itself or makes its target fail is not minimized.
func (f *Case) asFound() bool {
	return f.Class == oracle.Fault || f.Bucket == Unstable || f.Bucket == string(triage.Layout)
}

// pairTriage is the triage of one pair in one epoch. Cases are minimized by several
// goroutines, everything else is for one.
type pairTriage struct {
	t     *Finder
	index int
	p     *Pair
	st    *PairState
	d     *Gathered

	batchMatters bool // a case repeats itself in its batch and not in its tile
	rounding     Sum  // Stochastic alone: what is known of both sides
	unnamed      unnamed
	summed       bool            // schedules have been looked for in this epoch
	instructions *triage.Verdict // with schedules of instructions alone: programs come first
	searched     bool            // the wide search for a verdict has been made in this epoch

	keeper *keeper // a side of which it is known what it keeps of a question; nil: none

	k int // of the instruction, for hypotheses

	verdict    *triage.Verdict
	attributor *triage.Attributor
	defect     *Defect // of the verdict
	candidates []*Case // findings may be made of them
}

// triage does the steps that need no other pair.
func (x *pairTriage) triage(ctx context.Context) error {
	cases := x.newCases(x.d.Differing)
	if err := x.recheck(ctx, cases); err != nil { // and extract
		return err
	}
	if err := x.recheckAgreeing(ctx); err != nil {
		return err
	}
	if err := x.judgeRounding(ctx, judged(x.st.Dots+x.d.Dots), cases...); err != nil {
		return err
	}
	if err := x.learnKept(ctx); err != nil {
		return err
	}
	if err := x.setAside(ctx, cases); err != nil {
		return err
	}
	x.keepEvidence(cases, EvidenceKept)
	if err := x.explain(ctx); err != nil {
		return err
	}
	cases, err := x.refute(ctx, cases)
	if err != nil {
		return err
	}
	return x.bucket(ctx, cases)
}

// CaseKey identifies the case that a finding was made of.
type CaseKey struct {
	pair   int
	detail string
	origin CaseRef
}

// Key returns what identifies the case.
func (f *Case) Key() CaseKey { return CaseKey{f.Pair, f.Detail, f.Origin} }
