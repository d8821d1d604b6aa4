package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/climb"
	"github.com/mmafuzz/mmafuzz/triage/internal/grouping"
)

var boundsStudy = Study{
	Name:  "bounds",
	Short: "error bounds from the parameters of each unit, against the largest error found",
	Long: `bounds derives from the parameters of each unit a bound of its error for given
operands: Table 9 of Xie et al. (arXiv:2511.10909), extended to every parameter program
(triage/study/bound.go derives it, and lists the inputs for which there is none). Then it
looks for operands whose error comes near to the bound, from inputs that aim at the
unit's decisions and by changing the best of them again and again (hill climbing). All
errors on the way are also compared with a closer bound, which looks at the bits of the
operands too.

A ratio above 1 is a bound exceeded: the bound or the model is wrong. The error in ulp is
that of the input with the largest ratio, and the largest that was seen on the way
(cancellation makes it as large as one likes).

Units that are not models are held to the program that is known of them.`,
	Count: 4000, Of: "dot products tried for each unit",
	New: func(*pflag.FlagSet) Runner { return bounds{} },
}

type bounds struct{}

// tightness is what was found of a unit.
type tightness struct {
	Name, Arithmetic, Bound string
	Ratio                   Number // the largest measured/bound
	Ulps, WorstUlps         Number // at that input, and the largest seen
	Dot                     string // that input, as eval reads it
	Got, Exact              string
	Tried, Bounded          int // dot products, and those for which there is a bound
	Exceeded                int // inputs on which either bound is exceeded
	Attained                int // inputs whose error is exactly the closer bound
}

// Run makes the study.
func (bounds) Run(ctx context.Context, r *Request) (*Result, error) {
	units, done, err := r.askable(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer done()
	for _, u := range units {
		if i := u.inst(); i.Params.Validate(i.Formats, i.K) != nil {
			return nil, fmt.Errorf("nothing is known of the arithmetic of %s, so there is no bound: mmafuzz infer finds it", u.name)
		}
	}
	all, err := each(ctx, r, units, func(u *unit) string { return u.name }, checkTightness, func(ctx context.Context, u *unit) (tightness, error) {
		return tightest(ctx, u, r.Seed, r.Count)
	})
	if err != nil {
		return nil, err
	}
	return boundsReport(all), nil
}

// checkTightness returns what is impossible about what a journal has of a unit.
func checkTightness(u *unit, t tightness) error {
	i := u.inst()
	if t.Name != u.name || t.Arithmetic != i.Params.String() || t.Bound != formula(i) {
		return errors.New("this is the bound of something else")
	}
	if t.Bounded < 0 || t.Tried < t.Bounded || t.Exceeded < 0 || t.Bounded < t.Exceeded || t.Attained < 0 || t.Bounded < t.Attained {
		return fmt.Errorf("%d tried, %d bounded, %d exceeded, %d attained", t.Tried, t.Bounded, t.Exceeded, t.Attained)
	}
	return nil
}

// tightest looks for the input whose error is nearest to its bound.
func tightest(ctx context.Context, u *unit, seed uint64, most int) (tightness, error) {
	i := u.inst()
	t := tightness{Name: u.name, Arithmetic: i.Params.String(), Bound: formula(i)}
	h := fnv.New64a()
	h.Write([]byte(u.name))
	c := climb.Climber{Formats: i.Formats, K: i.K, Seed: seed ^ h.Sum64(), Most: most}
	c.Scores = func(ctx context.Context, dots []*mma.Dot) ([]float64, error) {
		codes, err := u.run(ctx, mma.BatchOf(i.Formats, i.K, dots))
		if err != nil {
			return nil, err
		}
		scores := make([]float64, len(dots))
		for n, d := range dots {
			scores[n] = t.score(i, d, codes[n])
		}
		return scores, nil
	}
	best, err := c.Climb(ctx, &i.Params)
	if err != nil || len(best) == 0 {
		return t, err
	}
	d := best[0].Dot
	codes, err := u.run(ctx, mma.BatchOf(i.Formats, i.K, []*mma.Dot{d}))
	if err != nil {
		return t, err
	}
	x := oracle.ExactDot(i.Formats, d)
	t.Ratio, t.Ulps = Number(best[0].Score), Number(x.Ulps(codes[0]))
	t.Dot, t.Got, t.Exact = mma.FormatDot(i.Formats, d), mma.FormatCode(i.D, codes[0]), x.String()
	return t, nil
}

// score is the ratio of the error to its bound; -1: there is no bound.
func (t *tightness) score(i *mma.Instruction, d *mma.Dot, code uint64) float64 {
	t.Tried++
	b, ok := errorBound(&i.Params, i.Formats, d, false)
	if !ok {
		return -1
	}
	t.Bounded++
	err, ok := b.measured(i.D, code)
	if !ok {
		t.Exceeded++
		return math.Inf(1) // the program gives a number
	}
	ratio := b.ratio(err)
	closer, _ := errorBound(&i.Params, i.Formats, d, true)
	err, _ = closer.measured(i.D, code)
	bits := closer.ratio(err)
	if ratio > 1 || bits > 1 {
		t.Exceeded++
	}
	if bits == 1 {
		t.Attained++
	}
	if ulps := closer.ulps(i.D, err); ulps > float64(t.WorstUlps) {
		t.WorstUlps = Number(ulps)
	}
	return ratio
}

// formula writes the bound of a unit as Table 9 does: a term for each source of errors.
// E is the largest exponent of a fused sum; an ulp is one of the number that is rounded.
func formula(i *mma.Instruction) string {
	p := &i.Params
	step := p.Step(i.K)
	steps := (i.K + step - 1) / step
	if n := max(1, len(p.Passes.List())); p.Together {
		step *= n
	} else {
		steps *= n
	}
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	rounding := func(times int, r mma.Round) {
		if r.Frac != 0 && times > 0 {
			add("%s%s", multiple(times), ulp(r.Frac, r.Mode))
		}
		if r.Flush != mma.NoFlush && times > 0 {
			add("%s2^%d (flush)", multiple(times), r.Emin)
		}
	}
	rounding(step, p.Prod.Round)
	terms := step
	for _, s := range []mma.Stage{p.Stage0, p.Stage1} {
		if s.Sum == mma.Off {
			continue
		}
		groups := len(grouping.Of(&s, make([]int, terms)))
		sums, cuts := groups, terms
		if s.Sum != mma.Fused {
			sums = terms - groups
			cuts = 2 * sums
		}
		if s.Deep { // until one is left: each sum of n terms has n-1 fewer
			cuts, groups = 2*terms-2, 1
			sums = terms - 1
		}
		if s.Align.F != 0 && cuts > 0 {
			add("%s2^(E-%d)", multiple(cuts), s.Align.F)
		}
		adder(add, s.Align, s.Align.F, cuts, sums)
		rounding(sums, s.Round)
		terms = groups
	}
	if f := p.Join.Align.F; f != 0 {
		cf := p.Join.CF
		if cf == 0 || cf == f {
			add("%s2^(E-%d)", multiple(terms+1), f)
		} else {
			add("%s2^(E-%d)", multiple(terms), f)
			add("2^(E-%d) of c", cf)
		}
		if p.Join.CGrid {
			parts[len(parts)-1] += " (E of c)"
		}
		adder(add, p.Join.Align, max(f, cf), terms+1, 1)
	}
	if p.Join.Apart {
		next := cmp.Or(p.Join.Post, p.Acc)
		add("2·%s (sums of either sign)", ulp(next.Frac, next.Mode))
	}
	rounding(1, p.Join.Post)
	rounding(1, p.Acc)
	text := strings.Join(parts, " + ")
	if steps > 1 && text != "" {
		text = fmt.Sprintf("%d steps of (%s)", steps, text)
	}
	parts = parts[:0]
	if p.In.Sub != mma.KeepSub {
		text = strings.TrimSuffix("|a*b| of subnormal a or b + "+text, " + ")
	}
	text = strings.TrimSuffix(narrowed(p)+text, " + ")
	if p.LateAdds(i.Formats) {
		add("late: %s", ulp(p.Late.Frac, p.Late.Mode))
	}
	rounding(1, p.Out)
	if len(parts) > 0 {
		text = strings.TrimPrefix(text+" + "+strings.Join(parts, " + "), " + ")
	}
	if text == "" {
		text = "0"
	}
	return text
}

// ulp is a bound of the error of a rounding.
func ulp(frac mma.Frac, mode fp.Mode) string {
	half := "1"
	if mode == fp.RNE || mode == fp.RNA {
		half = "0.5"
	}
	return fmt.Sprintf("%s ulp(%d bits)", half, frac)
}

// narrowed is what the narrowing of operands adds to a bound, followed by a plus.
func narrowed(p *mma.Params) string {
	text := ""
	if r := p.ScaleRound; r.Frac != 0 {
		text = fmt.Sprintf("|a*b|*%s of the scales' product + ", ulp(r.Frac, r.Mode))
	}
	if p.Passes != 0 {
		text += fmt.Sprintf("|a*b| of parts that the passes %s leave out + ", p.Passes)
	}
	for _, o := range []struct {
		n    mma.Narrow
		what string
		in   bool // the passes
	}{{p.In.A, "|b|*%s of a + ", true}, {p.In.B, "|a|*%s of b + ", true}, {p.In.NarrowC, "%s of c + ", false}} {
		switch {
		case o.in && p.Passes != 0:
		case o.n.Frac != 0:
			text += fmt.Sprintf(o.what, ulp(o.n.Frac, o.n.Mode))
		case o.n.To != fp.None:
			text += fmt.Sprintf(o.what, ulp(mma.Frac(o.n.To.Get().FracBits), o.n.Mode))
		}
	}
	return text
}

// adder adds the errors of an adder that deviates from an addition of integers, for so many
// terms and sums; its grid has the unit 2^(E-f).
func adder(add func(string, ...any), a mma.Align, f mma.Frac, terms, sums int) {
	if a.Negate != mma.NegateExact && a.Mode != fp.RZ { // with RZ a cut that is negated errs by no more than one that is not
		add("%s2^(E-%d) (negation)", multiple(terms), f)
	}
	switch a.Sticky {
	case mma.StickyBelow:
		add("%s2^(E-%d) (sticky bit)", multiple(sums), f+1)
	case mma.StickyLast:
		add("%s2^(E-%d) (sticky bit)", multiple(sums), f)
	}
	if a.Drop != 0 {
		add("terms below 2^(E-%d)", a.Drop)
	}
}

func multiple(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("%d·", n)
}

// boundsReport makes the result.
func boundsReport(all []tightness) *Result {
	res := &Result{}
	t := Table{Name: "bounds", Title: "Error bounds and the largest errors found",
		Note: "ratio: the largest error found, divided by the bound for its operands; attained: on how many inputs the error is as large as a closer bound, which looks at the bits of the operands: no smaller one holds; its ulp and worst ulp: the error on the input shown, and the largest seen, in ulps of the exact result, many where the sum cancels; result: a code; in a bound, E is the largest exponent of a fused sum, and 1 ulp is one of the number that is rounded there.",
		Head: []string{"unit", "ratio", "attained", "its ulp", "worst ulp", "result", "exact", "bound", "input"}}
	var ratios []float64
	attained, never := 0, 0 // units
	for _, u := range all {
		t.add(u.Name, u.Ratio, u.Attained, u.Ulps, u.WorstUlps, u.Got, u.Exact, u.Bound, u.Dot)
		if u.Ratio == 0 && u.WorstUlps == 0 {
			never++
		} else {
			ratios = append(ratios, float64(u.Ratio))
		}
		if u.Attained > 0 {
			attained++
		}
		if u.Exceeded > 0 {
			res.Failures = append(res.Failures, fmt.Sprintf("%s exceeds its bound on %d of %d inputs, on %s by a factor of %s: the bound or what is known of the unit is wrong.", u.Name, u.Exceeded, u.Bounded, u.Dot, u.Ratio))
		}
	}
	slices.Sort(ratios)
	res.Tables = append(res.Tables, t)
	remark := fmt.Sprintf("No bound is exceeded on %d of %d units. %d make no error on any input that was tried.", len(all)-len(res.Failures), len(all), never)
	if len(ratios) > 0 {
		remark += fmt.Sprintf(" Of the others the median of the ratios is %s, the least %s, and the closer bounds of %d are attained.",
			Number(quantile(ratios, 0.5)), Number(quantile(ratios, 0)), attained)
	}
	res.Remarks = append(res.Remarks, remark)
	res.Plots = append(res.Plots, histogram("ratios", "Largest error as a part of its bound", "ratio", "units", 0, 1.05, 21, "units", ratios))
	return res
}

// quantile returns the number that a part q of sorted numbers does not exceed; NaN of none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	return (sorted[int(math.Floor(at))] + sorted[int(math.Ceil(at))]) / 2
}
