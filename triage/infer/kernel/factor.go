package kernel

import (
	"context"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// scaling is how a whole sum is multiplied by a number of the code's own; without a factor it is not. What follows
// it goes with it.
type scaling struct {
	factor float64
	place  place
	relu   []schedule.Step // what becomes of negative results, in one step; nil: nothing
}

// place is where the factor meets the cast of a sum to the format of the result.
type place int

const (
	beforeCast  place = iota // the sum is multiplied in its own format, then cast
	afterCast                // what was cast is multiplied in its format
	afterInFP32              // the same, rounded to FP32 before
	inOne                    // the product is rounded to the format of the result alone
	places
	inA // the elements of A are multiplied before, and rounded to their format
	inB
)

// ofOperand reports whether it is an operand that is multiplied, not the sum.
func (p place) ofOperand() bool { return p > places }

// steps returns an epilogue of casts with the multiplication; nil and false: that is another place's.
func (s scaling) steps(casts []schedule.Step, d fp.ID) ([]schedule.Step, bool) {
	steps, ok := s.times(casts, d)
	return slices.Concat(steps, s.relu), ok
}

// times is steps without those that follow.
func (s scaling) times(casts []schedule.Step, d fp.ID) ([]schedule.Step, bool) {
	times := schedule.Step{Op: "alpha", Factor: s.factor}
	switch {
	case s.factor == 0 || s.place.ofOperand():
		return casts, true
	case s.place == beforeCast:
		return slices.Concat([]schedule.Step{times}, casts), true
	case s.place == afterInFP32 && d.Width() == 2:
		times.Format = fp.FP32
		return slices.Concat(casts, []schedule.Step{times}, castTo(d)), true
	case casts == nil:
		return nil, false
	case s.place == afterCast:
		return slices.Concat(casts, []schedule.Step{times}), true
	case s.place == inOne && len(casts) == 1:
		times.Format, times.Rounding = d, casts[0].Rounding
		return []schedule.Step{times}, times.Round == "" && times.Subnormals == ""
	}
	return nil, false
}

// scalings returns how sums may be multiplied.
func (b *box) scalings() (all []scaling) {
	for _, f := range b.factors {
		for p := range places {
			all = append(all, scaling{factor: f, place: p})
		}
	}
	for _, f := range b.inA {
		all = append(all, scaling{factor: f, place: inA})
	}
	for _, f := range b.inB {
		all = append(all, scaling{factor: f, place: inB})
	}
	if all == nil {
		all = []scaling{{}}
	}
	if b.relus == nil {
		return all
	}
	var with []scaling
	for _, s := range all {
		for _, step := range b.relus {
			s.relu = []schedule.Step{step}
			with = append(with, s)
		}
	}
	return with
}

// scaledBy returns units with the multiplication of their sums.
func (b *box) scaledBy(units []candidate) (all []candidate) {
	for _, c := range units {
		for _, c.scaling = range b.scalings() {
			scaled := c
			switch of := (&schedule.Cast{Format: b.A, Factor: c.scaling.factor}); {
			case c.scaling.place.ofOperand() && (c.unit.Op == "" || c.unit.Casts()):
				continue
			case c.scaling.place == inA:
				scaled.unit.CastA = of
			case c.scaling.place == inB:
				of.Format = b.B
				scaled.unit.CastB = of
			}
			var ok bool
			if scaled.epilogue, ok = c.scaling.steps(c.epilogue, b.D); ok {
				all = append(all, scaled)
			}
		}
	}
	return all
}

// factorPlaces is how many k, from the first on, and from the middle on, a sum takes that is asked about.
const factorPlaces = 8

// askFactor asks by what sums are multiplied: what becomes of one product of ones tells it, and where that is rounded
// to fewer bits than a factor has, what becomes of sums that lie near to the middle of two results.
func (l *loop) askFactor(ctx context.Context, c *class) error {
	l.factor, l.factors, l.inA, l.inB, l.relus = 1, nil, nil, nil, nil
	if l.A.Integer() || l.D.Integer() || l.Scale != fp.None {
		return nil
	}
	q := &factorQuestion{loop: l, class: c, d: l.D.Get()}
	for _, q.from = range []int{0, l.K / 2} { // the first products may not be in the sum
		got, err := q.ask(ctx, []float64{1, 2, 4096})
		if err != nil {
			return err
		}
		v := got[0]
		if math.Abs(v) < math.Ldexp(1, int(q.d.Emin())) {
			v = got[2] / 4096
		} else if got[1] != 2*v { // it is more than a factor
			v = 0
		}
		if err := q.askRelu(ctx, v); err != nil {
			return err
		}
		if v == 1 || v-v != 0 {
			return nil
		} else if v != 0 {
			if err := q.askOperands(ctx, v); err != nil {
				return err
			}
			return q.narrow(ctx, v)
		}
	}
	return nil
}

// factorQuestion asks about sums whose first product is at k = from.
type factorQuestion struct {
	*loop
	class *class
	d     *fp.Format
	from  int
	ofA   bool      // sums are given in A, and B has ones
	once  bool      // a product is rounded to the format of the result alone, not to FP32 before
	asked []*sample // all that was asked
}

// askOperands asks whether it is an operand that is multiplied, and then rounded: a product of ones is v. Its numbers
// times the factor are then rounded to its format, each by itself.
func (q *factorQuestion) askOperands(ctx context.Context, v float64) error {
	for _, of := range []struct {
		id  fp.ID
		ofA bool
		to  *[]float64
	}{{q.A, true, &q.inA}, {q.B, false, &q.inB}} {
		f := of.id.Get()
		if q.d.FracBits < f.FracBits || f.FracBits > fp.FP32.Get().FracBits {
			continue
		}
		one := *q
		one.ofA = of.ofA
		var sums []float64 // numbers of the operand from 1 to 2
		bits := min(int(f.FracBits), mostBits)
		for i := range 1 << bits {
			sums = append(sums, 1+math.Ldexp(float64(i), -bits))
		}
		got, err := one.ask(ctx, sums)
		if err != nil {
			return err
		}
		exact := true
		for i := range got {
			exact = exact && got[i] == sums[i]*v
			got[i] *= math.Copysign(1, v)
		}
		if frac, _ := math.Frexp(v); exact && math.Abs(frac) != 0.5 { // a power of two is seen in subnormal numbers
			continue
		}
		one.d, one.once = f, false
		ulp := math.Ldexp(1, math.Ilogb(v)-int(f.FracBits))
		c := one.keep(codes32{math.Float32bits(float32(math.Abs(v) - ulp)), math.Float32bits(float32(math.Abs(v) + ulp))}, sums, got)
		if c.low > c.high {
			continue
		}
		if c.contains(math.Abs(v)) { // the factor may be a number of the operand's format itself
			*of.to = append(*of.to, shortest(v))
		}
		if s := math.Copysign(c.simplest(), v); !slices.Contains(*of.to, s) {
			*of.to = append(*of.to, s)
		}
	}
	return nil
}

// mostBits is the bits of the fraction of the numbers of an operand that are asked about, at most.
const mostBits = 10

// askRelu asks whether negative results are zeros, and what becomes of a NaN there. Of one product of ones is v.
func (q *factorQuestion) askRelu(ctx context.Context, v float64) error {
	got, err := q.ask(ctx, []float64{-1, -4096, math.NaN()})
	if err != nil || v == 0 || got[0] != 0 || got[1] != 0 {
		return err
	}
	zeroes := []string{"", "-0"}
	if q.B.Get().HasNaN() && got[2] == 0 {
		zeroes = []string{"nan", "-0 nan"}
	}
	for _, z := range zeroes {
		q.relus = append(q.relus, schedule.Step{Op: "relu", Zeroes: z})
	}
	return nil
}

// parts returns a number as a sum of numbers of B, or A; nil if there are too many.
func (q *factorQuestion) parts(s float64) (all []float64) {
	f := q.B.Get()
	if q.ofA {
		f = q.A.Get()
	}
	if s != s && f.HasNaN() {
		return []float64{s}
	}
	for s != 0 {
		p := f.Float64(f.FromFloat64(s))
		if p == 0 || p-p != 0 || len(all) == min(factorPlaces, q.K-q.from) {
			return nil
		}
		all, s = append(all, p), s-p
	}
	return all
}

// ask returns what becomes of some sums; zero of one that cannot be asked.
func (q *factorQuestion) ask(ctx context.Context, all []float64) ([]float64, error) {
	lines, set := q.class.columns, q.setB
	if q.ofA {
		lines, set = q.class.rows, q.setA
	}
	got, n := make([]float64, len(all)), len(lines)
	return got, q.each(ctx, (len(all)+n-1)/n, func(t int, m matrices) {
		if q.ofA {
			fill(m.b, q.B, 1)
		} else {
			fill(m.a, q.A, 1)
		}
		for i, line := range lines {
			if t*n+i < len(all) {
				for k, p := range q.parts(all[t*n+i]) {
					set(m, line, q.from+k, p)
				}
			}
		}
	}, func(t int, m matrices, d []byte) {
		for i, line := range lines {
			if t*n+i < len(all) {
				at := q.class.rows[0]*q.N + line
				if q.ofA {
					at = line*q.N + q.class.columns[0]
				}
				got[t*n+i] = q.d.Float64(mma.Load(d, q.D.Width(), at))
				q.asked = append(q.asked, q.element(&sample{0, q.Shape, m, d}, at))
			}
		}
	})
}

// codes32 are ascending numbers of FP32 as their codes, without signs.
type codes32 struct{ low, high uint32 }

func (c codes32) contains(v float64) bool {
	code := math.Float32bits(float32(v))
	return code >= c.low && code <= c.high && float64(float32(v)) == v
}

// simplest returns the number with the fewest decimal digits.
func (c codes32) simplest() float64 {
	middle := float64(math.Float32frombits(c.low + (c.high-c.low)/2))
	for digits := 1; ; digits++ {
		v, err := strconv.ParseFloat(strconv.FormatFloat(middle, 'g', digits, 64), 64)
		if code := math.Float32bits(float32(v)); err != nil || code >= c.low && code <= c.high {
			return v
		}
	}
}

// scaledSum is what a sum times a factor gives.
func (q *factorQuestion) scaledSum(code uint32, s float64) float64 {
	v := float64(math.Float32frombits(code)) * s
	if !q.once {
		v = float64(float32(v))
	}
	return q.d.Float64(q.d.FromFloat64(v))
}

// keep keeps the factors that give what was answered, of which the sums and answers are not negative; none may be left.
func (q *factorQuestion) keep(c codes32, sums, got []float64) codes32 {
	for i, s := range sums {
		first := func(reached func(v float64) bool) uint32 {
			return c.low + uint32(sort.Search(int(c.high-c.low)+1, func(n int) bool { return reached(q.scaledSum(c.low+uint32(n), s)) }))
		}
		if c.low > c.high {
			break
		}
		c.low, c.high = first(func(v float64) bool { return v >= got[i] }), first(func(v float64) bool { return v > got[i] })-1
	}
	return c
}

// narrow finds the factors of which one product of ones gives v.
func (q *factorQuestion) narrow(ctx context.Context, v float64) error {
	q.factor, q.factors = v, []float64{v}
	if q.d.FracBits >= fp.FP32.Get().FracBits { // it has all bits of a factor
		q.factors[0] = shortest(v)
		return nil
	}
	ulp := math.Ldexp(1, math.Ilogb(v)-int(q.d.FracBits))
	all := codes32{math.Float32bits(float32(math.Abs(v) - ulp)), math.Float32bits(float32(math.Abs(v) + ulp))}
	add := func(c codes32) {
		f := shortest(v)
		if !c.contains(math.Abs(v)) {
			f = math.Copysign(c.simplest(), v)
		}
		if !slices.Contains(q.factors, f) {
			q.factors = append(q.factors, f)
		}
	}
	q.factors = nil
	for _, q.once = range []bool{false, true} {
		few, err := q.narrowed(ctx, all, q.few(-math.Ilogb(v)), v)
		if err != nil {
			return err
		}
		wide, err := q.narrowed(ctx, few, q.ties(few, 2), v)
		if err != nil {
			return err
		}
		q.asked = nil // by these sums the places are told apart
		if wide.low <= wide.high {
			if wide, err = q.kept(ctx, wide, q.ties(codes32{wide.low - 1, wide.high + 1}, 8), v); err != nil {
				return err
			}
		}
		if wide.low <= wide.high {
			add(wide)
			q.class.counters = append(q.class.counters, q.asked[:min(len(q.asked), mostTies)]...)
		}
		for lost := range int(q.d.FracBits) { // of sums that were cast before fewer bits are told, by subnormal results, too
			if less, err := q.narrowed(ctx, few, q.few(int(q.d.Emin())-1-lost-math.Ilogb(v)), v); err != nil {
				return err
			} else if less.low <= less.high {
				few = less
			}
		}
		if few.low <= few.high {
			add(few)
		}
	}
	if q.factors == nil {
		q.factors = []float64{v}
	}
	q.factor = q.factors[0]
	return nil
}

const mostTies = 32 // sums by which kernels are told apart

// few returns sums of an exponent that no cast to the format of the result changes.
func (q *factorQuestion) few(exponent int) []float64 {
	all := make([]float64, 1<<q.d.FracBits)
	for i := range all {
		all[i] = math.Ldexp(1+math.Ldexp(float64(i), -int(q.d.FracBits)), exponent)
	}
	return all
}

// narrowed asks about those sums by which the factors that are left differ, some at a time.
func (q *factorQuestion) narrowed(ctx context.Context, c codes32, sums []float64, v float64) (codes32, error) {
	const most = 64
	for c.low < c.high {
		sums = slices.DeleteFunc(sums, func(s float64) bool { return q.scaledSum(c.low, s) == q.scaledSum(c.high, s) || q.parts(s) == nil })
		if len(sums) == 0 {
			break
		}
		var some []float64
		for i := 0; i < len(sums); i += (len(sums) + most - 1) / most {
			some = append(some, sums[i])
		}
		var err error
		if c, err = q.kept(ctx, c, some, v); err != nil {
			return c, err
		}
		sums = slices.DeleteFunc(sums, func(s float64) bool { return slices.Contains(some, s) })
	}
	return c, nil
}

// kept asks about sums and keeps the factors that are left.
func (q *factorQuestion) kept(ctx context.Context, c codes32, sums []float64, v float64) (codes32, error) {
	got, err := q.ask(ctx, sums)
	for i := range got {
		got[i] *= math.Copysign(1, v)
	}
	return q.keep(c, sums, got), err
}

// ties returns sums of 24 bits by which neighbours among factors are told apart: times one they lie below the middle
// of two results, and times the other above: of an even and of an odd one if there are several for each.
func (q *factorQuestion) ties(c codes32, each int) (all []float64) {
	const most, tries = 1 << 11, 128
	for code := c.low; code < c.high && code-c.low < most; code++ {
		n := 0
		for i := 0; i < tries && n < each; i++ {
			tie := 1 + math.Ldexp(float64(2*(i%(1<<q.d.FracBits))+1), -int(q.d.FracBits)-1)
			s := float64(float32(tie / float64(math.Float32frombits(code))))
			if q.scaledSum(code, s) != q.scaledSum(code+1, s) && q.parts(s) != nil {
				all = append(all, s)
				n++
			}
		}
	}
	return all
}

// shortest returns the number with the fewest decimal digits that is the same in FP32, v if FP32 does not have it.
func shortest(v float64) float64 {
	if float64(float32(v)) != v {
		return v
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', -1, 32), 64)
	if err != nil {
		return v
	}
	return short
}
