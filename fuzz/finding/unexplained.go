package finding

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// Unexplained is what is known of a pair some of whose cases no change of a program explains.
type Unexplained struct {
	Why     string          // a sentence
	Nearest *corpus.Nearest // the program that comes nearest; nil: none
	Next    []string        // commands that find out how the unit computes
}

// Unexplained returns what is known of a pair with a verdict whose differences nothing explains;
// nil if they are explained, or if there is nothing to explain.
func (t *Finder) Unexplained(pair int, v *triage.Verdict) *Unexplained {
	p, run := &t.Pairs[pair], t.pairs[pair]
	if v != nil && v.Settled() || p.Formats().D.Flags() != 0 {
		return nil
	}
	base, other := TargetUnit{p.TargetA, p.A}, TargetUnit{p.TargetB, p.B}
	if run.baseUnit != nil && !run.unknownIsB {
		base, other = other, base
	}
	if err := p.Formats().Validate(); err != nil {
		how := "The parts of such a unit can be compared each alone, such as its sum of integers (d=s32)."
		if p.Formats().Scale != fp.None {
			how = fmt.Sprintf("Of a black box whose scales are of this format mmafuzz infer finds the schedule: mmafuzz infer --shape 4x4x%d --target TARGET --out DIR for each side, and mmafuzz diff DIR/kernel.json DIR/kernel.json compares the two.", p.K)
		}
		return &Unexplained{Why: fmt.Sprintf("The cause was not looked for: %v. %s", err, how)}
	}
	var units []TargetUnit // whose arithmetic is to be found out
	u := &Unexplained{}
	switch {
	case run.baseUnit == nil:
		units = []TargetUnit{base, other}
		u.Why = fmt.Sprintf("Nothing is known of how either side computes %s, so the comparison alone does not give the cause.", p.Name())
		switch {
		case devices.IsRecording(p.A) && devices.IsRecording(p.B):
			u.Why += " Recordings do not answer new inputs, and without these no program can be put to the test."
		case t.Planned:
			u.Why += " It was not looked for: where a plan divides a campaign among machines, what one of them finds out the others cannot use."
		case !t.Infer:
			u.Why += " It was not looked for, because of --no-infer."
		}
	case v == nil:
		return nil // no case was examined: all depend on their place, or are faults
	case v.BaseFails:
		units = []TargetUnit{base}
		u.Why = fmt.Sprintf("%s does not compute %s as its model says, so nothing can be said about %s.", base.Target, base.Unit.Instruction().Name, other.Target)
	default:
		units = []TargetUnit{other}
		u.Why = fmt.Sprintf("No known program, and no change of one that was tried, computes %s as %s does.", other.Unit.Instruction().Name, other.Target)
		if found := map[bool]*mma.Params{false: run.ProgramA, true: run.ProgramB}[run.unknownIsB]; found != nil {
			u.Why = fmt.Sprintf("The program that was inferred for %s gives other results than it in some of the differing cases, so it is not the explanation.", other.Target)
		}
		if v.Found() {
			u.Why = fmt.Sprintf("The changes above explain %d of the %s looked into and break none. But %s does something else, too, which no change that was tried explains.", v.Explained, readable.Plural(v.Differ, "differing case"), other.Target)
		}
		if !v.Found() && v.Nearest == nil && devices.IsRecording(other.Unit) {
			u.Why = fmt.Sprintf("%s cannot be asked, and of so few recorded cases that differ, %d, several changes would be an explanation.", other.Target, v.Differ)
		}
		if v.Spent > 0 {
			u.Why += fmt.Sprintf(" The search has spent its budget, %d million dot products of models; inference has more.", v.Spent)
		} else if v.Ended {
			u.Why += " The search for a defect has ended at its budget: there may be one under a condition that was not tried."
		}
		if v.Refuted != "" {
			u.Why += fmt.Sprintf(" New inputs confirmed a defect, %q, but one of the differing cases contradicts it, so it is not claimed: its condition is another one, or there is a second defect.", v.Refuted)
		}
		u.Nearest = nearestOf(v.Nearest, base.Target, other.Target, p.Formats(), run.policy())
	}
	if len(units) > 1 {
		u.Why += " mmafuzz infer looks for the program of each side, and mmafuzz diff model:DIR/model.json model:DIR/model.json compares the two."
	}
	for i, s := range units {
		which := ""
		if len(units) > 1 {
			which = "-" + string("ab"[i])
		}
		if command := t.inferCommand(s, pair, which); command != "" {
			u.Next = append(u.Next, command)
		}
	}
	return u
}

// nearestOf writes the nearest program for people and programs; nil: there is none. Where NaNs are compared by
// class, as those of a side whose program was inferred by class, the codes of a program's are anybody's.
func nearestOf(n *triage.Nearest, base, unit string, f mma.Formats, policy oracle.Policy) *corpus.Nearest {
	if n == nil {
		return nil
	}
	from := n.From
	if from == "" {
		from = base
	}
	would := mma.FormatCode(f.D, n.Would)
	if policy.NaN == oracle.ByClass && f.D.Get().Decode(n.Would).Class == fp.NaN {
		would = corpus.AnyNaN
	}
	return &corpus.Nearest{
		Of: unit, From: from, Changes: append([]mma.Change{}, n.Changes...), Differ: n.Differ, Explained: n.Explained, Agree: n.Agree, Kept: n.Kept,
		Case: mma.FormatDot(f, n.Witness.Dot), Unit: mma.FormatCode(f.D, n.Witness.Want), Program: would,
	}
}

// inferCommand returns the command that looks for a unit's arithmetic; "" if there is
// none that does. A recording cannot be asked: the command is for where it was made.
func (t *Finder) inferCommand(s TargetUnit, pair int, which string) string {
	target := s.Target
	if devices.IsRecording(s.Unit) {
		target = t.environment(target)["recorded from"]
		if bundle.RunsCommand(target) {
			return "" // whoever made the recording may have written any command into it
		}
	}
	i := s.Unit.Instruction()
	if !IsUnknown(target) || i.K > mma.MaxK || i.D.Flags() != 0 { // infer refuses these
		return ""
	}
	number := ""
	if SeveralTargets(t.Pairs) {
		number = fmt.Sprintf("%d-", pair+1)
	}
	return bundle.InferCommand(target, i.Name, bundle.InferDir(number, i.Name, which))
}

// knownKinds are the kinds of targets whose arithmetic is known.
var knownKinds = []string{"sim", "ref", "model", "oracle"}

// IsUnknown reports whether a target's arithmetic is to be found out, by its kind.
func IsUnknown(target string) bool {
	kind, _, ok := strings.Cut(target, ":")
	return ok && !slices.Contains(knownKinds, kind)
}
