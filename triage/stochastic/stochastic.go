// Package stochastic judges units that round stochastically: a value between two numbers becomes
// the one farther from zero with the probability of its fraction, its distance from the nearer one
// in steps between the two.
//
// The same inputs are asked many times. Each answer has to be one of the two neighbours of the
// exact value, the share of the farther one that of the fraction, and the sum over all inputs
// without bias, away from zero or upward. Probabilities are upper bounds that hold for every number
// of answers (Chernoff's), not approximations. The answers to different batches are taken to be
// independent, those within a batch are not: a unit may use one random number for many results.
//
// Only one product, with c where the instruction has no others, gives a value, so that the order
// of a sum and what it cuts off do not matter. Fractions have six bits at most: a unit that draws
// six random bits or more has no error that comes from their number.
//
// Results that are subnormal are asked and judged apart: a unit may flush them to zero, which is
// said and is no defect.
//
// The API of this package is not promised: it may change in any version.
package stochastic

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/gen/stability"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

const (
	inputs    = 256
	firstRuns = 16 // of each input, after which it is known whether the unit rounds stochastically

	doubtful   = 4.5  // standard deviations of the bias over all inputs, from which on more answers are asked for
	mostRounds = 8    // of asking for more answers: each doubles their number, from Least to Most
	falseAlarm = 1e-9 // probability that a sound unit has a defect, in all judgements together

	shownInputs = 4    // inputs of which one is looked for that shows a bias alone
	shownMost   = 1e-6 // probability below which one does
)

// Least and Most are the useful numbers of answers, about.
const (
	Least = inputs * firstRuns
	Most  = inputs * 1024
)

// Defect is what is wrong with a unit that rounds stochastically.
type Defect string

// The defects.
const (
	Third Defect = "third" // a result that is neither of the two neighbours, or not the value where this is a number of D
	Bias  Defect = "bias"  // over all inputs one neighbour comes too often
	Share Defect = "share" // for an input one neighbour comes too often
)

// Subnormal is what was found of subnormal results.
type Subnormal string

// What may be found. Zero: they were not asked, because of another defect or since there are none.
const (
	SubnormalSound  Subnormal = "sound"
	SubnormalZero   Subnormal = "zero"   // all are zeros
	SubnormalFixed  Subnormal = "fixed"  // they are not rounded stochastically: a defect
	SubnormalDefect Subnormal = "defect" // any other defect, or the doubt, of the judgement is in these
)

// Judgement is what was found of a unit that rounds stochastically.
type Judgement struct {
	Formats mma.Formats `json:"formats"`
	Inputs  int         `json:"inputs"`
	Exact   int         `json:"exact,omitempty"` // further inputs, whose values are numbers of D
	Answers int         `json:"answers"`         // to Inputs
	Away    float64     `json:"away"`            // how much more often the neighbour farther from zero came than it should: a share of the answers
	Up      float64     `json:"up"`              // the same of the upper one
	Found   float64     `json:"found"`           // a bias of about this size would have been found
	Doubt   float64     `json:"doubt,omitempty"` // no defect, but Away or Up is so many standard deviations, more than doubtful
	Defect  Defect      `json:"defect,omitempty"`
	Low     Subnormal   `json:"subnormal,omitempty"`
	Normal  float64     `json:"normal,omitempty"` // SubnormalDefect: Away, or Up if that is more, of normal results
	Below   int         `json:"below,omitempty"`  // Bias, Share: a sound unit shows as much in any of its inputs with a probability below 10^Below
	Case    *Case       `json:"case,omitempty"`   // the simplest input asked that shows the defect; nil: none does alone
}

// Case is an input that shows a defect.
type Case struct {
	Dot      *mma.Dot `json:"dot"`
	Result   uint64   `json:"result"`   // Third: the result that is wrong; else the neighbour farther from zero
	Fraction float64  `json:"fraction"` // the probability that the neighbour farther from zero has to have; 0: the value is a number of D
	Times    int      `json:"times"`    // that Result came
	Of       int      `json:"of"`
	Below    int      `json:"below,omitempty"`
}

// Options say how a unit is judged.
type Options struct {
	K       int // length of the dot products
	Seed    uint64
	Answers int // about so many are asked for: from Least to Most; more, up to Most, if they leave a doubt
	Looks   int // at most so many judgements are made of the unit
}

// Judge asks a unit. The judgement is nil if the unit does not round stochastically. The error is
// the unit's, or Unjudged if the unit was not asked.
func Judge(ctx context.Context, u stability.Unit, o Options) (*Judgement, error) {
	if why := unjudged(u.Instruction().Formats); why != "" {
		return nil, why
	}
	tests := 2 * o.Looks * mostRounds * (inputs + 2)
	t := tallyOf(u, o, normal)
	if t == nil {
		return nil, NoInputs
	}
	if err := t.ask(ctx, firstRuns); err != nil || !t.stochastic() {
		return nil, err
	}
	j, err := t.decide(ctx, o.Answers/inputs-firstRuns, tests)
	if err != nil || j.Defect != "" || j.Doubt > 0 {
		return j, err
	}
	low := tallyOf(u, o, subnormal)
	if low == nil {
		return j, nil
	}
	if err := low.ask(ctx, firstRuns); err != nil {
		return nil, err
	}
	if low.zeros() {
		j.Low = SubnormalZero
		return j, nil
	}
	switch l, err := low.decide(ctx, o.Answers/inputs-firstRuns, tests); {
	case err != nil:
		return nil, err
	case l.Defect != "" || l.Doubt > 0:
		if l.Normal = j.Away; math.Abs(l.Up) > math.Abs(l.Away) {
			l.Normal = j.Up
		}
		if l.Low = SubnormalDefect; l.Case != nil && l.Defect != Third && !low.stochastic() {
			l.Low, l.Defect = SubnormalFixed, Share
		}
		return l, nil
	default:
		j.Low, j.Exact, j.Found = SubnormalSound, j.Exact+l.Exact, max(j.Found, l.Found)
	}
	return j, nil
}

// tallyOf returns the tally of inputs of a kind; nil if there are none.
func tallyOf(u stability.Unit, o Options, kind func(mma.Formats, int, *rand.Rand, bool) *input) *tally {
	f := u.Instruction().Formats
	all := draw(f, o.K, o.Seed, kind)
	if all == nil {
		return nil
	}
	t := newTally(u, o.K, all, 1)
	t.exact = exactly(f, o.K, all)
	return t
}

// decide asks so many times, and again as long as a doubt is left, and judges the answers.
func (t *tally) decide(ctx context.Context, runs, tests int) (*Judgement, error) {
	if err := t.ask(ctx, max(0, runs)); err != nil {
		return nil, err
	}
	j := t.judge(tests)
	for j.Doubt > 0 && t.runs < Most/inputs {
		if err := t.ask(ctx, min(t.runs, Most/inputs-t.runs)); err != nil {
			return nil, err
		}
		j = t.judge(tests)
	}
	if j.Defect == Bias && j.Case == nil {
		simple := newTally(t.unit, t.k, t.inputs[:shownInputs], inputs/shownInputs)
		if err := simple.ask(ctx, t.runs); err != nil {
			return nil, err
		}
		j.Case = simple.deviating(shownMost, shownInputs)
	}
	return j, nil
}

// zeros reports whether all subnormal results are zeros: before the value is rounded, or after, when
// only the neighbour that is a normal number is left.
func (t *tally) zeros() bool {
	for _, x := range slices.Concat(t.inputs, t.exact) {
		if x.zeros != x.asked && !(x.farNormal && x.zeros+x.times == x.asked) {
			return false
		}
	}
	return true
}

// Neighbours reports whether two results of a dot product are both neighbours of its exact value,
// so that stochastic rounding explains that they differ.
func Neighbours(f mma.Formats, p oracle.Policy, d *mma.Dot, a, b uint64) bool {
	near, far, _, between := oracle.ExactDot(f, d).Neighbours()
	is := func(code uint64) bool {
		return oracle.Compare(f.D, p, code, near) == oracle.Same || oracle.Compare(f.D, p, code, far) == oracle.Same
	}
	return between && is(a) && is(b)
}

// tally counts the answers to some inputs.
type tally struct {
	unit     stability.Unit
	k        int
	inputs   []*input // the simplest first
	exact    []*input // numbers of D, asked beside them
	copies   int      // of each in a batch
	runs     int      // batches
	away, up spread   // over all inputs
}

// spread is the deviation of the answers to a batch from their mean, over many batches.
type spread struct{ sum, squares, variance float64 }

// add adds a batch.
func (s *spread) add(deviation float64) {
	s.sum, s.squares = s.sum+deviation, s.squares+deviation*deviation
}

// excess is how many times the variance between batches is that of independent answers, at least 1.
func (s *spread) excess(runs int) float64 {
	n := float64(runs)
	if s.variance == 0 || runs < 2 {
		return 1
	}
	return max(1, (s.squares-s.sum*s.sum/n)/(n-1)/s.variance)
}

// deviations is how many standard deviations the sum is from its mean.
func (s *spread) deviations(runs int) float64 {
	return math.Abs(s.sum) / math.Sqrt(s.variance*s.excess(runs)*float64(runs))
}

func newTally(u stability.Unit, k int, some []*input, copies int) *tally {
	t := &tally{unit: u, k: k, copies: copies}
	for _, of := range some {
		x := &input{dot: of.dot, near: of.near, far: of.far, fromZero: of.fromZero, farNormal: of.farNormal, fraction: of.fraction, negative: of.negative}
		variance := float64(copies) * x.fraction * (1 - x.fraction)
		x.variance, t.away.variance = variance, t.away.variance+variance
		t.inputs = append(t.inputs, x)
	}
	t.up.variance = t.away.variance
	return t
}

// ask asks so many times for all inputs.
func (t *tally) ask(ctx context.Context, runs int) error {
	f := t.unit.Instruction().Formats
	var dots []*mma.Dot
	for _, x := range t.inputs {
		dots = append(dots, slices.Repeat([]*mma.Dot{x.dot}, t.copies)...)
	}
	first := len(dots) // of exact
	for _, x := range t.exact {
		dots = append(dots, x.dot)
	}
	in, w := mma.BatchOf(f, t.k, dots), f.D.Width()
	out := make([]byte, len(dots)*w)
	for range runs {
		if err := t.unit.Run(ctx, in, out); err != nil {
			return err
		}
		away, up := 0.0, 0.0
		for i, x := range t.inputs {
			d := -x.fraction * float64(t.copies)
			for n := range t.copies {
				d += float64(x.count(f.D, mma.Load(out, w, i*t.copies+n)))
			}
			x.add(d)
			away += d
			if x.negative {
				d = -d
			}
			up += d
		}
		for i, x := range t.exact {
			x.count(f.D, mma.Load(out, w, first+i))
		}
		t.away.add(away)
		t.up.add(up)
		t.runs++
	}
	return nil
}

// stochastic reports whether the unit rounds most inputs to both neighbours and hardly ever to
// something else. A neighbour that comes in fewer than 1 of 32 answers may be an error.
func (t *tally) stochastic() bool {
	of, both := 0, 0
	for _, x := range t.inputs {
		if x.fraction < 1./8 || x.fraction > 7./8 {
			continue
		}
		of++
		if least := (x.asked + 31) / 32; x.third < least && x.times >= least && x.asked-x.third-x.times >= least {
			both++
		}
	}
	return 4*both >= 3*of && of > 0
}

// judge compares the counts with what a sound unit gives. tests is the number of all probabilities
// that are looked at.
func (t *tally) judge(tests int) *Judgement {
	most := math.Log(falseAlarm / float64(tests))
	answers := float64(len(t.inputs) * t.copies * t.runs)
	j := &Judgement{Formats: t.unit.Instruction().Formats, Inputs: len(t.inputs), Exact: len(t.exact), Answers: int(answers), Away: t.away.sum / answers, Up: t.up.sum / answers}
	j.Found = math.Sqrt(-2*most*t.away.variance*t.away.excess(t.runs)*float64(t.runs)) / answers
	for _, x := range slices.Concat(t.inputs, t.exact) {
		if x.third > 0 {
			j.Defect, j.Case = Third, &Case{Dot: x.dot, Result: x.other, Fraction: x.fraction, Times: x.third, Of: x.asked}
			return j
		}
	}
	j.Case = t.deviating(falseAlarm, tests)
	if bias := min(t.chance(&t.away, false), t.chance(&t.up, true)); bias <= most {
		j.Defect, j.Below = Bias, powerOfTen(bias, tests)
	} else if j.Case != nil {
		j.Defect, j.Below = Share, j.Case.Below
	} else if most := max(t.away.deviations(t.runs), t.up.deviations(t.runs)); most > doubtful {
		j.Doubt = most
	}
	return j
}

// deviating returns the simplest input whose share alone is wrong: a sound unit shows one of so
// many with a probability of at most that. nil: none.
func (t *tally) deviating(most float64, tests int) *Case {
	for _, x := range t.inputs {
		c := tail([]float64{x.fraction}, float64(x.asked), x.sum)/x.excess(t.runs) + math.Ln2
		if c <= math.Log(most/float64(tests)) {
			return &Case{Dot: x.dot, Result: x.far, Fraction: x.fraction, Times: x.times, Of: x.asked, Below: powerOfTen(c, tests)}
		}
	}
	return nil
}

// chance bounds the logarithm of the probability that a sound unit deviates as much over all inputs.
func (t *tally) chance(s *spread, upward bool) float64 {
	var shares []float64
	for _, x := range t.inputs {
		p := x.fraction
		if upward && x.negative {
			p = 1 - p
		}
		shares = append(shares, p)
	}
	return tail(shares, float64(t.runs*t.copies), s.sum)/s.excess(t.runs) + math.Ln2
}

// tail is Chernoff's bound: the logarithm of a number that the probability is not above, that n
// trials of each of some events deviate in sum from their mean by so much, to that side.
func tail(shares []float64, n, deviation float64) float64 {
	sign := 1.
	if deviation < 0 {
		sign = -1
	}
	exponent := func(l float64) float64 { // a bound for every l > 0
		e := -l * math.Abs(deviation)
		for _, p := range shares {
			e += n * (math.Log1p(p*math.Expm1(sign*l)) - sign*l*p)
		}
		return e
	}
	low, high := 0., 16.
	for range 64 { // it is convex
		third := (high - low) / 3
		if exponent(low+third) < exponent(high-third) {
			high -= third
		} else {
			low += third
		}
	}
	return min(0, exponent(low))
}

// powerOfTen is the exponent of the least power of ten that is not below so many times e^log.
func powerOfTen(log float64, times int) int {
	return int(math.Ceil((log + math.Log(float64(times))) / math.Ln10))
}

// simpler orders inputs: few bits first, then small exponents, then positive numbers.
func (x *input) simpler(y *input) int {
	key := func(x *input) []int {
		negative := 0
		if x.negative {
			negative = 1
		}
		return []int{bits.OnesCount64(x.bits), max(x.exponent, -x.exponent), negative}
	}
	return slices.Compare(key(x), key(y))
}
