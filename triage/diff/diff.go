// Package diff says where known arithmetics differ: change by change, each with the smallest
// input that shows it.
//
// # JSON
//
// go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common, and what ? and * mark.
//
// diff, an object for each pair of instructions:
//
//	a                       string   TARGET/INSTRUCTION
//	b                       string   TARGET/INSTRUCTION
//	evidence_a              string   what the first arithmetic is known from
//	evidence_b              string   what the second arithmetic is known from
//	by_value                string?  FP8 of OCP and of FNUZ: what only one of the formats has; inputs are numbers that both have
//	parts[].labels[]        string?  labels that the part's changes stand for
//	parts[].changes[].path  string?  field that changes; the fields of a part are changed together
//	parts[].changes[].from  string?
//	parts[].changes[].to    string?
//	parts[].witness         string?  the smallest input found on which the part alone makes a difference, as eval reads it
//	parts[].before          string?  its result by the first arithmetic
//	parts[].after           string?  its result with the part changed
//	parts[].alone           bool?    the part makes sense without the others
//	parts[].idle            bool?    it is proved that the part alone makes no difference
//	parts[].idle_by         string?  by what: ranges (of all values), solver
//	parts[].unknown[]       string?  a, b: sides of which nobody has shown what they do here; the model's value is a guess
//
// The API of this package is not promised: it may change in any version.
package diff

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/prove"
)

// Difference is how the arithmetics of a pair of instructions differ.
type Difference struct {
	A         string `json:"a"`
	B         string `json:"b"`
	EvidenceA string `json:"evidence_a"`
	EvidenceB string `json:"evidence_b"`
	Parts     []Part `json:"parts"`
	ByValue   string `json:"by_value,omitempty"`

	name    string // of the pair
	formats mma.Formats
	a, b    *mma.Params
}

// Part is one change with its witness.
type Part struct {
	Labels  []triage.Label `json:"labels"`
	Changes []mma.Change   `json:"changes"`
	// Witness is the smallest input found on which A's arithmetic and A's with this
	// change differ, in the text form of eval; "" if none was found.
	Witness string `json:"witness,omitempty"`
	Before  string `json:"before,omitempty"` // D as A's arithmetic gives it
	After   string `json:"after,omitempty"`  // D as A's arithmetic gives it with the change
	Alone   bool   `json:"alone"`            // the change makes sense without the others
	// Idle: it is proved that the change alone makes no difference.
	Idle   bool   `json:"idle,omitempty"`
	IdleBy string `json:"idle_by,omitempty"` // what proved it, as in prove.Result
	// Unknown are the sides, a or b, whose value nobody has shown: mma.Instruction.Unknown.
	Unknown []string `json:"unknown,omitempty"`
}

// Pair compares the arithmetics of the two units of a pair, which have to be known.
func Pair(ctx context.Context, p *devices.Pair) (*Difference, error) {
	pa, pb := p.A.Model(), p.B.Model()
	if pa == nil || pb == nil {
		return nil, hint.New("mmafuzz run compares anything", "diff compares known arithmetics, those of simulators and model files: not %s and %s", p.TargetA, p.TargetB)
	}
	ia, ib := p.A.Instruction(), p.B.Instruction()
	d := &Difference{A: p.TargetA + "/" + ia.Name, B: p.TargetB + "/" + ib.Name, EvidenceA: ia.Evidence, EvidenceB: ib.Evidence, Parts: []Part{}, name: p.Name(), formats: ia.Formats, a: pa, b: pb}
	d.ByValue = strings.Join(p.ByValue(), "; ")
	for _, part := range triage.Parts(pa, pb) {
		pd := Part{Changes: part.Changes, Labels: []triage.Label{part.Label}}
		for n, i := range []*mma.Instruction{ia, ib} {
			if i.Unknown&facets[part.Label] != 0 {
				pd.Unknown = append(pd.Unknown, []string{"a", "b"}[n])
			}
		}
		q := *pa
		if q.Apply(part.Changes) == nil && q.Validate(ia.Formats, p.K) == nil {
			pd.Alone = true
			res, err := prove.Programs(ctx, ia.Formats, p.K, *pa, q, prove.Options{})
			if err != nil {
				return nil, err
			}
			if pd.Idle = res.Verdict == prove.Proved; pd.Idle {
				pd.IdleBy = res.By
			}
			if w := res.Witness; w != nil {
				pd.Witness = mma.FormatDot(ia.Formats, w.Dot)
				pd.Before, pd.After = mma.FormatCode(ia.D, w.Before), mma.FormatCode(ia.D, w.After)
			}
		}
		d.Parts = append(d.Parts, pd)
	}
	return d, nil
}

// facets are the details of a result that labels are about.
var facets = map[triage.Label]mma.Facets{triage.NaNEncoding: mma.FacetNaN, triage.SignedZero: mma.FacetZero}

// Write writes the difference for people, with the paths of the parameters.
func (d *Difference) Write(w io.Writer, width int, bold func(string) string) {
	if head := d.A + "  " + d.B; utf8.RuneCountInString(head) <= width {
		fmt.Fprintln(w, head)
	} else {
		fmt.Fprintf(w, "%s\n  %s\n", d.A, d.B)
	}
	if d.ByValue != "" {
		fmt.Fprint(w, readable.Indented(2, d.ByValue, width))
	}
	if len(d.Parts) == 0 {
		fmt.Fprintf(w, "  the same arithmetic\n\n")
		return
	}
	g := readable.Table{Width: width}
	for _, p := range d.Parts {
		g.Add("  "+p.labels(), readable.Converted(d.formats, readable.NamedChanges(p.Changes, d.a, d.b)))
		g.Add("", readable.Converted(d.formats, p.shownBy()))
		if p.Unknown != nil {
			g.Add("", fmt.Sprintf("nobody has shown what %s does here: its model's value is a guess", p.unknown()))
		}
	}
	g.Add("  evidence A", d.EvidenceA)
	g.Add("  evidence B", d.EvidenceB)
	g.Write(w, bold)
	fmt.Fprintln(w)
}

// unknown names the sides of which a part is not known.
func (p *Part) unknown() string {
	if len(p.Unknown) > 1 {
		return "either side"
	}
	return strings.ToUpper(p.Unknown[0])
}

// labels names the labels of a part.
func (p *Part) labels() string {
	var all []string
	for _, l := range p.Labels {
		all = append(all, string(l))
	}
	return strings.Join(all, ", ")
}

// provers say how it is proved that two programs compute the same.
var provers = map[string]string{"ranges": "the ranges of all values", "solver": "a SAT solver, for all inputs"}

// settings writes what A gets from B: kept bits (F) 25; of many parameters only that they change.
func (p *Part) settings() string {
	const most = 2
	if len(p.Changes) > most {
		return "these changes"
	}
	var all []string
	for i := range p.Changes {
		before, value, _ := strings.Cut(mma.Brief([]mma.Change{{Path: p.Changes[i].Path, From: "?", To: p.Changes[i].To}}), "→")
		all = append(all, strings.TrimSuffix(before, "?")+value)
	}
	return strings.Join(all, " and ")
}

// shownBy says which input shows a change.
func (p *Part) shownBy() string {
	switch {
	case p.Witness != "":
		return fmt.Sprintf("shown by %s: A gives %s, A with %s gives %s", p.Witness, p.Before, p.settings(), p.After)
	case p.Idle:
		return "alone it makes no difference: proved by " + provers[p.IdleBy]
	case p.Alone:
		return "no input was found that shows it alone"
	}
	return "makes sense only with other changes"
}
