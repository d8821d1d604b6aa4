package kernel

import (
	"context"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// mostSteps is how many partial sums of a side are written, those that both sides begin with apart.
const mostSteps = 10

// Steps returns the partial sums of an element that are not the ones before them, a line each, as two kernels
// form them. Lines that both begin with are left out but for the last.
func Steps(ctx context.Context, kernels [2]*schedule.Kernel, o *gemm.Operands, at [2]int) (lines [2][]string, err error) {
	for i, k := range kernels {
		trace, err := gemm.Trace(ctx, k, o, at, gemm.Options{})
		if err != nil {
			return lines, err
		}
		for _, p := range trace {
			if !p.Same {
				lines[i] = append(lines[i], stepOf(p))
			}
		}
	}
	alike := 0
	for alike < min(len(lines[0]), len(lines[1])) && step(lines[0][alike]) == step(lines[1][alike]) {
		alike++
	}
	for i, all := range lines {
		if all == nil {
			lines[i] = []string{"no partial sum is other than what it begins with"}
			continue
		}
		var some []string
		if alike > 1 {
			some, all = []string{fmt.Sprintf("… %s, the same on both sides", readable.Plural(alike-1, "partial sum"))}, all[alike-1:]
		}
		if n := len(all); n > mostSteps {
			some = append(append(some, all[:mostSteps-1]...), fmt.Sprintf("… %d more", n-mostSteps))
			all = all[n-1:]
		}
		lines[i] = append(some, all...)
	}
	return lines, nil
}

// First says which is the first partial sum of an element by which one of two kernels, A and B, differs from the other.
func First(ctx context.Context, k [2]*schedule.Kernel, o *gemm.Operands, at [2]int) string {
	for _, side := range []string{"A", "B"} { // A may form nothing else, and less
		if first, _, err := diverge(ctx, k, o, at, [2]gemm.Options{}); err == nil && first != "" {
			return side + " forms " + first
		}
		k[0], k[1] = k[1], k[0]
	}
	return ""
}

// step returns what a line says without the block where it is.
func step(line string) string { return strings.TrimSpace(line[strings.LastIndex(line, ":")+1:]) }

// stepOf writes a partial sum: which product was added to what, or what else was done.
func stepOf(p gemm.Partial) string {
	what := p.What
	if n := len(p.Step); n > 0 {
		at := strings.LastIndex(", "+what, ", k ") // the range of all steps
		product := fmt.Sprintf("+ p%d", p.Step[0])
		if n > 1 {
			product = fmt.Sprintf("+ p%d … p%d", p.Step[0], p.Step[n-1])
		}
		if what = what[:max(0, at-len(", "))]; what != "" {
			what += ": "
		}
		what += product
	}
	return fmt.Sprintf("%s → %s (%.9g)", what, mma.FormatCode(p.D, p.Code), p.D.Get().Float64(p.Code))
}
