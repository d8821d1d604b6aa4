package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// panel is what is drawn of one side.
type panel struct {
	letter   string // A or B; "" for a single side
	heading  []string
	blocks   []block
	converts bool // a single number
}

func newPanel(letter string, v *view, c choice) panel {
	p := panel{letter: letter, heading: v.heading(), converts: v.in.converts()}
	var skipped []string
	flush := func() {
		if len(skipped) > 0 {
			p.blocks = append(p.blocks, block{tail: elide(skipped)})
			skipped = nil
		}
	}
	for i := 0; i < len(v.steps); {
		if !v.stepChosen(i, c) {
			n := v.sameResults(i, c)
			skipped = append(skipped, v.skippedSteps(i, n))
			i += n
			continue
		}
		flush()
		p.blocks = append(p.blocks, v.stepBlocks(i, c)...)
		i++
	}
	flush()
	return p
}

// heading names a side and says what its picture is made from.
func (v *view) heading() []string {
	s := v.side
	lines := []string{s.Name}
	switch {
	case s.Failed:
		lines = append(lines, "it failed on this input and gave no result")
		if s.Fault != "" {
			lines = append(lines, s.Fault)
		}
	case s.Trace == nil && s.Steps != nil:
		lines = append(lines, s.Steps...)
	case s.Trace == nil:
		lines = append(lines, "no picture of this side: only its result is known")
	case s.Model != "":
		lines = append(lines, "drawn with "+s.Model+", which gives this result")
	case s.Inferred:
		lines = append(lines, "inferred: drawn with a model that reproduces this result")
	}
	if s.Trace != nil && s.Trace.Result != s.Result {
		lines = append(lines, "the model drawn here gives "+mma.FormatCode(v.in.Formats.D, s.Trace.Result)+", not the side's result")
	}
	return lines
}

func (v *view) stepChosen(i int, c choice) bool {
	return slices.Contains(c[v.steps[i].first:v.steps[i].end], true)
}

// sameResults returns how many steps from i on are not drawn and leave the same
// accumulator as step i does.
func (v *view) sameResults(i int, c choice) int {
	n := 1
	for i+n < len(v.steps) && !v.stepChosen(i+n, c) && v.accumulator(i) == v.accumulator(i+n) && sameValue(v.stepResult(i), v.stepResult(i+n)) {
		n++
	}
	return n
}

func (v *view) skippedSteps(i, n int) string {
	result := v.shortResult(v.steps[i+n-1].end - 1)
	if n == 1 {
		return v.stepName(i) + ": " + result
	}
	name := fmt.Sprintf("steps %d..%d", i, i+n-1)
	if acc := v.accumulator(i); acc != "" {
		name += " of " + acc
	}
	return name + ": " + result + ", the same after each"
}

// elide keeps the first and the last of many lines.
func elide(lines []string) []string {
	const most = 6
	if len(lines) <= most {
		return lines
	}
	out := slices.Clone(lines[:most-2])
	return append(out, fmt.Sprintf("… %d more", len(lines)-most+1), lines[len(lines)-1])
}

// stepBlocks draws the chosen sums of a step and names the results of the
// others.
func (v *view) stepBlocks(i int, c choice) []block {
	var blocks []block
	var skipped []string
	for j := v.steps[i].first; j < v.steps[i].end; j++ {
		if !c[j] {
			skipped = append(skipped, v.skippedSum(j))
			continue
		}
		if skipped != nil {
			blocks = append(blocks, block{tail: elide(skipped)})
			skipped = nil
		}
		blocks = append(blocks, v.block(j))
	}
	if skipped != nil {
		blocks = append(blocks, block{tail: elide(skipped)})
	}
	return blocks
}

func (v *view) skippedSum(i int) string {
	text := v.stepPrefix(i) + v.equation(i)
	if v.sums[i].Place < sim.Join {
		return text + " = " + v.special(v.result(i)) + v.scaleText(i)
	}
	return text + " → " + v.shortResult(i)
}

// shortResult writes the result of a sum as name = code, or its value if it is
// no number of D's format.
func (v *view) shortResult(i int) string {
	r, d := v.result(i), v.in.Formats.D
	text := v.special(r)
	if i == len(v.sums)-1 {
		text = mma.FormatCode(d, v.side.Trace.Result)
	} else if code, ok := codeOf(d, r); ok {
		text = mma.FormatCode(d, code)
	}
	return v.resultName(i) + " = " + text
}

// resultText writes the result of a sum as name = code (value).
func (v *view) resultText(i int) string {
	r := v.result(i)
	switch {
	case i == len(v.sums)-1 && isNaN(r):
		return v.shortResult(i) + " (nan, code " + v.p.Special.NaN.String() + ")"
	case i == len(v.sums)-1 && r.Kind == sim.Inf && !v.in.Formats.D.Get().HasInf(): // the code is one of a NaN or of a number
		d := codeValue(v.in.Formats.D, v.side.Trace.Result)
		return v.shortResult(i) + " (" + brief(&d) + ")"
	case v.sums[i].Place < sim.Join:
		return v.resultName(i) + " = " + v.special(r) + v.scaleText(i)
	}
	if text := v.shortResult(i); !strings.HasSuffix(text, v.special(r)) {
		return text + " (" + v.special(r) + ")"
	}
	return v.shortResult(i)
}

// scaleText names the scales that a group's sum is multiplied by.
func (v *view) scaleText(i int) string {
	s := &v.sums[i]
	if s.Place != sim.Stage0 || v.p.Scale != mma.ScaleGroup {
		return ""
	}
	f, d := v.in.Formats, v.in.Dot
	first := v.steps[v.stepOf[i]].products[0].K + s.Group*int(v.p.Stage0.Group)
	block := first / int(f.Block)
	return ", scales " + Decimal(f.Scale, d.SA[block]) + " * " + Decimal(f.Scale, d.SB[block])
}
