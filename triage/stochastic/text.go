package stochastic

import (
	"fmt"
	"math"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Text says in sentences what was found of a unit.
func (j *Judgement) Text(name string) string {
	asked := fmt.Sprintf("%s answers to %d inputs", thousands(j.Answers), j.Inputs)
	switch j.Defect {
	case Third:
		return fmt.Sprintf("%s rounds stochastically, with a defect: an answer is neither neighbour of the exact value. %s", name, j.Case.text(j.Defect, j.Formats))
	case Bias:
		which, bias := "farther from zero", j.Away
		if math.Abs(j.Up) > math.Abs(j.Away) {
			which, bias = "above", j.Up
		}
		text := fmt.Sprintf("%s rounds stochastically, with a defect: it has a bias. The neighbour %s comes %s often than the fractions say, in a share of %.4f of %s; a sound unit shows as much with a probability below 1e%d.",
			name, which, map[bool]string{true: "more", false: "less"}[bias > 0], math.Abs(bias), asked, j.Below)
		if j.Case != nil {
			text += " " + j.Case.text(j.Defect, j.Formats)
		}
		return text
	case Share:
		return fmt.Sprintf("%s rounds stochastically, with a defect: the share of a neighbour is not the fraction. %s", name, j.Case.text(j.Defect, j.Formats))
	}
	return fmt.Sprintf("%s rounds stochastically: each of %s is a neighbour of the exact value, and the one farther from zero comes in a share that differs by %+.4f from what the fractions say. No defect; a bias of %.4f would have been found.",
		name, asked, j.Away, j.Found)
}

// text says how an input shows a defect.
func (c *Case) text(d Defect, f mma.Formats) string {
	x := oracle.ExactDot(f, c.Dot)
	near, far, _, _ := x.Neighbours()
	text := fmt.Sprintf("The simplest input asked that shows it, %s, is %s, between %s and %s: it gave %s in %s of %s answers", mma.FormatDot(f, c.Dot), x.Decimal(),
		mma.FormatCode(f.D, near), mma.FormatCode(f.D, far), mma.FormatCode(f.D, c.Result), thousands(c.Times), thousands(c.Of))
	if d == Third {
		return text + "."
	}
	return text + fmt.Sprintf(" instead of about %s, with a probability below 1e%d.", thousands(int(math.Round(c.Fraction*float64(c.Of)))), c.Below)
}

func thousands(n int) string { return readable.Thousands(uint64(n)) }
