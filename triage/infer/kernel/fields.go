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
	// Open are values that gave the same results on so many Products: they were not distinguished. Those
	// that are Same are the same operations at this shape.
	Open     []string `json:"open,omitempty"`
	Products int      `json:"products,omitempty"`
	Same     []string `json:"same,omitempty"`
}

// distinguished reports whether every other value that was tried gives other results.
func (f *Field) distinguished() bool { return len(f.Open)+len(f.Same) == 0 && len(f.Ruled) > 0 }

// fields tries other values of every field on what the black box has answered, and what that leaves open on more
// products. It returns elements of these that the kernel does not give, if there are some.
func (l *loop) fields(ctx context.Context, k *schedule.Kernel, classes []*class, findings map[*class]*finding) (all []Field, wrong map[int]*counter, err error) {
	for n, c := range classes {
		f := findings[c]
		own := *f
		if own.epilogue == nil {
			own.epilogue = castTo(l.D) // some mutants end in another format
		}
		plan := l.plan(own.kernel())
		at := map[string]int{}
		var open []openValue
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
			switch {
			case sameValues(plan, other) && own.kernel().Preparation() == m.Kernel.Preparation():
				all[i].Same = append(all[i].Same, m.Value)
			case judged.right(ctx, m.Kernel, &judged.signs):
				open = append(open, openValue{i, m.Value, m.Kernel, other})
			default:
				all[i].Ruled = append(all[i].Ruled, m.Value)
			}
		}
		if len(open) > 0 {
			if wrong, err = l.tryOpen(ctx, c, &own, open, all); err != nil || len(wrong) > 0 {
				return nil, wrong, err
			}
		}
		all = append(all, l.place(ctx, k, n, classes, findings))
	}
	return all, nil, nil
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
		relu    schedule.Relu
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
			o := operation{*op.Unit, fmt.Sprint(op.K), of(op.X), of(op.Y), of(op.Z), op.Relu}
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
			to, f.Products = &f.Open, len(findings[classes[n]].samples)
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
