package ptx

import (
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// A sparse instruction is presented as the dot product of the elements that A
// keeps. These are fixed: four groups of columns, each with a choice of its own, again
// and again. So the metadata of the four groups are one 16-bit word, the same for all
// rows and for the whole of K: every half of every lane's metadata register holds it, and
// it does not matter which lane and half the hardware reads for which rows and columns.

// keeps is the choice of a group: the two units that it keeps of four. A TF32 element
// counts as two units, so that a group keeps one element of two.
type keeps [2]int

// choices are what the four groups keep. All four units are kept by some group
// and dropped by another.
var (
	choices     = [4]keeps{{0, 3}, {1, 2}, {0, 2}, {1, 3}}
	choicesTF32 = [4]keeps{{0, 1}, {2, 3}, {2, 3}, {0, 1}}
)

// group returns the choices of a form and the columns of a unit: one element (2:4
// sparsity), a pair of them (4:8, elements of 4 bits), or 0 for half an element (1:2, TF32).
func (f *form) group() ([4]keeps, int) {
	switch {
	case f.inst.A == fp.TF32:
		return choicesTF32, 0
	case f.container(f.inst.A) == 4:
		return choices, 2
	}
	return choices, 1
}

// kept returns the row of B that is multiplied by the k-th element that A keeps.
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
