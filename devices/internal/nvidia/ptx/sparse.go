package ptx

import (
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// A sparse instruction is presented as the dot product of the elements that A
// keeps. Which they are is fixed: four groups of columns, each with another
// choice, again and again. So the metadata of 16 columns (or what corresponds to
// them) are one 16-bit word, the same for all rows and for the whole of K: every
// half of every lane's metadata register holds it, and it does not matter which
// lane and half the hardware reads for which rows and columns.

// keeps is the choice of a group: the two units that it keeps of four, or the one
// of two (twice, for its two halves: TF32).
type keeps [2]int

// choices are what the four groups keep. All four units are kept by some group
// and dropped by another.
var (
	choices     = [4]keeps{{0, 3}, {1, 2}, {0, 2}, {1, 3}}
	choicesTF32 = [4]keeps{{0, 1}, {2, 3}, {2, 3}, {0, 1}}
)

// group returns the choices of a form and the columns of a unit: 2:4 of elements,
// 4:8 of pairs of them (FP4 in mxf4*), 1:2 of elements that count as two units.
func (f *form) group() ([4]keeps, int) {
	switch {
	case f.inst.A == fp.TF32:
		return choicesTF32, 0
	case strings.HasPrefix(f.kind, "mxf4"):
		return choices, 2
	}
	return choices, 1
}

// kept returns the column of B that meets the k-th element that A keeps.
func (f *form) kept(k int) int {
	c, unit := f.group()
	if unit == 0 { // one element a group: half of the first unit that it keeps
		return 2*k + c[k%4][0]/2
	}
	g, within := k/(2*unit), k%(2*unit)
	return 4*unit*g + unit*c[g%4][within/unit] + within%unit
}

// metadata lays out the metadata register: two bits for each unit that is kept,
// the first lowest (PTX ISA, "Sparse matrix storage").
func (w *warpKernel) metadata() {
	c, _ := w.group()
	word := uint64(0)
	for g, k := range c {
		word |= uint64(k[0]|k[1]<<2) << (4 * g)
	}
	w.e = w.in.take("e", 1, 32)
	o := gpu.Operand{Role: gpu.RoleConst, Bits: 16}
	for half := range 64 {
		o.At = append(o.At, w.e.place(0, half/2, half%2*16))
		o.Fill = append(o.Fill, word)
	}
	w.in.operands = append(w.in.operands, o)
}
