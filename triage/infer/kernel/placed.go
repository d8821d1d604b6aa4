package kernel

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// scaleOrders are the orders in which a partial sum, or the whole one, is multiplied by its scales.
var scaleOrders = []string{"(sa*sb)*p", "sa*(sb*p)", "sb*(sa*p)"}

// mostUnplaced is how many schedules that are right where scales are one are tried with others: they are the same
// function but for scales.
const mostUnplaced = 8

// withScales completes a finding, which is right where scales are one, by where scales are multiplied in. nil: not
// all samples with scales are right, wherever it is.
func (n *search) withScales(ctx context.Context, f *finding) *finding {
	p := n.placing
	if p == nil {
		return f
	}
	n.unplaced++
	for _, g := range n.placements(f) {
		k := g.kernel()
		if ctx.Err() != nil {
			return nil
		}
		if k.Validate() != nil {
			continue
		}
		if p.right(ctx, k, &p.signs) && n.right(ctx, k, &n.signs) {
			g.samples = slices.Concat(p.samples, n.samples)
			return g
		}
		if p.tried > nearestOf {
			continue
		}
		if wrong := n.judge.wrongs(ctx, k, p.samples[:min(len(kinds), len(p.samples))], p.wrong); p.best == nil || wrong < p.wrong {
			g.samples = p.samples
			p.best, p.wrong = g, wrong
		}
	}
	return nil
}

// placements returns a finding with scales where they may be multiplied in.
func (n *search) placements(f *finding) (all []*finding) {
	u := f.schedule.Unit
	if i, err := u.Resolve(); err != nil || i.Scale != fp.None || f.dequantize != nil {
		g := *f
		if i.Scale != fp.None { // they are operands of the instruction
			g.scales = nil
		}
		return []*finding{&g}
	}
	if n.Blocks(n.K) == 1 {
		all = append(all, f.inEpilogue()...)
	}
	for i := range f.schedule.Levels {
		all = append(all, f.inLevel(i)...)
	}
	if u.Op == "" {
		return all
	}
	all = append(all, f.beforeProducts(n.A, n.B)...)
	each := *f // product by product
	each.schedule.Levels = append(slices.Clip(f.schedule.Levels), schedule.Level{Cut: schedule.Cut{By: "size", N: 1}, Merge: schedule.Merge{Order: "forward"}})
	all = append(all, each.inLevel(len(f.schedule.Levels))...)
	for _, g := range slices.Clone(all) { // scales of one may show no subnormal number
		if start := g.schedule.Unit.Start; g.schedule.Unit.Subnormals == "" && start != "second" {
			all = append(all, g.with("zero", start))
		}
	}
	return all
}

// inEpilogue multiplies whole sums by scales, before or after they are rounded.
func (f *finding) inEpilogue() (all []*finding) {
	for _, steps := range [][]schedule.Step{{{Op: "scale-ab"}}, {{Op: "scale-b"}, {Op: "scale-a"}}, {{Op: "scale-a"}, {Op: "scale-b"}}} {
		for at := range len(f.epilogue) + 1 {
			g := *f
			g.scales = &schedule.Blocks{Lines: 1}
			g.epilogue = slices.Insert(slices.Clone(f.epilogue), at, steps...)
			all = append(all, &g)
		}
	}
	return all
}

// inLevel multiplies the partial sums of a level by scales. Scales of one do not show whether they are added to zero.
func (f *finding) inLevel(i int) (all []*finding) {
	was := f.schedule.Levels[i].Merge
	if was.Chain() {
		return nil
	}
	starts := []string{""}
	if was.Order == "forward" || was.Order == "reverse" {
		starts = []string{"", "zero"}
	}
	for _, order := range scaleOrders {
		for _, start := range starts {
			for _, fused := range []bool{false, true}[:1+len(start)/len("zero")] {
				g := *f
				g.schedule.Levels = slices.Clone(f.schedule.Levels)
				m := &g.schedule.Levels[i].Merge
				m.Scale, m.Start, m.Fused = order, start, fused
				all = append(all, &g)
			}
		}
	}
	return all
}

// beforeProducts multiplies operands in some formats by scales, and rounds them to formats in which they are then
// multiplied.
func (f *finding) beforeProducts(a, b fp.ID) (all []*finding) {
	ins := []fp.ID{fp.FP32, fp.BF16, fp.FP16}
	if f.schedule.Unit.Acc == fp.FP64 {
		ins = append(ins, fp.FP64)
	}
	for _, in := range ins {
		for _, op := range []string{"fma", "mul-add"} {
			for _, to := range []fp.ID{fp.None, fp.BF16, fp.FP16, fp.TF32} {
				if to != fp.None && in != fp.FP32 {
					continue
				}
				g := *f
				g.dequantize = &schedule.Quantized{A: a, B: b}
				g.schedule = withUnits(f.schedule, func(u *schedule.Unit) {
					if u.In = in; in == u.Acc {
						u.In = fp.None
					}
					if u.Op == op {
						// its product is rounded as it was
					} else if u.Op = op; op == "fma" {
						u.Product = fp.None
					}
					if to != fp.None {
						u.CastA, u.CastB = &schedule.Cast{Format: to}, &schedule.Cast{Format: to}
					}
				})
				all = append(all, &g)
			}
		}
	}
	return all
}

// withUnits returns a schedule whose operations are changed, those of tails, too.
func withUnits(s schedule.Schedule, change func(u *schedule.Unit)) schedule.Schedule {
	of := func(u *schedule.Unit) *schedule.Unit {
		if u == nil || u.Op == "" {
			return u
		}
		c := *u
		change(&c)
		return &c
	}
	s.Unit = of(s.Unit)
	s.Levels = slices.Clone(s.Levels)
	for i := range s.Levels {
		if t := s.Levels[i].Tail; t != nil {
			c := *t
			c.Unit = of(t.Unit)
			s.Levels[i].Tail = &c
		}
	}
	return s
}
