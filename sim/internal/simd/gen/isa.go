package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is a set of vector instructions: most have the same names in both, on
// vectors of 4 or 8 float64, and comparisons and choices do not.
type isa struct {
	suffix string // of the names of routines
	wide   bool   // AVX-512
}

var isas = []isa{{"AVX2", false}, {"AVX512", true}}

// lanes is the number of float64 in a vector.
func (i isa) lanes() int {
	if i.wide {
		return 8
	}
	return 4
}

// vec allocates a vector.
func (i isa) vec() reg.VecVirtual {
	if i.wide {
		return ZMM()
	}
	return YMM()
}

// half is the lower half of a vector: what has as many elements of half the size.
func (i isa) half(v reg.VecVirtual) reg.Register {
	if i.wide {
		return v.AsY()
	}
	return v.AsX()
}

// broadcast returns a constant of 8 bytes in all lanes.
func (i isa) broadcast(m Mem) reg.VecVirtual {
	v := i.vec()
	VPBROADCASTQ(m, v)
	return v
}

func (i isa) zero() reg.VecVirtual {
	v := i.vec()
	VXORPD(v, v, v)
	return v
}

// The predicates of VCMPPD.
const (
	cmpEQ    = 0
	cmpLT    = 1
	cmpUnord = 3
	cmpNEQ   = 4
	cmpGE    = 13
)

// compare compares float64: x pred y.
func (i isa) compare(pred uint8, x, y Op) reg.Register {
	var m reg.Register = i.mask()
	VCMPPD(U8(pred), y, x, m)
	return m
}

// equal compares integers of 8 bytes.
func (i isa) equal(x, y Op) reg.Register {
	m := i.mask()
	VPCMPEQQ(y, x, m)
	return m
}

// greater compares signed integers of 8 bytes.
func (i isa) greater(x, y Op) reg.Register {
	m := i.mask()
	VPCMPGTQ(y, x, m)
	return m
}

func (i isa) mask() reg.Register {
	if i.wide {
		return K()
	}
	return YMM()
}

// choose puts x into dst where the mask is set.
func (i isa) choose(mask reg.Register, x Op, dst reg.VecVirtual) {
	if i.wide {
		VMOVUPD(x, mask, dst)
	} else {
		VBLENDVPD(mask, x, dst, dst)
	}
}

// only puts x where the mask is set and zero elsewhere into dst.
func (i isa) only(mask reg.Register, x Op, dst reg.VecVirtual) {
	if i.wide {
		VMOVUPD_Z(x, mask, dst)
	} else {
		VANDPD(x, mask, dst)
	}
}

// negative makes a mask of the signs of v.
func (i isa) negative(v reg.VecVirtual) reg.Register {
	if i.wide {
		m := K()
		VPMOVQ2M(v, m)
		return m
	}
	return v
}

// special says which lanes are Inf or NaN.
func (i isa) special(x reg.VecVirtual, expMask reg.VecVirtual) reg.Register {
	if i.wide {
		m := K()
		VFPCLASSPDZ(U8(0x99), x, m)
		return m
	}
	e := YMM()
	VANDPD(x, expMask, e)
	return i.equal(e, expMask)
}
