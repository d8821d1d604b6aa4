// Package hip makes AMD GPUs targets: hip:0, hip:1 and so on in the runtime's order.
// What is needed is the HIP runtime, libamdhip64, with hiprtc or a clang; both are
// loaded at run time, so that a program with this package starts without them.
//
//	mmafuzz list instructions hip:0
//	mmafuzz run --a hip:0 --b sim:cdna3 --time 10m
//
// Nothing of this package has been run on an AMD GPU yet. Every kernel is compiled
// and its machine code inspected, the layouts are stated twice and compared, and
// the text of the kernels runs on the host; a libamdhip64 that is made for the
// tests stands in for the runtime. Reports from real hardware are welcome, good or
// bad: each instruction tests itself before its results are trusted
// (gpu.SelfTest).
//
// # Isolation
//
// A GPU that faults ends the process. So hip:0 runs in child processes (mmafuzz
// serve hip:0,inprocess), which are replaced when they fail, and the input that made
// one fail becomes a finding (package exec). Options may follow the name, as in
// hip:0,deadline=2s: see gpu.Options.
//
// # Environment variables
//
//	MMAFUZZ_LIBAMDHIP64  the runtime's file; if not set, libamdhip64.so.7, .6, .5
//	                     or any, in the linker's folders and in $ROCM_PATH/lib
//	                     (/opt/rocm/lib); on Windows amdhip64*.dll in System32 and
//	                     in %HIP_PATH%\bin
//	MMAFUZZ_LIBHIPRTC    hiprtc's file, likewise
//	MMAFUZZ_CLANG        the clang to use where there is no hiprtc; if not set,
//	                     ROCm's or a clang-N on the path
//	MMAFUZZ_HIP_CHIP     the chip (gfx942) where neither /sys/class/kfd nor the
//	                     runtime says it
//	MMAFUZZ_KFD          a folder to read in place of /sys/class/kfd/kfd/topology/nodes
//
// # Kernels
//
// A kernel is HIP C++ text (source.go) that loads registers, executes one matrix
// instruction by its builtin and stores the result: one wave to a block, and as
// many tiles to a wave as the instruction has blocks. The builtin's name and the
// modifiers follow from the name in the catalogue (form.go), and the places of the
// elements from one formula (layout.go).
//
// A sparse instruction is presented as the dot product of the elements that A
// keeps. Its index is constant: the groups of four elements keep the six legal pairs in
// turn, the same in all rows, because these share B. The elements of B that meet no kept
// element are NaN, so that it shows if they count.
//
// # Adding an instruction
//
// A line in sim/mma's catalogue is enough if the name follows the grammar there and
// the layout the formula. Otherwise form.go and layout.go have to be extended, and the
// second statement of the layout in wave_test.go, written from AMD's documents and not
// from layout.go. TestCode checks that the instruction is in the machine code.
//
// The API of this package is not promised: it may change in any version.
package hip
