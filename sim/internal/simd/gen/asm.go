package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// loop emits a loop that runs n times, n > 0. It destroys n.
func loop(name string, n reg.Register, body func()) {
	Label(name)
	body()
	DECQ(n)
	JNZ(LabelRef(name))
}

// times emits a loop that runs as often as a field of x says, at least once. It
// counts on the stack, which saves a register.
func times(name string, x gotypes.Component, field string, body func()) {
	n := AllocLocal(8)
	count := Load(x.Field(field), GP64())
	MOVQ(count, n)
	Label(name)
	body()
	DECQ(n)
	JNZ(LabelRef(name))
}

// mem is a field of x as an operand, the first element of an array.
func mem(x gotypes.Component, field string) Mem {
	c := x.Field(field)
	b, err := c.Resolve()
	if err != nil {
		b, err = c.Index(0).Resolve()
	}
	if err != nil {
		panic(field + ": " + err.Error())
	}
	return b.Addr
}

// control sets bits of MXCSR, which are a number or a field of the arguments, and
// returns what sets it back.
func control(bits Op) (restore func()) {
	old, now, r := AllocLocal(8), AllocLocal(8), GP32()
	STMXCSR(old)
	MOVL(old, r)
	ORL(bits, r)
	MOVL(r, now)
	LDMXCSR(now)
	return func() { LDMXCSR(old) }
}

// Bits of MXCSR.
const (
	ftzDAZ    = 0x8040 // subnormal results and operands are zeros
	roundZero = 0x6000
	roundDown = 0x2000
)

// storeUnlessZero stores 1 in a field if a test, which sets the zero flag, finds
// something, else 0.
func storeUnlessZero(x gotypes.Component, field string, test func()) {
	bit := GP32()
	XORL(bit, bit)
	test()
	SETNE(bit.As8())
	Store(bit.As64(), x.Field(field))
}
