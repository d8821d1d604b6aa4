package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// candidate is a unit and what goes with it.
type candidate struct {
	unit     schedule.Unit
	epilogue []schedule.Step
}

// candidates returns the units that may add products of some formats, the usual first.
func candidates(f mma.Formats) (all []candidate) {
	if f.A != f.B {
		return all
	}
	in := f.A
	if in == f.D {
		in = fp.None
	}
	all = append(all, candidate{unit: schedule.Unit{Op: "fma", In: in, Acc: f.D}}, candidate{unit: schedule.Unit{Op: "mul-add", In: in, Acc: f.D}})
	if f.D == fp.FP32 {
		for _, u := range []schedule.Unit{{Op: "fma", In: f.A, Acc: fp.FP64}, {Op: "mul-add", In: f.A, Product: fp.FP32, Acc: fp.FP64}} {
			all = append(all, candidate{u, castTo(fp.FP32)})
		}
	}
	return all
}

// finding is what explains a class.
type finding struct {
	schedule schedule.Schedule // with its unit
	epilogue []schedule.Step
	samples  []*sample
}

// kernel returns it as a kernel of all elements.
func (f *finding) kernel() *schedule.Kernel {
	return &schedule.Kernel{Schedules: []schedule.Schedule{f.schedule}, Epilogue: f.epilogue}
}

// unexplainedError says that nothing in the vocabulary gives the results.
type unexplainedError struct {
	What    string
	Witness *Witness // nil: there is none to show
}

func (e *unexplainedError) Error() string { return e.What }

// explain finds the unit and the schedule of a class.
func (l *loop) explain(ctx context.Context, c *class, seed uint64) (*finding, error) {
	l.enter("reading partial sums of element (%d,%d) and %d more", c.rows[0], c.columns[0], len(c.positions)-1)
	s, odd := l.read(ctx, c)
	if o := (*oddError)(nil); odd != nil && !errors.As(odd, &o) {
		return nil, odd
	}
	samples, err := l.sample(ctx, c, seed)
	if err != nil {
		return nil, err
	}
	l.enter("looking for a schedule")
	n := &search{loop: l, samples: append(slices.Clip(c.counters), samples...), wrong: math.MaxInt}
	if odd != nil { // the nearest is one accumulator
		if _, err := n.try(ctx, nil); err != nil {
			return nil, err
		}
		return nil, l.unexplained(ctx, c, n.best, odd.Error())
	}
	e := &enumeration{ctx: ctx, sums: s, failed: map[uint64]bool{}}
	seen := map[string]bool{}
	for depth := 0; depth <= maxDepth && len(seen) <= alternatives && !e.spent() && n.tried < maxTries; depth++ {
		for _, levels := range e.levels([][]int32{upTo(l.K)}, depth) {
			if key := l.key(levels); seen[key] {
				continue
			} else {
				seen[key] = true
			}
			if f, err := n.try(ctx, levels); f != nil || err != nil {
				return f, err
			}
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	why := "no unit gives its results, though a schedule has its partial sums: "
	if n.best == nil {
		if _, err := n.try(ctx, nil); err != nil {
			return nil, err
		}
		if why = "its partial sums are those of no schedule that can be described: "; e.spent() {
			why = "no schedule with its partial sums was found in the time that a search takes at most: "
		}
	}
	return nil, l.unexplained(ctx, c, n.best, why+short(s.outline(s.present)))
}

// key tells levels apart that are different operations at this shape.
func (l *loop) key(levels []schedule.Level) string {
	f := finding{schedule: schedule.Schedule{Unit: &schedule.Unit{Op: "fma", Acc: fp.FP64}, Levels: levels}}
	var b strings.Builder
	for _, op := range l.plan(f.kernel()) {
		fmt.Fprintln(&b, op.K, op.X, op.Y, op.Z)
	}
	return b.String()
}

// search tries units with levels, and keeps what was wrong in the fewest elements.
type search struct {
	*loop
	samples []*sample
	order   refuters // elements of flat and spread matrices, which show units and orders
	signs   refuters // elements of all
	best    *finding
	wrong   int
	tried   int
}

// maxTries is how many kernels are tried on an element.
const maxTries = 20_000

// refuters are elements that refuted kernels, those that did so last first: they refute the
// next ones sooner than samples do.
type refuters []*sample

// right reports whether a kernel gives all samples of some kinds; no kinds: all.
func (n *search) right(ctx context.Context, k *schedule.Kernel, r *refuters, of ...int) bool {
	n.tried++
	for i, s := range *r {
		if !n.judge.right(ctx, k, []*sample{s}) {
			copy((*r)[1:], (*r)[:i])
			(*r)[0] = s
			return false
		}
	}
	for _, s := range n.samples {
		if len(of) > 0 && !slices.Contains(of, s.kind) {
			continue
		}
		wrong, _, err := n.judge.differs(ctx, k, s)
		if err != nil {
			return false
		}
		if len(wrong) > 0 {
			const most = 16
			*r = slices.Insert((*r)[:min(len(*r), most-1)], 0, n.element(s, wrong[0]))
			return false
		}
	}
	return true
}

// element returns an element as a sample of its own.
func (b *box) element(s *sample, at int) *sample {
	line := func(from []byte, n, w int) []byte { return from[n*s.K*w:][:s.K*w] }
	w := b.D.Width()
	return &sample{s.kind, schedule.Shape{M: 1, N: 1, K: s.K},
		matrices{line(s.a, at/s.N, b.A.Width()), line(s.b, at%s.N, b.B.Width())}, s.d[at*w:][:w]}
}

// try returns what explains all samples, nil if nothing does.
func (n *search) try(ctx context.Context, levels []schedule.Level) (*finding, error) {
	for _, cd := range candidates(n.Formats) {
		for i, f := range variants(n.Formats, cd, levels) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if n.tried > maxTries {
				return nil, nil
			}
			f.samples = n.samples
			if n.right(ctx, f.kernel(), &n.order, 0, 1) {
				if g := n.starts(ctx, f); g != nil {
					return g, nil
				}
			}
			if i > 0 { // only another unit of a tail
				continue
			}
			if wrong := n.judge.wrongs(ctx, f.kernel(), n.samples[:min(len(kinds), len(n.samples))], n.wrong); n.best == nil || wrong < n.wrong {
				n.best, n.wrong = f, wrong
			}
		}
	}
	return nil, nil
}

// variants returns levels with a unit, and with units and formats of their own for tails.
func variants(f mma.Formats, cd candidate, levels []schedule.Level) (all []*finding) {
	choices := [][]schedule.Level{nil}
	for _, l := range levels {
		var longer [][]schedule.Level
		for _, t := range tailVariants(f, l.Tail) {
			for _, so := range choices {
				l.Tail = t
				longer = append(longer, append(slices.Clip(so), l))
			}
		}
		choices = longer
	}
	for _, c := range choices {
		all = append(all, &finding{schedule: schedule.Schedule{Unit: &cd.unit, Levels: c}, epilogue: cd.epilogue})
	}
	if cd.unit.Acc == fp.FP32 && len(levels) > 0 && !levels[0].Merge.Chain() { // partial sums that are added in double
		promoted := slices.Clone(levels)
		promoted[0].Merge.Format = fp.FP64
		all = append(all, &finding{schedule: schedule.Schedule{Unit: &cd.unit, Levels: promoted}, epilogue: castTo(fp.FP32)})
	}
	return all
}

// castTo is the epilogue of a sum in another format.
func castTo(id fp.ID) []schedule.Step { return []schedule.Step{{Op: "cast", Format: id}} }

// tailVariants returns a tail, and if it has a sum of its own, that with other units.
func tailVariants(f mma.Formats, t *schedule.Tail) []*schedule.Tail {
	all := []*schedule.Tail{t}
	if t == nil || t.Into != "after" && t.Into != "apart" {
		return all
	}
	for _, other := range candidates(f) {
		with := *t
		with.Unit = &other.unit
		all = append(all, &with)
		if f.D == fp.FP32 && t.Into == "apart" {
			double := with
			double.Format = fp.FP64
			all = append(all, &double)
		}
	}
	return all
}

// starts completes a finding by what only zeros and subnormal numbers show: from what sums
// start, and whether subnormal numbers are zeros. nil: not all samples are right, whatever
// it is.
func (n *search) starts(ctx context.Context, f *finding) *finding {
	levels := f.schedule.Levels
	cleared := schedule.Level{Cut: schedule.Cut{By: "size", N: n.K}, Merge: schedule.Merge{Order: "forward", Start: "zero"}}
	for _, outer := range [][]schedule.Level{nil, {cleared}} { // the whole sum is added to zero
		var folds []int // the levels whose sums may start with zero
		for i, l := range levels {
			if l.Merge.Order == "forward" || l.Merge.Order == "reverse" {
				folds = append(folds, len(outer)+i)
			}
		}
		for _, subnormals := range []string{"", "zero"} {
			for _, start := range []string{"", "empty"} {
				for choice := range 1 << len(folds) {
					g := f.with(subnormals, start)
					g.schedule.Levels = slices.Concat(outer, g.schedule.Levels)
					for bit, i := range folds {
						g.schedule.Levels[i].Merge.Start = []string{"", "zero"}[choice>>bit&1]
					}
					if n.right(ctx, g.kernel(), &n.signs) {
						return g
					}
				}
			}
		}
	}
	return nil
}

// with returns a finding with other subnormals, and with accumulators that start from
// something else.
func (f *finding) with(subnormals, start string) *finding {
	g := *f
	unit := func(u *schedule.Unit) *schedule.Unit {
		if u == nil {
			return nil
		}
		c := *u
		c.Start, c.Subnormals = start, subnormals
		return &c
	}
	g.schedule.Unit = unit(g.schedule.Unit)
	g.schedule.Levels = slices.Clone(f.schedule.Levels)
	for i := range g.schedule.Levels {
		if t := g.schedule.Levels[i].Tail; t != nil {
			c := *t
			c.Unit = unit(t.Unit)
			g.schedule.Levels[i].Tail = &c
		}
	}
	return &g
}

// unexplained returns an error with an element that the nearest schedule does not give.
func (l *loop) unexplained(ctx context.Context, c *class, nearest *finding, why string) error {
	e := &unexplainedError{What: fmt.Sprintf("element (%d,%d) and %d more: %s", c.rows[0], c.columns[0], len(c.positions)-1, why)}
	for _, s := range nearest.samples {
		wrong, got, err := l.judge.differs(ctx, nearest.kernel(), s)
		if err != nil || got == nil {
			break
		}
		if len(wrong) > 0 {
			row, column := wrong[0]/s.N, wrong[0]%s.N
			e.Witness = l.witness(c.rows[row], c.columns[column], row, column, s, got)
			break
		}
	}
	return e
}

// short cuts a text that is too long to be read.
func short(text string) string {
	const most = 2000
	if len(text) > most {
		text = text[:most] + "..."
	}
	return text
}
