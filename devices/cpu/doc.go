// Package cpu makes the processor that the program runs on a target: cpu:0. Its
// units are single instructions, in Go assembly, of real silicon; under an
// emulator (qemu-user) the same units show what the emulator does.
//
//	mmafuzz list instructions cpu:0
//	mmafuzz run --a cpu:0 --b sim:x86 --inst vdpbf16ps
//	mmafuzz run --a cpu:0 --b "exec:qemu-x86_64 -cpu max ./mmafuzz serve cpu:0" --inst dpps
//
// The instructions are rows of the catalogue, and their names contain the modes
// under which they are executed (sim/mma/forms.go): dpps.rz.daz.ftz is DPPS with
// MXCSR.RC, DAZ and FTZ set. A unit sets the control register, executes, and
// restores it, all in one assembly function, so that nothing of the Go runtime
// ever sees it changed.
//
// # Exception flags
//
// On x86 NAME.flags is an instruction whose results are the exception flags of IEEE 754 that NAME
// raises: of FMA, DPPS, DPPD and conversions, without DAZ and FTZ, of which the standard does not say
// them. It executes one dot product at a time, and reads MXCSR after each.
//
//	mmafuzz run --a cpu:0 --b ref:exact --inst vfmadd231ps.rd.flags
//	mmafuzz run --a "exec:python3 mine.py" --b cpu:0 --inst-b vcvtps2ph.flags
//
// # Processors of other kinds
//
// Built for Linux on Arm or POWER10 the program has their instructions, and runs on
// such a machine or, in a child, under qemu-user. The tag nogpu leaves out what would
// need a dynamic linker there:
//
//	GOARCH=arm64 go build -tags nogpu -o mmafuzz.arm64 ./cmd/mmafuzz
//	mmafuzz run --a "exec:qemu-aarch64 -cpu max ./mmafuzz.arm64 serve cpu:0" --b sim:arm --inst bfdot
//	GOARCH=ppc64le go build -tags nogpu -o mmafuzz.ppc64le ./cmd/mmafuzz
//	mmafuzz run --a "exec:qemu-ppc64le -cpu power10 ./mmafuzz.ppc64le serve cpu:0" --b sim:power10 --inst xvbf16ger2pp
//
// The program asks which instructions the processor has, so that a missing one is
// missing from the list and does not crash the program: on x86 by CPUID, on Arm by the
// identification registers, which a kernel (and qemu-user) lets programs read, on
// macOS by sysctl, on POWER by the auxiliary vector. Debian 12's QEMU 7.2 has all of
// Arm's but those of FPCR.EBF (QEMU 10) and FP8 (QEMU 11). The tests of this package use
// the emulators on the path, or those in the directories that the variable MMAFUZZ_QEMU
// lists.
//
// # How a unit is made
//
// A unit is a body: an assembly function that executes the instruction on n
// groups of tiles, whose operands stand in the layout of mma.Batch:
//
//	func(d, a, b *byte, n int, control uint64)
//
// d holds C when the body is called and D when it returns, a and b are the factors, and
// control is the value of the control register that the modes ask for. A vector
// instruction computes a dot product in each lane: its tile is 1x1, and a group
// is the lanes of a vector. Everything else (other tiles, longer dot products, a last
// group that is not full) is done in Go for all instructions.
//
// # Adding an instruction
//
//  1. A line in the table of forms of its catalogue file (sim/mma/catalog_*.go):
//     the name, shape and formats; and a row with its arithmetic.
//  2. An assembly function in a file of the processor (x86_amd64.s) and its
//     declaration. Instructions that Go's assembler does not know are written as
//     bytes, with the mnemonic in a comment.
//  3. A line in the table of the processor (table_amd64.go): the mnemonic, the tile,
//     the tiles of a group, the function, and what the processor must have.
//
// The tests range over the tables: nothing else has to be done.
//
// # Adding a processor
//
// A file table_GOARCH.go with the build constraint !purego defines
//
//	const arch = "arm"                       // of the catalogue
//	var why = ""                             // why the table is empty
//	var table = []native{...}                // see native
//	func control(modes []string) uint64      // the control register for the modes of a name
//	func model() string                      // what the processor calls itself
//
// and GOARCH is taken out of the constraint of table_other.go. Processors without
// such a file, and builds with -tags purego, have no instructions and say so.
//
// The API of this package is not promised: it may change in any version.
package cpu
