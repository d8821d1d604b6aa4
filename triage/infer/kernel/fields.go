package kernel

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Field is a field of a kernel with what other values of it give.
type Field struct {
	Schedule int      `json:"schedule"` // its number
	Name     string   `json:"name"`
	Value    string   `json:"value"`
	Ruled    []string `json:"ruled_out,omitempty"` // values that give other results
	// Open are values that gave the same results: they were not distinguished. Those that are
	// Same are the same operations at this shape.
	Open []string `json:"open,omitempty"`
	Same []string `json:"same,omitempty"`
}

// distinguished reports whether every other value that was tried gives other results.
func (f *Field) distinguished() bool { return len(f.Open)+len(f.Same) == 0 && len(f.Ruled) > 0 }

// mutant is a schedule with another value of a field.
type mutant struct {
	field, was, value string
	s                 schedule.Schedule
}

// fields tries other values of every field on what the black box has answered.
func (l *loop) fields(ctx context.Context, k *schedule.Kernel, classes []*class, findings map[*class]*finding) (all []Field) {
	for n, c := range classes {
		f := findings[c]
		cast := []schedule.Step{{Op: "cast", Format: l.D}} // some mutants end in another format
		own := *f
		own.epilogue = cast
		plan := l.plan(own.kernel())
		at := map[string]int{}
		for _, m := range mutants(&f.schedule) {
			l.enter("trying other values of %s", m.field)
			i, ok := at[m.field]
			if !ok {
				i = len(all)
				at[m.field] = i
				all = append(all, Field{Schedule: n, Name: m.field, Value: m.was})
			}
			g := &finding{schedule: m.s, epilogue: cast}
			other := l.plan(g.kernel())
			to := &all[i].Ruled
			switch {
			case other == nil: // no kernel
				continue
			case reflect.DeepEqual(plan, other):
				to = &all[i].Same
			case l.judge.right(ctx, g.kernel(), f.samples):
				to = &all[i].Open
			}
			*to = append(*to, m.value)
		}
		all = append(all, l.place(ctx, k, n, classes, findings))
	}
	return all
}

// place tries the schedules of the other classes.
func (l *loop) place(ctx context.Context, k *schedule.Kernel, n int, classes []*class, findings map[*class]*finding) Field {
	f := Field{Schedule: n, Name: "where", Value: fmt.Sprintf("%d elements", len(classes[n].positions))}
	for i, c := range classes {
		if i == n {
			continue
		}
		g := &finding{schedule: findings[c].schedule, epilogue: k.Epilogue}
		to := &f.Ruled
		if l.judge.right(ctx, g.kernel(), findings[classes[n]].samples) {
			to = &f.Open
		}
		*to = append(*to, fmt.Sprintf("schedule %d", i))
	}
	return f
}

// plan returns what is done for an element, without words; nil if the kernel is none.
func (l *loop) plan(k *schedule.Kernel) []schedule.Op {
	if k.Validate() != nil {
		return nil
	}
	areas, err := k.Layout(schedule.Shape{M: 1, N: 1, K: l.K}, schedule.Given{})
	if err != nil {
		return nil
	}
	ops := areas[0].Plan.Ops
	for i := range ops {
		u := *ops[i].Unit
		u.Name = "" // fma and a product that is not rounded are told apart by Params
		ops[i].Unit, ops[i].What = &u, ""
	}
	return ops
}

// mutants returns a schedule with every field changed in turn.
func mutants(s *schedule.Schedule) (all []mutant) {
	try := func(field string, was, value any, change func(*schedule.Schedule)) {
		if was == value {
			return
		}
		m := *s
		m.Levels = nil
		for _, l := range s.Levels {
			if l.Tail != nil {
				t := *l.Tail
				l.Tail = &t
			}
			m.Levels = append(m.Levels, l)
		}
		u := *s.Unit
		m.Unit = &u
		change(&m)
		all = append(all, mutant{field, named(was), named(value), m})
	}
	mutateUnit(s.Unit, "unit", func(field string, was, value any, change func(*schedule.Unit)) {
		try(field, was, value, func(m *schedule.Schedule) { change(m.Unit) })
	})
	try("levels", len(s.Levels), 0, func(m *schedule.Schedule) { m.Levels = nil })
	for n := range s.Levels {
		mutateLevel(&s.Levels[n], fmt.Sprintf("levels[%d].", n), s.Unit, func(field string, was, value any, change func(*schedule.Level)) {
			try(field, was, value, func(m *schedule.Schedule) { change(&m.Levels[n]) })
		})
	}
	return all
}

// named writes the value of a field.
func named(v any) string { return cmp.Or(fmt.Sprint(v), "default") }

func mutateUnit(u *schedule.Unit, name string, try func(field string, was, value any, change func(*schedule.Unit))) {
	for _, op := range []string{"fma", "mul-add"} {
		try(name+".op", u.Op, op, func(u *schedule.Unit) { u.Op, u.Product = op, fp.None })
	}
	acc := fp.FP64
	if u.Acc == fp.FP64 {
		acc = fp.FP32
	}
	try(name+".acc", u.Acc, acc, func(u *schedule.Unit) { u.In, u.Acc = cmp.Or(u.In, u.Acc), acc })
	for _, start := range []string{"", "empty"} {
		try(name+".start", u.Start, start, func(u *schedule.Unit) { u.Start = start })
	}
	for _, subnormals := range []string{"", "zero"} {
		try(name+".subnormals", u.Subnormals, subnormals, func(u *schedule.Unit) { u.Subnormals = subnormals })
	}
	if u.Op == "mul-add" {
		for _, product := range []fp.ID{fp.FP32, fp.FP64} {
			try(name+".product", cmp.Or(u.Product, u.Acc), product, func(u *schedule.Unit) { u.Product = product })
		}
	}
}

func mutateLevel(l *schedule.Level, name string, unit *schedule.Unit, try func(field string, was, value any, change func(*schedule.Level))) {
	c := &l.Cut
	for _, n := range []int{c.N - 1, c.N + 1, 2 * c.N, c.N / 2} {
		try(name+"cut.n", c.N, n, func(l *schedule.Level) { l.Cut.N = n })
	}
	for _, by := range []string{"size", "count", "spread", "lanes"} {
		try(name+"cut.by", c.By, by, func(l *schedule.Level) { l.Cut = schedule.Cut{By: by, N: c.N} })
	}
	switch c.By {
	case "size":
		for _, rest := range []string{"", "first", "halve", "halve-down"} {
			try(name+"cut.rest", c.Rest, rest, func(l *schedule.Level) {
				if l.Cut.Rest = rest; rest == "" || rest == "first" {
					l.Cut.Grain = 0
				}
			})
		}
	case "lanes":
		for _, v := range []int{1, 2, 4, 8} {
			try(name+"cut.vector", max(c.Vector, 1), v, func(l *schedule.Level) { l.Cut.Vector = v })
		}
	}
	if c.Grain > 0 || c.By == "count" || c.By == "spread" {
		for _, grain := range []int{1, 2, 4, 8, 16, 32} {
			try(name+"cut.grain", max(c.Grain, 1), grain, func(l *schedule.Level) { l.Cut.Grain = grain })
		}
	}
	for _, order := range []string{"forward", "reverse", "neighbours", "halves", "chain"} {
		try(name+"merge.order", l.Merge.Order, order, func(l *schedule.Level) { l.Merge = schedule.Merge{Order: order} })
	}
	if l.Merge.Order == "forward" || l.Merge.Order == "reverse" {
		for _, start := range []string{"", "zero"} {
			try(name+"merge.start", l.Merge.Start, start, func(l *schedule.Level) { l.Merge.Start = start })
		}
	}
	for _, id := range []fp.ID{fp.FP32, fp.FP64} {
		try(name+"merge.format", cmp.Or(l.Merge.Format, unit.Acc), id, func(l *schedule.Level) { l.Merge.Format = id })
	}
	mutateTail(l, name+"tail", unit, try)
}

func mutateTail(l *schedule.Level, name string, unit *schedule.Unit, try func(field string, was, value any, change func(*schedule.Level))) {
	t := l.Tail
	if t == nil {
		return
	}
	try(name, "there is one", "none", func(l *schedule.Level) { l.Tail = nil })
	for _, of := range []int{t.Of / 2, t.Of * 2, t.Of - 1, t.Of + 1} {
		try(name+".of", t.Of, of, func(l *schedule.Level) { l.Tail.Of = of })
	}
	for _, into := range []string{"lane", "deal", "after", "apart", "drop"} {
		try(name+".into", t.Into, into, func(l *schedule.Level) {
			if l.Tail.Into = into; into != "apart" {
				l.Tail.Format = fp.None
			}
			if into != "after" && into != "apart" {
				l.Tail.Unit = nil
			}
		})
	}
	if t.Into == "apart" {
		for _, id := range []fp.ID{fp.FP32, fp.FP64} {
			try(name+".format", cmp.Or(t.Format, unit.Acc), id, func(l *schedule.Level) { l.Tail.Format = id })
		}
	}
	if t.Unit != nil {
		mutateUnit(t.Unit, name+".unit", func(field string, was, value any, change func(*schedule.Unit)) {
			try(field, was, value, func(l *schedule.Level) {
				u := *t.Unit
				change(&u)
				l.Tail.Unit = &u
			})
		})
	}
}
