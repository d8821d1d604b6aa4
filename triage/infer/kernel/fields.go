package kernel

import (
	"context"
	"fmt"
	"reflect"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	mutants "github.com/mmafuzz/mmafuzz/triage/kernel"
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

// fields tries other values of every field on what the black box has answered.
func (l *loop) fields(ctx context.Context, k *schedule.Kernel, classes []*class, findings map[*class]*finding) (all []Field) {
	for n, c := range classes {
		f := findings[c]
		own := *f
		if own.epilogue == nil {
			own.epilogue = castTo(l.D) // some mutants end in another format
		}
		plan := l.plan(own.kernel())
		at := map[string]int{}
		judged := &search{loop: l, samples: f.samples}
		for _, m := range mutants.Mutants(own.kernel()) {
			other := l.plan(m.Kernel)
			if m.Field == "" || m.Value == m.Was || other == nil || f.epilogue == nil && m.Label == "epilogue" { // no other value of a field, or no kernel
				continue
			}
			l.enter("trying other values of %s", m.Field)
			i, ok := at[m.Field]
			if !ok {
				i = len(all)
				at[m.Field] = i
				all = append(all, Field{Schedule: n, Name: m.Field, Value: m.Was})
			}
			to := &all[i].Ruled
			switch {
			case sameValues(plan, other) && own.kernel().Preparation() == m.Kernel.Preparation():
				to = &all[i].Same
			case judged.right(ctx, m.Kernel, &judged.signs):
				to = &all[i].Open
			}
			*to = append(*to, m.Value)
		}
		all = append(all, l.place(ctx, k, n, classes, findings))
	}
	return all
}

// sameValues reports whether two plans do the same operations for their last values, in any order in which
// their operands are there.
func sameValues(x, y []schedule.Op) bool {
	if len(x) != len(y) || reflect.DeepEqual(x, y) {
		return len(x) == len(y)
	}
	type operation struct {
		unit    mma.Instruction
		k       string
		x, y, z schedule.Ref
	}
	known := map[operation]int{}
	last := func(ops []schedule.Op) int {
		values := make([]int, len(ops))
		of := func(r schedule.Ref) schedule.Ref {
			if r.Kind == schedule.Value {
				r.N = values[r.N]
			}
			return r
		}
		for i, op := range ops {
			o := operation{*op.Unit, fmt.Sprint(op.K), of(op.X), of(op.Y), of(op.Z)}
			if _, ok := known[o]; !ok {
				known[o] = len(known)
			}
			values[i] = known[o]
		}
		return values[len(ops)-1]
	}
	return last(x) == last(y)
}

// place tries the schedules of the other classes.
func (l *loop) place(ctx context.Context, k *schedule.Kernel, n int, classes []*class, findings map[*class]*finding) Field {
	f := Field{Schedule: n, Name: "where", Value: fmt.Sprintf("%d elements", len(classes[n].positions))}
	for i, c := range classes {
		if i == n {
			continue
		}
		g := &finding{schedule: findings[c].schedule, epilogue: k.Epilogue, scales: findings[c].scales, dequantize: findings[c].dequantize}
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
