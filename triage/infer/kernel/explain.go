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

// finding is what explains a class.
type finding struct {
	schedule schedule.Schedule // with its unit
	epilogue []schedule.Step
	scales   *schedule.Blocks // of A and B, if they have some
	// dequantize: operands in these formats are multiplied by their scales before all else.
	dequantize *schedule.Quantized
	samples    []*sample
}

// kernel returns it as a kernel of all elements.
func (f *finding) kernel() *schedule.Kernel {
	return &schedule.Kernel{Schedules: []schedule.Schedule{f.schedule}, Epilogue: f.epilogue, ScaleA: f.scales, ScaleB: f.scales, Dequantize: f.dequantize}
}

// unexplainedError says that nothing in the vocabulary gives the results.
type unexplainedError struct {
	What    string
	Witness *Witness // nil: there is none to show
	sample  *sample  // the witness, if what is said is about a class
}

func (e *unexplainedError) Error() string { return e.What }

// explain finds the unit and the schedule of a class.
func (l *loop) explain(ctx context.Context, c *class, seed uint64) (*finding, error) {
	l.enter("reading partial sums of element (%d,%d) and %d more", c.rows[0], c.columns[0], len(c.positions)-1)
	casts, err := l.readCasts(ctx, c)
	if err != nil {
		return nil, err
	}
	l.castTo(casts)
	s, odd := l.read(ctx, c)
	o := &oddError{c.rows[0], c.columns[0], "no integer instruction gives its results", true} // sums of integers have no order to be read
	if !l.D.Integer() {
		o.What = "the operands are too narrow for its partial sums to be read from results, and no accumulator that adds all products in order gives them"
	}
	if odd != nil && !errors.As(odd, &o) {
		return nil, odd
	}
	samples, err := l.sample(ctx, c, seed)
	if err != nil {
		return nil, err
	}
	l.enter("looking for a schedule")
	n := &search{loop: l, units: l.scaledBy(candidates(l.Formats, casts)), samples: append(slices.Clip(c.counters), samples...), wrong: math.MaxInt}
	if l.placed() {
		n.placing = &search{loop: l, samples: n.samples, wrong: math.MaxInt}
		if n.samples, err = l.sampleOnes(ctx, c, seed); err != nil {
			return nil, err
		}
	}
	if len(n.units) == 0 {
		return nil, &unexplainedError{What: fmt.Sprintf("nothing here adds products of %s", l.Formats)}
	}
	if l.scaled() {
		if f, err := n.scaledSums(ctx, 16); f != nil || err != nil {
			return f, err
		}
		return nil, l.unexplained(ctx, c, n.best, "no schedule of scaled sums of integers that is known gives its results")
	}
	if odd != nil || s == nil { // the nearest is one accumulator
		for _, w := range n.widths() {
			if f, err := n.try(ctx, nil, w); err != nil || f != nil && o.Nothing {
				return f, err
			}
		}
		if n.placing != nil { // sums of few bits, which no order changes before they are scaled
			p := &search{loop: l, units: exactUnits(n.units), samples: n.placing.samples, wrong: math.MaxInt, plain: true}
			if f, err := p.scaledSums(ctx, 1); f != nil || err != nil {
				return f, err
			}
			return nil, l.unexplained(ctx, c, p.best, o.Error())
		}
		return nil, l.unexplained(ctx, c, n.best, o.Error())
	}
	if ks := s.lostOnes(); ks != nil {
		s.lost, n.missing = map[uint64]bool{}, schedule.SetOf(ks)
		for _, key := range s.keys {
			s.lost[key] = true
		}
		if f, _, err := n.schedules(ctx, s); f != nil || err != nil {
			return f, err
		}
		s.lost, n.missing = nil, nil
	}
	f, why, err := n.schedules(ctx, s)
	if f != nil || err != nil {
		return f, err
	}
	return nil, l.unexplained(ctx, c, n.best, why+short(s.outline(s.present)))
}

// schedules looks for a schedule with the partial sums that were read, or says why there is none.
func (n *search) schedules(ctx context.Context, s *sums) (*finding, string, error) {
	l := n.loop
	e := &enumeration{ctx: ctx, sums: s, failed: map[uint64]bool{}}
	seen := map[string]bool{}
	for depth := 0; depth <= maxDepth && !e.spent() && n.tried < maxTries && n.unplaced < mostUnplaced; depth++ {
		if e.more = e.more || len(seen) > alternatives(l.K); len(seen) > alternatives(l.K) {
			break
		}
		for _, s.width = range n.widths() {
			// In FP32 and FP64 instructions that add one product at a time are operations.
			if s.several == (s.width == 1) && (s.several || l.A.Get().FracBits >= fp.FP32.Get().FracBits) {
				continue
			}
			for _, levels := range e.levels([][]int32{upTo(l.K)}, depth) {
				key := fmt.Sprint(s.width, l.key(levels))
				if seen[key] {
					continue
				}
				seen[key] = true
				if f, err := n.try(ctx, levels, s.width); f != nil || err != nil {
					return f, "", err
				}
			}
		}
	}
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	if p := n.placing; p != nil && p.best != nil {
		n.best = p.best
		return nil, "a schedule that is right where all scales are one is not where they are others, wherever scales are multiplied in that is known: ", nil
	}
	if n.best == nil {
		if _, err := n.try(ctx, nil, n.widths()[0]); err != nil {
			return nil, "", err
		}
	}
	return nil, e.why(len(seen), n.tried >= maxTries), nil
}

// why says how a search without a finding has ended, after so many schedules.
func (e *enumeration) why(schedules int, tried bool) string {
	switch {
	case schedules == 0 && e.spent():
		return "no schedule with its partial sums was found in the time that a search takes at most: "
	case schedules == 0:
		return "its partial sums are those of no schedule that can be described: "
	case tried || e.more || e.spent():
		return fmt.Sprintf("of the schedules that have its partial sums only the first %d were tried, and no unit that is known here gives its results with one of these: ", schedules)
	case schedules == 1:
		return "no unit that is known here gives its results with the one schedule that was found to have its partial sums: "
	}
	return fmt.Sprintf("no unit that is known here gives its results with one of the %d schedules that were found to have its partial sums: ", schedules)
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
	units   []candidate
	samples []*sample
	order   refuters // elements of kinds that show units and orders
	signs   refuters // elements of all
	best    *finding
	wrong   int
	tried   int
	missing schedule.Set // products that a defect loses
	// placing has the samples in which scales are not one, if samples has those in which they are.
	placing  *search
	plain    bool // partial sums are kept in no other format
	unplaced int  // schedules that are right there, and not with other scales
}

// nearestOf is among how many schedules of scaled sums the nearest is looked for.
const nearestOf = 200

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
	w := b.D.Width()
	return &sample{s.kind, schedule.Shape{M: 1, N: 1, K: s.K}, b.lines(s.matrices, at/s.N, at%s.N), s.d[at*w:][:w]}
}

// orders returns the kinds of matrices that show units and orders, whatever sums start from and becomes of
// subnormal numbers.
func (n *search) orders() []int {
	all := []int{0, 1, slices.Index(kinds, "near ties")}
	if n.A.Get().Emin() < -100 {
		all = append(all, slices.Index(kinds, "opposites"))
	}
	return all
}

func (n *search) widths() []int { return widths(n.units) }

// try returns what explains all samples, nil if nothing does.
func (n *search) try(ctx context.Context, levels []schedule.Level, width int) (*finding, error) {
	for _, cd := range n.units {
		if cd.width != width {
			continue
		}
		for i, f := range variants(n.Formats, cd, levels) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if n.plain && i > 0 {
				break
			}
			if n.tried > maxTries || n.unplaced >= mostUnplaced {
				return nil, nil
			}
			f.schedule.Missing = n.missing
			f.samples, f.scales, f.dequantize = n.samples, n.blocks(), cd.dequantize
			if n.right(ctx, f.kernel(), &n.order, n.orders()...) {
				if g := n.starts(ctx, f); g != nil {
					if g = n.withScales(ctx, g); g != nil {
						return g, nil
					}
				}
			}
			if i > 0 || n.scaled() && n.tried > nearestOf { // only another unit of a tail, or enough were compared
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
		for _, t := range tailVariants(f, cd.unit, l.Tail) {
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
	if len(levels) > 0 && !levels[0].Merge.Chain() && cd.acc == fp.FP32 && f.D.Width() > 1 {
		for _, kept := range keptFormats {
			stored := slices.Clone(levels)
			stored[0].Merge.Parts, stored[0].Merge.Store = kept[0], kept[1]
			if end, ok := cd.scaling.steps(castTo(f.D), f.D); ok {
				all = append(all, &finding{schedule: schedule.Schedule{Unit: &cd.unit, Levels: stored}, epilogue: end})
			}
		}
	}
	for _, to := range sumFormats[cd.acc] {
		for n := range levels {
			if levels[n].Merge.Chain() || n > 0 && cd.acc == fp.FP32 {
				break
			}
			for _, c := range choices {
				promoted := slices.Clone(c)
				for i := range n + 1 {
					promoted[i].Merge.Format, promoted[i].Merge.Parts = to, to
				}
				for _, cast := range castsTo(to, f.D) {
					if end, ok := cd.scaling.steps(cast, f.D); ok {
						all = append(all, &finding{schedule: schedule.Schedule{Unit: &cd.unit, Levels: promoted}, epilogue: end})
					}
				}
			}
		}
	}
	return all
}

// keptFormats are narrower formats of partial sums in FP32 and of their sums, as where these go through
// memory in the format of the result.
var keptFormats = [][2]fp.ID{{fp.None, fp.BF16}, {fp.BF16, fp.None}, {fp.BF16, fp.BF16}, {fp.None, fp.FP16}, {fp.FP16, fp.None}, {fp.FP16, fp.FP16}}

// sumFormats are other formats in which partial sums are added, by that of the accumulator.
var sumFormats = map[fp.ID][]fp.ID{fp.FP64: {fp.FP32}, fp.FP32: {fp.FP64}, fp.FP16: {fp.FP32}, fp.BF16: {fp.FP32}}

// castTo is the epilogue of a sum in another format.
func castTo(id fp.ID) []schedule.Step { return []schedule.Step{{Op: "cast", Format: id}} }

// tailVariants returns a tail, and that with other units.
func tailVariants(f mma.Formats, u schedule.Unit, t *schedule.Tail) []*schedule.Tail {
	all := []*schedule.Tail{t}
	if t == nil || t.Into == "drop" {
		return all
	}
	units := operations(f)
	if u.Casts() {
		units = append(castOperations(f, cast{u.CastA, u.CastB}), units...)
	}
	for _, other := range units {
		if own := t.Into == "after" || t.Into == "apart"; !own && (other.unit.Sum != fp.None || other.unit.Start != "" || len(other.epilogue) > 1) {
			continue
		}
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
	for _, outer := range n.cleared(f) {
		var folds []int // the levels whose sums may start with zero
		for i, l := range levels {
			if l.Merge.Order == "forward" || l.Merge.Order == "reverse" {
				folds = append(folds, len(outer)+i)
			}
		}
		for _, subnormals := range []string{"", "zero"} {
			if subnormals != "" && f.schedule.Unit.Op == "" {
				break
			}
			for _, start := range []string{"", "empty"} {
				for choice := range 1 << len(folds) {
					g := f.with(subnormals, start)
					g.schedule.Levels = slices.Concat(outer, g.schedule.Levels)
					for bit, i := range folds {
						g.schedule.Levels[i].Merge.Start = []string{"", "zero"}[choice>>bit&1]
					}
					if g.kernel().Validate() == nil && n.right(ctx, g.kernel(), &n.signs) {
						return g
					}
				}
			}
		}
	}
	return nil
}

// cleared returns the levels by which a whole sum may be added to zero, none first. A sum in FP64 may be
// rounded to FP32 before.
func (n *search) cleared(f *finding) [][]schedule.Level {
	l := schedule.Level{Cut: schedule.Cut{By: "size", N: n.K}, Merge: schedule.Merge{Order: "forward", Start: "zero"}}
	if n.scaled() {
		l.Merge.Format = fp.FP32
	}
	all := [][]schedule.Level{nil, {l}}
	if n.D == fp.FP32 && f.schedule.Unit.Acc == fp.FP64 {
		l.Merge.Format, l.Merge.Parts = fp.FP32, fp.FP32
		all = append(all, []schedule.Level{l})
	}
	return all
}

// with returns a finding with other subnormals, and with accumulators that start from
// something else.
func (f *finding) with(subnormals, start string) *finding {
	g := *f
	g.schedule = withUnits(f.schedule, func(u *schedule.Unit) {
		if u.Subnormals = subnormals; u.Start != "second" {
			u.Start = start
		}
	})
	return &g
}

// unexplained returns an error with an element that the nearest schedule does not give.
func (l *loop) unexplained(ctx context.Context, c *class, nearest *finding, why string) error {
	e := &unexplainedError{What: fmt.Sprintf("element (%d,%d) and %d more: %s", c.rows[0], c.columns[0], len(c.positions)-1, l.changed+why)}
	for _, s := range nearest.samples {
		wrong, got, err := l.judge.differs(ctx, nearest.kernel(), s)
		if err != nil || got == nil {
			break
		}
		if len(wrong) > 0 {
			row, column := wrong[0]/s.N, wrong[0]%s.N
			e.sample = l.element(s, wrong[0])
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
