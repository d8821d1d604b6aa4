package study

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/climb"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

var refineStudy = Study{
	Name:  "refine",
	Short: "single precision from half precision: Markidis et al. against Ootomo and Yokota",
	Long: `refine computes FP32 dot products a*b + c on units whose operands are narrower, by the
two methods of Valpey et al. (2025, section 6). With A and B the operands rounded to the
unit's format, and RA and RB what that leaves,

  Markidis et al.  RA*RB + A*RB + RA*B + A*B + c, all of it accumulated in the unit
  Ootomo, Yokota   the same with RA and RB times 2^(p+1), p fraction bits, so that
                   less of them is lost, and with the parts added outside of the unit,
                   to nearest: ((RA*RB/2^(2p+2) + (A*RB + RA*B)/2^(p+1)) + A*B) + c

and holds both against the exact value: on the counterexample of Table 5, on random
operands with exponents of -15 to 14, as in the paper, and by search for the operands on
which one of them is worse than the other by the most, and for the fewest and simplest ones
on which it is worse at all. Errors are in ulp (of FP32) of the sum of magnitudes.`,
	Count: 4000, Of: "random dot products, and of dot products tried by each search",
	New: func(*pflag.FlagSet) Runner { return refine{} },
}

type refine struct{}

// refinable reports whether an instruction can be used: FP32 sums of narrower operands.
func refinable(i *mma.Instruction) bool {
	switch i.A {
	case fp.FP16, fp.BF16, fp.TF32, fp.XF32:
		return i.A == i.B && i.C == fp.FP32 && i.D == fp.FP32
	}
	return false
}

// refiner computes refined dot products on a unit. They are given as dot products of FP32
// operands.
type refiner struct {
	u     *unit
	low   *fp.Format
	scale float64 // 2^(p+1)
	r     *reader // of the FP32 operands
}

// single are the formats of the operands.
var single = mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}

func newRefiner(u *unit) *refiner {
	low := u.inst().A.Get()
	return &refiner{u, low, math.Ldexp(1, int(low.FracBits)+1), newReader(single)}
}

// parts are a dot product's operands for the unit.
type parts struct{ a, b, ra, rb, scaledA, scaledB []uint64 }

// cut cuts operands into what the unit's format holds and what is left, which is a number
// of FP32, rounded to the unit's format.
func (r *refiner) cut(codes []uint64) (high, rest, scaled []uint64) {
	for _, c := range codes {
		v := r.r.a.value(c)
		h := encode(r.low, v)
		left := v - r.low.Float64(h)
		high, rest, scaled = append(high, h), append(rest, encode(r.low, left)), append(scaled, encode(r.low, left*r.scale))
	}
	return high, rest, scaled
}

// refined are the results of the methods, plain being A*B + c alone.
type refined struct{ plain, markidis, ootomo float32 }

// run computes dot products by all methods.
func (r *refiner) run(ctx context.Context, dots []*mma.Dot) ([]refined, error) {
	all := make([]parts, len(dots))
	for n, d := range dots {
		p := &all[n]
		p.a, p.ra, p.scaledA = r.cut(d.A)
		p.b, p.rb, p.scaledB = r.cut(d.B)
	}
	var err error
	product := func(a, b func(*parts) []uint64, c []float32) []float32 {
		if err != nil {
			return make([]float32, len(dots))
		}
		in := make([]*mma.Dot, len(dots))
		for n := range all {
			in[n] = &mma.Dot{A: a(&all[n]), B: b(&all[n]), C: uint64(math.Float32bits(c[n]))}
		}
		var codes []uint64
		codes, err = r.u.run(ctx, mma.BatchOf(r.u.inst().Formats, r.u.inst().K, in))
		out := make([]float32, len(dots))
		for n, code := range codes {
			out[n] = math.Float32frombits(uint32(code))
		}
		return out
	}
	a, b := func(p *parts) []uint64 { return p.a }, func(p *parts) []uint64 { return p.b }
	ra, rb := func(p *parts) []uint64 { return p.ra }, func(p *parts) []uint64 { return p.rb }
	sa, sb := func(p *parts) []uint64 { return p.scaledA }, func(p *parts) []uint64 { return p.scaledB }
	c, zeros := make([]float32, len(dots)), make([]float32, len(dots))
	for n, d := range dots {
		c[n] = math.Float32frombits(uint32(d.C))
	}
	plain := product(a, b, c)
	markidis := product(a, b, product(ra, b, product(a, rb, product(ra, rb, c))))
	smallest, middle, largest := product(sa, sb, zeros), product(sa, b, product(a, sb, zeros)), product(a, b, zeros)
	if err != nil {
		return nil, err
	}
	out := make([]refined, len(dots))
	s := float32(r.scale)
	for n := range out {
		sum := float32(smallest[n]/s/s) + float32(middle[n]/s)
		sum = float32(sum) + largest[n]
		out[n] = refined{plain[n], markidis[n], float32(sum) + c[n]}
	}
	return out, nil
}

// errors returns the errors of results, in ulp of the sum of magnitudes; ok is false if an
// operand is beyond the range of the paper or a result no number.
func (r *refiner) errors(d *mma.Dot, x refined) (plain, markidis, ootomo float64, ok bool) {
	for _, codes := range [][]uint64{d.A, d.B} {
		for _, code := range codes {
			v := r.r.a.value(code)
			if e := math.Ilogb(v); v != 0 && (e < -15 || e > 14) {
				return 0, 0, 0, false
			}
		}
	}
	if c := r.r.c.value(d.C); c != 0 && (math.Abs(c) < 0x1p-30 || math.Abs(c) > 0x1p30) {
		return 0, 0, 0, false
	}
	exact, magnitude := r.r.sum(d, len(d.A))
	if magnitude == 0 {
		return 0, 0, 0, false
	}
	_, e := math.Frexp(magnitude)
	ulp := math.Ldexp(1, e-24)
	of := func(v float32) float64 { return math.Abs(exact.minus(float64(v))) / ulp }
	plain, markidis, ootomo = of(x.plain), of(x.markidis), of(x.ootomo)
	return plain, markidis, ootomo, !math.IsNaN(plain + markidis + ootomo + 0*(plain+markidis+ootomo))
}

// refinement is what was measured of a unit.
type refinement struct {
	Name                          string
	N                             int
	Plain, Markidis, Ootomo, FP32 Number // mean errors of random dot products
	OotomoWorse, MarkidisWorse    int    // of these
	OotomoWorst, MarkidisWorst    worst
}

// worst is where one method has the larger error. Inputs are in the text form of eval.
type worst struct {
	Gap      Number    // its error less the other's: the largest that was found
	At       string    // on this input
	Has      [2]Number // these are the errors
	Smallest string    // the smallest input that was found with any gap
	Results  [3]string // of Markidis et al., of Ootomo and Yokota, and exactly
}

// checkRefinement returns what is impossible about what a journal has of a unit.
func checkRefinement(u *unit, m refinement) error {
	if m.Name != u.name || min(m.OotomoWorse, m.MarkidisWorse) < 0 || m.N < m.OotomoWorse || m.N-m.OotomoWorse < m.MarkidisWorse {
		return fmt.Errorf("of %d dot products of %s, %d and %d are worse", m.N, m.Name, m.OotomoWorse, m.MarkidisWorse)
	}
	return nil
}

// Run makes the study.
func (refine) Run(ctx context.Context, r *Request) (*Result, error) {
	res := &Result{}
	units, done, err := r.askable(ctx, refinable)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := table5(ctx, units, len(r.Targets) == 0, res); err != nil {
		return nil, err
	}
	all, err := each(ctx, r, units, func(u *unit) string { return u.name }, checkRefinement, func(ctx context.Context, u *unit) (refinement, error) {
		return refinementOf(ctx, u, r)
	})
	if err != nil {
		return nil, err
	}
	t := Table{Name: "refine", Title: "Mean errors of random dot products, in ulp of the sum of magnitudes",
		Note: "plain: A*B + c alone. FP32: a chain of FP32 FMAs. worse: per cent of the dot products on which one method has a larger error than the other.",
		Head: []string{"unit", "plain", "Markidis", "Ootomo", "FP32", "Ootomo worse %", "Markidis worse %"}}
	g := Table{Name: "gaps", Title: "The largest gaps found by search: error of one method less that of the other, in ulp of the sum of magnitudes",
		Head: []string{"unit", "worse", "by", "its error", "the other's", "a, b and c in FP32"}}
	small := Table{Name: "smallest", Title: "The smallest inputs that were found on which one method is worse than the other",
		Head: []string{"unit", "worse", "a, b and c in FP32", "Markidis", "Ootomo", "exact"}}
	for _, m := range all {
		n := float64(max(1, m.N))
		t.add(m.Name, m.Plain, m.Markidis, m.Ootomo, m.FP32, 100*float64(m.OotomoWorse)/n, 100*float64(m.MarkidisWorse)/n)
		for n, w := range []worst{m.OotomoWorst, m.MarkidisWorst} {
			method := []string{"Ootomo", "Markidis"}[n]
			g.add(m.Name, method, w.Gap, w.Has[0], w.Has[1], w.At)
			small.add(m.Name, method, w.Smallest, w.Results[0], w.Results[1], w.Results[2])
		}
	}
	res.Tables = append(res.Tables, t, g, small)
	return res, nil
}

// refinementOf measures a unit.
func refinementOf(ctx context.Context, u *unit, r *Request) (refinement, error) {
	m := refinement{Name: u.name}
	rf := newRefiner(u)
	h := fnv.New64a()
	h.Write([]byte(u.name))
	seed := r.Seed ^ h.Sum64()
	rng := rand.New(rand.NewPCG(seed, 6))
	// The exponents of the paper, "Type 1" of Ootomo and Yokota, and c of the size of the
	// smaller products.
	wide := distribution{"-15..14", func(rng *rand.Rand) float64 {
		return math.Ldexp(math.Copysign(1+rng.Float64(), rng.Float64()-0.5), rng.IntN(30)-15)
	}}
	err := inParts(r.Count, u.inst().K, func(part int) error {
		dots := make([]*mma.Dot, part)
		for n := range dots {
			dots[n] = rf.r.dot(u.inst().K, wide, wide, rng)
		}
		results, err := rf.run(ctx, dots)
		for n := range results {
			m.add(rf, dots[n], results[n])
		}
		return err
	})
	if err != nil {
		return m, err
	}
	for _, sum := range []*Number{&m.Plain, &m.Markidis, &m.Ootomo, &m.FP32} {
		*sum /= Number(max(1, m.N))
	}
	if m.OotomoWorst, err = rf.search(ctx, seed, r.Count, true); err != nil {
		return m, err
	}
	m.MarkidisWorst, err = rf.search(ctx, seed, r.Count, false)
	return m, err
}

// add adds the errors of a random dot product, whose means are made of the sums later.
func (m *refinement) add(rf *refiner, d *mma.Dot, x refined) {
	plain, markidis, ootomo, ok := rf.errors(d, x)
	if !ok {
		return
	}
	m.N++
	exact, magnitude := rf.r.sum(d, len(d.A))
	_, e := math.Frexp(magnitude)
	m.Plain, m.Markidis, m.Ootomo = m.Plain+Number(plain), m.Markidis+Number(markidis), m.Ootomo+Number(ootomo)
	m.FP32 += Number(math.Abs(exact.minus(float64(chain32(d)))) / math.Ldexp(1, e-24))
	if ootomo > markidis {
		m.OotomoWorse++
	} else if markidis > ootomo {
		m.MarkidisWorse++
	}
}

// chain32 is the dot product in FP32 FMAs, c first. The product of two FP32 numbers has 48
// bits, so that adding in float64 and rounding to FP32 may round twice, which is no matter
// in a mean.
func chain32(d *mma.Dot) float32 {
	sum := math.Float32frombits(uint32(d.C))
	for i := range d.A {
		a, b := math.Float32frombits(uint32(d.A[i])), math.Float32frombits(uint32(d.B[i]))
		sum = float32(math.FMA(float64(a), float64(b), float64(sum)))
	}
	return sum
}

// search looks for the dot product on which one method is worse than the other by the most, and
// for the smallest one on which it is worse.
func (r *refiner) search(ctx context.Context, seed uint64, most int, ootomo bool) (w worst, err error) {
	worse := func(d *mma.Dot, x refined) (mine, other float64, ok bool) {
		_, m, o, ok := r.errors(d, x)
		if ootomo {
			return o, m, ok
		}
		return m, o, ok
	}
	c := climb.Climber{Formats: single, K: r.u.inst().K, Seed: seed, Most: most}
	gaps := func(ctx context.Context, dots []*mma.Dot) ([]float64, error) {
		results, err := r.run(ctx, dots)
		if err != nil {
			return nil, err
		}
		scores := make([]float64, len(dots))
		for n, d := range dots {
			mine, other, ok := worse(d, results[n])
			if scores[n] = mine - other; !ok {
				scores[n] = -1
			}
		}
		return scores, nil
	}
	c.Scores = gaps
	best, err := c.Climb(ctx)
	if err != nil || len(best) == 0 || best[0].Score == 0 {
		return w, err
	}
	small, err := evidence.Shrink(ctx, single, best[0].Dot, func(ctx context.Context, dots []*mma.Dot) ([]bool, error) {
		all, err := gaps(ctx, dots)
		holds := make([]bool, len(all))
		for n, gap := range all {
			holds[n] = gap > 0
		}
		return holds, err
	}, minimize.Options{MaxQueries: 5000})
	if err != nil {
		return w, err
	}
	results, err := r.run(ctx, []*mma.Dot{best[0].Dot, small})
	if err != nil {
		return w, err
	}
	mine, other, _ := worse(best[0].Dot, results[0])
	code := func(v float32) string { return mma.FormatCode(fp.FP32, uint64(math.Float32bits(v))) }
	return worst{
		Gap: Number(mine - other), At: mma.FormatDot(single, best[0].Dot), Has: [2]Number{Number(mine), Number(other)},
		Smallest: mma.FormatDot(single, small), Results: [3]string{code(results[1].markidis), code(results[1].ootomo), oracle.ExactDot(single, small).String()},
	}, nil
}

// smtCounterexample is the input of Table 5 of Valpey et al.
var smtCounterexample = struct {
	a, b []float64
	c    float64
}{
	[]float64{1.0009765625 * 0x1p-8, 1.326171875 * 0x1p-14, 0x1p-12, 0x1p-12},
	[]float64{1.998046875 * 0x1p7, 1.4443359375 * 0x1p-7, 0x1p-12, 0x1p-12},
	0x1p-24,
}

// table5 adds Table 5 of Valpey et al.: the counterexample, on all units of FP16, and with
// all, which means the whole catalogue, on the three that the paper is about.
func table5(ctx context.Context, units []unit, all bool, res *Result) error {
	t := Table{Name: "table5", Title: "Table 5 of Valpey et al.: where Ootomo and Yokota's method has the larger error; in FP32 the sum is 1 + 2^-23",
		Note: "b_1 is 1.998046875*2^7, as the walk-through in the paper needs it; printed is 2^-7. The paper is about Volta, Turing and Ampere.",
		Head: []string{"unit", "Markidis", "the paper", "Ootomo", "the paper", "equal"}}
	a, b := smtCounterexample.a, smtCounterexample.b
	const paperM, paperO = 1 + 0x1p-23, 1.0
	equal := 0
	for _, u := range units {
		i := u.inst()
		if i.A != fp.FP16 {
			continue
		}
		k := max(i.K, (len(a)+i.K-1)/i.K*i.K)
		if k != i.K {
			continue // shorter than the example
		}
		d := mma.NewDot(single, k)
		for n := range a {
			d.A[n], d.B[n] = uint64(math.Float32bits(float32(a[n]))), uint64(math.Float32bits(float32(b[n])))
		}
		d.C = uint64(math.Float32bits(float32(smtCounterexample.c)))
		got, err := newRefiner(&u).run(ctx, []*mma.Dot{d})
		if err != nil {
			return err
		}
		same := float64(got[0].markidis) == paperM && float64(got[0].ootomo) == paperO
		word, m, o := "", "", ""
		switch i.Arch {
		case "volta", "turing", "ampere":
			// Not what Ampere makes of Volta's instruction.
			if i.Arch == "ampere" && i.K == 4 {
				break
			}
			word, m, o = "no", near1(paperM), near1(paperO)
			if same {
				word = "yes"
				equal++
			} else if all {
				res.Failures = append(res.Failures, fmt.Sprintf("Table 5, %s: %s and %s, the paper has %s and %s", u.name, near1(float64(got[0].markidis)), near1(float64(got[0].ootomo)), m, o))
			}
		}
		t.add(u.name, near1(float64(got[0].markidis)), m, near1(float64(got[0].ootomo)), o, word)
	}
	if len(t.Rows) > 0 {
		res.Tables = append(res.Tables, t)
	}
	if all && equal == 0 {
		res.Failures = append(res.Failures, "Table 5: no unit has the paper's results")
	}
	return nil
}

// near1 writes a number by its distance from 1 in units of 2^-24.
func near1(v float64) string {
	switch n := (v - 1) * 0x1p24; {
	case n == 0:
		return "1"
	case n == 2:
		return "1 + 2^-23"
	case n == -1:
		return "1 - 2^-24"
	default:
		return fmt.Sprintf("1 %+g*2^-24", n)
	}
}
