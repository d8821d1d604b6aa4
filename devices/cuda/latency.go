package cuda

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/sass"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// timedSuffix ends the names of kernels that time an instruction.
const timedSuffix = "_timed"

// iterations is how many iterations of the loop are unrolled in a round of its code.
const iterations = 16

// threads matches the line of a kernel that gives the size of its block.
var threads = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.reqntid \d+`) })

// issue is how the instruction of a loop is issued: by how many warps of one block,
// and in how many independent chains of each, which is its instruction-level
// parallelism.
type issue struct{ warps, ilp int }

// matrixLine matches the one mma.sync of a kernel: D, A and B, C, and what follows.
var matrixLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\t(mma\.\S+) \{([^}]*)\}, (\{[^}]*\}, \{[^}]*\}), \{([^}]*)\}(.*);\n`)
})

// suffix ends the name of the kernel that times an issue.
func (s issue) suffix() string { return fmt.Sprintf("%s_w%d_i%d", timedSuffix, s.warps, s.ilp) }

// timed turns a kernel into one that runs its instruction in a loop, after Sun et al.,
// Fig. 4: an iteration issues one instruction of each chain, which takes its previous D
// as C, and ends when all lanes of the warp have arrived. In place of the first register
// of D every warp stores the cycles of the loop. The kernel's name ends in the issue's
// suffix; its third argument is the number of rounds, at least as large as the number
// of warps. ok is false if the instruction is no mma.sync or cannot be chained.
func timed(k *gpu.Kernel, s issue) (source string, ok bool) {
	m := matrixLine().FindStringSubmatch(k.Source)
	i := k.Instruction
	if m == nil || i.C != i.D || strings.Count(k.Source, "\n\tmma.") != 1 {
		return "", false
	}
	d := strings.Split(m[2], ", ")
	c := strings.Split(m[4], ", ")
	width := "b32"
	if strings.Contains(k.Source, ".reg .b64 %d<") {
		width = "b64"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\t.reg .%s %%x<%d>;\n", width, s.ilp*len(d))
	for n := range s.ilp * len(d) {
		fmt.Fprintf(&b, "\tmov.%s %%x%d, %s;\n", width, n, c[n%len(d)])
	}
	var body strings.Builder
	for n := range s.ilp {
		x := chain(n, len(d))
		fmt.Fprintf(&body, "\t%s {%s}, %s, {%s}%s;\n", m[1], x, m[3], x, m[5])
	}
	loop(&b, body.String())
	// Every chain must be stored, or the compiler removes it.
	for n := range s.ilp * len(d) {
		fmt.Fprintf(&b, "\tst.volatile.global.%s [%%out+%d], %%x%d;\n", width, outputs(k, d, n), n)
	}
	b.WriteString(loopEnd)
	head, _, _ := strings.Cut(k.Source, m[0])
	head = strings.Replace(head, k.Entry+"(", k.Entry+s.suffix()+"(", 1)
	return threads().ReplaceAllString(head, fmt.Sprintf(".reqntid %d", 32*s.warps)) + b.String(), true
}

// loop writes the loop around the instructions of an iteration, which leaves its cycles in a
// register.
func loop(b *strings.Builder, iteration string) {
	b.WriteString("\t.reg .b32 %round, %cycles;\n\t.reg .b64 %from, %till;\n\t.reg .pred %more;\n")
	b.WriteString("\tmov.u32 %round, %tiles;\n\tbar.sync 0;\n\tmov.u64 %from, %clock64;\nrounds:\n")
	b.WriteString(strings.Repeat(iteration+"\tbar.warp.sync 0xffffffff;\n", iterations))
	b.WriteString("\tsub.u32 %round, %round, 1;\n\tsetp.ne.u32 %more, %round, 0;\n\t@%more bra rounds;\n\tmov.u64 %till, %clock64;\n")
	b.WriteString("\tsub.u64 %till, %till, %from;\n\tcvt.u32.u64 %cycles, %till;\n")
}

// loopEnd stores the cycles, after everything else, and ends the kernel.
const loopEnd = "\tst.volatile.global.b32 [%out+0], %cycles;\n\tret;\n}\n"

// chain writes the registers of a chain.
func chain(n, registers int) string {
	var names []string
	for r := range registers {
		names = append(names, fmt.Sprintf("%%x%d", n*registers+r))
	}
	return strings.Join(names, ", ")
}

// outputs returns where register n of the chains is stored: at the place of the register
// of D that it stands for.
func outputs(k *gpu.Kernel, d []string, n int) int { return n % len(d) * (k.OutBytes / len(d)) }

// rounds is how often the unrolled code of a loop is run.
const rounds = 1000

// cycles returns the cycles that an iteration takes in the slowest warp; 0 if there is no
// such loop for the instruction, or if the compiler builds it from other instructions,
// some of which it moves out of the loop.
func (c *Checker) cycles(ctx context.Context, k *gpu.Kernel, s issue) (float64, error) {
	source, ok := timed(k, s)
	if !ok {
		return 0, nil
	}
	loop := *k
	loop.Threads, loop.Tiles = 32*s.warps, 0
	m, f, err := c.function(&loop, source, k.Entry+s.suffix())
	if err != nil {
		return 0, fmt.Errorf("timed kernel: %w", err)
	}
	if counts, err := sass.Scan(m.Code); err == nil && !counts.Native(k.Needs) {
		return 0, nil
	}
	in, out := make([]byte, s.warps*k.InBytes), make([]byte, s.warps*k.OutBytes)
	p, err := gpu.NewPacker(k)
	if err != nil {
		return 0, err
	}
	if err := p.Pack(in, mma.NewBatch(k.Instruction.Formats, mma.Shape{M: k.M, N: k.N, K: k.Instruction.K, Tiles: s.warps})); err != nil {
		return 0, err
	}
	if _, err := f.Loop(ctx, in, out, rounds, c.deadline); err != nil {
		return 0, fmt.Errorf("timed kernel: %w", err)
	}
	return slowest(out, k.OutBytes), nil
}

// Issue is how fast an instruction is on one multiprocessor when a number of warps
// issue it, each in a number of independent chains.
type Issue struct {
	Warps      int     `json:"warps"`
	ILP        int     `json:"ilp"`            // instruction-level parallelism: chains of a warp
	Latency    float64 `json:"latency_cycles"` // from one instruction of a chain to its next
	Throughput float64 `json:"per_cycle"`      // multiply-adds, or bytes of a load, a cycle
}

// Pipeline measures the throughput and the latency of an instruction on one
// multiprocessor, as Sun et al. do in section 4: for each number of warps and each
// instruction-level parallelism up to the given ones. It returns nil for an instruction
// that is no mma.sync, or that the compiler builds from others.
func (c *Checker) Pipeline(ctx context.Context, i *mma.Instruction, warps []int, ilp int) ([]Issue, error) {
	ks, err := kernels(i, c.chip)
	if err != nil {
		return nil, err
	}
	return pipeline(warps, ilp, multiplications(ks[0]), func(s issue) (float64, error) { return c.cycles(ctx, ks[0], s) })
}

// multiplications counts the multiplications of an instruction as vendors and papers do:
// with a sparse A, those by its zeros too.
func multiplications(k *gpu.Kernel) int {
	n := k.M * k.N * k.Instruction.K
	if strings.HasPrefix(k.Instruction.Name, "mma.sp.") {
		return 2 * n
	}
	return n
}
