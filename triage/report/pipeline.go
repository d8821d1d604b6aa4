package report

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// stageBox is a part of a unit: what it is called, and what it does.
type stageBox struct {
	name  string
	lines []string
	side  string // what enters from the side
}

// Pipeline draws a program as a block diagram, from the operands at the top to the result.
func Pipeline(f mma.Formats, k int, p *mma.Params) *document.Canvas {
	const width, left, line = 430, 12, 17
	var c document.Canvas
	y := 12
	boxes := pipeline(f, k, p)
	for i, b := range boxes {
		var text []string
		for _, l := range b.lines {
			text = append(text, readable.Wrap(l, (width-24)*10/63)...)
		}
		h := 28 + line*len(text)
		c.Rect(left, y, width, h, "f-shade k-line")
		c.Text(left+12, y+19, "bold", b.name)
		for n, l := range text {
			c.Text(left+12, y+37+line*n, "small", l)
		}
		if b.side != "" {
			c.Path(fmt.Sprintf("M%d %dh-44m10 -5l-10 5l10 5", left+width+50, y+h/2), "k-ink none")
			c.Text(left+width+56, y+h/2+4, "bold", b.side)
		}
		y += h
		if i < len(boxes)-1 {
			c.Path(fmt.Sprintf("M%d %dv20m-5 -8l5 8l5 -8", left+width/2, y), "k-ink none")
			y += 22
		}
	}
	c.Rect(0, y+8, 1, 1, "none")
	return &c
}

// StagesInWords returns the stages of an arithmetic, each as a line.
func StagesInWords(f mma.Formats, k int, p *mma.Params) (lines []string) {
	for _, b := range pipeline(f, k, p) {
		line := b.name + ": " + strings.Join(b.lines, "; ")
		if b.side != "" {
			line += "; with " + b.side
		}
		lines = append(lines, line)
	}
	return lines
}

// pipeline lists the stages that the program uses.
func pipeline(f mma.Formats, k int, p *mma.Params) []stageBox {
	if f.Conversion() && k == 1 {
		return conversion(f, p)
	}
	step := p.Step(k)
	all := []stageBox{{name: "Operands", lines: operandLines(f, p)}, {name: fmt.Sprintf("%d products", k), lines: productLines(p)}}
	for _, s := range []struct {
		name  string
		stage *mma.Stage
	}{{"First partial sums", &p.Stage0}, {"Second partial sums", &p.Stage1}} {
		if s.stage.Sum != mma.Off {
			all = append(all, stageBox{name: s.name, lines: stageLines(s.stage)})
		}
	}
	enters := "accumulator"
	switch {
	case f.C != fp.None && p.Start == mma.StartC:
		enters = "c, then the accumulator"
		if step >= k {
			enters = "c"
		}
	case p.Start != mma.StartC && step >= k:
		enters = ""
	}
	all = append(all, stageBox{name: "Alignment", lines: joinLines(p), side: enters},
		stageBox{name: "Adder", lines: []string{adderText(k, step, p)}},
		stageBox{name: "Rounding", lines: []string{roundText(&p.Acc)}})
	if p.Late != (mma.Round{}) {
		name := "Additions after the last step"
		if p.Lanes < 2 && f.C != fp.None {
			name = "Addition of c after the last step"
		}
		all = append(all, stageBox{name: name, lines: []string{roundText(&p.Late)}})
	}
	return append(all, resultStages(f, p)...)
}

// conversion lists the stages of a conversion: its number is rounded once, or several times.
func conversion(f mma.Formats, p *mma.Params) []stageBox {
	operand := stageBox{name: "Operand", lines: []string{"a of " + f.A.String()}}
	if name := readable.Beside(f); name != "" {
		operand.lines[0] += ", " + name + " of " + f.B.String()
	}
	if p.In.Sub != mma.KeepSub {
		operand.lines = append(operand.lines, "a subnormal a counts as zero")
	}
	all := []stageBox{operand}
	first := func(text string) { all = append(all, stageBox{name: "First rounding", lines: []string{text}}) }
	if p.Prod.Round != (mma.Round{}) {
		first(roundText(&p.Prod.Round))
	}
	if a := p.Join.Align; a.F != 0 {
		first(fmt.Sprintf("to %d significant bits, %s", a.F+1, modeInWords(a.Mode)))
	}
	if p.Join.Post != (mma.Round{}) {
		first(roundText(&p.Join.Post))
	}
	all = append(all, stageBox{name: "Rounding", lines: []string{roundText(&p.Acc)}})
	return append(all, resultStages(f, p)...)
}

// resultStages are the last stages.
func resultStages(f mma.Formats, p *mma.Params) (all []stageBox) {
	if p.Out != (mma.Round{}) {
		all = append(all, stageBox{name: "Rounding of the result", lines: []string{roundText(&p.Out)}})
	}
	if p.Refined() {
		all = append(all, stageBox{name: "Unlike most units", lines: refinementLines(p)})
	}
	return append(all, stageBox{name: "Result d", lines: []string{f.D.String()}})
}

// refinementLines lists the parameters that are set and that make a program refined when
// set alone.
func refinementLines(p *mma.Params) (lines []string) {
	for _, f := range mma.Fields() {
		if f.Refined == 1 && f.Int(p) != 0 {
			lines = append(lines, ParameterInWords(f.Path)+": "+valueInWords(f.Path, f.Text(p), false))
		}
	}
	return lines
}

func operandLines(f mma.Formats, p *mma.Params) []string {
	text := fmt.Sprintf("a of %s, b of %s", f.A, f.B)
	if f.C != fp.None {
		text += ", c of " + f.C.String()
	}
	if f.Scale != fp.None {
		text += fmt.Sprintf(", a %s scale for each %d products", f.Scale, f.Block)
	}
	lines := []string{text}
	if p.In.Sub != mma.KeepSub {
		lines = append(lines, "subnormal a and b count as zero")
	}
	if p.In.C != mma.KeepSub {
		lines = append(lines, "a subnormal c counts as zero")
	}
	return lines
}

func productLines(p *mma.Params) []string {
	if p.Prod.Round == (mma.Round{}) {
		return []string{"exact"}
	}
	return []string{roundText(&p.Prod.Round)}
}

func stageLines(s *mma.Stage) []string {
	how := map[mma.Sum]string{mma.Fused: "all terms of a group in one fused sum", mma.Sequential: "one term after the other", mma.Pairwise: "adjacent terms, as a tree", mma.PairHalves: "term i with term i+n/2 of n, repeated"}[s.Sum]
	switch {
	case s.Split == mma.Interleaved:
		how += fmt.Sprintf(", %d interleaved groups", s.Group)
	case s.Group > 0:
		how += fmt.Sprintf(", groups of %d terms", s.Group)
	}
	lines := []string{how, alignText(&s.Align)}
	if s.Round != (mma.Round{}) {
		lines = append(lines, roundText(&s.Round))
	}
	return lines
}

func joinLines(p *mma.Params) []string {
	lines := []string{alignText(&p.Join.Align)}
	if p.Join.CF != 0 || p.Join.CMode != 0 {
		text := "the accumulator"
		if p.Join.CF != 0 {
			text += fmt.Sprintf(": bits kept: %d", p.Join.CF)
		}
		if p.Join.CMode != 0 {
			text += ", rounded " + modeInWords(p.Join.CMode)
		}
		lines = append(lines, text)
	}
	if p.Join.CDrop != 0 {
		lines = append(lines, fmt.Sprintf("the accumulator is dropped if it is more than %d binades below", p.Join.CDrop))
	}
	return lines
}

// alignText says how terms are aligned.
func alignText(a *mma.Align) string {
	if a.F == 0 {
		return "no term is cut: the sum is exact"
	}
	text := fmt.Sprintf("to the largest exponent; %d bits below it are kept, the rest is rounded %s", a.F, modeInWords(a.Mode))
	if a.Floor != 0 {
		text += fmt.Sprintf("; never below the exponent %d", a.Floor)
	}
	return text
}

func adderText(k, step int, p *mma.Params) string {
	terms := ""
	if p.Stage0.Sum != mma.Off || p.Stage1.Sum != mma.Off {
		terms = "the partial sums of "
	}
	text := fmt.Sprintf("adds %sall %d products at once", terms, k)
	if p.Lanes > 1 {
		text = fmt.Sprintf("deals %d products to %d accumulators in turn; each adds %sall of its own at once", k, p.Lanes, terms)
	}
	if step < k {
		text = fmt.Sprintf("adds %s%s at a time; %d steps, ", terms, readable.Plural(step, "product"), (k+step-1)/step)
		if p.Lanes > 1 {
			return text + fmt.Sprintf("dealt to %d accumulators in turn", p.Lanes)
		}
		text += "each of which goes on with the result of the one before"
	}
	return text
}

// tooLarge is what becomes of numbers that are too large.
var tooLarge = map[mma.Over]string{
	mma.OverInf: "an infinity (a NaN if there is none)", mma.OverIEEE: "what IEEE 754 says",
	mma.OverMax: "the largest number", mma.OverSat: "the largest number, as infinities are",
}

// integerOverflow is what integers do that are too large.
var integerOverflow = map[mma.Over]string{mma.OverWrap: "which wrap around", mma.OverSat: "which saturate"}

// roundText says how a number is rounded.
func roundText(r *mma.Round) string {
	if over := integerOverflow[r.Over]; over != "" && int(r.Emin) == int(r.Frac) { // whose last place is 1
		return fmt.Sprintf("none: integers of %d bits, %s where a sum is too large", r.Frac+1, over)
	}
	var parts []string
	if r.Frac != 0 {
		parts = append(parts, fmt.Sprintf("to %d fraction bits, %s", r.Frac, modeInWords(r.Mode)))
	}
	if r.HasEmin() {
		below := "subnormal"
		if r.Flush != mma.NoFlush {
			below = "zero"
		}
		parts = append(parts, fmt.Sprintf("%s below %s", below, power(int32(r.Emin))))
	}
	if r.Emax != 0 {
		parts = append(parts, fmt.Sprintf("largest exponent %d, above it %s", r.Emax, tooLarge[r.Over]))
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, "; ")
}
