package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// stepKind is a variant of the step of T-FDPA on narrow operands.
type stepKind struct {
	name    string
	special bool // some factors may be Inf: the float sum decides. Else what is special is NaN
	// The accumulators and the sum:
	half bool // FP16, rounded to nearest even; else FP32, truncated
	fits bool // FP32 of 23 fraction bits, and |sum| < 2^31
}

// stepKinds are the variants for one set of instructions.
func stepKinds(suffix string) (kinds []stepKind) {
	for _, special := range []bool{false, true} {
		s := suffix
		if special {
			s = "Special" + suffix
		}
		kinds = append(kinds, stepKind{"step" + s, special, false, false}, stepKind{"fitting" + s, special, false, true}, stepKind{"half" + s, special, true, false})
	}
	return kinds
}

// step emits a variant: the loops over tiles and groups around rows, which moves
// its pointers by what it has done.
func step(kind stepKind, rowsAtOnce uint8, prepare, rows func(s *stepCode)) {
	TEXT(kind.name, NOSPLIT, "func(x *Step)")
	Pragma("noescape")
	x := Dereference(Param("x"))
	s := &stepCode{
		stepKind: kind, x: x,
		a: Load(x.Field("A"), GP64()), b: Load(x.Field("B"), GP64()), e: Load(x.Field("E"), GP64()),
		c: Load(x.Field("C"), GP64()), d: Load(x.Field("D"), GP64()),
	}
	prepare(s)
	restore := control(U32(ftzDAZ))
	times("tiles", x, "Tiles", func() {
		times("groups", x, "Groups", func() {
			row, left := GP64(), Load(x.Field("Rows"), GP64())
			MOVQ(s.a, row)
			s.row = row
			Label("rows")
			rows(s)
			SUBQ(U8(rowsAtOnce), left)
			JG(LabelRef("rows"))
			ADDQ(s.arg("BGroup"), s.b)
		})
		ADDQ(s.arg("ATile"), s.a)
	})
	restore()
	VZEROUPPER()
	RET()
}

// stepCode is what the code of a step refers to.
type stepCode struct {
	stepKind
	x                  gotypes.Component
	a, b, e, c, d, row reg.Register
	// With AVX-512:
	vectors   map[string]reg.VecVirtual // some of the constants, in all lanes
	scales    [2]reg.VecVirtual         // of stepConsts
	even, odd reg.VecVirtual
}

// arg is a field of the arguments, k one of their constants.
func (s *stepCode) arg(name string) Mem { return mem(s.x, name) }
func (s *stepCode) k(name string) Mem   { return mem(s.x.Field("Consts"), name) }

// products emits a loop over the products of a step. four does four of them: k is
// the offset of a row's value, i the number of values behind it. The loop does 8
// at a time, and begins in its middle if the number of products is odd in 4.
func (s *stepCode) products(four func(k reg.Register, i int)) {
	k := GP64()
	XORQ(k, k)
	TESTQ(U32(16), s.arg("L4"))
	JZ(LabelRef("k"))
	SUBQ(U8(16), k)
	JMP(LabelRef("middle"))
	Label("k")
	four(k, 0)
	Label("middle")
	four(k, 4)
	ADDQ(U8(32), k)
	CMPQ(k, s.arg("L4"))
	JL(LabelRef("k"))
}

// addFour adds four vectors to sum: first to each other, because an addition of
// integers that takes the result of a conversion is two cycles late (Golden
// Cove), which a chain of them would feel.
func addFour(add func(ops ...Op), v [4]reg.VecVirtual, sum reg.VecVirtual) {
	add(v[1], v[0], v[0])
	add(v[3], v[2], v[2])
	add(v[2], v[0], v[0])
	add(v[0], sum, sum)
}
