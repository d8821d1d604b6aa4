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
	asked, in := fmt.Sprintf("%s answers to %d inputs", thousands(j.Answers), j.Inputs), ""
	if j.Low == SubnormalDefect || j.Low == SubnormalFixed {
		asked, in = asked+" with subnormal results", " that subnormal results show"
	}
	switch j.Defect {
	case Third:
		what := "an answer is neither neighbour of the exact value"
		if j.Case.Fraction == 0 {
			what = fmt.Sprintf("it changes a value that is a number of %s", j.Formats.D)
		}
		return fmt.Sprintf("%s rounds stochastically, with a defect%s: %s. %s", name, in, what, j.Case.text(j.Defect, j.Formats))
	case Bias:
		which, bias := "farther from zero", j.Away
		if math.Abs(j.Up) > math.Abs(j.Away) {
			which, bias = "above", j.Up
		}
		text := fmt.Sprintf("%s rounds stochastically, with a defect%s: it has a bias. The neighbour %s comes %s often than the fractions say, in a share of %.4f of %s; a sound unit shows as much with a probability below 1e%d.",
			name, in, which, map[bool]string{true: "more", false: "less"}[bias > 0], math.Abs(bias), asked, j.Below)
		if j.Low == SubnormalDefect {
			text += fmt.Sprintf(" In normal results that share is %+.4f, which alone proves nothing.", j.Normal)
		}
		if j.Case != nil {
			text += " " + j.Case.text(j.Defect, j.Formats)
		}
		return text
	case Share:
		what := "the share of a neighbour is not the fraction"
		if j.Low == SubnormalFixed {
			what = "they are not rounded stochastically"
		}
		return fmt.Sprintf("%s rounds stochastically, with a defect%s: %s. %s", name, in, what, j.Case.text(j.Defect, j.Formats))
	}
	text := fmt.Sprintf("%s rounds stochastically: each of %s is a neighbour of the exact value, and the one farther from zero comes in a share that differs by %+.4f from what the fractions say", name, asked, j.Away)
	if j.Doubt > 0 {
		return text + fmt.Sprintf(", the upper one by %+.4f. Nothing is decided: one of the two is %.1f standard deviations, and a defect is claimed only from more on. Judge it with another --seed.", j.Up, j.Doubt)
	}
	results, exact, low := "normal results", "values that need no rounding, ", "subnormal results, "
	if j.Exact > 0 {
		text += fmt.Sprintf("; %d inputs that need no rounding kept their values", j.Exact)
		exact = ""
	}
	switch j.Low {
	case SubnormalZero:
		text += fmt.Sprintf(". It makes zeros of what is below the normal numbers of %s", j.Formats.D)
		low = ""
	case SubnormalSound:
		results, low = "normal and subnormal results", ""
	}
	return text + fmt.Sprintf(". No defect in what was asked, %s; a bias of %.4f over all binades together would have been found. Not asked: %s%seach binade by itself, the places in a tile.", results, j.Found, exact, low)
}

// text says how an input shows a defect.
func (c *Case) text(d Defect, f mma.Formats) string {
	x := oracle.ExactDot(f, c.Dot)
	where := ""
	if near, far, _, between := x.Neighbours(); between {
		where = fmt.Sprintf(", between %s and %s", mma.FormatCode(f.D, near), mma.FormatCode(f.D, far))
	}
	text := fmt.Sprintf("The simplest input asked that shows it, %s, is %s%s: it gave %s in %s of %s answers", mma.FormatDot(f, c.Dot), x.Decimal(), where,
		mma.FormatCode(f.D, c.Result), thousands(c.Times), thousands(c.Of))
	if d == Third {
		return text + "."
	}
	return text + fmt.Sprintf(" instead of about %s, with a probability below 1e%d.", thousands(int(math.Round(c.Fraction*float64(c.Of)))), c.Below)
}

func thousands(n int) string { return readable.Thousands(uint64(n)) }
