package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// comparison is the outcome of compare: what --json writes, what compare.json
// holds, and what a baseline is. doc.go says what the fields are.
type comparison struct {
	V           int             `json:"v"`
	Versions    corpus.Versions `json:"versions,omitzero"`
	Date        string          `json:"date"`
	Machines    []machine       `json:"machines"`
	Models      []foundModel    `json:"models"`
	Cells       []cell          `json:"cells"`
	Differences []difference    `json:"differences"`
	Gone        []gone          `json:"gone"`
	Changed     []changed       `json:"changed"`
	Known       []knownUse      `json:"known"`
	LeftOut     []leftOut       `json:"left_out"`
	Trouble     []string        `json:"trouble"`
	Incomplete  []string        `json:"incomplete"` // what was not compared, or not to the end
	Counts      tallies         `json:"counts"`
	Exit        int             `json:"exit"`

	open map[string]bool // of a baseline: differences that were not known, by id
}

type machine struct {
	Name         string            `json:"name"`
	Spec         string            `json:"spec"`
	Target       string            `json:"target"`
	Recorded     bool              `json:"recorded"`
	Plan         string            `json:"plan,omitempty"`
	Date         string            `json:"date,omitempty"`
	Complete     bool              `json:"complete"`
	Instructions int               `json:"instructions,omitempty"`
	Dots         int               `json:"dots,omitempty"`
	Faults       int               `json:"faults"`
	Versions     *corpus.Versions  `json:"versions,omitempty"`
	Environment  map[string]string `json:"environment"`
}

type foundModel struct {
	Machine     string `json:"machine"`
	Instruction string `json:"instruction"`
	Dots        uint64 `json:"dots"`
	Mismatches  uint64 `json:"mismatches"`
	modelBrief
}

type cell struct {
	A           string            `json:"a"`
	B           string            `json:"b"`
	Instruction string            `json:"instruction"`
	K           int               `json:"k"`
	Dots        uint64            `json:"dots"`
	RecordedA   int               `json:"recorded_a"`
	RecordedB   int               `json:"recorded_b"`
	Mismatches  uint64            `json:"mismatches"`
	Classes     map[string]uint64 `json:"classes"`
	Explained   bool              `json:"explained"`
	Changes     []mma.Change      `json:"changes"`
}

// The states of a difference.
const (
	stateNew     = "new"
	stateStill   = "still"
	stateKnown   = "known"
	stateExpired = "expired"
)

type difference struct {
	ID           string       `json:"id"`
	A            string       `json:"a"`
	B            string       `json:"b"` // "": it is about A alone
	Instruction  string       `json:"instruction"`
	InstructionA string       `json:"instruction_a"`
	InstructionB string       `json:"instruction_b"`
	Bucket       string       `json:"bucket"`
	Class        string       `json:"class"`
	Details      []kindOf     `json:"details"` // the kinds of cases in the bucket
	Changes      []mma.Change `json:"changes"` // behind the primary cause, from A to B
	Cases        uint64       `json:"cases"`
	Dots         uint64       `json:"dots"`
	MaxUlp       float64      `json:"max_ulp"`
	Digest       string       `json:"digest"`
	What         string       `json:"what,omitempty"`
	State        string       `json:"state"`
	Known        string       `json:"known,omitempty"`
	Bundle       string       `json:"bundle,omitempty"`

	rest *kindOf // cases of no detail, which may need all changes; nil: none
}

// kindOf is cases of a bucket with the changes behind them: more than those behind the
// bucket where it takes a combination.
type kindOf struct {
	Name    string       `json:"name"`
	Cases   uint64       `json:"cases"`
	Changes []mma.Change `json:"changes"`
}

type leftOut struct {
	A           string `json:"a"`
	B           string `json:"b"`
	Instruction string `json:"instruction,omitempty"`
	Why         string `json:"why"`
}

// notRecorded is the bucket of an instruction that a recording does not have, or not
// to the end.
const notRecorded = "not-recorded"

// conclude makes the result of a campaign over all pairs.
func (c *compareCmd) conclude(s *fuzz.State, models []*model) {
	r := &c.result
	r.V, r.Versions, r.Date = schemaVersion, versions.Current(), c.day.UTC().Format(corpus.DateLayout)
	for _, m := range models {
		r.Models = append(r.Models, m.found())
	}
	for i, st := range s.Pairs {
		p := &c.ui.pairs[i]
		changes := changesFrom(p, st.Verdict)
		r.Cells = append(r.Cells, newCell(p, st, changes))
		for _, b := range st.Sorted() {
			d := newDifference(p, b, changes)
			d.Bundle = c.ui.bundles[c.ui.bundleKey(i, b.Name)]
			r.Differences = append(r.Differences, d)
		}
	}
	for _, s := range c.sides {
		for _, p := range c.problems()[s.name] {
			r.Differences = append(r.Differences, missing(s.name, p))
		}
	}
	slices.SortStableFunc(r.Differences, func(x, y difference) int {
		return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	c.judge()
}

func (m *model) found() foundModel {
	f := foundModel{Machine: m.machine, Instruction: m.rec.Instruction().Name, Dots: m.dots, Mismatches: m.mismatches,
		modelBrief: modelBrief{Explained: m.explained(), Changes: append([]mma.Change{}, m.changes...), Alike: append([]string{}, m.alike...)}}
	if m.base != nil {
		f.Base = m.base.FullName()
	}
	return f
}

// part is changes that one label stands for, from A to B.
type part struct {
	label   string
	changes []mma.Change
}

// changesFrom returns the changes of a verdict in parts, from A's arithmetic to
// B's; nil if there is none that was found.
func changesFrom(p *comparedPair, v *triage.Verdict) []part {
	if v == nil || !v.Found() {
		return nil
	}
	base := v.Program
	if base.Apply(mma.Reversed(v.Changes)) != nil {
		return nil
	}
	turned := base != p.A.Instruction().Params
	var parts []part
	for _, x := range triage.Parts(&base, &v.Program) {
		changes := x.Changes
		if turned {
			changes = mma.Reversed(changes)
		}
		parts = append(parts, part{string(x.Label), changes})
	}
	return parts
}

func newCell(p *comparedPair, st *fuzz.PairState, parts []part) cell {
	c := cell{A: p.a.name, B: p.b.name, Instruction: p.Name(), K: p.K, Dots: st.Dots, RecordedA: p.recordedA, RecordedB: p.recordedB,
		Mismatches: st.Mismatches(), Classes: map[string]uint64{}, Changes: []mma.Change{}}
	for class, n := range st.Classes {
		if n > 0 {
			c.Classes[oracle.Class(class).String()] = n
		}
	}
	for _, x := range parts {
		c.Changes = append(c.Changes, x.changes...)
	}
	c.Explained = len(parts) > 0 && !unexplained(st)
	return c
}

func newDifference(p *comparedPair, b *fuzz.Bucket, parts []part) difference {
	d := difference{A: p.a.name, B: p.b.name, Instruction: p.Name(), InstructionA: p.A.Instruction().Name, InstructionB: p.B.Instruction().Name,
		Bucket: b.Name, Class: b.MostClass().String(), Changes: changesOf(parts, b.Name), Cases: b.Cases, Dots: uint64(p.dots()), MaxUlp: b.MaxUlp,
		Digest: fmt.Sprintf("%016x", b.Digest), Details: []kindOf{}}
	for _, x := range sortedDetails(b.Details) {
		d.Details = append(d.Details, kindOf{x.Name, x.Cases, changesOf(parts, bucketLabels(x.Name)...)})
	}
	if b.More > 0 {
		var labels []string
		for _, x := range parts {
			labels = append(labels, x.label)
		}
		d.rest = &kindOf{strings.Join(labels, "+"), b.More, changesOf(parts, labels...)}
	}
	d.identify()
	return d
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
func missing(name string, p corpus.Problem) difference {
	d := difference{A: name, Instruction: p.Instruction, InstructionA: p.Instruction, Bucket: notRecorded, Class: oracle.Fault.String(),
		Changes: []mma.Change{}, Details: []kindOf{}, What: p.What}
	d.identify()
	return d
}

// identify gives a difference an id that it has every night: of the machines, the
// instruction, the bucket and the changes behind it. What is not explained is told
// by the very cases and their results.
func (d *difference) identify() {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q\n", d.A, d.B, d.Instruction, d.Bucket)
	for _, c := range d.Changes {
		fmt.Fprintln(h, c)
	}
	if len(d.Changes) == 0 {
		fmt.Fprintln(h, d.Digest)
	}
	d.ID = fmt.Sprintf("%x", h.Sum(nil)[:4])
}

// scopes are what lists of known differences see of a difference: its kinds of cases,
// each with the labels and changes behind it. One without kinds is a scope itself.
func (d *difference) scopes() []*corpus.Difference {
	kinds := slices.Clone(d.Details)
	if d.rest != nil {
		kinds = append(kinds, *d.rest)
	}
	if len(kinds) == 0 {
		kinds = []kindOf{{Name: d.Bucket, Changes: d.Changes}}
	}
	var all []*corpus.Difference
	for _, k := range kinds {
		s := &corpus.Difference{ID: d.ID, A: d.A, B: d.B, Instructions: []string{d.Instruction, d.InstructionA}, Bucket: d.Bucket, Detail: k.Name, Labels: bucketLabels(k.Name)}
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

// maxComparison is more bytes than the result of any compare takes.
const maxComparison = 256 << 20

// readComparison reads the result of an earlier compare.
func readComparison(file string) (*comparison, error) {
	body, err := corpus.ReadFile(file, "result of compare", maxComparison)
	if err != nil {
		return nil, err
	}
	c, err := parseComparison(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

func parseComparison(body []byte) (*comparison, error) {
	var head struct {
		V     *int             `json:"v"`
		Cells *json.RawMessage `json:"cells"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return nil, fmt.Errorf("this is no result of compare: %w", mma.JSONError(body, err))
	}
	switch {
	case head.V == nil || head.Cells == nil:
		return nil, errors.New("this is no result of compare")
	case *head.V != schemaVersion:
		return nil, fmt.Errorf("it is of version %d, this program reads %d", *head.V, schemaVersion)
	}
	c := &comparison{open: map[string]bool{}}
	if err := json.Unmarshal(body, c); err != nil {
		return nil, fmt.Errorf("this is no result of compare: %w", mma.JSONError(body, err))
	}
	printable.Strings(c)
	for _, d := range c.Differences {
		c.open[d.ID] = d.State != stateKnown
	}
	for _, g := range c.Gone {
		if !g.Compared && g.State != stateKnown {
			c.open[g.ID] = true
		}
	}
	return c, nil
}

// machinePair writes who a difference is about.
func machinePair(a, b string) string {
	if b == "" {
		return a
	}
	return a + " ~ " + b
}
