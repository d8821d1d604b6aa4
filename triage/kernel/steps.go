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

// line is a partial sum in words: what was added or done, with its code, and in which block or lane.
type line struct{ where, what string }

func (l line) String() string { return l.where + l.what }

// Steps returns the partial sums of an element that are not the ones before them, a line each, as two kernels, A and B,
// form them, and in words the first by which one of these differs from the other, "" if there is none. Lines that both
// begin with are left out but for the last.
func Steps(ctx context.Context, kernels [2]*schedule.Kernel, o *gemm.Operands, at [2]int) (texts [2][]string, first string, err error) {
	traces, err := tracesOf(ctx, kernels, o, at, [2]gemm.Options{})
	if err != nil {
		return texts, "", err
	}
	var lines [2][]line
	for i, trace := range traces {
		for _, p := range trace {
			if !p.Same {
				lines[i] = append(lines[i], lineOf(p))
			}
		}
	}
	alike := 0
	for alike < min(len(lines[0]), len(lines[1])) && lines[0][alike].what == lines[1][alike].what {
		alike++
	}
	for i, all := range lines {
		texts[i] = shortened(all, alike)
	}
	for _, side := range []string{"A", "B"} { // A may form nothing else, and less
		if first, _ := diverge(traces); first != "" {
			return texts, side + " forms " + first, nil
		}
		traces[0], traces[1] = traces[1], traces[0]
	}
	return texts, "", nil
}

// shortened writes lines, of which the first ones are alike on both sides.
func shortened(all []line, alike int) (texts []string) {
	if all == nil {
		return []string{"no partial sum is other than what it begins with"}
	}
	if alike > 1 {
		texts, all = []string{fmt.Sprintf("… %s, the same on both sides", readable.Plural(alike-1, "partial sum"))}, all[alike-1:]
	}
	for i, l := range all {
		switch n := len(all); {
		case n <= mostSteps || i < mostSteps-1 || i == n-1:
			texts = append(texts, l.String())
		case i == mostSteps-1:
			texts = append(texts, fmt.Sprintf("… %d more", n-mostSteps))
		}
	}
	return texts
}

// lineOf writes a partial sum: which product was added to what, or what else was done.
func lineOf(p gemm.Partial) (l line) {
	l.what = p.What
	if n := len(p.Step); n > 0 {
		at := strings.LastIndex(", "+p.What, ", k ") // the range of all steps
		if l.where = p.What[:max(0, at-len(", "))]; l.where != "" {
			l.where += ": "
		}
		l.what = fmt.Sprintf("+ p%d", p.Step[0])
		if n > 1 {
			l.what += fmt.Sprintf(" … p%d", p.Step[n-1])
		}
	}
	l.what += fmt.Sprintf(" → %s (%.9g)", mma.FormatCode(p.D, p.Code), p.D.Get().Float64(p.Code))
	return l
}
