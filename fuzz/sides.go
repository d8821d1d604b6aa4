package fuzz

import "github.com/mmafuzz/mmafuzz/devices"

// Side is one side of a pair.
type Side struct {
	Target string
	Unit   devices.Unit
}

// Sides returns the side of a pair whose arithmetic explanations start from, and the
// one that they are about. known is false if nothing is known or believed of either:
// then the sides are A and B.
func Sides(p *devices.Pair) (base, box Side, known bool) {
	run := &pairRun{Pair: *p}
	run.chooseSides()
	a, b := Side{p.TargetA, p.A}, Side{p.TargetB, p.B}
	if run.baseUnit != nil && !run.boxIsB {
		return b, a, true
	}
	return a, b, run.baseUnit != nil
}
