// Package vectors chooses test vectors (corpus/vectors) for an arithmetic: few inputs on
// which every other arithmetic that inputs can tell from it gives another result.
//
// The goals are the arithmetics that must fail some test (those made by one changed decision,
// package triage/change; those of the catalogue's other instructions with the same formats;
// references such as the exact sum) and some features that tests must have, such as a
// subnormal operand. Inputs come from generators aimed at the arithmetic. The goals are
// covered greedily: the goal that the fewest inputs reach comes first, and of these inputs
// the one that reaches the most other goals is taken. Then products that are not needed are
// set to zero, and tests that the others make superfluous are dropped.
//
// Then every parameter is given every other value, all else being equal, and so is every pair of
// parameters of the sum to which c is added (parameters.go). Those that pass the tests are searched
// for in more inputs, unless the ranges of numbers or a written argument (package argued) prove
// that they change nothing: a pair also if one of its values alone changes nothing, nor does the
// other in the program that has it. Package decided has answers of a solver about those that
// remain, and each input that refutes equality becomes a test. Every expected result comes from the
// model and is checked by the oracle, which share no code; if they differ there is no set.
//
// The same instruction gives the same set, whatever the machine: the generators' versions
// are fixed here (sources).
//
// # Screening
//
// A Screen has inputs that reveal defects of the data path (sim.Fault) in every lane of a device.
// They are ranked by stuck-at faults, two for each wire, and measured by 1000 faults of other
// kinds: short circuits, and wires that are inverted only while others have certain values. The
// first 64 of them, 64 normally distributed inputs and 64 of raw bits kill, in percent:
//
//	hopper mma.m16n8k16.f32.f16.f16.f32       98.9  96.6  61.6
//	volta mma.m8n8k4.f32.f16.f16.f32          98.2  97.2  88.2
//	cdna3 v_mfma_f32_16x16x16_f16             90.0  88.3  75.2
//	ampere mma.m8n8k4.f64.f64.f64.f64         82.2  32.3  38.1
//	blackwell mma.m16n8k32.f32.e4m3.e4m3.f32  93.1  68.4  87.4
//
//	mmafuzz vectors --screen --arch hopper --inst mma.m16n8k16.f32.f16.f16.f32
//
// These faults had no part in the choice of the method. A single input of normally distributed
// numbers kills more in some of them (hopper 23.5 and not 16.7). Not modelled are the adders of stages before the sum with the accumulator, the logic of
// special values and zeros, and faults that depend on time, voltage or the input before.
//
// # JSON
//
// go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common, and what ? and * mark.
//
// vectors, an object for each architecture, and one with arch all:
//
//	arch              string
//	sets              number  sets of test vectors
//	instructions      number  instructions that they are about
//	tests             number
//	chosen            number  of these, not drawn at random
//	changes           number  arithmetics with one changed decision
//	killed            number  of these, that fail some test
//	same              number  changes that compute the same function, by a written argument
//	undecided         number  changes that differ only in behaviour that is not known of the instruction
//	open              number  changes that no input was found to tell apart
//	values            number  arithmetics with another value of one parameter or of two
//	values_killed     number  of these, that fail some test; and so on
//	values_same       number
//	values_undecided  number
//	values_open       number
//	bytes             number  size of the sets as JSON
//
// vectors --check, an object for each test that the target fails:
//
//	id       string   id of the test
//	comment  string   what it is for
//	want     string   the expected result
//	got      string   the target's result
//	like[]   string?  instructions that fail it, too
//	wrong    number?  of an unstable test, which the target passes in some runs: runs with a wrong result
//	runs     number?  of so many
//	codes    bool?    only the code of a NaN or the sign of a zero is another
//
// vectors --score:
//
//	instruction           string
//	accept                string   what is accepted beside the right results, as --accept takes it
//	inputs                number   tests
//	wrong[].kind          string?  wrong
//	wrong[].name          string?  what a unit gives that does not compute
//	wrong[].accepted      number?  tests that it passes
//	mutants               number   other arithmetics that do not compute the same function, as far as is known
//	caught                number   of these, that fail some test
//	survivors[].kind      string?  of those that pass: change, refinement, instruction or reference
//	survivors[].name      string?
//	survivors[].accepted  number?
//
// vectors --screen, an object for the inputs:
//
//	instruction     string
//	planted         number  stuck-at faults of the data path, by which the inputs are ranked
//	killed          number  of these, that give a wrong result for some input
//	random          number  faults of other kinds, by which the inputs are measured
//	rates[].inputs  number  the first inputs
//	rates[].screen  number  random faults that these kill, in percent
//	rates[].normal  number  that as many inputs of normally distributed numbers kill
//	rates[].raw     number  that as many inputs of raw bits kill
//
// vectors --screen --time, then an object for the first wrong result of each input and lane:
//
//	time    string  RFC 3339, when it was seen
//	input   number  1 is the first
//	tile    number  of the batch, from 0
//	row     number  of the tile
//	column  number
//	dot     string  the input, as mmafuzz eval reads it
//	want    string
//	got     string
//	bits[]  number  those that are wrong, 0 is the lowest
//
// vectors --screen --time, at the end:
//
//	passes           number  of all inputs in all lanes
//	lanes            number
//	results          number
//	wrong            number  results
//	wrong_lanes      number  lanes with a wrong result
//	microseconds     number  that the unit took for a pass
//	speeds[].inputs  number  the first inputs
//	speeds[].screen  number  random faults of all lanes that these kill, for each microsecond that they take the unit
//	speeds[].normal  number  that inputs of normally distributed numbers kill
//	speeds[].raw     number  that inputs of raw bits kill
//
// The API of this package is not promised: it may change in any version.
package vectors

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// sources are the generators of candidates. Their versions are fixed, because another
// version would give another set. Sums of integers, and conversions, have one more.
var sources = []string{
	"corner@1", "pattern@1", "cut@1", "tie@1", "order@1", "spread@1", "floor@1", "tiny@1", "huge@1",
	"zero@1", "special@1", "subnormal@1", "cancel@1", "raw@1", "normal@1", "uniform@1", "dnn@1",
}

// tail lists the sources of the tests that are drawn at random, and the number of tests.
var tail = []struct {
	source, text string
	count        uint64
}{{"normal@1", "normally distributed numbers", 8}, {"raw@1", "raw bits", 8}}

// Seeds of the candidates and of the random tests.
const (
	candidateSeed = 1
	tailSeed      = 2
)

// candidate is an input that may become a test.
type candidate struct {
	dot   *mma.Dot
	want  uint64
	goals bitset // the goals that it reaches
	cost  int    // how complicated it is
	goal  int    // the goal for which it was taken
}

// chooser chooses the tests of one instruction.
type chooser struct {
	inst    *mma.Instruction
	also    []string // other instructions with the same rule
	base    *sim.Model
	policy  oracle.Policy   // compares by class what is not known of the instruction
	lenient oracle.Comparer // compares by this policy
	strict  oracle.Comparer // compares bits
	goals   []*goal
	gens    []gen.Source
	best    map[string]int // number in pool of the simplest candidate that reaches a set of goals
	pool    []*candidate
	want    []byte
	got     []byte
}

// Choose returns the test vectors of an instruction, which tell it from those of a catalogue.
func Choose(ctx context.Context, i *mma.Instruction, catalog []mma.Instruction) (*vectors.Set, error) {
	c, err := newChooser(i, catalog)
	if err != nil {
		return nil, err
	}
	if err := c.search(ctx); err != nil {
		return nil, err
	}
	taken, values, err := c.vary(ctx, c.cover())
	if err != nil {
		return nil, err
	}
	return c.set(taken, values)
}

func newChooser(i *mma.Instruction, catalog []mma.Instruction) (*chooser, error) {
	base, err := sim.ForInstruction(i)
	if err != nil {
		return nil, err
	}
	c := &chooser{inst: i, also: alike(i, catalog), base: base, best: map[string]int{}, policy: oracle.DefaultPolicy(i.Unknown, 0)}
	c.lenient, c.strict = oracle.NewComparer(i.D, c.policy), oracle.NewComparer(i.D, oracle.Policy{})
	if c.goals, err = goalsOf(i, catalog); err != nil {
		return nil, err
	}
	names := sources
	switch {
	case i.D.Integer():
		names = append(slices.Clone(names), "integer@2")
	case i.Conversion():
		names = append(slices.Clone(names), "border@1")
	}
	for _, name := range names {
		s, err := gen.ParseSource(name)
		if err != nil {
			return nil, err
		}
		c.gens = append(c.gens, s.Generator.Aimed(c.spec(), &i.Params))
		c.gens[len(c.gens)-1].Generator = s.Generator
	}
	return c, nil
}

func (c *chooser) spec() gen.Spec { return gen.Spec{Formats: c.inst.Formats, K: c.inst.K} }

// batchDots is the number of inputs that are made at once.
const batchDots = 2048

// search fills the pool. Of the first inputs of every generator it takes all that reach a
// goal, of later inputs only those that reach a goal which none has reached.
func (c *chooser) search(ctx context.Context) error {
	all := make([]int, len(c.goals))
	for n := range all {
		all[n] = n
	}
	for _, s := range c.gens {
		c.try(c.fill(s, 0, searchFirst), all)
	}
	for from := uint64(0); from < searchMost; from += batchDots {
		for _, s := range c.gens {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			open := c.open(from)
			if len(open) == 0 {
				return nil
			}
			c.try(c.fill(s, from, batchDots), open)
		}
	}
	return nil
}

// open lists the goals that are still searched for in inputs from the given number on.
func (c *chooser) open(from uint64) []int {
	var open []int
	for n, g := range c.goals {
		if !g.reached && !g.same && from < g.most && (!g.undecided || from < searchChange) {
			open = append(open, n)
		}
	}
	return open
}

// fill makes inputs of a generator.
func (c *chooser) fill(s gen.Source, from uint64, n int) *mma.Batch {
	g := s.Generator
	per := g.M * g.N
	b := mma.NewBatch(c.inst.Formats, mma.Shape{M: g.M, N: g.N, K: c.inst.K, Tiles: max(n/per, 1)})
	s.Fill(b, candidateSeed, from)
	return b
}

// try evaluates goals on inputs, and adds inputs that reach one to the pool.
func (c *chooser) try(b *mma.Batch, goals []int) {
	w := c.inst.D.Width()
	dots := b.Dots()
	c.want, c.got = slices.Grow(c.want[:0], dots*w)[:dots*w], slices.Grow(c.got[:0], dots*w)[:dots*w]
	c.base.Run(b, c.want)
	reached := make([]bitset, dots)
	for _, g := range goals {
		for _, n := range c.reaching(g, b) {
			if reached[n] == nil {
				reached[n] = newBitset(len(c.goals))
			}
			reached[n].set(g)
		}
	}
	all := len(goals) == len(c.goals)
	for n, r := range reached {
		if r == nil || !all && c.reachedAll(r) {
			continue
		}
		d := mma.NewDot(c.inst.Formats, c.inst.K)
		b.Get(n, d)
		x := &candidate{dot: d, want: mma.Load(c.want, w, n), goals: r, cost: cost(d)}
		if !all {
			x.goals = c.evaluate(d)
		}
		c.add(x)
	}
}

// reachedAll reports whether all goals of a set have been reached.
func (c *chooser) reachedAll(s bitset) bool {
	for n, g := range c.goals {
		if s.has(n) && !g.reached {
			return false
		}
	}
	return true
}

// add adds a candidate to the pool, unless the pool has one that reaches the same goals and
// is no more complicated.
func (c *chooser) add(x *candidate) {
	for n, g := range c.goals {
		g.reached = g.reached || x.goals.has(n)
	}
	key := x.goals.key()
	if n, ok := c.best[key]; !ok {
		c.best[key] = len(c.pool)
		c.pool = append(c.pool, x)
	} else if x.cost < c.pool[n].cost {
		c.pool[n] = x
	}
}

// reaching lists the inputs that reach a goal; c.want must have their results.
func (c *chooser) reaching(number int, b *mma.Batch) []int {
	g := c.goals[number]
	w := c.inst.D.Width()
	var list []int
	if g.has != nil {
		d := mma.NewDot(c.inst.Formats, c.inst.K)
		for n := range b.Dots() {
			b.Get(n, d)
			if g.has(d, mma.Load(c.want, w, n)) {
				list = append(list, n)
			}
		}
		return list
	}
	g.results(b, c.got)
	if string(c.want) == string(c.got) {
		return nil
	}
	for n := range b.Dots() {
		want, got := mma.Load(c.want, w, n), mma.Load(c.got, w, n)
		if want == got || c.strict.Compare(want, got) == oracle.Same {
			continue
		}
		if c.lenient.Compare(want, got) == oracle.Same {
			g.undecided = true
			continue
		}
		list = append(list, n)
	}
	return list
}

// evaluate returns all goals that an input reaches.
func (c *chooser) evaluate(d *mma.Dot) bitset {
	b := mma.BatchOf(c.inst.Formats, c.inst.K, []*mma.Dot{d})
	w := c.inst.D.Width()
	wantAll, gotAll := c.want, c.got
	c.want, c.got = make([]byte, w), make([]byte, w)
	defer func() { c.want, c.got = wantAll, gotAll }()
	c.base.Run(b, c.want)
	s := newBitset(len(c.goals))
	for n := range c.goals {
		if len(c.reaching(n, b)) > 0 {
			s.set(n)
		}
	}
	return s
}

// cost returns how complicated an input is: the number of products that are not zero counts
// most, then the number of bits that are set.
func cost(d *mma.Dot) int {
	n := bits.OnesCount64(d.C)
	for k := range d.A {
		if d.A[k] != 0 || d.B[k] != 0 {
			n += 64
		}
		n += bits.OnesCount64(d.A[k]) + bits.OnesCount64(d.B[k])
	}
	return n
}

// cover takes candidates until they reach every goal that the pool reaches.
func (c *chooser) cover() []*candidate {
	count := make([]int, len(c.goals))
	for _, x := range c.pool {
		for n := range c.goals {
			if x.goals.has(n) {
				count[n]++
			}
		}
	}
	covered := newBitset(len(c.goals))
	var taken []*candidate
	// rarest returns the goal that the fewest candidates reach, -1 if there is none.
	rarest := func(ok func(n int) bool) int {
		best := -1
		for n := range c.goals {
			if count[n] > 0 && ok(n) && (best < 0 || count[n] < count[best]) {
				best = n
			}
		}
		return best
	}
	take := func(goal int) {
		var best *candidate
		gain := func(x *candidate) int { return x.goals.without(covered).count() }
		for _, x := range c.pool {
			if x.goals.has(goal) && (best == nil || cmp.Or(cmp.Compare(gain(x), gain(best)), cmp.Compare(best.cost, x.cost)) > 0) {
				best = x
			}
		}
		need := best.goals.without(covered)
		need.set(goal)
		x := c.reduced(best, need)
		x.goal = goal
		covered.union(x.goals)
		taken = append(taken, x)
	}
	for _, g := range groups {
		if n := rarest(func(n int) bool { return c.goals[n].group == g.name }); n >= 0 {
			take(n)
		}
	}
	for {
		n := rarest(func(n int) bool { return !covered.has(n) })
		if n < 0 {
			return c.withoutSuperfluous(taken)
		}
		take(n)
	}
}

// reduced sets c and products to zero as long as an input reaches the goals that it is
// needed for.
func (c *chooser) reduced(x *candidate, need bitset) *candidate {
	d := x.dot.Clone()
	try := func(change func()) {
		before := d.Clone()
		change()
		if !d.Equal(before) && !need.without(c.evaluate(d)).empty() {
			d = before
		}
	}
	for k := range d.A {
		try(func() { d.A[k], d.B[k] = 0, 0 })
	}
	try(func() { d.C = 0 })
	return &candidate{dot: d, want: c.base.Dot(d, nil), goals: c.evaluate(d), cost: cost(d)}
}

// withoutSuperfluous drops tests if other tests reach all their goals, the last ones first.
// It leaves at least one test in each group.
func (c *chooser) withoutSuperfluous(taken []*candidate) []*candidate {
	for n := len(taken) - 1; n >= 0; n-- {
		others := newBitset(len(c.goals))
		alone := true
		for m, x := range taken {
			if m != n {
				others.union(x.goals)
				alone = alone && c.groupOf(x) != c.groupOf(taken[n])
			}
		}
		if !alone && taken[n].goals.without(others).empty() {
			taken = slices.Delete(taken, n, n+1)
		}
	}
	return taken
}

func (c *chooser) groupOf(x *candidate) string { return c.goals[x.goal].group }

// set returns the set of the tests that were taken.
func (c *chooser) set(taken []*candidate, values []*value) (*vectors.Set, error) {
	i := c.inst
	s := &vectors.Set{Version: vectors.Version, Instruction: i.FullName(), Formats: i.Formats, K: i.K, Arithmetic: i.Params.String(),
		Params: i.Params, Also: c.also, Digest: c.digest(), Source: i.Source, Evidence: i.Evidence,
		Parameters: parameters(values), Others: []vectors.Other{}}
	if i.Params.Special.OperandNaN() {
		s.Assumed = "of a parameter's values that give the same results it is proved for finite operands"
	}
	killed := newBitset(len(c.goals))
	for _, x := range taken {
		killed.union(x.goals)
	}
	for n, g := range c.goals {
		if g.other != nil && g.other.Kind == vectors.KindChange {
			s.Rates.Changes++
			switch {
			case killed.has(n):
				s.Rates.Killed++
			case g.same:
				s.Rates.Same++
			case g.undecided:
				s.Rates.Undecided++
			default:
				s.Rates.Open++
			}
		}
	}
	number := make([]int, len(c.goals)) // where s.Others has the other of a goal, -1: nowhere
	for n, g := range c.goals {
		if number[n] = -1; g.other != nil && killed.has(n) {
			number[n] = len(s.Others)
			s.Others = append(s.Others, *g.other)
		}
	}
	for _, g := range groups {
		group := vectors.Group{Name: g.name, About: readable.Converted(c.inst.Formats, g.about)}
		for _, x := range taken {
			if c.groupOf(x) == g.name {
				group.Tests = append(group.Tests, c.test(x, readable.Converted(c.inst.Formats, c.comment(x)), number))
			}
		}
		if g.name == random {
			if err := c.addTail(&group, number); err != nil {
				return nil, err
			}
		}
		for n := range group.Tests {
			group.Tests[n].ID = fmt.Sprintf("%s-%d", g.name, n+1)
		}
		if len(group.Tests) > 0 {
			s.Groups = append(s.Groups, group)
		}
	}
	return s, c.check(s)
}

// addTail adds the random tests.
func (c *chooser) addTail(group *vectors.Group, number []int) error {
	for _, t := range tail {
		s, err := gen.ParseSource(t.source)
		if err != nil {
			return err
		}
		for n := range t.count {
			per := uint64(s.Generator.M * s.Generator.N) // one test from each tile
			d := s.Dot(c.spec(), tailSeed, n*per+n)
			group.Tests = append(group.Tests, c.test(&candidate{dot: d, want: c.base.Dot(d, nil), goals: c.evaluate(d)}, t.text, number))
		}
	}
	return nil
}

// comment says what a test is for.
func (c *chooser) comment(x *candidate) string {
	g := c.goals[x.goal]
	if g.results == nil {
		return g.comment("")
	}
	out := make([]byte, c.inst.D.Width())
	g.results(mma.BatchOf(c.inst.Formats, c.inst.K, []*mma.Dot{x.dot}), out)
	return g.comment(mma.FormatCode(c.inst.D, mma.Load(out, c.inst.D.Width(), 0)))
}

func (c *chooser) test(x *candidate, comment string, number []int) vectors.Test {
	t := vectors.NewTest(c.inst.Formats, x.dot, x.want)
	t.Comment = comment
	switch class := c.inst.D.Get().Decode(x.want).Class; {
	case class == fp.NaN && c.policy.NaN == oracle.ByClass:
		t.Compare = vectors.CompareNaN
	case class == fp.Zero && c.policy.Zero == oracle.ByClass:
		t.Compare = vectors.CompareZero
	}
	for n := range c.goals {
		if x.goals.has(n) && number[n] >= 0 {
			t.Fails = append(t.Fails, number[n])
		}
	}
	return t
}

// judge compares an expected result with the oracle's.
func judge(i *mma.Instruction, d *mma.Dot, want uint64) error {
	if judged := oracle.Eval(&i.Params, i.Formats, i.K, d); judged != want {
		return fmt.Errorf("%s: on %s the model gives %s and the oracle %s: this is a defect of mmafuzz, please report it",
			i.FullName(), mma.FormatDot(i.Formats, d), mma.FormatCode(i.D, want), mma.FormatCode(i.D, judged))
	}
	return nil
}

// check compares every expected result with the oracle's.
func (c *chooser) check(s *vectors.Set) error {
	cases, err := s.Cases()
	if err != nil {
		return err
	}
	for _, x := range cases {
		if err := judge(c.inst, x.Dot, x.Want); err != nil {
			return err
		}
	}
	return nil
}
