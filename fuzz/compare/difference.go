package compare

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// The states of a difference.
const (
	StateNew     = "new"
	StateStill   = "still"   // in the baseline, too
	StateKnown   = "known"   // on the list of known differences
	StateExpired = "expired" // on that list, but too long ago
)

// notRecorded is the bucket of an instruction that a recording lacks, or does not have to
// the end.
const notRecorded = "not-recorded"

// Difference is the cases of one cause in which an instruction differs on two machines.
type Difference struct {
	ID           string       `json:"id"` // the same every night
	A            string       `json:"a"`
	B            string       `json:"b"` // "": it is about A alone
	Instruction  string       `json:"instruction"`
	InstructionA string       `json:"instruction_a"`
	InstructionB string       `json:"instruction_b"`
	Bucket       string       `json:"bucket"`
	Class        string       `json:"class"`
	Details      []Kind       `json:"details"` // the kinds of cases in the bucket
	Changes      []mma.Change `json:"changes"` // behind the primary cause, from A to B
	// Equivalent is what may be behind the primary cause as well, from A to B, as no input tells it apart.
	Equivalent [][]mma.Change `json:"equivalent,omitempty"`

	Cases  uint64       `json:"cases"`
	Dots   uint64       `json:"dots"` // dot products that were compared
	MaxUlp float64      `json:"max_ulp"`
	Digest string       `json:"digest"`          // of the cases and their results
	Marks  corpus.Marks `json:"marks,omitempty"` // some of the cases, by which they are found again among others
	What   string       `json:"what,omitempty"`
	State  string       `json:"state"`
	Known  string       `json:"known,omitempty"`  // the entry that covers it, or a part of it
	Beyond []string     `json:"beyond,omitempty"` // if only a part: the kinds that no entry covers
	Bundle string       `json:"bundle,omitempty"`

	uncounted *Kind // the cases that no detail counts, which may need all changes; nil: none
}

// Kind is a kind of cases of a bucket with the changes behind them. These are more than
// those behind the bucket if the cases differ by a combination of causes.
type Kind struct {
	Name    string       `json:"name"`
	Cases   uint64       `json:"cases"`
	Changes []mma.Change `json:"changes"`
}

// NewDifference returns a bucket of a campaign as a difference, with the changes that the
// verdict on its pair has found and the rule of the bucket (PairState.Rule). The machines have the
// names of their targets.
func NewDifference(p *devices.Pair, b *fuzz.Bucket, v *triage.Verdict, rule string) Difference {
	x := &pair{a: &Side{Name: p.TargetA}, b: &Side{Name: p.TargetB}, Pair: *p}
	return newDifference(x, b, changesFrom(x, v), rule)
}

func newDifference(p *pair, b *fuzz.Bucket, parts []part, rule string) Difference {
	d := Difference{A: p.a.Name, B: p.b.Name, Instruction: p.Name(), InstructionA: p.A.Instruction().Name, InstructionB: p.B.Instruction().Name,
		Bucket: b.Name, Class: b.MostClass().String(), What: rule, Changes: changesOf(parts, b.Name), Cases: b.Cases, Dots: uint64(p.dots()), MaxUlp: b.MaxUlp,
		Digest: fmt.Sprintf("%016x", b.Digest), Marks: b.Marks, Details: []Kind{}}
	for _, x := range parts {
		if x.label == b.Name {
			d.Equivalent = append(d.Equivalent, x.instead...)
		}
	}
	for _, x := range b.SortedDetails() {
		d.Details = append(d.Details, Kind{x.Name, x.Cases, changesOf(parts, fuzz.LabelsIn(x.Name)...)})
	}
	if b.More > 0 {
		var labels []string
		for _, x := range parts {
			labels = append(labels, x.label)
		}
		d.uncounted = &Kind{strings.Join(labels, "+"), b.More, changesOf(parts, labels...)}
	}
	d.identify()
	return d
}

// part is the changes, from A to B, that one label stands for, and what no input tells from these.
type part struct {
	label   string
	changes []mma.Change
	instead [][]mma.Change
}

// changesFrom returns the changes of a verdict in parts, from A's arithmetic to B's; nil
// if none was found.
func changesFrom(p *pair, v *triage.Verdict) []part {
	if v == nil || !v.Found() {
		return nil
	}
	base, err := v.Base()
	if err != nil {
		return nil
	}
	turned := base != p.A.Instruction().Params
	var parts []part
	for _, x := range triage.Parts(&base, &v.Program) {
		changes := x.Changes
		if turned {
			changes = readable.Reversed(changes)
		}
		parts = append(parts, part{string(x.Label), changes, v.Instead(x.Changes, turned)})
	}
	return parts
}

// changesOf returns the changes that some labels stand for.
func changesOf(parts []part, labels ...string) []mma.Change {
	changes := []mma.Change{}
	for _, x := range parts {
		if slices.Contains(labels, x.label) {
			changes = append(changes, x.changes...)
		}
	}
	return changes
}

// missing is the difference of an instruction that a recording does not have.
func missing(name string, p corpus.Problem) Difference {
	d := Difference{A: name, Instruction: p.Instruction, InstructionA: p.Instruction, Bucket: notRecorded, Class: oracle.Fault.String(),
		Changes: []mma.Change{}, Details: []Kind{}, What: p.What}
	d.identify()
	return d
}

// unstable is the difference of the cases that do not repeat themselves, because a live target
// changes its answers: so many.
func unstable(p *pair, st *fuzz.PairState, cases uint64) Difference {
	d := newDifference(p, &fuzz.Bucket{Name: fuzz.Unstable, Cases: cases}, nil, "")
	for _, f := range st.Findings {
		if f.Bucket == fuzz.Unstable {
			d.What = fmt.Sprintf("one of them gave the same results %d of %d times", f.Stable, f.Of)
			d.Bundle = f.Dir
			break
		}
	}
	return d
}

// identify gives a difference an id that is the same every night: it depends on the
// machines, the instruction, the bucket and the changes behind it, or, if there are none, on
// the rule, or else on the cases and their results.
func (d *Difference) identify() {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q\n", d.A, d.B, d.Instruction, d.Bucket)
	for _, c := range d.Changes {
		fmt.Fprintln(h, c)
	}
	switch {
	case len(d.Changes) > 0:
	case d.rule() != "":
		fmt.Fprintln(h, d.rule())
	default:
		fmt.Fprintln(h, d.Digest)
	}
	d.ID = fmt.Sprintf("%x", h.Sum(nil)[:4])
}

// rule is by what a cause that has a rule is recognised; "": by its cases, as others without changes are.
func (d *Difference) rule() string {
	if triage.Label(d.Bucket).Ruled() {
		return d.What
	}
	return ""
}

// scopes returns what lists of known differences match: the kinds of cases of a difference,
// each with the labels and changes behind it. A difference without kinds is a scope itself.
func (d *Difference) scopes() []*corpus.Difference {
	kinds := slices.Clone(d.Details)
	if d.uncounted != nil {
		kinds = append(kinds, *d.uncounted)
	}
	if len(kinds) == 0 {
		kinds = []Kind{{Name: d.Bucket, Changes: d.Changes}}
	}
	var all []*corpus.Difference
	for _, k := range kinds {
		s := &corpus.Difference{ID: d.ID, A: d.A, B: d.B, Instructions: []string{d.Instruction, turnedNames(d.Instruction), d.InstructionA}, Bucket: d.Bucket, Detail: k.Name, Rule: d.rule(), Labels: fuzz.LabelsIn(k.Name)}
		if d.InstructionB != "" {
			s.Instructions = append(s.Instructions, d.InstructionB)
		}
		for _, c := range k.Changes {
			s.Changes = append(s.Changes, c.String())
		}
		all = append(all, s)
	}
	return all
}

// sameCell reports whether two differences are about the same instruction of the same
// machines.
func (d *Difference) sameCell(o *Difference) bool {
	return d.A == o.A && d.B == o.B && d.Instruction == o.Instruction
}

// isNews reports whether a difference makes a comparison fail.
func (d *Difference) isNews() bool { return d.State == StateNew || d.State == StateExpired }

// groups returns the wanted differences, grouped by instruction and machines, and their
// number.
func groups(ds []Difference, wanted func(*Difference) bool) (all [][]*Difference, n int) {
	for i := range ds {
		d := &ds[i]
		if !wanted(d) {
			continue
		}
		n++
		if last := len(all) - 1; last >= 0 && all[last][0].sameCell(d) {
			all[last] = append(all[last], d)
		} else {
			all = append(all, []*Difference{d})
		}
	}
	return all, n
}
