package prove

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/internal/climb"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/encode"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// errorBound says that no result is further from the exact value than bound * 2^-frac * S. S is
// the sum of the magnitudes of all products and of c, and 2^least <= S < 2^most; no operand is an
// infinity or a NaN and, if normal is set, no a, b or scale subnormal.
type errorBound struct {
	normal      bool
	bound       *big.Rat
	frac        int
	least, most int
}

// underflow: S is so large that what is lost to underflow is at most this part of a unit.
const underflow = -16

// digits of a bound after the point.
const digits = 10_000

// proveError derives a bound from the program: for subnormal operands, too, if it is not larger
// then.
func proveError(q *asked) (*errorBound, error) {
	b, err := encode.ErrorBound(q.f, q.k, &q.p, true)
	if err != nil {
		return nil, err
	}
	all, err := encode.ErrorBound(q.f, q.k, &q.p, false)
	normal := err != nil || all.Relative.Cmp(b.Relative) > 0 || all.Absolute.Cmp(b.Absolute) > 0
	e := &errorBound{normal: normal, frac: int(q.f.D.Get().FracBits), least: int(q.f.D.Get().Emin()), most: b.Emax - 1}
	if last := lastRounding(q.f, &q.p); last != nil {
		e.frac = int(last.Frac)
	}
	absolute := scaled(b.Absolute, e.frac)
	for scaled(absolute, -e.least).Cmp(scaled(big.NewRat(1, 1), underflow)) > 0 {
		e.least++
	}
	e.bound = rounded(new(big.Rat).Add(scaled(b.Relative, e.frac), scaled(absolute, -e.least)), true)
	return e, nil
}

// scaled is x * 2^n.
func scaled(x *big.Rat, n int) *big.Rat {
	p := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(n, -n))))
	if n < 0 {
		return p.Quo(x, p)
	}
	return p.Mul(x, p)
}

// rounded is x with few digits, rounded up or down.
func rounded(x *big.Rat, up bool) *big.Rat {
	n := new(big.Int).Mul(x.Num(), big.NewInt(digits))
	if up {
		n.Add(n, new(big.Int).Sub(x.Denom(), big.NewInt(1)))
	}
	return new(big.Rat).SetFrac(n.Div(n, x.Denom()), big.NewInt(digits))
}

// words writes a number of few digits.
func words(x *big.Rat) string {
	return strings.TrimSuffix(strings.TrimRight(x.FloatString(4), "0"), ".")
}

// String is the statement.
func (e *errorBound) String() string {
	return fmt.Sprintf("the error is at most %s * 2^-%d of the sum of the magnitudes of all products and c", words(e.bound), e.frac)
}

// assumed is what it is about.
func (e *errorBound) assumed() string {
	subnormal := ""
	if e.normal {
		subnormal = "no a, b or scale is subnormal, "
	}
	return fmt.Sprintf("%sno operand is an infinity or a NaN, and that sum is from 2^%d to below 2^%d", subnormal, e.least, e.most)
}

// valueOf is an exact number.
func valueOf(x oracle.Exact) *big.Rat { return scaled(new(big.Rat).SetInt(x.Mant), x.Exp) }

// measure returns the error of a result in units of 2^-frac * S; ok is false for an input that
// the bound is not about.
func (e *errorBound) measure(f mma.Formats, d *mma.Dot, code uint64) (units *big.Rat, ok bool) {
	normal := func(id fp.ID, codes []uint64) bool {
		for _, code := range codes {
			if n := id.Get().Decode(code); n.Class == fp.Finite && n.Exp == id.Get().Emin() && n.Sig>>id.Get().FracBits == 0 {
				return false
			}
		}
		return true
	}
	if !finite(f, d) || e.normal && !(normal(f.A, d.A) && normal(f.B, d.B) && (f.Scale == fp.None || normal(f.Scale, d.SA) && normal(f.Scale, d.SB))) {
		return nil, false
	}
	s := valueOf(oracle.MagnitudeDot(f, d))
	one := big.NewRat(1, 1)
	if s.Cmp(scaled(one, e.least)) < 0 || s.Cmp(scaled(one, e.most)) >= 0 {
		return nil, false
	}
	value, exact := new(big.Rat).SetFloat64(f.D.Get().Float64(code)), valueOf(oracle.ExactDot(f, d))
	if value == nil {
		return scaled(one, 1000), true // an infinity or a NaN, which no bound allows
	}
	return scaled(value.Abs(value.Sub(value, exact)).Quo(value, s), e.frac), true
}

// relation is the bound as a statement about every input.
func (e *errorBound) relation(q *asked) relation {
	return relation{
		words: e.assumed(),
		assume: func(in, _ *encode.Inputs) []*graph.Node {
			_, s, unit := in.Measured(in.Int(0))
			least, most := in.Left(in.Int(1), max(0, e.least-unit)), in.Left(in.Int(1), e.most-unit)
			all := append(in.Finite(), in.Not(in.Less(s, least)), in.Less(s, most))
			if e.normal {
				all = append(all, in.Normal()...)
			}
			return all
		},
		nodes: func(in *encode.Inputs, _ *fp.Format, x, _ *graph.Node) (a, b *graph.Node) {
			err, s, _ := in.Measured(x)
			num, denom := e.bound.Num(), new(big.Int).Lsh(e.bound.Denom(), uint(e.frac))
			return in.Less(in.Times(num, s), in.Times(denom, err)), in.Int(0)
		},
		fails: func(_ *fp.Format, d *mma.Dot, x, _ uint64) bool {
			units, ok := e.measure(q.f, d, x)
			return ok && units.Cmp(e.bound) > 0
		},
		dots: func(d *mma.Dot) []*mma.Dot {
			if _, ok := e.measure(q.f, d, 0); !ok {
				return nil
			}
			return []*mma.Dot{d}
		},
	}
}

// errorsOf looks for the smallest bound of the error: of the sum of all magnitudes, one that is
// proved, and one as large as possible that an input refutes.
func errorsOf(ctx context.Context, q *asked, answer *Answer) error {
	if q.f.D.Integer() {
		answer.Verdict, answer.Reason = NotAsked, "sums of integers have no errors of rounding"
		return nil
	}
	e, err := proveError(q)
	if err != nil {
		return err
	}
	answer.Verdict, answer.By, answer.Statement = Holds, "ranges", e.String()
	answer.Assumed = []string{fmt.Sprintf("dot products of %s, in one execution of the instruction", readable.Plural(q.k, "product")), e.assumed()}
	answer.Proved, _ = e.bound.Float64()
	w, least, err := e.refute(ctx, q)
	if err != nil || w == nil {
		return err
	}
	if least.Cmp(e.bound) > 0 {
		return fmt.Errorf("the error on %s is %s units, and a bound of %s is proved: this is a mistake of package prove", mma.FormatDot(q.f, w.Dot), words(least), words(e.bound))
	}
	answer.Refuted, _ = least.Float64()
	answer.Statement += fmt.Sprintf(", and on an input at least %s", words(least))
	answer.show(q.f, w)
	return nil
}

// tried is how many inputs the search for a large error tries.
const tried = 6000

// refute looks for an input with a large error, which is at least least; nil: none has any.
func (e *errorBound) refute(ctx context.Context, q *asked) (w *triage.Witness, least *big.Rat, err error) {
	m, err := sim.New(q.f, q.k, q.p)
	if err != nil {
		return nil, nil, err
	}
	units := func(d *mma.Dot) *big.Rat {
		if u, ok := e.measure(q.f, d, m.Dot(d, nil)); ok {
			return u
		}
		return big.NewRat(-1, 1)
	}
	c := climb.Climber{Formats: q.f, K: q.k, Seed: 1, First: e.boundary(q)}
	c.Most = len(c.First) + tried
	c.Scores = func(ctx context.Context, dots []*mma.Dot) ([]float64, error) {
		scores := make([]float64, len(dots))
		for n, d := range dots {
			scores[n], _ = units(d).Float64()
		}
		return scores, ctx.Err()
	}
	best, err := c.Climb(ctx, &q.p)
	if err != nil || len(best) == 0 || best[0].Score == 0 {
		return nil, nil, err
	}
	least = rounded(units(best[0].Dot), false)
	small, err := evidence.Shrink(context.WithoutCancel(ctx), q.f, best[0].Dot, evidence.OneByOne(func(d *mma.Dot) bool { return units(d).Cmp(least) >= 0 }), minimize.Options{})
	if err != nil {
		return nil, nil, err
	}
	least = rounded(units(small), false) // a smaller input may err by more
	got := m.Dot(small, nil)
	if judged := oracle.Eval(&q.p, q.f, q.k, small); judged != got {
		return nil, nil, mistaken(q.f, small, true, false)
	}
	return &triage.Witness{Dot: small, Before: got, After: oracle.ExactDot(q.f, small).Code()}, least, nil
}

// boundary are inputs on which units err by much: one term of a power of two, and others that are
// just below a place at which something is cut, in the middle between two such places, or far below.
func (e *errorBound) boundary(q *asked) []*mma.Dot {
	p := &q.p
	var places []int
	for _, f := range []mma.Frac{p.Stage0.Align.F, p.Stage0.Round.Frac, p.Stage1.Align.F, p.Join.Align.F, p.Join.CF, p.Join.Post.Frac, p.Acc.Frac, p.Late.Frac, p.Out.Frac} {
		if f != 0 {
			places = append(places, int(f))
		}
	}
	slices.Sort(places)
	a, b := q.f.A.Get(), q.f.B.Get()
	// factors makes a product of an exponent: of two powers of two, or just below it.
	factors := func(exponent int, ones, neg bool) (x, y uint64) {
		u, v := 1.0, 1.0
		if ones {
			exponent -= 2
			u, v = 2-math.Ldexp(1, -int(a.FracBits)), 2-math.Ldexp(1, -int(b.FracBits))
		}
		if neg {
			u = -u
		}
		ea := min(max(exponent/2, int(a.Emin())), int(a.Emax()))
		return a.FromFloat64(math.Ldexp(u, ea)), b.FromFloat64(math.Ldexp(v, exponent-ea))
	}
	var all []*mma.Dot
	for _, top := range []int{0, 2, 5, 9, 14} {
		for _, place := range slices.Compact(places) {
			for n := range 5 * 4 * 2 * 2 * 2 {
				first, others, ones, neg, ofC := n%5-1, []int{-12, -1, 0, 1}[n/5%4], n/20%2 == 0, n/40%2 == 0, n/80 == 0
				d := mma.NewDot(q.f, q.k)
				for i := range d.SA {
					d.SA[i], d.SB[i] = q.f.Scale.Get().FromFloat64(1), q.f.Scale.Get().FromFloat64(1)
				}
				at := max(0, e.least) + top
				for i := range d.A {
					d.A[i], d.B[i] = factors(at-place+others, ones, neg)
				}
				d.A[q.k-1], d.B[q.k-1] = factors(at-place+first, ones, neg)
				switch {
				case !ofC:
					d.A[0], d.B[0] = factors(at, false, false)
				case q.f.C != fp.None:
					d.C = q.f.C.Get().FromFloat64(math.Ldexp(1, at))
				}
				all = append(all, d)
			}
		}
	}
	return all
}
