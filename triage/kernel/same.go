package kernel

import (
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// maxOrderK is the largest K for which orders of summation are compared.
const maxOrderK = 2048

// firstK returns the least K for which the kernels of two sides do not add the same numbers in the
// same tree, 0 if there is none up to maxOrderK. For smaller K they are the same function. ok is
// false if that depends on the place of an element in D, or cannot be said, as of a side without a model.
func firstK(a, b *Side) (k int, ok bool) {
	if !a.Modelled || !b.Modelled || places(a.Kernel) || places(b.Kernel) {
		return 0, false
	}
	if a.Kernel.Preparation() != b.Kernel.Preparation() {
		return 0, false
	}
	n := &numberer{values: map[node]int{}, units: map[unitKey]int{}}
	for k := 1; k <= maxOrderK; k++ {
		var ops [2][]schedule.Op
		for i, s := range []*Side{a, b} {
			plans, err := s.Kernel.PlansAt(schedule.Shape{M: 1, N: 1, K: k}, schedule.Given{C: true, Bias: true}, [][2]int{{0, 0}})
			if err != nil {
				return 0, false
			}
			ops[i] = plans[0].Ops
		}
		if slices.EqualFunc(ops[0], ops[1], sameOp) {
			continue
		}
		clear(n.values) // those of another K are of no use
		if n.tree(ops[0]) != n.tree(ops[1]) {
			return k, true
		}
	}
	return 0, true
}

// sameFunction reports whether two kernels are the same function for every K up to maxOrderK: no input tells them apart.
func sameFunction(a, b *schedule.Kernel) bool {
	everywhere := func(k *schedule.Kernel) *Side {
		c := *k
		c.When = schedule.When{}
		return &Side{Kernel: &c, Modelled: true}
	}
	k, ok := firstK(everywhere(a), everywhere(b))
	return ok && k == 0
}

// sameOp reports whether two operations are the same at the same place of two plans.
func sameOp(x, y schedule.Op) bool {
	return keyOf(x.Unit) == keyOf(y.Unit) && slices.Equal(x.K, y.K) && x.X == y.X && x.Y == y.Y && x.Z == y.Z && x.Relu == y.Relu
}

// same says for which K two sides are the same function.
func same(a, b *Side) string {
	k, ok := firstK(a, b)
	if k > 0 && a.Kernel.AddsC() && b.Kernel.AddsC() {
		return "What the schedules do with C was not compared: matrix products are drawn without one (mmafuzz gemm --c FILE has it)."
	}
	switch {
	case !ok:
		return ""
	case k == 0:
		return fmt.Sprintf("The schedules are the same function for every K up to %d: they add the same numbers in the same tree.", maxOrderK)
	case k == 1:
		return "The schedules do different operations even for K = 1, which may give the same bits all the same."
	default:
		return fmt.Sprintf("The schedules are the same function for K below %d, and do not add the same numbers in the same tree for K = %d.", k, k)
	}
}

// places reports whether the schedule of an element depends on its place in D.
func places(k *schedule.Kernel) bool {
	return len(k.Schedules) > 1 || len(k.Schedules[0].Levels) > 0 && k.Schedules[0].Levels[0].Cut.By == "stream"
}

// numberer gives each value of plans a number: values with the same number are the same function
// of the operands.
type numberer struct {
	values map[node]int
	units  map[unitKey]int
}

// unitKey is what makes instructions one function.
type unitKey struct {
	f mma.Formats
	k int
	p mma.Params
}

func keyOf(i *mma.Instruction) unitKey { return unitKey{i.Formats, i.K, i.Params} }

// node is a value: x*y + z of a unit, or one step of a unit, which adds z and a list of products: x is
// the number of the list, which is a node as well.
type node struct{ unit, x, y, z int }

// What a node has as its unit if no unit computes it.
const (
	leaf = -1 - iota // an operand
	relu             // x, of which y becomes +0
	list             // a list of products: x is the last one, y the list of those before it
)

// number returns the number of a node.
func (n *numberer) number(v node) int {
	id, ok := n.values[v]
	if !ok {
		id = len(n.values) + 1
		n.values[v] = id
	}
	return id
}

// tree returns the number of the result of a plan.
func (n *numberer) tree(ops []schedule.Op) int {
	values := make([]int, len(ops))
	for i := range ops {
		values[i] = n.op(&ops[i], values)
		if r := ops[i].Relu; r != 0 {
			values[i] = n.number(node{relu, values[i], int(r), 0})
		}
	}
	return values[len(values)-1]
}

// op returns the number of the result of an operation.
func (n *numberer) op(op *schedule.Op, values []int) int {
	ref := func(r schedule.Ref) int {
		if r.Kind == schedule.Value {
			return values[r.N]
		}
		return n.number(node{leaf, int(r.Kind), r.N + int(r.Code>>32), int(uint32(r.Code))}) // no kind has both
	}
	key := keyOf(op.Unit)
	unit, ok := n.units[key]
	if !ok {
		unit = len(n.units)
		n.units[key] = unit
	}
	z := ref(op.Z)
	if op.K == nil {
		x, y := ref(op.X), ref(op.Y)
		f := op.Unit.Formats
		one := op.Y.Kind == schedule.One
		switch {
		case one && f.A == f.D && op.Unit.Params.Acc == mma.FMA(f.D).Acc && op.Z.Kind == schedule.NegZero: // x + -0 is x
			return x
		case one && f.A == f.D: // x + z is z + x
			x, z = min(x, z), max(x, z)
		case f.A == f.B:
			x, y = min(x, y), max(x, y)
		}
		return n.number(node{unit, x, y, z})
	}
	for step := range slices.Chunk(op.K, op.Unit.K) {
		products := 0
		for _, k := range step {
			products = n.number(node{list, int(k), products, 0})
		}
		z = n.number(node{unit, products, 0, z})
	}
	return z
}
