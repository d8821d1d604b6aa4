package cuda

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
)

// timedSuffix ends the names of kernels that time an instruction.
const timedSuffix = "_timed"

// unroll is how many instructions stand in a round of a loop that is timed.
const unroll = 64

// matrixLine is the one mma.sync of a kernel: D, A, B, C and what follows.
var matrixLine = regexp.MustCompile(`(?m)^\t(mma\.\S+) \{([^}]*)\}, (\{[^}]*\}, \{[^}]*\}), \{([^}]*)\}(.*);\n`)

// timed makes of a kernel one that runs its instruction in a loop, in that many
// chains of which each uses its own D as C, and stores the cycles of the loop in
// place of the first register of D. Its name ends in _timed; its third argument is the number of rounds, at
// least as large as the number of warps. false: the instruction is no mma.sync, or
// cannot be chained.
func timed(k *gpu.Kernel, chains int) (source string, ok bool) {
	m := matrixLine.FindStringSubmatch(k.Source)
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
	fmt.Fprintf(&b, "\t.reg .%s %%x<%d>;\n\t.reg .b32 %%round, %%cycles;\n\t.reg .b64 %%from, %%till;\n\t.reg .pred %%more;\n", width, chains*len(d))
	for n := range chains * len(d) {
		fmt.Fprintf(&b, "\tmov.%s %%x%d, %s;\n", width, n, c[n%len(d)])
	}
	b.WriteString("\tmov.u32 %round, %tiles;\n\tmov.u64 %from, %clock64;\nrounds:\n")
	for n := range unroll {
		x := chain(n%chains, len(d))
		fmt.Fprintf(&b, "\t%s {%s}, %s, {%s}%s;\n", m[1], x, m[3], x, m[5])
	}
	b.WriteString("\tsub.u32 %round, %round, 1;\n\tsetp.ne.u32 %more, %round, 0;\n\t@%more bra rounds;\n\tmov.u64 %till, %clock64;\n")
	b.WriteString("\tsub.u64 %till, %till, %from;\n\tcvt.u32.u64 %cycles, %till;\n")
	// Every chain must be of use, or it is left out.
	for n := range chains * len(d) {
		fmt.Fprintf(&b, "\tst.volatile.global.%s [%%out+%d], %%x%d;\n", width, outputs(k, d, n), n)
	}
	b.WriteString("\tst.volatile.global.b32 [%out+0], %cycles;\n\tret;\n}\n")
	head, _, _ := strings.Cut(k.Source, m[0])
	return strings.Replace(head, k.Entry+"(", k.Entry+timedSuffix+"(", 1) + b.String(), true
}

// chain writes the registers of a chain.
func chain(n, registers int) string {
	var names []string
	for r := range registers {
		names = append(names, fmt.Sprintf("%%x%d", n*registers+r))
	}
	return strings.Join(names, ", ")
}

// outputs is where register n of the chains is stored: where that of D is.
func outputs(k *gpu.Kernel, d []string, n int) int { return n % len(d) * (k.OutBytes / len(d)) }
