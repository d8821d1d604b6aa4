// Package gpu has what targets on GPUs of all vendors have in common: a Kernel
// is the program that executes one instruction on a batch of tiles, with the
// places of a tile's operands in its buffers; a Loader is a device
// that takes kernels; Unit makes a devices.Unit of the two, which must pass SelfTest
// before its results are trusted; Target makes a devices.Target of a device,
// and Isolate one whose work is done by child processes.
//
// All knowledge of layouts is on this side, in tables that tests prove to be
// bijections. What runs on the device is the same for every instruction: loads,
// one matrix instruction, stores.
//
// # Buffers
//
// A tile has a packed input of InBytes and a packed output of OutBytes, and the
// tiles of a batch follow one another. In them, the 32-bit word of register r and
// lane l of a group of L lanes is word r*L+l (64-bit registers alike), so
// that every load and store of a warp is one run of memory. Operands that an instruction
// takes from shared memory (wgmma, tcgen05) are a straight copy of a part of the packed
// input.
//
// The API of this package is not promised: it may change in any version.
package gpu

import (
	"context"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Kernel executes one instruction on a batch of tiles. The entry takes three
// arguments: the address of the packed inputs, the address of the packed outputs
// and the number of tiles (32 bits).
type Kernel struct {
	Instruction *mma.Instruction
	Entry       string // name of the function in Source
	Source      string // PTX, HIP C++, or a module of SPIR-V
	Target      string // what Source is for: sm_90a, gfx942
	// Variant distinguishes kernels of one instruction, which must all give the same
	// results, such as those of the operand layouts row.row and col.row. "" is the
	// usual kernel.
	Variant string
	// Driver is the oldest driver that takes Source, as cuDriverGetVersion counts
	// (12040 for 12.4); 0: any.
	Driver   int
	M, N     int // of a tile; K is the instruction's
	Threads  int // of a block
	Tiles    int // how many a block executes; 0: any number, in a loop
	In       []Operand
	Out      Operand
	InBytes  int // of a tile's packed input
	OutBytes int
	// Needs is a pattern for the mnemonic of the machine instruction that executes the
	// instruction natively.
	Needs string
}

// Role says which operand of the dot product an Operand is.
type Role string

// The roles.
const (
	RoleA  Role = "a"
	RoleB  Role = "b"
	RoleC  Role = "c"
	RoleD  Role = "d"
	RoleSA Role = "sa"
	RoleSB Role = "sb"
	// RoleConst is input that does not depend on the dot product, such as the metadata
	// of a sparse A, or padding: Fill is its contents. There may be several.
	RoleConst Role = "const"
)

// Operand describes where the elements of an operand stand in the packed buffer of a
// tile. Elements are numbered as in mma.Batch: A [row][k], B [column][k], C and D
// [row][column], scales [row or column][block].
type Operand struct {
	Role Role
	Bits int // of an element's container, at most 64; bits outside the code are zero
	// At is the bit, counted from the beginning of the tile's buffer, where each
	// element's container begins. Where an instruction wants copies of an element
	// (gfx11), At has several rounds of all elements.
	At []int
	// Shift moves the code up in its container (FP4 in the bits 5..2 of a byte).
	Shift int
	// Fill is the contents of a RoleConst operand, one word of Bits for each At;
	// nil: zeros.
	Fill []uint64
}

// Loader is a device, or something that behaves like one.
type Loader interface {
	// Load makes a kernel ready to run.
	Load(*Kernel) (Loaded, error)
}

// Loaded is a kernel on a device. It is safe for use by several goroutines.
type Loaded interface {
	// Launch runs the kernel on a number of tiles: in and out hold as many packed buffers.
	Launch(ctx context.Context, in, out []byte, tiles int) error
	Close() error
}
