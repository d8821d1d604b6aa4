package kernel

import (
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// maxOrderK is up to which K orders of summation are compared.
const maxOrderK = 2048

// firstK returns the least K for which two kernels of models do other operations, or the same
// in another order, 0 if there is none up to maxOrderK. For smaller K they are the same
// function. ok is false if that depends on the place of an element, or cannot be said.
func firstK(a, b *Side) (k int, ok bool) {
	if !a.Modelled || !b.Modelled || places(a.Kernel) || places(b.Kernel) {
		return 0, false
	}
	for k := 1; k <= maxOrderK; k++ {
		x, errX := a.Kernel.PlansAt(schedule.Shape{M: 1, N: 1, K: k}, schedule.Given{}, [][2]int{{0, 0}})
		y, errY := b.Kernel.PlansAt(schedule.Shape{M: 1, N: 1, K: k}, schedule.Given{}, [][2]int{{0, 0}})
		if errX != nil || errY != nil {
			return 0, false
		}
		if !slices.EqualFunc(x[0].Ops, y[0].Ops, sameOp) {
			return k, true
		}
	}
	return 0, true
}

// same says for which K two sides are the same function.
func same(a, b *Side) string {
	switch k, ok := firstK(a, b); {
	case !ok:
		return ""
	case k == 0:
		return fmt.Sprintf("The schedules are the same function for every K up to %d: they do the same operations in the same order.", maxOrderK)
	case k == 1:
		return "The schedules do not do the same operations for K = 1."
	default:
		return fmt.Sprintf("The schedules are the same function for K below %d, and do not do the same operations in the same order for K = %d.", k, k)
	}
}

// places reports whether elements of D have several schedules.
func places(k *schedule.Kernel) bool {
	return len(k.Schedules) > 1 || len(k.Schedules[0].Levels) > 0 && k.Schedules[0].Levels[0].Cut.By == "stream"
}

func sameOp(x, y schedule.Op) bool {
	return x.Unit.Formats == y.Unit.Formats && x.Unit.K == y.Unit.K && x.Unit.Params == y.Unit.Params &&
		slices.Equal(x.K, y.K) && x.X == y.X && x.Y == y.Y && x.Z == y.Z
}
