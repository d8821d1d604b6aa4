package kernel

import (
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// listed returns the schedules of the literature that take the operands of a kernel, with its unit
// if they have none.
func listed(k *schedule.Kernel) (all []Mutant) {
	for _, l := range schedule.Literature() {
		c := *l
		c.When = schedule.When{}
		if l.NeedsUnit() {
			c.Unit = k.FirstUnit()
		}
		if takesSame(k, &c) {
			s := Sides{Fields: fieldsOf(portable(k), portable(&c)), kernels: [2]*schedule.Kernel{k, &c}}
			all = append(all, Mutant{Label: s.Label(), Words: fmt.Sprintf("its schedule is that of %s (mmafuzz gemm --list)", l.Name), Kernel: &c})
		}
	}
	return all
}

// takesSame reports whether two kernels take the same operands and no scales but those of an instruction.
func takesSame(x, y *schedule.Kernel) bool {
	var of [2]*mma.Instruction
	for i, k := range []*schedule.Kernel{x, y} {
		inst, err := k.FirstUnit().Resolve()
		if err != nil || k.ScaleA != nil || k.ScaleB != nil {
			return false
		}
		of[i] = k.Operands(inst)
	}
	a, b := of[0], of[1]
	return a.A == b.A && a.B == b.B && a.Scale == b.Scale && a.Block == b.Block
}

// The lengths of parts beside which every other change is tried.
const leastPart, mostPart = 64, 512

// cutInParts returns the changes that cut all products in parts of a usual length.
func cutInParts(of *schedule.Kernel, all []Mutant) []Mutant {
	return slices.DeleteFunc(slices.Clone(all), func(m Mutant) bool {
		before, after := of.Schedules[m.Schedule].Levels, m.Kernel.Schedules[m.Schedule].Levels
		if len(after) == 0 || after[0].Cut != (schedule.Cut{By: "size", N: after[0].Cut.N}) || after[0].Merge.Order != "forward" {
			return true
		}
		cuts := len(before) > 0 && before[0].Cut.By == "size" && m.Field == "levels[0].cut.n" ||
			(len(before) == 0 || before[0].Cut.By != "size") && len(after) == len(before)+1
		return !cuts || !slices.Contains(lengths, after[0].Cut.N) || after[0].Cut.N < leastPart || after[0].Cut.N > mostPart
	})
}
