package vectors

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/prove"
	"github.com/mmafuzz/mmafuzz/triage/prove/argued"
	"github.com/mmafuzz/mmafuzz/triage/prove/decided"
)

// method is counted up when values are decided in another way, so that sets are made again.
const method = 3

// searchValues is how many inputs of each generator are searched for other values of parameters.
const searchValues = batchDots

// searchPairs is how many inputs of each of pairSources, aimed at both programs, are searched for
// a pair of values.
const searchPairs = 512

// pairSources are the generators that aim at the alignment of sums.
var pairSources = []string{"cut@1", "tie@2", "floor@2", "subnormal@2"}

// value is another value of one parameter, or of a pair of them.
type value struct {
	path   string // of a pair with + between them
	text   string
	params mma.Params
	model  *sim.Model
	state  state
	parts  []mma.Params // of a pair: the programs that have one of its values
}

// state is what is known of a value.
type state int

const (
	open      state = iota // whether it computes the same function
	killed                 // some test shows that it does not
	same                   // it does
	undecided              // inputs tell it apart only in what is not known of the instruction
)

// valuesOf lists every other value of every parameter that is valid, all else being equal. Beyond
// the exponents that any sum has, a bound does what the last of them does.
func valuesOf(i *mma.Instruction) ([]*value, error) {
	var all []*value
	for _, f := range mma.Fields() {
		for _, p := range change.SpaceOf(i).Others(&i.Params, f) {
			if err := appendValue(&all, i, p, f); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// pairsOf lists the pairs of other values of two parameters of the fused sum to which c is added
// (Join), of which one at least is not a number: what one of them loses may be what shows the
// other.
func pairsOf(i *mma.Instruction) ([]*value, error) {
	s := change.SpaceOf(i)
	join := slices.DeleteFunc(slices.Clone(mma.Fields()), func(f mma.Field) bool {
		return !strings.HasPrefix(f.Path, "join.") || strings.HasPrefix(f.Path, "join.post.")
	})
	var all []*value
	for n, f := range join {
		for m, g := range join {
			if f.Numeric() || m == n || !g.Numeric() && m < n {
				continue
			}
			for _, p := range s.Others(&i.Params, f) {
				for _, q := range s.Others(&p, g) {
					n := len(all)
					if err := appendValue(&all, i, q, f, g); err != nil {
						return nil, err
					}
					if len(all) > n {
						other := i.Params
						g.SetInt(&other, g.Int(&q))
						all[n].parts = []mma.Params{p, other}
					}
				}
			}
		}
	}
	return all, nil
}

// appendValue appends a program in which some parameters have another value, if it is valid.
func appendValue(all *[]*value, i *mma.Instruction, q mma.Params, fields ...mma.Field) error {
	if !change.SpaceOf(i).Valid(&q) {
		return nil
	}
	m, err := sim.New(i.Formats, i.K, q)
	if err != nil {
		return err
	}
	var paths, texts []string
	for _, f := range fields {
		paths, texts = append(paths, f.Path), append(texts, f.Text(&q))
	}
	*all = append(*all, &value{path: strings.Join(paths, "+"), text: strings.Join(texts, "+"), params: q, model: m})
	return nil
}

// vary gives every parameter, and every pair of the last sum, every other value. It adds tests for those that pass the tests that
// were taken and for which generators make an input, or package decided has one.
func (c *chooser) vary(ctx context.Context, taken []*candidate) ([]*candidate, []*value, error) {
	all, err := valuesOf(c.inst)
	if err != nil {
		return nil, nil, err
	}
	pairs, err := pairsOf(c.inst)
	if err != nil {
		return nil, nil, err
	}
	both := slices.Concat(all, pairs)
	var dots []*mma.Dot
	for _, x := range slices.SortedStableFunc(slices.Values(taken), func(x, y *candidate) int { return cmp.Compare(y.goals.count(), x.goals.count()) }) {
		dots = append(dots, x.dot)
	}
	c.kill(both, c.answered(mma.BatchOf(c.inst.Formats, c.inst.K, dots)))
	c.sameByRanges(ctx, all)
	add := func(d *mma.Dot, v *value) { // which the input tells apart
		d = c.smaller(d, v)
		c.kill(both, c.answeredDot(d))
		text := inWords(&c.inst.Params, &v.params)
		other := &vectors.Other{Kind: vectors.KindValue, Name: v.path, Changes: mma.Diff(&c.inst.Params, &v.params)}
		c.goals = append(c.goals, &goal{group: groupOf(&c.inst.Params, &v.params), other: other, results: v.model.Run, text: text, reached: true})
		taken = append(taken, &candidate{dot: d, want: c.base.Dot(d, nil), cost: cost(d), goal: len(c.goals) - 1})
	}
	if err := c.settle(ctx, all, add); err != nil {
		return nil, nil, err
	}
	for _, d := range c.widest() {
		for v := c.first(both, d); v != nil; v = c.first(both, d) {
			add(d, v)
		}
	}
	for from := uint64(0); from < searchValues; from += batchDots {
		for _, s := range c.gens {
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			b := c.answered(c.fill(s, from, batchDots))
			for n := c.mostKilling(all, b); n >= 0; n = c.mostKilling(all, b) {
				d := mma.NewDot(c.inst.Formats, c.inst.K)
				b.Get(n, d)
				add(d, c.first(all, d))
			}
		}
	}
	c.sameByParts(ctx, all, pairs)
	c.sameByRanges(ctx, pairs)
	if err := c.settle(ctx, pairs, add); err != nil {
		return nil, nil, err
	}
	for _, v := range pairs {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		for _, s := range pairSources {
			if v.state == killed || v.state == same {
				break
			}
			if d, err := c.tells(v, s); err != nil {
				return nil, nil, err
			} else if d != nil {
				add(d, v)
			}
		}
	}
	for _, x := range taken { // there are more goals now
		x.goals = c.evaluate(x.dot)
	}
	return taken, both, nil
}

// settle applies, until ctx ends, the written arguments and the answers of package decided to values of which nothing
// is known yet, and adds the inputs that these have.
func (c *chooser) settle(ctx context.Context, all []*value, add func(*mma.Dot, *value)) error {
	for _, v := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if v.state == killed || v.state == same {
			continue
		}
		a, _ := decided.Of(c.inst.Formats, c.inst.K, &c.inst.Params, &v.params)
		switch {
		case sameFunction(c.inst, &v.params):
			v.state = same
		case a.Verdict == decided.Differs:
			d, err := mma.ParseDot(c.inst.Formats, c.inst.K, false, strings.Fields(a.Input))
			if err != nil {
				return fmt.Errorf("decided.tsv, %s: %w", a.Input, err)
			}
			if found, _ := c.differences(v, c.answeredDot(d), 1); len(found) > 0 {
				add(d, v)
			}
		}
	}
	return nil
}

// widest returns the inputs whose sums take the most bits beside the largest exponent of a term: all
// significands are ones, and all exponents and scales 0.
func (c *chooser) widest() []*mma.Dot {
	f := c.inst.Formats
	if f.A.Integer() || c.inst.Conversion() {
		return nil
	}
	ones := func(id fp.ID, neg bool) uint64 {
		n := int32(id.Get().FracBits)
		return id.Get().Encode(fp.Dyadic{Lo: 1<<(n+1) - 1, Q: -n, Neg: neg}, fp.RZ, fp.OverInf)
	}
	var all []*mma.Dot
	for _, neg := range []bool{false, true} {
		d := mma.NewDot(f, c.inst.K)
		for k := range d.A {
			d.A[k], d.B[k] = ones(f.A, neg), ones(f.B, false)
		}
		for k := range d.SA {
			one := f.Scale.Get().Encode(fp.Dyadic{Lo: 1}, fp.RZ, fp.OverInf)
			d.SA[k], d.SB[k] = one, one
		}
		if f.C != fp.None {
			d.C = ones(f.C, neg)
		}
		all = append(all, d)
	}
	return all
}

// tells returns the first input of a source, aimed at both programs, that tells a value apart; nil
// if there is none.
func (c *chooser) tells(v *value, source string) (*mma.Dot, error) {
	s, err := gen.ParseSource(source)
	if err != nil {
		return nil, err
	}
	b := c.answered(c.fill(s.Generator.Aimed(c.spec(), &c.inst.Params, &v.params), 0, searchPairs))
	found, bits := c.differences(v, b, 1)
	if bits {
		v.state = undecided
	}
	if len(found) == 0 {
		return nil, nil
	}
	d := mma.NewDot(c.inst.Formats, c.inst.K)
	b.Get(found[0], d)
	return d, nil
}

// kill marks the values that some input of a batch tells apart. It runs parts of growing size: most
// values differ soon.
func (c *chooser) kill(all []*value, b *answered) {
	for from, n := 0, 4; from < b.Dots(); from, n = from+n, 4*n {
		n = min(n, b.Dots()-from)
		w := c.inst.D.Width()
		part := &answered{b.Part(from, n), b.want[from*w : (from+n)*w], b.got[:n*w]}
		for _, v := range all {
			if v.state == killed || v.state == same {
				continue
			}
			switch found, bits := c.differences(v, part, 1); {
			case len(found) > 0:
				v.state = killed
			case bits:
				v.state = undecided
			}
		}
	}
}

// answered is a batch with the results of the instruction.
type answered struct {
	*mma.Batch
	want, got []byte // got is what some value gives
}

func (c *chooser) answered(b *mma.Batch) *answered {
	size := b.Dots() * c.inst.D.Width()
	x := &answered{b, make([]byte, size), make([]byte, size)}
	c.base.Run(b, x.want)
	return x
}

func (c *chooser) answeredDot(d *mma.Dot) *answered {
	return c.answered(mma.BatchOf(c.inst.Formats, c.inst.K, []*mma.Dot{d}))
}

// differences lists the first inputs of a batch that tell a value apart, and reports whether
// any input shows other bits where it is not known which are right.
func (c *chooser) differences(v *value, b *answered, most int) (found []int, bits bool) {
	v.model.Run(b.Batch, b.got)
	if bytes.Equal(b.want, b.got) {
		return nil, false
	}
	w := c.inst.D.Width()
	for n := 0; n < b.Dots() && len(found) < most; n++ {
		x, y := mma.Load(b.want, w, n), mma.Load(b.got, w, n)
		switch {
		case x == y || c.strict.Compare(x, y) == oracle.Same:
		case c.lenient.Compare(x, y) == oracle.Same:
			bits = true
		default:
			found = append(found, n)
		}
	}
	return found, bits
}

// mostKilling returns the input of a batch that tells the most values apart of those that no
// test does yet, -1 if there is none.
func (c *chooser) mostKilling(all []*value, b *answered) int {
	count := map[int]int{}
	best := -1
	for _, v := range all {
		if v.state == killed || v.state == same {
			continue
		}
		found, bits := c.differences(v, b, b.Dots())
		if bits {
			v.state = undecided
		}
		for _, n := range found {
			count[n]++
		}
	}
	for n := range b.Dots() {
		if count[n] > 0 && (best < 0 || count[n] > count[best]) {
			best = n
		}
	}
	return best
}

// first returns the first value that no test tells apart yet and that an input does.
func (c *chooser) first(all []*value, d *mma.Dot) *value {
	b := c.answeredDot(d)
	for _, v := range all {
		if v.state == killed || v.state == same {
			continue
		}
		if found, _ := c.differences(v, b, 1); len(found) > 0 {
			return v
		}
	}
	return nil
}

// smaller sets c and products to zero as long as an input tells a value apart.
func (c *chooser) smaller(d *mma.Dot, v *value) *mma.Dot {
	d = d.Clone()
	try := func(change func()) {
		before := d.Clone()
		change()
		if found, _ := c.differences(v, c.answeredDot(d), 1); len(found) == 0 {
			d = before
		}
	}
	for k := range d.A {
		try(func() { d.A[k], d.B[k] = 0, 0 })
	}
	try(func() { d.C = 0 })
	return d
}

// sameByRanges marks the values that compute the same function by the ranges of numbers.
func (c *chooser) sameByRanges(ctx context.Context, all []*value) {
	var r *prove.Ranges
	for n, v := range all {
		if n == 0 || v.path != all[n-1].path {
			r = prove.NewRanges(c.inst.Formats, c.inst.K, &c.inst.Params) // it keeps what it has made
		}
		if v.state == open && ctx.Err() == nil && r.Same(&v.params) {
			v.state = same
		}
	}
}

// sameByParts marks the pairs of which one value alone changes nothing and the other, by the ranges
// of numbers or a written argument, changes nothing in the program that has it.
func (c *chooser) sameByParts(ctx context.Context, all, pairs []*value) {
	parts := map[mma.Params]*prove.Ranges{}
	for _, v := range all {
		if v.state == same {
			parts[v.params] = prove.NewRanges(c.inst.Formats, c.inst.K, &v.params)
		}
	}
	for _, v := range pairs {
		for _, p := range v.parts {
			if r := parts[p]; v.state == open && r != nil && ctx.Err() == nil {
				i := *c.inst
				i.Params = p
				if argued.EquivalentInAnySum(&i, &v.params) != "" || r.Same(&v.params) {
					v.state = same
				}
			}
		}
	}
}

// parameters counts values by parameter, and lists those that are open.
func parameters(all []*value) []vectors.Parameter {
	var list []vectors.Parameter
	for _, v := range all {
		if n := len(list); n == 0 || list[n-1].Path != v.path {
			list = append(list, vectors.Parameter{Path: v.path})
		}
		p := &list[len(list)-1]
		p.Values++
		switch v.state {
		case killed:
			p.Killed++
		case same:
			p.Same++
		case undecided:
			p.Undecided++
		default:
			p.Open = append(p.Open, v.text)
		}
	}
	return list
}
