package compare

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// resultVersion is the version of a Result as JSON.
const resultVersion = 1

// Result is the outcome of a comparison. Two machines are in the order in which
// they were named. The package's documentation has a table of the JSON.
type Result struct {
	V           int             `json:"v"`
	Versions    corpus.Versions `json:"versions,omitzero"`
	Date        string          `json:"date"` // for which known differences expire
	Machines    []Machine       `json:"machines"`
	Models      []Model         `json:"models"`
	Cells       []Cell          `json:"cells"`
	Differences []Difference    `json:"differences"`
	Gone        []Gone          `json:"gone"`
	Changed     []Changed       `json:"changed"`
	Known       []KnownUse      `json:"known"`
	LeftOut     []LeftOut       `json:"left_out"`
	Trouble     []string        `json:"trouble"`
	Incomplete  []string        `json:"incomplete"` // what was not compared, or not to the end
	Counts      Counts          `json:"counts"`
	Exit        int             `json:"exit"` // the exit status of mmafuzz compare

	// CutOff says that the comparison did not come to its end. It is no good as a baseline:
	// differences that were not compared would count as gone.
	CutOff bool `json:"-"`

	open map[string]bool // of a baseline: differences that were not known, by id
}

// The exit statuses of mmafuzz compare. The first one that applies is the result's.
const (
	exitTrouble    = 2
	exitIncomplete = 75
	exitNews       = 1
	exitNoNews     = 0
)

// Machine is what is known of a side.
type Machine struct {
	Name         string            `json:"name"`
	Spec         string            `json:"spec"` // as it was given
	Target       string            `json:"target"`
	Recorded     bool              `json:"recorded"` // false: a live target
	Plan         string            `json:"plan,omitempty"`
	Date         string            `json:"date,omitempty"`
	Complete     bool              `json:"complete"`
	Instructions int               `json:"instructions,omitempty"`
	Dots         int               `json:"dots,omitempty"`
	Faults       int               `json:"faults"`
	Unstable     []string          `json:"unstable,omitempty"` // sentences: instructions whose recorded unit changed its answers
	Versions     *corpus.Versions  `json:"versions,omitempty"`
	EqualTo      string            `json:"equal_to,omitempty"` // the machine that holds the same: this one was compared with no other
	Environment  map[string]string `json:"environment"`
}

// Model is the arithmetic that explains a recorded instruction, if one does.
type Model struct {
	Machine     string `json:"machine"`
	Instruction string `json:"instruction"`
	Dots        uint64 `json:"dots"`
	Mismatches  uint64 `json:"mismatches"` // with Base without the changes
	Arithmetic
}

// Arithmetic is a row of the catalogue with changes.
type Arithmetic struct {
	Base      string       `json:"base"` // ARCH/NAME
	Explained bool         `json:"explained"`
	Changes   []mma.Change `json:"changes"`
	Alike     []string     `json:"alike"` // known targets that compute the same
}

// Cell is the comparison of an instruction on two machines.
type Cell struct {
	A           string            `json:"a"`
	B           string            `json:"b"`
	Instruction string            `json:"instruction"`
	K           int               `json:"k"`
	Dots        uint64            `json:"dots"` // compared
	RecordedA   int               `json:"recorded_a"`
	RecordedB   int               `json:"recorded_b"`
	Mismatches  uint64            `json:"mismatches"`
	Classes     map[string]uint64 `json:"classes"`
	Codes       uint64            `json:"codes,omitempty"`    // of the same, those with other codes: what is compared by class
	ByClass     []string          `json:"by_class,omitempty"` // classes that do not count: nan-code, zero-sign
	Explained   bool              `json:"explained"`
	Changes     []mma.Change      `json:"changes"` // from A to B
	// ByValue says of FP8 of OCP and of FNUZ what only one of the formats has.
	ByValue []string `json:"by_value,omitempty"`
}

// byValue returns what the cells say in ByValue.
func (r *Result) byValue() []string {
	var all []string
	for i := range r.Cells {
		for _, note := range r.Cells[i].ByValue {
			if !slices.Contains(all, note) {
				all = append(all, note)
			}
		}
	}
	return all
}

// Gone is a difference of the baseline that was not found, either because it has gone or
// because its instruction was not compared.
type Gone struct {
	ID          string   `json:"id"`
	A           string   `json:"a"`
	B           string   `json:"b"`
	Instruction string   `json:"instruction"`
	Bucket      string   `json:"bucket"`
	Cases       uint64   `json:"cases"`
	Codes       []string `json:"codes,omitempty"` // of its cases: nan-code, zero-sign, which are not seen by class
	State       string   `json:"state"`           // that it had
	Compared    bool     `json:"compared"`        // this time, too
	// There is StateStill or stateUnclear if it is, or may be, among cases that nothing explains, as What says.
	// What says of a difference that is gone, too, which others have cases of it.
	There string       `json:"there,omitempty"`
	What  string       `json:"what,omitempty"`
	Marks corpus.Marks `json:"marks,omitempty"` // that it had
}

// Changed is an instruction whose explaining model changed since the baseline.
type Changed struct {
	Machine     string     `json:"machine"`
	Instruction string     `json:"instruction"`
	Was         Arithmetic `json:"was"`
	Now         Arithmetic `json:"now"`
}

// LeftOut is two machines that were not compared, or not on one instruction.
type LeftOut struct {
	A           string `json:"a"`
	B           string `json:"b"`
	Instruction string `json:"instruction,omitempty"`
	Why         string `json:"why"`
}

// String says what was left out, and why.
func (l *LeftOut) String() string {
	what := ""
	if l.Instruction != "" {
		what = " on " + l.Instruction
	}
	return fmt.Sprintf("%s%s left out: %s", machinePair(l.A, l.B), what, l.Why)
}

// Counts are numbers of differences by state.
type Counts struct {
	New     int `json:"new"`
	Still   int `json:"still"`
	Known   int `json:"known"`
	Expired int `json:"expired"`
	Gone    int `json:"gone"`
}

func (n *Counts) add(state string) {
	switch state {
	case StateNew:
		n.New++
	case StateStill:
		n.Still++
	case StateKnown:
		n.Known++
	case StateExpired:
		n.Expired++
	}
}

// collect adds what the campaign over two machines has found to the result.
func (c *Comparison) collect(s *fuzz.State) {
	r := &c.result
	for i, st := range s.Pairs {
		p := &c.pairs[i]
		parts := changesFrom(p, st.Verdict)
		cell := newCell(p, st, parts)
		cell.Codes, cell.ByClass = st.Codes, byClass(finding.PolicyOf(&p.Pair, c.NaN, c.Zero))
		r.Cells = append(r.Cells, cell)
		for _, b := range st.Sorted() {
			d := newDifference(p, b, parts, st.Rule(b.Name))
			d.Bundle = st.Bundle(b.Name, "")
			r.Differences = append(r.Differences, d)
		}
		if n := st.Unstable - (st.Mismatches() - st.Differences()); n > 0 { // without those of sound stochastic rounding
			r.Differences = append(r.Differences, unstable(p, st, n))
		}
	}
}

// conclude completes the result after all machines have been compared.
func (c *Comparison) conclude() {
	r := &c.result
	r.V, r.Versions, r.Date = resultVersion, versions.Current(), c.Known.Day.UTC().Format(corpus.DateLayout)
	for _, m := range c.models {
		r.Models = append(r.Models, m.found())
	}
	c.equalModels()
	slices.SortStableFunc(r.Models, func(x, y Model) int { return cmp.Compare(c.place(x.Machine), c.place(y.Machine)) })
	for _, s := range c.sides {
		if s.Recording == nil {
			continue
		}
		for _, p := range s.Recording.Problems {
			r.Differences = append(r.Differences, missing(s.Name, p))
		}
	}
	slices.SortStableFunc(r.Differences, func(x, y Difference) int {
		return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	c.judge()
	*r = *r.turnedWhere(c.turnedMachines)
}

// newMachine describes a side.
func newMachine(s *Side) Machine {
	m := Machine{Name: s.Name, Spec: s.Spec, Target: s.Target.Name(), Environment: s.Target.Environment(), Complete: true}
	rec := s.Recording
	if rec == nil {
		return m
	}
	m.Target, m.Environment, m.Complete = rec.Header.Target, rec.Header.Environment, rec.Complete
	m.Date, m.Recorded, m.Instructions = rec.Header.Date, true, len(s.Target.Instructions())
	if p := rec.Header.Plan; p != nil {
		m.Plan = p.Name
	}
	if v := rec.Header.Versions; !v.IsZero() {
		m.Versions = &v
	}
	for _, n := range rec.Notes {
		if text := n.Environment[corpus.UnstableKey]; text != "" {
			m.Unstable = append(m.Unstable, text)
		}
	}
	for _, d := range rec.Data {
		m.Dots += d.Section.Shape.Dots()
		for _, f := range d.Faults {
			m.Faults += f.Count
		}
	}
	return m
}

func (m *model) found() Model {
	f := Model{Machine: m.machine, Instruction: m.instruction, Dots: m.dots, Mismatches: m.mismatches,
		Arithmetic: Arithmetic{Explained: m.explained(), Changes: append([]mma.Change{}, m.changes...), Alike: append([]string{}, m.alike...)}}
	if m.base != nil {
		f.Base = m.base.FullName()
	}
	return f
}

func newCell(p *pair, st *fuzz.PairState, parts []part) Cell {
	c := Cell{A: p.a.Name, B: p.b.Name, Instruction: p.Name(), K: p.K, Dots: st.Dots, RecordedA: p.recordedA, RecordedB: p.recordedB,
		Mismatches: st.Differences(), Classes: map[string]uint64{}, Changes: []mma.Change{}, ByValue: p.ByValue()}
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

// maxResult is the largest size of a result's file, in bytes: more than any result takes.
const maxResult = 256 << 20

// Read reads a result, such as the baseline of a comparison.
func Read(file string) (*Result, error) {
	body, err := corpus.ReadFile(file, "result of compare", maxResult)
	if err != nil {
		return nil, err
	}
	r, err := parse(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

var errResultVersion = errors.New("it is of version")

func parse(body []byte) (*Result, error) {
	var head struct {
		V     *int             `json:"v"`
		Cells *json.RawMessage `json:"cells"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return nil, fmt.Errorf("this is no result of compare: %w", strictjson.Error(body, err))
	}
	switch {
	case head.V == nil || head.Cells == nil:
		return nil, errors.New("this is no result of compare")
	case *head.V != resultVersion:
		return nil, fmt.Errorf("%w %d, this program reads %d", errResultVersion, *head.V, resultVersion)
	}
	r := &Result{open: map[string]bool{}}
	if err := strictjson.Unmarshal(body, r); err != nil {
		return nil, fmt.Errorf("this is no result of compare: %w", err)
	}
	printable.Strings(r)
	for _, d := range r.Differences {
		r.open[d.ID] = d.State != StateKnown
	}
	for _, g := range r.Gone {
		if (!g.Compared || g.There != "") && g.State != StateKnown {
			r.open[g.ID] = true
		}
	}
	return r, nil
}

// fill replaces nil lists by empty ones, which are [] in JSON.
func (r *Result) fill() {
	r.Machines, r.Models, r.Cells = orEmpty(r.Machines), orEmpty(r.Models), orEmpty(r.Cells)
	r.Differences, r.Gone, r.Changed = orEmpty(r.Differences), orEmpty(r.Gone), orEmpty(r.Changed)
	r.Known, r.LeftOut, r.Trouble = orEmpty(r.Known), orEmpty(r.LeftOut), orEmpty(r.Trouble)
	r.Incomplete = orEmpty(r.Incomplete)
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// machinePair writes the machines that a difference is about.
func machinePair(a, b string) string {
	if b == "" {
		return a
	}
	return a + " ~ " + b
}
