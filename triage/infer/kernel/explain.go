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
		cast := []schedule.Step{{Op: "cast", Format: fp.FP32}}
		for _, u := range []schedule.Unit{{Op: "fma", In: f.A, Acc: fp.FP64}, {Op: "mul-add", In: f.A, Product: fp.FP32, Acc: fp.FP64}} {
			all = append(all, candidate{u, cast})
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
	s, err := l.read(ctx, c)
	if err != nil {
		return nil, err
	}
	samples, err := l.sample(ctx, c, seed)
	if err != nil {
		return nil, err
	}
	l.enter("looking for a schedule")
	n := &nearest{loop: l, samples: samples}
	seen := map[string]bool{}
	for depth := range maxDepth + 1 {
		for _, levels := range s.levels([][]int32{upTo(l.K)}, depth) {
			if key := l.key(levels); seen[key] {
				continue
			} else {
				seen[key] = true
			}
			if f, err := n.try(ctx, levels); f != nil || err != nil {
				return f, err
			}
		}
		if len(seen) > alternatives {
			break
		}
	}
	if n.best == nil {
		n.best = &finding{schedule: schedule.Schedule{Unit: &candidates(l.Formats)[0].unit}, samples: samples}
		return nil, l.unexplained(ctx, c, n.best, "its partial sums are those of no schedule that can be described: "+short(s.outline(s.present)))
	}
	return nil, l.unexplained(ctx, c, n.best, "no unit gives its results, though a schedule has its partial sums: "+short(s.outline(s.present)))
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

// nearest tries units with levels, and keeps what was wrong in the fewest elements.
type nearest struct {
	*loop
	samples []*sample
	best    *finding
	wrong   int
	tried   int
}

// maxTries is how many units and schedules are tried on an element.
const maxTries = 2000

// try returns what explains all samples, nil if nothing does.
func (n *nearest) try(ctx context.Context, levels []schedule.Level) (*finding, error) {
	for _, cd := range candidates(n.Formats) {
		for i, f := range variants(n.Formats, cd, levels) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			f.samples = n.samples
			if n.judge.right(ctx, f.kernel(), n.samples, 0, 1) {
				if g := n.signs(ctx, f); g != nil {
					return g, nil
				}
			}
			if n.tried++; n.tried > maxTries {
				return nil, nil
			}
			if i > 0 { // only another unit of a tail
				continue
			}
			if wrong := n.judge.wrongs(ctx, f.kernel(), n.samples[:len(kinds)], math.MaxInt); n.best == nil || wrong < n.wrong {
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
	return all
}

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

// signs completes a finding by what only zeros and subnormal numbers show: from what sums
// start, and whether subnormal numbers are zeros. nil: not all samples are right, whatever
// it is.
func (l *loop) signs(ctx context.Context, f *finding) *finding {
	for _, subnormals := range []string{"", "zero"} {
		for _, start := range []string{"", "empty"} {
			for _, merge := range []string{"", "zero"} {
				if g := f.with(subnormals, start, merge); l.judge.right(ctx, g.kernel(), f.samples) {
					return g
				}
			}
		}
	}
	return nil
}

// with returns a finding with other subnormals, and with sums that start from something else.
func (f *finding) with(subnormals, start, merge string) *finding {
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
		l := &g.schedule.Levels[i]
		if l.Merge.Order == "forward" || l.Merge.Order == "reverse" {
			l.Merge.Start = merge
		}
		if l.Tail != nil {
			t := *l.Tail
			t.Unit = unit(t.Unit)
			l.Tail = &t
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

// odd turns what a probe has met into an error of a class that is not explained.
func odd(err error) error {
	var o *oddError
	if errors.As(err, &o) {
		return &unexplainedError{What: o.Error()}
	}
	return err
}

// short cuts a text that is too long to be read.
func short(text string) string {
	const most = 2000
	if len(text) > most {
		text = text[:most] + "..."
	}
	return text
}
