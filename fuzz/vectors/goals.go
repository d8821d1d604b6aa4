package vectors

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/prove/argued"
	"github.com/mmafuzz/mmafuzz/triage/prove/decided"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// goal is what a set of tests has to reach: another arithmetic that must fail some test, or
// a feature that some test must have.
type goal struct {
	group string
	most  uint64         // how many inputs of each generator are searched for it
	other *vectors.Other // nil: it is a feature
	same  bool           // by a written argument the other computes the same function

	results func(in *mma.Batch, out []byte)    // computes the other's results
	has     func(d *mma.Dot, want uint64) bool // reports whether an input has the feature
	text    string                             // in words, without results

	reached   bool
	undecided bool // the other gives other bits, but only where it is not known which are right
}

// How far generators are searched for inputs that tell arithmetics apart. The hardest change
// that the table of separations knows takes 62,430 inputs.
const (
	searchFirst  = 256
	searchOther  = 2048    // for refinements, which may all compute the same function
	searchChange = 8192    // for other instructions, and changes that have no written arguments
	searchMost   = 131_072 // for changes of arithmetics that were measured
)

// measured has the arithmetics of the table of separations: if no input tells one of their
// mutants from them, there is a written argument.
var measured = sync.OnceValue(func() map[rule]bool {
	all := map[rule]bool{}
	for _, i := range argued.Arithmetics() {
		all[rule{f: i.Formats, p: i.Params}] = true
	}
	return all
})

// searchFor returns how far inputs are searched for a change. If an arithmetic was not
// measured, many of its mutants compute the same function although there is no argument, and
// a longer search would be spent on these.
func searchFor(i *mma.Instruction) uint64 {
	if measured()[rule{f: i.Formats, p: i.Params}] {
		return searchMost
	}
	return searchChange
}

// goalsOf lists the goals of an instruction's set; those of a catalogue are among them.
func goalsOf(i *mma.Instruction, catalog []mma.Instruction) ([]*goal, error) {
	var goals []*goal
	program := func(p *mma.Params, kind, name, group string, most uint64) error {
		m, err := sim.New(i.Formats, i.K, *p)
		if err != nil {
			return err
		}
		o := &vectors.Other{Kind: kind, Name: name, Changes: mma.Diff(&i.Params, p)}
		goals = append(goals, &goal{group: group, most: most, other: o, same: sameFunction(i, p), results: m.Run, text: inWords(&i.Params, p)})
		return nil
	}
	for _, kind := range []struct {
		name    string
		breadth change.Breadth
		most    uint64
	}{{vectors.KindChange, change.Decisions, searchFor(i)}, {vectors.KindRefinement, change.Refinements, searchOther}} {
		for _, m := range change.SpaceOf(i).Mutants(&i.Params, kind.breadth) {
			if err := program(&m.Params, kind.name, m.Change, groupOf(&i.Params, &m.Params), kind.most); err != nil {
				return nil, err
			}
		}
	}
	seen := map[mma.Params]bool{i.Params: true}
	for _, o := range catalog {
		if o.Refuse != "" || o.Formats != i.Formats || seen[o.Params] || o.Params.Validate(i.Formats, i.K) != nil {
			continue
		}
		seen[o.Params] = true
		if err := program(&o.Params, vectors.KindInstruction, o.FullName(), groupOf(&i.Params, &o.Params), searchChange); err != nil {
			return nil, err
		}
	}
	for n := range oracle.References {
		r := &oracle.References[n]
		if r.Supports(i.Formats) == nil {
			o := &vectors.Other{Kind: vectors.KindReference, Name: r.Name}
			goals = append(goals, &goal{group: "order", most: searchFirst, other: o, results: each(r, i.Formats)})
		}
	}
	goals = append(goals, partialSums(i)...)
	for n := range features {
		f := &features[n]
		has := f.has
		goals = append(goals, &goal{group: f.group, most: searchFirst, text: f.text, has: func(d *mma.Dot, want uint64) bool { return has(i.Formats, d, want) }})
	}
	return goals, nil
}

// sameFunction reports whether it is known that a program computes the same function as an
// instruction's own.
func sameFunction(i *mma.Instruction, q *mma.Params) bool {
	a, _ := decided.Of(i.Formats, i.K, &i.Params, q)
	return a.Equal() || argued.Equivalent(i, q) != ""
}

// each returns a function that computes a batch, dot product by dot product, by a reference.
func each(r *oracle.Reference, f mma.Formats) func(in *mma.Batch, out []byte) {
	return func(in *mma.Batch, out []byte) {
		d := mma.NewDot(f, in.K)
		for n := range in.Dots() {
			in.Get(n, d)
			mma.Store(out, f.D.Width(), n, r.Eval(f, d))
		}
	}
}

// features are what tests of a set must have, even if no other arithmetic requires it.
var features = []struct {
	group, text string
	has         func(f mma.Formats, d *mma.Dot, want uint64) bool
}{
	{"carries", "terms that add up to many times the largest of them", func(f mma.Formats, d *mma.Dot, want uint64) bool {
		largest := 0.0
		for k := range d.A {
			p := f.A.Get().Float64(d.A[k]) * f.B.Get().Float64(d.B[k])
			if f.Scale != fp.None {
				p *= f.Scale.Get().Float64(d.SA[k/int(f.Block)]) * f.Scale.Get().Float64(d.SB[k/int(f.Block)])
			}
			largest = max(largest, math.Ldexp(math.Abs(p), -int(f.Down)))
		}
		if f.C != fp.None {
			largest = max(largest, math.Abs(f.C.Get().Float64(d.C)))
		}
		sum := math.Abs(f.D.Get().Float64(want))
		return !f.Conversion() && sum < math.Inf(1) && sum > 0 && sum >= largest*float64(len(d.A)+1)/2
	}},
	{"subnormals", "a subnormal operand", func(f mma.Formats, d *mma.Dot, want uint64) bool {
		return is(f.D, want, fp.Finite) && anyProduct(f, d, func(a, b fp.Num) bool { return subnormal(f.A, a) && b.Sig != 0 || subnormal(f.B, b) && a.Sig != 0 })
	}},
	{"subnormals", "a subnormal c", func(f mma.Formats, d *mma.Dot, want uint64) bool {
		return f.C != fp.None && is(f.D, want, fp.Finite) && subnormal(f.C, f.C.Get().Decode(d.C))
	}},
	{"overflow", "finite operands whose sum is an infinity", func(f mma.Formats, d *mma.Dot, want uint64) bool {
		return is(f.D, want, fp.Inf) && allFinite(f, d)
	}},
	{"overflow", "an infinite operand", func(f mma.Formats, d *mma.Dot, want uint64) bool {
		return is(f.D, want, fp.Inf) && !allFinite(f, d)
	}},
	{"zeros", "terms that cancel to zero", func(f mma.Formats, d *mma.Dot, want uint64) bool {
		return is(f.D, want, fp.Zero) && anyProduct(f, d, func(a, b fp.Num) bool { return a.Sig != 0 && b.Sig != 0 })
	}},
	{"nan", "a NaN operand", func(f mma.Formats, d *mma.Dot, want uint64) bool {
		return is(f.D, want, fp.NaN) && anyProduct(f, d, func(a, b fp.Num) bool { return a.Class == fp.NaN || b.Class == fp.NaN })
	}},
	{"nan", "a NaN from zero times infinity", func(f mma.Formats, d *mma.Dot, want uint64) bool {
		return is(f.D, want, fp.NaN) && !anyNaN(f, d) && anyProduct(f, d, func(a, b fp.Num) bool {
			return a.Class == fp.Inf && b.Class == fp.Zero || a.Class == fp.Zero && b.Class == fp.Inf
		})
	}},
	{"nan", "a NaN from infinities of both signs", func(f mma.Formats, d *mma.Dot, want uint64) bool {
		return is(f.D, want, fp.NaN) && !anyNaN(f, d) && !anyProduct(f, d, func(a, b fp.Num) bool { return a.Class == fp.Zero || b.Class == fp.Zero })
	}},
	{"scales", "scales that differ between blocks", func(f mma.Formats, d *mma.Dot, want uint64) bool {
		return is(f.D, want, fp.Finite) && len(d.SA) > 1 && d.SA[0] != d.SA[1] && d.SB[0] != d.SB[1]
	}},
	{"scales", "a scale that is NaN", func(f mma.Formats, d *mma.Dot, want uint64) bool {
		isNaN := func(code uint64) bool { return f.Scale.Get().Decode(code).Class == fp.NaN }
		return f.Scale != fp.None && is(f.D, want, fp.NaN) && (slices.ContainsFunc(d.SA, isNaN) || slices.ContainsFunc(d.SB, isNaN))
	}},
}

func is(id fp.ID, code uint64, class fp.Class) bool { return id.Get().Decode(code).Class == class }

func subnormal(id fp.ID, n fp.Num) bool {
	f := id.Get()
	return n.Class == fp.Finite && !f.NoZero && n.Sig>>f.FracBits == 0
}

func anyProduct(f mma.Formats, d *mma.Dot, is func(a, b fp.Num) bool) bool {
	fa, fb := f.A.Get(), f.B.Get()
	for k := range d.A {
		if is(fa.Decode(d.A[k]), fb.Decode(d.B[k])) {
			return true
		}
	}
	return false
}

func allFinite(f mma.Formats, d *mma.Dot) bool {
	special := func(n fp.Num) bool { return n.Class == fp.Inf || n.Class == fp.NaN }
	return !anyProduct(f, d, func(a, b fp.Num) bool { return special(a) || special(b) }) && (f.C == fp.None || !special(f.C.Get().Decode(d.C)))
}

func anyNaN(f mma.Formats, d *mma.Dot) bool {
	return anyProduct(f, d, func(a, b fp.Num) bool { return a.Class == fp.NaN || b.Class == fp.NaN }) ||
		f.C != fp.None && f.C.Get().Decode(d.C).Class == fp.NaN
}

// inWords describes the parameters of p in which q differs.
func inWords(p, q *mma.Params) string {
	var words []string
	for _, part := range triage.Parts(p, q) {
		c := part.Changes[0]
		words = append(words, fmt.Sprintf("%s: %s, not %s", report.ParameterInWords(c.Path), cmp.Or(c.From, "none"), cmp.Or(c.To, "none")))
	}
	return strings.Join(words, "; ")
}

// comment says what a test is for; other is the result of the other arithmetic.
func (g *goal) comment(other string) string {
	switch {
	case g.other == nil:
		return g.text
	case g.other.Kind == vectors.KindReference && g.text == "":
		r, _ := oracle.FindReference(g.other.Name)
		return fmt.Sprintf("%s would give %s", r.Title, other)
	case g.other.Kind == vectors.KindInstruction:
		return fmt.Sprintf("%s gives %s", g.other.Name, other)
	}
	return fmt.Sprintf("%s, which would give %s", g.text, other)
}

// bitset is a set of goals by number.
type bitset []uint64

func newBitset(n int) bitset    { return make(bitset, (n+63)/64) }
func (s bitset) set(n int)      { s[n/64] |= 1 << (n % 64) }
func (s bitset) has(n int) bool { return s[n/64]>>(n%64)&1 != 0 }
func (s bitset) union(t bitset) {
	for i := range s {
		s[i] |= t[i]
	}
}
func (s bitset) key() string { return fmt.Sprint([]uint64(s)) }
func (s bitset) empty() bool { return !slices.ContainsFunc(s, func(w uint64) bool { return w != 0 }) }
func (s bitset) without(t bitset) bitset {
	u := slices.Clone(s)
	for i := range u {
		u[i] &^= t[i]
	}
	return u
}

func (s bitset) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}
