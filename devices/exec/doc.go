// Package exec makes anybody's simulator a target: exec:COMMAND [ARGS] is a
// child process that mmafuzz talks with over its standard input and output. It
// may be a model in Python, an RTL simulation, an emulator, a program on another
// machine behind ssh, or a board behind a serial line.
//
//	mmafuzz list instructions "exec:python3 double.py"
//	mmafuzz run --a "exec:python3 double.py" --b ref:fma64 --nan class
//	mmafuzz run --a "exec:./Vmma +seed=1" --b sim:hopper --inst mma.m16n8k16.f32.f16.f16.f32
//
// COMMAND is cut into words at blanks. Single quotes, double quotes and
// backslashes are those of a POSIX shell; on Windows a backslash is one of a path,
// but before a quote outside of quotes. No shell is involved, and nothing else is
// special. The command is part of the target's name and
// stands in bundles: replay, minimize and triage show it and ask before they run it.
//
// A child is a black box: even one whose instruction bears a name of the
// catalogue is not believed to compute as the catalogue says.
//
// # Header
//
// The child speaks first. It writes lines of text, in both modes:
//
//	mmafuzz-exec 1 binary
//	instruction mma.m16n8k16.f32.f16.f16.f32 m=16 n=8
//	instruction mine k=4 a=e4m3 b=e5m2 c=none d=fp32 scale=ue8m0 block=4 n=8..256/8
//	batch 4096
//	deadline 2m
//	children 1
//	about simulator Verilator 5.030
//	ready
//
// The first line has the version of the protocol, 1, and the mode, binary or
// text. At least one instruction follows, and the last line is ready. The others
// are in any order and may be missing.
//
//   - instruction NAME or ARCH/NAME, then key=value. k is the products per output;
//     a, b, c, d and scale are formats (mmafuzz list formats), or names that describe
//     one, such as e5m3 and e4m3-b11-fnuz (go doc ./sim/fp); c=none for an
//     instruction without C; b=one and k=1 for an operation of A alone, such as a conversion, and b=rbits16 for
//     one that gets 16 random bits for stochastic rounding (rbits1 to rbits32); block is the products per scale,
//     up to all K of a row or column (of whole products of quantized matrices infer --shape finds where scales are multiplied in); down=N multiplies every
//     product by 2^-N; round=MODE is the rounding mode (rne, rz, rd, ru or rna) that the instruction
//     uses, as references then do; flags=RULE means that answers carry exception flags, see below. If the name is one of
//     the catalogue's ISA names, k and the formats may be left out, and what is given
//     must be what the ISA says. m and n are the rows and columns of a tile that the
//     child takes: N, MIN..MAX or MIN..MAX/STEP; without them it takes any (in text
//     mode: one). Campaigns send tiles of 1 x 1 and 16 x 8, as far as the child takes
//     them; probe and infer try all sizes at which a library may go over to other code.
//   - batch: the most dot products in a request. Slow children give a small number,
//     so that a request does not run into its deadline.
//   - deadline: the time for the answer to a request (in text mode: for a line), as
//     500ms, 30s or 1h; 30s if it is missing. A child that takes longer is killed.
//   - children: how many children may run at a time, for a licence or a board.
//     Otherwise there is one for each processor, at most.
//   - about WORD TEXT: what results may depend on. It goes into bundles.
//   - cannot TEXT: there is nothing to test here, TEXT says why (no licence, no
//     device). It is the last line, in place of ready.
//
// A line has at most 4 KiB and the header at most 4096 lines. The child has five
// minutes to write it. Every child that is started must write the same header, except
// for about.
//
// # Binary mode
//
// After ready, mmafuzz sends requests and the child answers each before it gets the
// next. All numbers are 32 bits, unsigned, little endian. A request is
//
//	bytes 0..3   "mmaQ"
//	      4..7   id of the request
//	      8..11  instruction: its number in the header, from 0
//	     12..15  M, rows of a tile
//	     16..19  N, columns of a tile
//	     20..23  K, the instruction's
//	     24..27  number of tiles
//	     28..31  bytes of the payload, at most 64 MiB
//	     32..35  CRC-32 (IEEE 802.3, as in zlib) of the payload
//	     36..    payload: A, B, C, SA, SB
//
// The payload is the buffers of mma.Batch one after the other: A [tile][row m][k],
// B [tile][column n][k], C [tile][row m][column n], the scales SA [tile][row m][block]
// and SB [tile][column n][block]. An element is a little-endian code of its format's
// container: 1 byte for FP8, FP6 and FP4 (in the low bits) and scales, 2 for FP16 and
// BF16, 4 for FP32 and TF32 (the register), 8 for FP64. There is no padding between
// the buffers; C of format none and scales of an instruction without them take no
// bytes. An answer is
//
//	bytes 0..3   "mmaD"
//	      4..7   id of the request
//	      8..11  status: 0, the payload is D; 1, the payload is text that says what
//	             is wrong with this request (at most 4 KiB); 2, the payload is
//	             text as after about in the header, about this instruction, and
//	             the answer follows; 3, the payload is text that says what is
//	             wrong whatever the request (out of memory, no licence): that is
//	             no finding, and the campaign ends until it is put right
//	     12..15  bytes of the payload
//	     16..19  CRC-32 of the payload, or 0 for none
//	     20..    payload: D [tile][row m][column n]; with flags= then a byte of
//	             flags for each, in the same order
//
// # Text mode
//
// After ready, each line that the child gets is a dot product in the text form of
// mmafuzz eval, with all K elements:
//
//	3c00,3c00,0000,0000 3c00,0c00,0000,0000 00000000 [sa=7f,.. sb=7f,..]
//
// In place of C an instruction without one gets "-". If the child has several
// instructions, the name stands at the beginning of the line. The child
// answers with a line: D in hexadecimal, all digits of its container, or the word
// error and a text. It must flush its output after each line. Lines are sent ahead:
// the next ones do not wait for the answer.
//
// # Flags
//
// With flags=RULE an answer carries the IEEE 754 exceptions that the operation has raised: in binary
// mode in bytes after D, in text mode in two digits after a blank, 7f800000 05. They are the sum of 1
// inexact, 2 underflow, 4 overflow, 8 division by zero and 16 invalid, as in RISC-V's fflags. RULE is
// x86, riscv or arm and says what IEEE 754 leaves open: go doc ./sim/fp FlagRule. The flags are the
// results of an instruction NAME.flags, in the format fp32-flags-x86 (of D in FP32), which is compared,
// recorded and bundled like any other: with references, which raise flags by the same rule, or with a child
// that has the same rule. A child that can be asked to round in several modes has an instruction
// for each.
//
// # What is asked of a child
//
//   - It ends when its input ends. Processes that it has started are killed when it ends,
//     and it is killed with them when mmafuzz ends, however that happens: see the next
//     section.
//   - An answer depends on its request alone, not on earlier ones. This is checked:
//     cases that differ are run again, alone, and a case whose result changes is unstable. A
//     unit that rounds stochastically is judged by many answers (go doc ./triage/stochastic).
//   - Only answers go to stdout. stderr goes to the log (-v shows it), and its last
//     lines into error messages.
//   - The first request for each instruction is a dot product of zeros.
//
// Longer dot products than K are made of several requests with C = the previous D,
// and tiles of other sizes than m and n allow are filled up with zeros. A single dot
// product is the corner of a tile.
//
// # What happens to a bad child
//
// A child that ends, takes longer than its deadline, or writes something else than the
// answer, is killed with all processes that it has started, and the next request gets
// a new child. If the child had answered other requests before, the same request is
// tried once more on a new child, unless it took too long; in text mode the lines that it has
// answered before it ended count. A child that ends again and again after the same number of dot
// products, whatever they are, is replaced before its end from the third time on, and a warning
// says so; with a batch of at most that number in its header no request is lost on the way
// there. If the new child fails too, it is a finding: the campaign runs the inputs of the
// batch one by one and counts the guilty ones as faults. Lengths that a child announces
// are checked before memory is spent on them.
//
// No child outlives mmafuzz, even if mmafuzz is killed by kill -9. On Unix each
// child has a supervisor, which ps shows as "mmafuzz: supervisor of" it: it notices
// the end of mmafuzz and kills all processes below it. On Linux it also finds processes
// in sessions of their own and those whose parents have ended, elsewhere only those of
// the child's process group. On Windows they are in a job object.
//
// # Example: a Python model in twenty lines
//
// This is testdata/double.py except for its imports:
//
//	print("mmafuzz-exec 1 text")
//	print("instruction dot4 a=fp16 b=fp16 c=fp32 d=fp32 k=4")
//	print("ready", flush=True)
//
//	def half(code):
//	    return struct.unpack(">e", bytes.fromhex(code))[0]
//
//	def single(x):
//	    try:
//	        return struct.pack(">f", x).hex()
//	    except OverflowError:
//	        return struct.pack(">f", math.copysign(math.inf, x)).hex()
//
//	for line in sys.stdin:
//	    a, b, c = line.split()
//	    total = struct.unpack(">f", bytes.fromhex(c))[0]
//	    for x, y in zip(a.split(","), b.split(",")):
//	        total += half(x) * half(y)
//	    print(single(total), flush=True)
//
// With the Python package (cmd/python) a function of NumPy arrays is a child in binary mode by one
// line, @mmafuzz.serve(k=4, a="fp16", b="fp16", c="fp32", d="fp32"): see mmafuzz help exec.
//
// # Example: an RTL simulation built by Verilator
//
// testdata/verilator has a unit in SystemVerilog (tfdpa4.sv: four FP16 products and
// an FP32 accumulator, aligned and truncated to 24 bits, a pipeline of four clocks),
// a model file that says what it shall compute (tfdpa4.json), and a harness in C++
// (main.cpp):
//
//	verilator -O3 --cc --exe --build tfdpa4.sv main.cpp
//	mmafuzz run --a exec:obj_dir/Vtfdpa4 --b model:tfdpa4.json
//	mmafuzz run --a "exec:obj_dir/Vtfdpa4 binary" --b model:tfdpa4.json
//
// The harness writes the header and then, in text mode, feeds the unit a dot product
// for each line and waits until it comes out:
//
//	printf("mmafuzz-exec 1 text\n"
//	       "instruction tfdpa4 k=4 a=fp16 b=fp16 c=fp32 d=fp32 m=1 n=1\n"
//	       "ready\n");
//	fflush(stdout);
//	unsigned a[4], b[4], c;
//	while (scanf("%x,%x,%x,%x %x,%x,%x,%x %x", a, a + 1, a + 2, a + 3, b, b + 1, b + 2, b + 3, &c) == 9) {
//	    dut->a = dut->b = 0;
//	    for (int i = 0; i < 4; i++) {
//	        dut->a |= uint64_t(a[i]) << 16 * i;
//	        dut->b |= uint64_t(b[i]) << 16 * i;
//	    }
//	    dut->c = c;
//	    dut->valid_in = 1;
//	    do {
//	        clock_cycle(); // eval with clk = 0, then with clk = 1
//	        dut->valid_in = 0;
//	    } while (!dut->valid_out);
//	    printf("%08x\n", dut->d);
//	    fflush(stdout);
//	}
//
// In binary mode it feeds a dot product with each clock, which is several times as
// fast. It announces tiles of one dot product, m=1 n=1, so that the buffers of a
// request are arrays of dot products.
//
// $display goes to stdout too: print with $fdisplay(32'h80000002, ...) instead, or
// send printf's output to stderr by dup2 and write answers to a copy of stdout.
//
// # Gallery: libraries and simulators of others
//
// The directory children has children in Python for libraries and simulators that people
// use, one file each, whose head says how it is started and what its options are;
// protocol.py is what they share. If a Python package is missing, too old or damaged, the
// child names it and says how to get it.
//
//	mmafuzz infer --target "exec:python3 devices/exec/children/torch_matmul.py --type bf16" --nan class
//	mmafuzz run --a sim:cdna3 --b "exec:python3 devices/exec/children/mmasim_dpa.py cdna3 --only bf8"
//	mmafuzz infer --target "exec:env ONEDNN_MAX_CPU_ISA=AVX2 python3 devices/exec/children/torch_matmul.py --type bf16" --nan class
//
// Libraries choose their code by the sizes of matrices, so a dot product is a row and a
// column of a matrix whose size is an option (--size 64x64), and each matrix is a call of
// its own; --at 6x0 asks for one dot product a matrix, at one place. They choose by the
// processor too, and variables of the environment (env VARIABLE=VALUE in the command) make
// them choose as on another processor. What they compute, path by path, is in
// children/RESULTS.md for an AMD EPYC (Zen 5) and in children/RESULTS-sapphire-rapids.md for
// an Intel Xeon with AMX. children/survey.py makes these tables; .ci/nightly frameworks runs it
// with the real packages. Their speed, in millions of dot products a second, first
// of single ones, then in tiles of 16x8 (mmafuzz bench targets, one goroutine, on a busy
// machine):
//
//	torch_matmul.py        PyTorch 2.15       BF16  1.6  26
//	                                          FP32  2.3  29
//	                                          FP16  1.3  16
//	numpy_matmul.py        NumPy 2.4          FP32  4.7  24
//	onnxruntime_matmul.py  ONNX Runtime 1.32  FP32  3.7   6.7
//	jax_matmul.py          JAX 0.10           BF16  1.2   2.3
//	mmasim_dpa.py          MMA-Sim 2.1.1      FP16  0.1 in a campaign against sim:hopper
//	spike_dota.py          Spike of 2026-03   E4M3  0.02  0.2
//	triton_dot.py          Triton 3.9         FP16  0.002 0.016
//	tinygrad_wmma.py       tinygrad 0.14      BF16  0.001 0.01
//	vulkan:0 (no child)    llvmpipe of Mesa   FP16  3.6  28
//
// Beside them, with the same command on the same machine (AMD EPYC, Zen 5, two processors)
// when it was less busy, the targets that need no child:
//
//	sim:hopper             the simulator      FP16  46  640
//	model:FILE             tfdpa4.json        FP16  47  840
//	cpu:0                  VDPBF16PS          BF16  14,000  60
//	                       VFMADD231PS        FP32  11,000  58
//	ref:fma64              FP64 FMAs          FP16  4.9  4.8
//	ref:exact              rounded once       FP16  0.08  0.1
//	oracle:hopper          the oracle         FP16  0.06  0.12
//	replay:zen5.rec        VDPBF16PS          BF16  6.9  (a recording has single ones)
//
// VDPBF16PS has K = 2, tfdpa4.json (testdata/verilator) 4, VFMADD231PS 1, all others 16;
// for formats, ref: needs --like sim:hopper.
//
// What mmafuzz found in them is in children/FINDINGS.md, and in which order libraries sum
// whole matrix products in children/KERNELS*.md (mmafuzz infer --shape, by children/kernels.py;
// children/matmul.py is a child that serves a function of two matrices in three lines). Their
// conversions are in children/CONVERSIONS*.md, by children/casts.py; children/exact.py has
// conversions and sums of integers in exact arithmetic.
//
// # Example: a child in Go
//
// See package child.
//
// The API of this package is not promised: it may change in any version.
package exec
