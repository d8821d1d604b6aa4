package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

var biasStudy = Study{
	Name:  "bias",
	Short: "signed errors: which units round down or towards zero, and how far chains drift",
	Long: `bias measures the signed error of each unit, D - exact, on random numbers: mean,
standard deviation and skewness for normally distributed a, b and c; the mean towards
zero, which is negative for units that truncate; and how the mean grows when the
instruction is repeated with C = the previous D, on normally distributed and on positive
numbers, where truncation drifts too.

Errors are in ulp of the sum of magnitudes, |a0*b0| + ... + |c|. z is the mean divided by
its standard error. A bias is reported if z, or the same of the mean towards zero, is beyond the
limit that units without bias pass with a probability of 1 %, all of the study together.

Without targets it also makes Figure 3 of Xie et al. (arXiv:2511.10909): CDNA3's FP16
instruction and one that truncates where CDNA3 rounds down.`,
	Count: 2048, Most: 1 << 20, Of: "dot products of each kind", // the error of each is kept
	New: func(f *pflag.FlagSet) Runner {
		b := &bias{}
		f.IntVar(&b.steps, "steps", 16, "`executions` of the instruction in the longest chains")
		return b
	},
}

type bias struct{ steps int }

// drift is what was measured of a unit.
type drift struct {
	Name   string
	Normal moments // of one execution
	// Mean errors after 1, 2, 4, ... executions.
	Steps    []int
	Chain    []Number // of normally distributed numbers
	Positive []Number
	Lost     int `json:",omitempty"` // dot products whose result was no number
}

// moments describe the distribution of an error.
type moments struct {
	N                         int
	Mean, SD, Skew, Z, ToZero Number
	ZToZero                   Number // ToZero divided by its standard error
}

// Run makes the study.
func (b *bias) Run(ctx context.Context, r *Request) (*Result, error) {
	if b.steps < 1 || b.steps > 1<<14 {
		return nil, fmt.Errorf("--steps is %d; it can be 1 to %d", b.steps, 1<<14)
	}
	units, done, err := r.askable(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer done()
	res := &Result{}
	if len(r.Targets) == 0 {
		if err := figure3(ctx, r.Seed, max(r.Count, 1<<14), res); err != nil {
			return nil, err
		}
	}
	all, err := each(ctx, r, units, func(u *unit) string { return u.name }, b.check, func(ctx context.Context, u *unit) (drift, error) {
		return b.measure(ctx, u, r.Seed, r.Count)
	})
	if err != nil {
		return nil, err
	}
	b.report(all, res)
	return res, nil
}

// lengths are the numbers of executions of a unit's chains.
func (b *bias) lengths(u *unit) []int {
	most := b.steps
	if !chains(u.inst()) {
		most = 1
	}
	var all []int
	for s := 1; s <= most; s *= 2 {
		all = append(all, s)
	}
	return all
}

// check returns an error if a drift that was read from a journal cannot be that of the unit.
func (b *bias) check(u *unit, d drift) error {
	if n := len(d.Steps); d.Name != u.name || !slices.Equal(d.Steps, b.lengths(u)) || len(d.Chain) != n || len(d.Positive) != n || d.Lost < 0 || d.Normal.N < 0 {
		return errors.New("this is no measurement of its chains")
	}
	return nil
}

// measure measures a unit.
func (b *bias) measure(ctx context.Context, u *unit, seed uint64, n int) (drift, error) {
	m := drift{Name: u.name, Steps: b.lengths(u)}
	rd := newReader(u.inst().Formats)
	h := fnv.New64a()
	h.Write([]byte(u.name))
	rng := rand.New(rand.NewPCG(seed, h.Sum64()))
	for _, part := range []struct {
		values distribution
		means  *[]Number
	}{{standardNormal, &m.Chain}, {positive, &m.Positive}} {
		all := make([]signedErrors, len(m.Steps))
		longest := u.inst().K * m.Steps[len(m.Steps)-1]
		err := inParts(n, longest, func(size int) error {
			dots := make([]*mma.Dot, size)
			for i := range dots {
				dots[i] = rd.dot(longest, part.values, part.values, rng)
			}
			for i, s := range m.Steps {
				if err := all[i].add(ctx, u, rd, dots, s*u.inst().K); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return m, err
		}
		for i, s := range m.Steps {
			m.Lost += all[i].lost
			one := momentsOf(all[i].signed, all[i].toZero)
			if s == 1 && part.means == &m.Chain {
				m.Normal = one
			}
			*part.means = append(*part.means, one.Mean)
		}
	}
	return m, nil
}

// signedErrors are errors of a unit in ulp of the sum of magnitudes, and the same errors times the sign
// of the exact value, so that negative ones are towards zero. lost counts results that are no numbers.
type signedErrors struct {
	signed, toZero []float64
	lost           int
}

// add adds the errors on the first k elements of dot products.
func (e *signedErrors) add(ctx context.Context, u *unit, rd *reader, dots []*mma.Dot, k int) error {
	in := mma.NewBatch(rd.f, mma.Shape{M: 1, N: 1, K: k, Tiles: len(dots)})
	for i, d := range dots {
		in.Set(i, &mma.Dot{A: d.A[:k], B: d.B[:k], C: d.C, SA: d.SA[:rd.f.Blocks(k)], SB: d.SB[:rd.f.Blocks(k)]})
	}
	codes, err := u.run(ctx, in)
	if err != nil {
		return err
	}
	f := rd.f.D.Get()
	for i, d := range dots {
		v := rd.d.value(codes[i])
		if math.IsInf(v, 0) || math.IsNaN(v) {
			e.lost++
			continue
		}
		exact, magnitude := rd.sum(d, k)
		_, exponent := math.Frexp(magnitude)
		ulp := math.Ldexp(1, max(exponent-1, int(f.Emin()))-int(f.FracBits))
		x := exact.minus(v) / ulp
		e.signed = append(e.signed, x)
		e.toZero = append(e.toZero, math.Copysign(1, exact.hi)*x)
	}
	return nil
}

// momentsOf describes errors.
func momentsOf(errs, toZero []float64) moments {
	n := float64(max(1, len(errs)))
	mean := func(f func(i int) float64) float64 {
		s := sum2{}
		for i := range errs {
			s.add(f(i))
		}
		return s.hi / n
	}
	mu := mean(func(i int) float64 { return errs[i] })
	sd := math.Sqrt(mean(func(i int) float64 { return (errs[i] - mu) * (errs[i] - mu) }))
	zero := mean(func(i int) float64 { return toZero[i] })
	m := moments{N: len(errs), Mean: Number(mu), SD: Number(sd), ToZero: Number(zero)}
	if sd > 0 {
		m.Skew = Number(mean(func(i int) float64 { return math.Pow((errs[i]-mu)/sd, 3) }))
		m.Z = Number(mu / sd * math.Sqrt(n))
		own := math.Sqrt(mean(func(i int) float64 { return (toZero[i] - zero) * (toZero[i] - zero) }))
		m.ZToZero = Number(zero / cmp.Or(own, sd) * math.Sqrt(n))
	}
	return m
}

// byChance is the probability that a study reports a bias though no unit has any.
const byChance = 0.01

// biasLimit returns the limit of z of each of so many units, of which two are tested: together they
// pass it by chance with that probability at most.
func biasLimit(units int) Number {
	return Number(math.Sqrt2 * math.Erfinv(1-byChance/float64(2*max(1, units))))
}

// verdict is the bias in a word: that of z, or else that towards zero, if it is beyond the limit.
func (m *moments) verdict(limit Number) string {
	z, words := m.Z, [2]string{"down", "up"}
	if math.Abs(float64(z)) <= float64(limit) {
		z, words = m.ZToZero, [2]string{"towards zero", "away from zero"}
	}
	switch {
	case m.SD == 0 && m.Mean == 0:
		return "exact"
	case z < -limit:
		return words[0]
	case z > limit:
		return words[1]
	}
	return "none seen"
}

// report adds the table of units and the plots.
func (b *bias) report(all []drift, res *Result) {
	limit := biasLimit(len(all))
	t := Table{Name: "bias", Title: "Signed errors, in ulp of the sum of magnitudes",
		Note: fmt.Sprintf("mean, sd, skew, z and towards zero: of one execution on normally distributed numbers. drift: the mean after %d executions, or as many as the unit can be chained, on normally distributed and on positive numbers. bias: what z or the z towards zero, its mean divided by its standard error, says beyond ±%.2f. Of %s without bias, two tests each, one would be beyond it by chance with a probability of at most %.0f %%.", b.steps, limit, readable.Plural(len(all), "unit"), 100*byChance),
		Head: []string{"unit", "mean", "sd", "skew", "z", "towards zero", "z towards zero", "drift normal", "drift positive", "bias"}}
	words := map[string]int{}
	for _, d := range all {
		last := len(d.Steps) - 1
		word := d.Normal.verdict(limit)
		words[word]++
		t.add(d.Name, d.Normal.Mean, d.Normal.SD, d.Normal.Skew, d.Normal.Z, d.Normal.ToZero, d.Normal.ZToZero, d.Chain[last], d.Positive[last], word)
	}
	res.Tables = append(res.Tables, t)
	for _, w := range []string{"down", "up", "towards zero", "away from zero", "none seen", "exact"} {
		if words[w] > 0 {
			res.Remarks = append(res.Remarks, fmt.Sprintf("Bias %s: %s.", w, readable.Plural(words[w], "unit")))
		}
	}
	for _, p := range []struct {
		name, title string
		of          func(*drift) []Number
	}{
		{"drift-normal", "Mean error of chains of normally distributed numbers", func(d *drift) []Number { return d.Chain }},
		{"drift-positive", "Mean error of chains of positive numbers", func(d *drift) []Number { return d.Positive }},
	} {
		plot := Plot{Name: p.name, Title: p.title, Kind: "lines", X: "executions", Y: "mean error, ulp of the sum of magnitudes", LogX: true}
		for _, d := range typical(all) {
			s := Series{Name: d.Name, Y: p.of(d)}
			for _, n := range d.Steps {
				s.X = append(s.X, Number(n))
			}
			plot.Series = append(plot.Series, s)
		}
		res.Plots = append(res.Plots, plot)
	}
}

// typical picks the units whose drift is plotted: all if they are few, else chosen
// instructions of several architectures, or if none of these is there, units at equal
// distances.
func typical(all []drift) []*drift {
	const most = 8
	var some []*drift
	if len(all) <= most {
		for i := range all {
			some = append(some, &all[i])
		}
		return some
	}
	for _, name := range []string{"volta/mma.m8n8k4.f32.f16.f16.f32", "turing/mma.m16n8k8.f32.f16.f16.f32", "ada/mma.m16n8k16.f32.e5m2.e5m2.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32",
		"cdna1/v_mfma_f32_32x32x4f16", "cdna2/v_mfma_f32_32x32x4f16", "cdna3/v_mfma_f32_32x32x8_f16", "cdna3/v_mfma_f32_16x16x32_bf8_bf8"} {
		for i := range all {
			if all[i].Name == name {
				some = append(some, &all[i])
			}
		}
	}
	if some == nil {
		for i := range most {
			some = append(some, &all[i*len(all)/most])
		}
	}
	return some
}

// figure3 makes Figure 3 of arXiv:2511.10909: section 6.2.4, A and B drawn from
// 1000 N(0, 1), C from N(0, 1). The paper prints no numbers: what it claims is that the
// distribution of CDNA3's error is shifted down and that of the unit which truncates is
// symmetric.
func figure3(ctx context.Context, seed uint64, n int, res *Result) error {
	i, err := mma.Lookup("cdna3", "v_mfma_f32_32x32x8_f16")
	if err != nil {
		return err
	}
	thousand := distribution{"1000 normal", func(rng *rand.Rand) float64 { return 1000 * rng.NormFloat64() }}
	rd := newReader(i.Formats)
	rng := rand.New(rand.NewPCG(seed, 3))
	var dots []*mma.Dot
	err = inParts(n, i.K, func(part int) error {
		for range part {
			dots = append(dots, rd.dot(i.K, thousand, standardNormal, rng))
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	t := Table{Name: "figure3", Title: "Figure 3 of arXiv:2511.10909: D - exact of CDNA3's FP16 instruction, which rounds down inside, and of one that truncates",
		Note: "d is in units of the values themselves; z is the mean divided by its standard error.",
		Head: []string{"inside", "mean", "sd", "skew", "z", "d < 0 %", "d > 0 %", "the paper"}}
	p := Plot{Name: "figure3", Title: "D - exact: rounding down inside, and truncating", Kind: "bars", X: "D - exact", Y: "dot products"}
	rounded := func(to fp.Mode) mma.Instruction {
		v := *i
		for _, mode := range []*fp.Mode{&v.Params.Join.Align.Mode, &v.Params.Join.CMode, &v.Params.Join.Post.Mode} {
			*mode = to
		}
		return v
	}
	for _, v := range []struct {
		inst  mma.Instruction
		name  string
		paper string
		holds func(moments) bool
	}{
		{*i, "RD", "shifted down", func(m moments) bool { return m.Z < -5 }},
		{rounded(fp.RZ), "RZ", "symmetric", func(m moments) bool { return math.Abs(float64(m.Z)) < 4 && math.Abs(float64(m.Skew)) < 0.2 }},
	} {
		u, err := simulated.Open(&v.inst)
		if err != nil {
			return err
		}
		codes, err := (&unit{Unit: u, name: v.name}).run(ctx, mma.BatchOf(i.Formats, i.K, dots))
		if err != nil {
			return err
		}
		var errs []float64
		below, above := 0, 0
		for x, d := range dots {
			exact, _ := rd.sum(d, i.K)
			e := exact.minus(rd.d.value(codes[x]))
			errs = append(errs, e)
			if e < 0 {
				below++
			} else if e > 0 {
				above++
			}
		}
		m := momentsOf(errs, errs)
		t.add(v.name, m.Mean, m.SD, m.Skew, m.Z, 100*float64(below)/float64(n), 100*float64(above)/float64(n), v.paper)
		p.count(v.name, -0.6, 0.6, 60, errs)
		if !v.holds(m) {
			res.Failures = append(res.Failures, fmt.Sprintf("Figure 3, %s: z = %s, skew %s, but the paper's is %s", v.name, m.Z, m.Skew, v.paper))
		}
	}
	res.Tables = append(res.Tables, t)
	res.Plots = append(res.Plots, p)
	return nil
}
