package triage

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// mostTurned is how many differing cases are turned.
const mostTurned = 64

// turned returns differing cases with a and b exchanged, with each product moved to the next place, and with one
// of their products in all places. A program does the same to both operands and, most often, to all products. A
// defect may be in one operand or in one product alone, and its cases so rare that no other inputs show that.
func (pr *Unknown) turned() (dots []*mma.Dot) {
	f := &pr.Formats
	for n, c := range pr.Differ[:min(len(pr.Differ), mostTurned)] {
		if f.A == f.B {
			d := c.Dot.Clone()
			d.A, d.B, d.SA, d.SB = d.B, d.A, d.SB, d.SA
			dots = append(dots, d)
		}
		if len(c.Dot.A) > 1 && f.Scale == fp.None {
			d, all := c.Dot.Clone(), c.Dot.Clone()
			d.A, d.B = moved(d.A), moved(d.B)
			for k := range all.A {
				all.A[k], all.B[k] = c.Dot.A[n%len(d.A)], c.Dot.B[n%len(d.B)]
			}
			dots = append(dots, d, all)
		}
	}
	return dots
}

// moved returns codes with the last one first.
func moved(codes []uint64) []uint64 {
	last := len(codes) - 1
	return slices.Concat(codes[last:], codes[:last])
}
