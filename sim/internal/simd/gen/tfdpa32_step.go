package main

// This file emits the routines of a step of T-FDPA on narrow operands, with what the variants
// and instruction sets have in common; the algorithm is described in doc.go, the code of each
// instruction set is in tfdpa32_step_avx2.go and tfdpa32_step_avx512.go.

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// stepKind is a variant of the step of T-FDPA on narrow operands.
type stepKind struct {
	name string
	fp16 bool // accumulators are FP16 and rounded to nearest even; else FP32 and truncated
	fits bool // results keep all 23 fraction bits, and no step's sum reaches 2^31 units: it fits an int32
	// inf: some factor may be Inf. The plain float sum of C and the products then decides
	// which outputs are exceptional, and is Inf or NaN there. Otherwise a product code above
	// Special means a NaN factor, and the output is NaN.
	inf bool
}

// stepCode holds the registers of a step. A vector of outputs is one row by 8 columns
// with AVX2, two rows with AVX-512.
type stepCode struct {
	code
	stepKind
	b, e, c, d, row register
	// With AVX-512:
	vectors   map[string]vec // some of the constants, in all lanes
	scales    [2]vec         // stepLanes.first and second, which spread the outputs' scales over the products
	even, odd vec            // stepLanes.even and odd
}

// steps emits all variants.
func steps() {
	lanes := newStepLanes()
	for _, i := range isas {
		for _, inf := range []bool{false, true} {
			for _, kind := range []stepKind{{name: "step"}, {name: "fitting", fits: true}, {name: "half", fp16: true}} {
				kind.name, kind.inf = named(kind.name, false, inf), inf
				i.step(kind, lanes)
			}
		}
	}
}

// step emits a variant.
func (i isa) step(kind stepKind, lanes *stepLanes) {
	x := i.routine(kind.name, "Step")
	a, b := x.load("A"), x.load("B")
	s := &stepCode{stepKind: kind, code: x, b: b, e: x.load("E"), c: x.load("C"), d: x.load("D")}
	atOnce := uint8(1)
	if i == avx512 {
		atOnce = 2
		s.load512(lanes)
	}
	restore := control(U32(ftzDAZ))
	x.grid(a, b, atOnce, s.rows)
	restore()
	end()
}

// k returns the constant of that name.
func (s *stepCode) k(name string) Op {
	if v, ok := s.vectors[name]; ok {
		return v
	}
	return s.block("Consts").mem(name)
}

// rows emits a step of a vector of outputs, and moves on to the next.
func (s *stepCode) rows(row register) {
	s.row = row
	acc, ec, code, scale, ci := s.vec(), s.vec(), s.vec(), s.vec(), s.vec()
	if s.fp16 {
		VCVTPH2PS(Mem{Base: s.c}, acc)
	} else {
		VMOVUPS(Mem{Base: s.c}, acc)
	}
	VPMOVZXBD(Mem{Base: s.e}, code)
	VPSLLD(U8(23), code, code)
	s.and(s.k("Exponent"), acc, ec)
	var d vec
	if s.isa == avx512 {
		d = s.outputs512(acc, ec, code, scale, ci)
	} else {
		d = s.outputs2(acc, ec, code, scale, ci)
	}
	width := s.bytes()
	if s.fp16 {
		width /= 2
		VCVTPS2PH(U8(0), d, Mem{Base: s.d})
	} else {
		VMOVUPS(d, Mem{Base: s.d})
	}
	if s.isa == avx512 {
		LEAQ(Mem{Base: row, Index: s.load("ARow"), Scale: 2}, row)
	} else {
		ADDQ(s.mem("ARow"), row)
	}
	advance(move{s.e, s.bytes() / 4}, move{s.c, width}, move{s.d, width})
}
