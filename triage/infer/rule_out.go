package infer

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
)

// The sizes of ruling out mutants.
const (
	poolCases   = 100  // of each family and generator, on which programs are compared
	nearMost    = 64   // inputs of the same parameter
	nearCases   = 2048 // near those that tell other mutants of the same parameter
	aimedCases  = 512  // of each generator, aimed at a mutant that the pool does not tell apart
	witnessMost = 2000 // dot products that models compute to make an input small
)

// Mutant is a program that differs in one decision from the one that was found.
type Mutant struct {
	Changes []mma.Change // from the program found
	// Dot is an input on which the two differ; nil if none was found. Got is what
	// the unit answered, which is what the program found gives, Would what the mutant
	// gives.
	Dot        *mma.Dot
	Got, Would uint64
	Tried      int // inputs on which the two were compared

	p mma.Params
}

// Path is the parameter that a mutant is about.
func (x *Mutant) Path() string { return x.Changes[0].Path }

// adjacent reports whether a mutant has one number that is one more or less.
func (x *Mutant) adjacent() bool {
	from, err := strconv.Atoi(x.Changes[0].From)
	to, also := strconv.Atoi(x.Changes[0].To)
	return len(x.Changes) == 1 && err == nil && also == nil && max(from-to, to-from) == 1
}

// pool returns inputs of all kinds, aimed at programs.
func (l *loop) pool(n int, ps ...*mma.Params) []*mma.Dot {
	var dots []*mma.Dot
	for i := range designed {
		if l.D.Integer() {
			break // they are about roundings
		}
		dots = append(dots, design(l.spec(), &designed[i], l.rand(), n, nil)...)
	}
	l.draws++
	for _, g := range gen.Every(l.spec()) {
		dots = append(dots, generate(l.spec(), g, l.seed+l.draws, 0, n, ps...)...)
	}
	return dots
}

// plainest returns the simplest program that gives the same results as p on the evidence
// and on a pool of inputs. Where a step takes all products, it is written with L = K.
func (l *loop) plainest(p mma.Params) (mma.Params, error) {
	c, err := l.Predicted(&p, l.pool(4*poolCases, &p))
	if err != nil {
		return p, err
	}
	rewrite := func(p, q mma.Params) mma.Params {
		if q != p && l.explains(&q) && evidence.Total(l.Hits(&q, c)) == len(c.Want) {
			return q
		}
		return p
	}
	p = rewrite(p, roundedProducts(p))
	for _, q := range asChain(p, l.K) {
		if q = rewrite(p, q); q != p {
			p = q
			break
		}
	}
	q := search.Simplest(l.Evidence, p, c, len(c.Want), l.explains)
	q = rewrite(q, oneByOne(q))
	q = rewrite(q, roundedAlike(q))
	q = rewrite(q, l.normalisedProducts(q))
	if q.L == 0 && q.Lanes <= 1 {
		q.L = uint8(l.K)
	}
	return q, nil
}

// asChain writes a program with lanes, whose results are added one after the other, as what it may be
// as well: products that are rounded, or sums of adjacent products, and are then added one after the
// other, to c or to nothing before c.
func asChain(p mma.Params, k int) (all []mma.Params) {
	if p.Lanes < 2 || p.Late == (mma.Round{}) || p.Stage0.Sum != mma.Off {
		return nil
	}
	chain := p
	chain.Acc, chain.L, chain.Lanes, chain.Bare, chain.Merge, chain.Tail, chain.Leaf = p.Late, 1, 0, false, 0, false, 0
	products, blocks := chain, chain
	if p.Prod.Round == (mma.Round{}) {
		products.Prod.Round = p.Acc
	}
	blocks.Order, blocks.L, blocks.Stage0 = mma.Ascending, uint8(max(1, k/int(p.Lanes))), mma.Stage{Sum: mma.Fused, Round: p.Acc}
	for _, q := range []mma.Params{products, blocks} {
		fromC := q
		fromC.Start, fromC.Late = mma.StartC, mma.Round{}
		all = append(all, fromC, q)
	}
	return all
}

// roundedProducts writes a program whose first stage rounds each product, which it takes alone, as one
// whose products are rounded: two units that do the same are to have the same program.
func roundedProducts(p mma.Params) mma.Params {
	if p.L == 1 && p.Prod.Round == (mma.Round{}) && p.Stage0 == (mma.Stage{Sum: mma.Fused, Round: p.Stage0.Round}) && p.Stage1.Sum == mma.Off {
		p.Prod.Round, p.Stage0 = p.Stage0.Round, mma.Stage{}
	}
	return p
}

// normalisedProducts writes a program whose products are rounded to as many bits as they have as one that
// normalises them: nothing is rounded.
func (l *loop) normalisedProducts(p mma.Params) mma.Params {
	if r := p.Prod.Round; r.Frac != 0 && int(r.Frac) >= int(l.A.Get().FracBits)+int(l.B.Get().FracBits)+1 && p.Prod.Exp == 0 {
		p.Prod.Round, p.Prod.Exp = mma.Round{}, mma.Normalised
	}
	return p
}

// oneByOne writes a program with lanes, each of which takes all its products in a step, as one in
// which a step takes one product.
func oneByOne(p mma.Params) mma.Params {
	if p.Lanes > 1 && p.L == 0 {
		p.L = 1
	}
	return p
}

// roundedAlike gives the accumulator the mode of the sums that it takes, if it has no fewer bits: a
// sum of one of them alone is not rounded again, and the mode of its rounding says nothing.
func roundedAlike(p mma.Params) mma.Params {
	sums := &p.Stage0
	if p.Stage1.Sum != mma.Off {
		sums = &p.Stage1
	}
	if r := sums.Round; r.Frac != 0 && r.Frac <= p.Acc.Frac {
		p.Acc.Mode = r.Mode
	}
	return p
}

// mutants returns the mutants of a program, the decisions that a designer may have made
// and all adjacent numbers, with an input for each on which it differs from the program,
// if one is found.
func (l *loop) mutants(ctx context.Context, p *mma.Params) ([]*Mutant, error) {
	programs := change.Programs(l.Mutants(p, change.Adjacent, change.Decisions, change.Refinements))
	for _, q := range l.usual(p) {
		if !slices.Contains(programs, q) {
			programs = append(programs, q)
		}
	}
	all := make([]*Mutant, len(programs))
	for i, q := range programs {
		all[i] = &Mutant{Changes: mma.Diff(p, &q), p: q}
	}
	dots := l.pool(poolCases, p)
	c, err := l.Predicted(p, dots)
	if err != nil {
		return nil, err
	}
	l.Each(programs, func(i int, m evidence.Runner, _ *[]byte) { l.tell(all[i], l.Run(m, c, nil), c, dots) })
	for _, x := range all {
		if x.Dot != nil || ctx.Err() != nil {
			continue
		}
		dots := l.pool(aimedCases, p, &x.p)
		if c, err = l.Predicted(p, dots); err != nil {
			return nil, err
		}
		l.tellAlone(x, c, dots)
	}
	return all, cmp.Or(l.tellNear(ctx, p, all), ctx.Err())
}

// usual returns the programs that have one of the parameters in which p is unlike most units as most
// units have it.
func (l *loop) usual(p *mma.Params) (all []mma.Params) {
	for _, f := range mma.Fields() {
		q := *p
		if f.Refined == 1 {
			f.SetInt(&q, 0)
		}
		if q != *p && l.Valid(&q) {
			all = append(all, q)
		}
	}
	return all
}

// tellNear looks for inputs that tell mutants from the program near those which tell others of the same
// parameter: whether an accumulator is dropped from 48 or from 50 places on only few ties show.
func (l *loop) tellNear(ctx context.Context, p *mma.Params, all []*Mutant) error {
	seen := map[string][]*mma.Dot{}
	for _, x := range all {
		if x.Dot != nil || ctx.Err() != nil || !x.adjacent() {
			continue
		}
		if seen[x.Path()] == nil {
			seen[x.Path()] = l.showing(x.Path(), all)
		}
		near := seen[x.Path()]
		if len(near) == 0 || l.D.Integer() {
			continue
		}
		r := l.rand()
		dots := make([]*mma.Dot, nearCases)
		for i := range dots {
			dots[i] = near[i%len(near)].Clone()
			for range 1 + r.IntN(2) {
				gen.MoveExponent(r, l.Formats, dots[i])
			}
		}
		c, err := l.Predicted(p, dots)
		if err != nil {
			return err
		}
		l.tellAlone(x, c, dots)
	}
	return nil
}

// showing returns evidence against mutants of a parameter, and the inputs that tell them from the
// program.
func (l *loop) showing(path string, all []*Mutant) (dots []*mma.Dot) {
	c := l.All()
	for _, y := range all {
		if y.Path() != path {
			continue
		}
		if y.Dot != nil {
			dots = append(dots, y.Dot)
		}
		for i, hit := range l.Hits(&y.p, c) {
			if !hit && len(dots) < nearMost {
				d := mma.NewDot(l.Formats, c.Batch.K)
				c.Batch.Get(i, d)
				dots = append(dots, d)
			}
		}
	}
	return dots
}

// tellAlone is tell for a single mutant, which runs on several cases at once.
func (l *loop) tellAlone(x *Mutant, c *evidence.Cases, dots []*mma.Dot) {
	if out := l.Results(&x.p, c); out != nil {
		l.Computed.Add(int64(len(c.Want)))
		l.tell(x, out, c, dots)
	}
}

// tell looks for the first case in which a mutant, whose results are given, differs.
func (l *loop) tell(x *Mutant, out []byte, c *evidence.Cases, dots []*mma.Dot) {
	w := l.D.Width()
	x.Tried += len(c.Want)
	for i, want := range c.Want {
		if would := mma.Load(out, w, i); !l.Same(would, want) {
			x.Dot, x.Got, x.Would = dots[i], want, would
			return
		}
	}
}

// ruleOut asks the unit about the inputs on which mutants differ from p. Cases in which
// p is wrong become evidence; it returns how many there are.
func (l *loop) ruleOut(ctx context.Context, p *mma.Params, all []*Mutant) (int, error) {
	var dots []*mma.Dot
	for _, r := range all {
		if r.Dot != nil && !slices.Contains(dots, r.Dot) {
			dots = append(dots, r.Dot)
		}
	}
	kept, want, err := l.unit.ask(ctx, dots)
	if err != nil {
		return 0, err
	}
	for _, r := range all {
		if i := slices.Index(kept, r.Dot); r.Dot != nil && i >= 0 {
			r.Got = want[i]
		} else { // an input on which the unit fails rules nothing out
			r.Dot = nil
		}
	}
	return l.refuted(ctx, p, kept, want)
}

// refuted keeps the cases in which p is wrong.
func (l *loop) refuted(ctx context.Context, p *mma.Params, kept []*mma.Dot, want []uint64) (int, error) {
	var wrong []*mma.Dot
	var codes []uint64
	for i, ok := range l.Hits(p, l.Pack(kept, want)) {
		if !ok {
			wrong, codes = append(wrong, kept[i]), append(codes, want[i])
		}
	}
	return len(wrong), l.learn(ctx, wrong, codes)
}

// learn makes cases in which a hypothesis was wrong evidence, if the unit confirms its answers.
func (l *loop) learn(ctx context.Context, wrong []*mma.Dot, codes []uint64) error {
	n := min(len(wrong), wrongKept)
	if n == 0 {
		return nil
	}
	if err := l.unit.repeat(ctx, wrong[:n], codes[:n]); err != nil {
		return err
	}
	l.Add(refutations, wrong[:n], codes[:n])
	return nil
}

// shrink makes the inputs small that a report shows first: for each parameter the one that
// rules out its first mutant. The unit is asked about the small inputs, too.
func (l *loop) shrink(ctx context.Context, p *mma.Params, all []*Mutant) (int, error) {
	seen := map[string]bool{}
	var dots []*mma.Dot
	var before, small []*Mutant
	for _, r := range all {
		if r.Dot == nil || seen[r.Path()] {
			continue
		}
		seen[r.Path()] = true
		was := *r
		if err := l.shrinkMutant(ctx, p, r); err != nil {
			return 0, err
		}
		dots, before, small = append(dots, r.Dot), append(before, &was), append(small, r)
	}
	kept, want, err := l.unit.ask(ctx, dots)
	if err != nil {
		return 0, err
	}
	for n, r := range small {
		if i := slices.Index(kept, r.Dot); i >= 0 {
			r.Got = want[i]
		} else { // the unit fails on the small one
			*r = *before[n]
		}
	}
	return l.refuted(ctx, p, kept, want)
}

func (l *loop) shrinkMutant(ctx context.Context, p *mma.Params, r *Mutant) error {
	mp, err := sim.New(l.Formats, l.K, *p)
	if err != nil {
		return err
	}
	mr, err := sim.New(l.Formats, l.K, r.p)
	if err != nil {
		return err
	}
	differ := func(d *mma.Dot) bool { return !l.Same(mp.Dot(d, nil), mr.Dot(d, nil)) }
	dot, err := evidence.Shrink(ctx, l.Formats, r.Dot, evidence.OneByOne(differ), minimize.Options{MaxQueries: witnessMost})
	if err != nil {
		return err
	}
	r.Dot, r.Got, r.Would = dot, mp.Dot(dot, nil), mr.Dot(dot, nil)
	return nil
}

// ruleOutMutants makes a hypothesis that has passed the challenges as simple as it can be
// and rules out its mutants. wrong > 0: the unit does not agree.
func (l *loop) ruleOutMutants(ctx context.Context, p mma.Params) (q mma.Params, all []*Mutant, wrong int, err error) {
	if q, err = l.plainest(p); err != nil {
		return q, nil, 0, err
	}
	for likeMost := 0; likeMost >= 0; {
		if all, err = l.mutants(ctx, &q); err != nil {
			return q, nil, 0, err
		}
		usual := l.usual(&q)
		likeMost = slices.IndexFunc(all, func(x *Mutant) bool { return x.Dot == nil && slices.Contains(usual, x.p) && l.explains(&x.p) })
		if likeMost >= 0 { // no input says that the unit is not like most
			q = all[likeMost].p
		}
	}
	if wrong, err = l.ruleOut(ctx, &q, all); wrong > 0 || err != nil {
		return q, all, wrong, err
	}
	wrong, err = l.shrink(ctx, &q, all)
	return q, all, wrong, err
}

// brief names a program's parameters, for logs.
func brief(p *mma.Params) string {
	return strings.TrimSpace(mma.Brief(mma.Diff(&mma.Params{}, p)))
}
