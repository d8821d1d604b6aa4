package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
)

// code is the code of a routine, with its argument block or a block within that.
type code struct {
	isa
	x gotypes.Component
}

// routine begins a routine, whose argument is a pointer to a type of package simd.
func (i isa) routine(name, typ string) code {
	TEXT(name+i.suffix(), NOSPLIT, "func(x *"+typ+")")
	Pragma("noescape")
	return code{i, Dereference(Param("x"))}
}

// end ends a routine.
func end() {
	VZEROUPPER()
	RET()
}

// block is a block within the arguments.
func (c code) block(name string) code { return code{c.isa, c.x.Field(name)} }

// load loads a field into a register.
func (c code) load(name string) register { return Load(c.x.Field(name), GP64()) }

// count loads a number of elements as the number of pieces of 2^shift elements.
func (c code) count(name string, shift uint8) register {
	n := c.load(name)
	SHRQ(U8(shift), n)
	return n
}

// local copies a field to the stack.
func (c code) local(name string) Mem {
	m := AllocLocal(8)
	MOVQ(c.load(name), m)
	return m
}

// mem is a field as an operand: of an array, its first element.
func (c code) mem(name string) Mem {
	field := c.x.Field(name)
	b, err := field.Resolve()
	if err != nil {
		b, err = field.Index(0).Resolve()
	}
	if err != nil {
		panic(name + ": " + err.Error())
	}
	return b.Addr
}

// constant loads a field of 8 bytes into all lanes.
func (c code) constant(name string) vec {
	v := c.vec()
	VPBROADCASTQ(c.mem(name), v)
	return v
}

// constant512 loads a field of 2 or 4 bytes into all lanes of a vector of AVX-512.
func (c code) constant512(size int, name string) vec {
	v := ZMM()
	if size == 2 {
		VPBROADCASTW(c.mem(name), v)
	} else {
		VPBROADCASTD(c.mem(name), v)
	}
	return v
}

// words is a field of words, which AVX2 has in all lanes and AVX-512 loads into them.
func (c code) words(name string) Op {
	if c.isa == avx512 {
		return c.constant512(2, name)
	}
	return c.mem(name)
}

// store1Unless0 stores 1 in a field if a test clears the zero flag, else 0.
func (c code) store1Unless0(name string, test func()) {
	bit := GP32()
	XORL(bit, bit)
	test()
	SETNE(bit.As8())
	Store(bit.As64(), c.x.Field(name))
}

// constants emits read-only data.
func constants[T ~uint8 | ~uint16 | ~uint32 | ~uint64](name string, n int, of func(i int) T) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range n {
		switch v := any(of(i)).(type) {
		case uint8:
			DATA(i, U8(v))
		case uint16:
			DATA(2*i, U16(v))
		case uint32:
			DATA(4*i, U32(v))
		case uint64:
			DATA(8*i, U64(v))
		}
	}
	return m
}

// move is how far a pointer moves on, in bytes.
type move struct {
	pointer register
	by      int
}

// advance moves pointers on.
func advance(moves ...move) {
	for _, m := range moves {
		if m.by < 128 {
			ADDQ(U8(uint8(m.by)), m.pointer)
		} else {
			ADDQ(U32(uint32(m.by)), m.pointer)
		}
	}
}

// loop emits a loop over n > 0 elements, some at a time, which destroys n. Each time
// the pointers move on.
func loop(label string, n Op, atOnce uint8, moves []move, body func()) {
	Label(label)
	body()
	advance(moves...)
	if atOnce == 1 {
		DECQ(n)
		JNZ(LabelRef(label))
	} else {
		SUBQ(U8(atOnce), n)
		JG(LabelRef(label))
	}
}

// times emits a loop that runs as often as a field says, at least once. It counts on
// the stack, which saves a register.
func (c code) times(label, field string, body func()) {
	loop(label, c.local(field), 1, nil, body)
}

// grid emits the loops over the tiles, the groups of columns, and the rows of a group,
// some of these at a time. rows gets the address of the first one in A, which it moves
// on. a and b move on from tile to tile and from group to group.
func (c code) grid(a, b register, atOnce uint8, rows func(row register)) {
	c.times("tiles", "Tiles", func() {
		c.times("groups", "Groups", func() {
			left, row := c.load("Rows"), GP64()
			MOVQ(a, row)
			loop("rows", left, atOnce, nil, func() { rows(row) })
			ADDQ(c.mem("BGroup"), b)
		})
		ADDQ(c.mem("ATile"), a)
	})
}

// fourRows are the addresses of four rows: at the first one, and from the fourth one,
// which is in a register of its own.
func fourRows(first, stride register) (rows [4]Mem, fourth register) {
	fourth = GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, fourth)
	ADDQ(first, fourth)
	return [4]Mem{{Base: first}, {Base: first, Index: stride, Scale: 1}, {Base: first, Index: stride, Scale: 2}, {Base: fourth}}, fourth
}

// Bits of MXCSR.
const (
	ftzDAZ    = 0x8040 // subnormal results and operands are zeros
	roundZero = 0x6000
	roundDown = 0x2000
)

// control sets bits of MXCSR and returns what emits their reset.
func control(bits Op) (restore func()) {
	old, now, r := AllocLocal(8), AllocLocal(8), GP32()
	STMXCSR(old)
	MOVL(old, r)
	ORL(bits, r)
	MOVL(r, now)
	LDMXCSR(now)
	return func() { LDMXCSR(old) }
}
