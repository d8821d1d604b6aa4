package gemm

import (
	"context"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Elements returns some elements of D, each a row and a column, and their format.
func Elements(ctx context.Context, k *schedule.Kernel, o *Operands, at [][2]int, opt Options) ([]uint64, fp.ID, error) {
	plans, o, err := plansAt(ctx, k, o, at)
	if err != nil {
		return nil, 0, err
	}
	units := newUnits(opt.Open)
	ready := map[*schedule.Plan]*prepared{}
	codes := make([]uint64, len(at))
	m := &machine{k: k, o: o}
	for i, p := range plans {
		if ready[p] == nil {
			if ready[p], err = prepare(p, units); err != nil {
				return nil, 0, err
			}
		}
		d, err := m.one(ctx, ready[p], at[i])
		if err != nil {
			return nil, 0, err
		}
		codes[i] = mma.Load(d, p.D.Width(), 0)
	}
	return codes, plans[0].D, ctx.Err()
}

// plansAt returns the plans of some elements, and the operands as their units have them.
func plansAt(ctx context.Context, k *schedule.Kernel, o *Operands, at [][2]int) ([]*schedule.Plan, *Operands, error) {
	plans, err := k.PlansAt(o.Shape, o.Given(), at)
	if err != nil {
		return nil, nil, err
	}
	if o, err = unitOperands(ctx, k, o); err != nil {
		return nil, nil, err
	}
	var last *schedule.Plan
	for _, p := range plans {
		if p == last { // most elements have the plan of the one before
			continue
		}
		if err := checkOperands(p, o); err != nil {
			return nil, nil, err
		}
		last = p
	}
	return plans, o, nil
}

// one does the operations of a plan for one element.
func (m *machine) one(ctx context.Context, p *prepared, at [2]int) ([]byte, error) {
	return m.evaluate(ctx, &block{rows: at[:1], columns: at[1:], plan: p})
}

// Partial is a value that comes up while an element is computed.
type Partial struct {
	What string
	Step []int32 // the products that a step of a unit has added
	Down bool    // the step follows one with larger k
	N    int     // the products that it is the sum of
	Set  uint64  // stands for these: values with the same Set are sums of the same products
	Code uint64
	D    fp.ID
	Same bool // it is the value, or the zero, to which something was added
}

// Trace returns the values that come up while an element is computed, in their order: after
// every step of a unit and every other operation.
func Trace(ctx context.Context, k *schedule.Kernel, o *Operands, at [2]int, opt Options) ([]Partial, error) {
	plans, o, err := plansAt(ctx, k, o, [][2]int{at})
	if err != nil {
		return nil, err
	}
	p, err := prepare(steps(plans[0]), newUnits(opt.Open))
	if err != nil {
		return nil, err
	}
	for i := range p.last {
		p.last[i] = len(p.last) // all values are kept
	}
	m := &machine{k: k, o: o}
	if _, err := m.one(ctx, p, at); err != nil {
		return nil, err
	}
	all := make([]Partial, len(p.Ops))
	for i, op := range p.Ops {
		x := &all[i]
		*x = Partial{What: op.What, D: op.Unit.D, Code: mma.Load(m.values[i], op.Unit.D.Width(), 0)}
		x.Same = op.Z.Kind != schedule.Value && x.D.Get().Decode(x.Code).Class == fp.Zero
		for _, r := range []schedule.Ref{op.X, op.Y, op.Z} {
			if r.Kind == schedule.Value {
				x.N, x.Set = x.N+all[r.N].N, x.Set+all[r.N].Set
				x.Same = x.Same || x.Code == all[r.N].Code && x.D == all[r.N].D
			}
		}
		if op.K != nil && op.Z.Kind == schedule.Value {
			before := all[op.Z.N].Step
			x.Down = len(before) > 0 && before[len(before)-1] > op.K[0]
		}
		for _, k := range op.K {
			if k >= 0 {
				x.N, x.Set, x.Step = x.N+1, x.Set+mixed(uint64(k)), append(x.Step, k)
			}
		}
	}
	return all, nil
}

// mixed makes numbers of which sums are different (SplitMix64).
func mixed(x uint64) uint64 {
	x = (x + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// steps returns a plan in which every step of a unit is an operation.
func steps(p *schedule.Plan) *schedule.Plan {
	out := &schedule.Plan{D: p.D, Name: p.Name}
	number := make([]int, len(p.Ops)) // in out
	moved := func(r schedule.Ref) schedule.Ref {
		if r.Kind == schedule.Value {
			r.N = number[r.N]
		}
		return r
	}
	for i, op := range p.Ops {
		op.X, op.Y, op.Z = moved(op.X), moved(op.Y), moved(op.Z)
		for len(op.K) > op.Unit.K {
			step := op
			step.K = op.K[:op.Unit.K]
			out.Ops = append(out.Ops, step)
			op.K, op.Z = op.K[op.Unit.K:], schedule.Ref{Kind: schedule.Value, N: len(out.Ops) - 1}
		}
		out.Ops = append(out.Ops, op)
		number[i] = len(out.Ops) - 1
	}
	return out
}
