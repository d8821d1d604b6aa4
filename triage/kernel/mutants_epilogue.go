package kernel

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

var roundings = []string{"", "away", "zero"}

// epilogue changes the steps after the sum.
func (m *mutator) epilogue() {
	for i, s := range m.of.Epilogue {
		m.try("epilogue", "", nil, nil, func(k *schedule.Kernel) { k.Epilogue = slices.Delete(k.Epilogue, i, i+1) }, "there is no %s", s.Op)
		before := m.of.Epilogue[max(0, i-1)]
		m.try("epilogue", "", nil, nil, func(k *schedule.Kernel) { k.Epilogue[max(0, i-1)], k.Epilogue[i] = s, before }, "%s is done before %s", s.Op, before.Op)
		at := fmt.Sprintf("epilogue[%d].", i)
		m.try("epilogue", at+"saturate", s.Saturate, !s.Saturate, func(k *schedule.Kernel) { k.Epilogue[i].Saturate = !s.Saturate }, "%s saturates, or does not", s.Op)
		for _, round := range roundings {
			m.try("epilogue", at+"round", cmp.Or(s.Round, "nearest"), cmp.Or(round, "nearest"), func(k *schedule.Kernel) { k.Epilogue[i].Round = round }, "%s rounds to %s", s.Op, cmp.Or(round, "nearest"))
		}
		for _, sub := range []string{"", "zero"} {
			m.try("epilogue", at+"subnormals", s.Subnormals, sub, func(k *schedule.Kernel) { k.Epilogue[i].Subnormals = sub }, "subnormal numbers of a %s are zeros, or are not", s.Op)
		}
		if s.Op == "relu" {
			for _, zeroes := range []string{"", "-0", "nan", "-0 nan"} {
				m.try("epilogue", at+"zeroes", s.Zeroes, zeroes, func(k *schedule.Kernel) { k.Epilogue[i].Zeroes = zeroes }, "what else than negative numbers becomes zero: %s", cmp.Or(zeroes, "nothing"))
			}
		}
		for _, f := range formats {
			m.try("epilogue", "", nil, nil, func(k *schedule.Kernel) { k.Epilogue[i].Format = f }, "%s is rounded to %s", s.Op, f)
		}
	}
	if isRelu := func(s schedule.Step) bool { return s.Op == "relu" }; !slices.ContainsFunc(m.of.Epilogue, isRelu) {
		m.try("epilogue", "", nil, nil, func(k *schedule.Kernel) { k.Epilogue = append(k.Epilogue, schedule.Step{Op: "relu"}) }, "negative results become zero")
	}
	for at := range len(m.of.Epilogue) + 1 { // after steps in another order
		m.stored(at)
	}
	m.combined()
}

// stored rounds what a step takes, or the result, as where it is stored in a narrower format in between.
func (m *mutator) stored(at int) {
	own := clone(m.of)
	own.When, own.Epilogue = schedule.When{}, own.Epilogue[:at]
	plans, err := own.PlansAt(schedule.Shape{M: 1, N: 1, K: 1}, schedule.Given{C: true, Bias: true}, [][2]int{{0, 0}})
	if err != nil {
		return
	}
	for _, f := range []fp.ID{fp.FP16, fp.BF16, fp.FP32} {
		before, d := "the end", plans[0].D
		if at < len(m.of.Epilogue) {
			before = m.of.Epilogue[at].Op
		} else if d.Integer() || f.Get().FracBits >= d.Get().FracBits {
			continue
		}
		m.try("epilogue", "", nil, nil, func(k *schedule.Kernel) {
			if at == len(k.Epilogue) {
				k.Epilogue = append(k.Epilogue, schedule.Step{Op: "cast"})
			}
			next := &k.Epilogue[at]
			next.Format = cmp.Or(next.Format, d)
			k.Epilogue = slices.Insert(k.Epilogue, at, schedule.Step{Op: "cast", Format: f})
		}, "the sum is rounded to %s before %s", f, before)
	}
}

// combination is a way to combine the sum x with C, alpha and beta.
type combination struct {
	cFirst bool
	ops    []string
	words  string
}

var combinations = []combination{
	{false, []string{"c"}, "the result is x + C of the sum x"},
	{false, []string{"beta-c"}, "the result is fma(beta, C, x) of the sum x"},
	{false, []string{"beta-c-mul"}, "the result is x + beta*C of the sum x, the product rounded"},
	{false, []string{"alpha", "c"}, "the result is alpha*x + C of the sum x, the product rounded"},
	{false, []string{"alpha", "beta-c"}, "the result is fma(beta, C, alpha*x) of the sum x"},
	{false, []string{"alpha", "beta-c-mul"}, "the result is alpha*x + beta*C of the sum x, each product rounded"},
	{false, []string{"alpha-beta"}, "the result is fma(alpha, x, beta*C) of the sum x"},
	{true, nil, "the sum starts from C"},
	{true, []string{"alpha"}, "the sum starts from C and is multiplied by alpha"},
	{false, nil, "C is not added"},
	{false, []string{"alpha"}, "the result is alpha*x of the sum x: C is not added"},
}

// combined combines the sum with C in other ways, with alpha and with beta if the kernel has them.
func (m *mutator) combined() {
	combines := func(s schedule.Step) bool {
		return s.Factor == 0 && slices.ContainsFunc(combinations, func(c combination) bool { return slices.Contains(c.ops, s.Op) })
	}
	at := 0 // where the last of these steps is without the others
	var own []schedule.Step
	has := map[string]bool{}
	for i, s := range m.of.Epilogue {
		if combines(s) {
			at, own, has[s.Op] = i-len(own), append(own, s), true
		}
	}
	alpha, beta := has["alpha"] || has["alpha-beta"], has["alpha-beta"] || has["beta-c"] || has["beta-c-mul"]
	for _, c := range combinations {
		if withAlpha := slices.Contains(c.ops, "alpha") || slices.Contains(c.ops, "alpha-beta"); !m.of.AddsC() || withAlpha != alpha ||
			!beta && (slices.Contains(c.ops, "beta-c") || slices.Contains(c.ops, "beta-c-mul")) {
			continue
		}
		m.try("epilogue", "", nil, nil, func(k *schedule.Kernel) {
			k.CFirst = c.cFirst
			k.Epilogue = slices.DeleteFunc(k.Epilogue, combines)
			for i, op := range c.ops {
				var s schedule.Step
				switch { // it is rounded as the step in its place
				case len(own) == 0:
				case i < len(c.ops)-1:
					s = own[0]
				case len(c.ops) < len(own):
					s = own[len(own)-1]
					s.Format = cmp.Or(s.Format, own[0].Format)
				default:
					s = own[len(own)-1]
				}
				s.Op = op
				k.Epilogue = slices.Insert(k.Epilogue, at+i, s)
			}
		}, "%s", c.words)
	}
}
