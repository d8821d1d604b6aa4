package infer

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
	"github.com/mmafuzz/mmafuzz/triage/probe"
	"github.com/mmafuzz/mmafuzz/triage/prove"
)

// Report is a result for files and for programs that read JSON.
type Report struct {
	V           int         `json:"v"`
	Target      string      `json:"target"`
	Instruction string      `json:"instruction"`
	Formats     mma.Formats `json:"formats"`
	K           int         `json:"k"`
	Verdict     Verdict     `json:"verdict"`
	Note        string      `json:"note,omitempty"` // what ended it
	Seed        uint64      `json:"seed"`
	NaN         string      `json:"nan"` // how NaNs were compared: bits or class
	Zero        string      `json:"zero"`

	// Arithmetic is the program in the field's words, Params the program: the
	// best that there is, whatever the verdict.
	Arithmetic string     `json:"arithmetic"`
	Params     mma.Params `json:"params"`
	// Alike are the instructions of the catalogue whose arithmetics none of Compared
	// inputs tells from it.
	Alike    []string `json:"alike"`
	Compared int      `json:"compared"`
	// Conforms names instructions whose ISA leaves implementations a choice, each with a
	// choice that these inputs do not tell from the program.
	Conforms []string `json:"conforms,omitempty"`
	Tree     string   `json:"tree,omitempty"` // the summation tree, as a formula

	Parameters []Parameter `json:"parameters"`
	Classes    []Tested    `json:"classes"`
	Tiles      *TileSizes  `json:"tiles,omitempty"` // if the unit offers several sizes of tiles
	Evidence   int         `json:"evidence"`        // cases that the search was made from
	Left       int         `json:"left"`            // cases of the evidence that the program does not explain
	Families   []Family    `json:"families"`        // the evidence by kind: designed questions, generators, close-ups, refutations
	Repairs    int         `json:"repairs"`         // programs that questions proved wrong on the way
	Effort     int         `json:"effort"`          // millions of dot products that models might compute in search of a program
	Computed   int64       `json:"computed"`        // dot products that models have computed in all

	Witness  *WitnessText `json:"witness,omitempty"`
	Unstable *Change      `json:"unstable,omitempty"`
	Faults   []FaultText  `json:"faults,omitempty"` // the first ones
	Failed   int          `json:"failed,omitempty"` // inputs on which the unit failed
	// Failures are the first calls that failed though the unit answered each of their
	// inputs when it was asked for them alone; Stats has their number.
	Failures []FailureText `json:"failures,omitempty"`
	Stats    Stats         `json:"stats"`
	Seconds  float64       `json:"seconds"`
	Calls    *Calls        `json:"-"` // nil: commands

	tree    *probe.Tree
	dropped string // what droppedBits says of the witness
	nans    bool   // of all answers that change only the codes of NaNs do
}

// Parameter is what was found out about a parameter.
type Parameter struct {
	Path  string `json:"path"`
	Value string `json:"value"`
	// RuledOut are programs with other values of it, with inputs that rule them
	// out; Open those that no input was found to tell from the one found.
	RuledOut []Ruling `json:"ruled_out"`
	Open     []Open   `json:"open"`
	// Untested is the reason why no value was tested.
	Untested string `json:"untested,omitempty"`
}

// Ruling is a mutant that an answer rules out.
type Ruling struct {
	Change string `json:"change"`
	Counterexample
}

// Counterexample is an input on which the unit and a program differ, in the text form
// of mmafuzz eval.
type Counterexample struct {
	Dot   string `json:"dot"`
	Terms string `json:"terms"` // the same without what is zero
	Got   string `json:"got"`   // the unit's result
	Would string `json:"would"` // the program's
}

// WitnessText is an input on which the best program is wrong.
type WitnessText struct {
	Counterexample
	Kind  string `json:"kind"`  // what is different about the results, as in most of the Wrong cases
	Alike int    `json:"alike"` // how many of these are of this kind
	Wrong int    `json:"wrong"` // cases of the evidence that the program does not explain
}

// Open is a mutant for which no input was found on which it differs.
type Open struct {
	Change string `json:"change"`
	Tried  int    `json:"tried"` // inputs
	// ByClass: on some of them the mutant gives other bits, which count as the same when
	// compared by class.
	ByClass bool `json:"by_class,omitempty"`
	// Proved: it is the same function, so that there is no such input.
	Proved bool `json:"proved,omitempty"`
}

// Change is an answer that changed.
type Change struct {
	Dot    string `json:"dot"`
	First  string `json:"first"`
	Second string `json:"second"`
	What   string `json:"what"`
}

// FaultText is an input on which the unit failed.
type FaultText struct {
	Dot  string `json:"dot"`
	What string `json:"what"`
}

// FailureText is a call that failed and whose inputs did not.
type FailureText struct {
	Dot    string `json:"dot"`    // the first
	Inputs int    `json:"inputs"` // how many
	What   string `json:"what"`
}

// faultsShown is the number of faults and of failures that a report has, at most.
const faultsShown = 8

// Report makes a report. target and instruction name the unit.
func (r *Result) Report(ctx context.Context, target, instruction string, seed uint64) (*Report, error) {
	hidden, err := r.hidden(seed)
	if err != nil {
		return nil, err
	}
	t := &Report{
		V: 1, Target: target, Instruction: instruction, Formats: r.Formats, K: r.K, Seed: seed, Verdict: r.Verdict, Note: r.Note,
		NaN: r.Policy.NaN.String(), Zero: r.Policy.Zero.String(),
		Arithmetic: r.Params.String(), Params: r.Params, Alike: []string{}, Parameters: r.parameters(hidden), Classes: []Tested{},
		Evidence: r.Evidence, Left: r.Left, Families: append([]Family{}, r.Families...), Repairs: r.Repairs,
		Tiles: r.Tiles, Effort: r.Effort, Computed: r.Computed, Stats: r.Stats, Seconds: r.Seconds,
	}
	for _, c := range r.Classes {
		t.Classes = append(t.Classes, tested(c))
	}
	if w := r.Witness; w != nil {
		t.dropped = droppedBits(r.Formats, w.Dot)
		t.Witness = &WitnessText{r.difference(w.Dot, w.Got, w.Would), w.Kind, w.Alike, w.Wrong}
	}
	if u := r.Unstable; u != nil {
		t.nans = u.NaNs
		t.Unstable = &Change{mma.FormatDot(r.Formats, u.Dot), mma.FormatCode(r.Formats.D, u.First), mma.FormatCode(r.Formats.D, u.Second), u.Error()}
	}
	t.Failed = len(r.Faults)
	for _, f := range r.Faults[:min(len(r.Faults), faultsShown)] {
		t.Faults = append(t.Faults, FaultText{mma.FormatDot(r.Formats, f.Dot), f.What})
	}
	for _, f := range r.Failures[:min(len(r.Failures), faultsShown)] {
		t.Failures = append(t.Failures, FailureText{mma.FormatDot(r.Formats, f.Dot), f.Inputs, f.What})
	}
	if r.Verdict != Found {
		return t, nil
	}
	c, err := r.compare(seed)
	if err != nil {
		return nil, err
	}
	t.Alike, t.Compared = r.alike(c), len(c.Want)
	t.Conforms = r.conforms(c)
	return t, t.draw(ctx, r.Model(instruction))
}

// draw finds the summation tree of the program.
func (t *Report) draw(ctx context.Context, i *mma.Instruction) error {
	u, err := simulated.Open(i)
	if err != nil {
		return err
	}
	if t.converts() {
		return nil
	}
	if t.tree, _ = probe.New(ctx, u).Tree(); t.tree != nil {
		t.Tree = t.tree.Formula(t.K)
	}
	return nil
}

// converts reports whether the unit converts a single number, and adds nothing.
func (t *Report) converts() bool { return t.Formats.Conversion() && t.K == 1 }

// picture returns the summation tree for Graphviz and as SVG; empty if no input
// shows one.
func (t *Report) picture() (dot, svg string) {
	if t.tree == nil {
		return "", ""
	}
	title := t.Target + " " + t.Instruction
	return t.tree.Graphviz(title, t.K), t.tree.SVG(title, t.K)
}

// Model returns the program as an instruction, for a model file.
func (r *Result) Model(name string) *mma.Instruction {
	return &mma.Instruction{Arch: "model", Name: name, K: r.K, Formats: r.Formats, Params: r.Params}
}

// parameters sorts the mutants by the parameter that they change, in the order of the
// program. Hidden are those that differ in bits, though not by the policy.
func (r *Result) parameters(hidden map[*Mutant]bool) []Parameter {
	all := []Parameter{}
	for _, f := range mma.Fields() {
		q := Parameter{Path: f.Path, Value: cmp.Or(f.Text(&r.Params), "none"), RuledOut: []Ruling{}, Open: []Open{}}
		if r.Verdict == Found {
			q.Untested = untested(f, r.Policy)
		}
		for _, v := range r.Mutants {
			switch change := readable.Converted(r.Formats, mma.Brief(v.Changes)); {
			case v.Path() != f.Path:
			case v.Dot != nil:
				q.RuledOut = append(q.RuledOut, Ruling{change, r.difference(v.Dot, v.Got, v.Would)})
			default:
				q.Open = append(q.Open, Open{change, v.Tried, hidden[v], r.same(v)})
			}
		}
		if r.Formats.Conversion() && r.K == 1 && (f.Path == "l" || f.Path == "start" && r.Params.Start == mma.StartEmpty) {
			continue // nothing is added
		}
		if f.Int(&r.Params) != 0 || len(q.RuledOut) > 0 || q.Untested != "" {
			all = append(all, q)
		}
	}
	return all
}

// same reports whether it is proved that a mutant is the same function as the program.
func (r *Result) same(v *Mutant) bool {
	p, err := prove.Programs(context.Background(), r.Formats, r.K, r.Params, v.p, prove.Options{Searched: true})
	return err == nil && p.Verdict == prove.Proved
}

func (r *Result) difference(d *mma.Dot, got, would uint64) Counterexample {
	return Counterexample{mma.FormatDot(r.Formats, d), readable.Terms(r.Formats, d), mma.FormatCode(r.Formats.D, got), mma.FormatCode(r.Formats.D, would)}
}

// alikeCases is the number of inputs of each kind on which the program is compared
// with those of the catalogue.
const alikeCases = 1000

// alike returns the instructions of the catalogue, for these formats and K, whose
// programs give the same results as the one found on all inputs of a pool, by the policy; those
// of wmma, which are sequences of others, only if there are no others.
func (r *Result) alike(c *comparison) []string {
	names, sequences := []string{}, []string{}
	for _, i := range mma.Catalog() {
		if i.Refuse != "" || i.Formats != r.Formats || i.K != r.K || !c.same(&i.Params, r.Policy) {
			continue
		}
		if strings.HasPrefix(i.Name, "wmma.") {
			sequences = append(sequences, i.FullName())
		} else {
			names = append(names, i.FullName())
		}
	}
	if len(names) == 0 {
		return sequences
	}
	return names
}

// conforms returns the instructions, for these formats and K, whose ISA allows another
// program too that gives the same results as the one found on all inputs of a pool.
func (r *Result) conforms(c *comparison) []string {
	var names []string
	for _, i := range mma.Catalog() {
		if i.Refuse != "" || i.Formats != r.Formats || i.K != r.K {
			continue
		}
		for _, v := range variants(&i) {
			if c.same(&v.params, r.Policy) {
				names = append(names, i.FullName()+" with "+v.choice)
				break
			}
		}
	}
	return names
}

// Differ compares the program found with an instruction's, whose formats and K must
// be the same, on inputs of all kinds, and returns on how many of them the two differ,
// apart from bits of the instruction's results that are not known.
func (r *Result) Differ(i *mma.Instruction, seed uint64) (differ, compared int, err error) {
	if i.Formats != r.Formats || i.K != r.K {
		return 0, 0, fmt.Errorf("%s has formats %s and K = %d, not %s and %d", i.FullName(), i.Formats, i.K, r.Formats, r.K)
	}
	c, err := r.compare(seed)
	if err != nil {
		return 0, 0, err
	}
	return c.differ(&i.Params, oracle.DefaultPolicy(i.Unknown, 0), c.Cases), len(c.Want), nil
}

// comparison is inputs with the results of the program found.
type comparison struct {
	*evidence.Evidence
	*evidence.Cases
	few   *evidence.Cases     // some of them, of all kinds
	known map[mma.Params]bool // what same has found out
}

func (r *Result) compare(seed uint64) (*comparison, error) {
	e := evidence.New(change.Space{Formats: r.Formats, K: r.K}, oracle.Policy{})
	l := &loop{Evidence: e, seed: seed}
	const every = 50
	dots := l.pool(alikeCases, &r.Params)
	all, err := l.Predicted(&r.Params, dots)
	if err != nil {
		return nil, err
	}
	var few []*mma.Dot
	for n := 0; n < len(dots); n += every {
		few = append(few, dots[n])
	}
	some, err := l.Predicted(&r.Params, few)
	return &comparison{e, all, some, map[mma.Params]bool{}}, err
}

// same reports whether another program gives the same results on all inputs, by a policy
// that is always the same.
func (c *comparison) same(p *mma.Params, policy oracle.Policy) bool {
	same, known := c.known[*p]
	if !known {
		same = c.differ(p, policy, c.few) == 0 && c.differ(p, policy, c.Cases) == 0
		c.known[*p] = same
	}
	return same
}

// differ counts the cases in which another program gives something else.
func (c *comparison) differ(p *mma.Params, policy oracle.Policy, some *evidence.Cases) int {
	c.Policy = policy
	return len(some.Want) - evidence.Total(c.Hits(p, some))
}
