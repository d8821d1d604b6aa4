package study

import (
	"math/big"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// number is mant * 2^q; mant is odd or 0.
type number struct {
	mant *big.Int
	q    int
}

func newNumber(mant *big.Int, q int) number {
	zeros := int(mant.TrailingZeroBits()) // 0 of 0
	return number{new(big.Int).Rsh(mant, uint(zeros)), q + zeros}
}

func powerOf2(n int) number { return number{big.NewInt(1), n} }

// log2 returns floor(log2|x|) of a number that is not 0.
func (x number) log2() int { return x.q + x.mant.BitLen() - 1 }

func (x number) zero() bool { return x.mant.Sign() == 0 }

func (x number) times(y number) number {
	return number{new(big.Int).Mul(x.mant, y.mant), x.q + y.q}
}

func (x number) abs() number { return number{new(big.Int).Abs(x.mant), x.q} }

func (x number) minus(y number) number { return x.plus(number{new(big.Int).Neg(y.mant), y.q}) }

func (x number) plus(y number) number {
	switch {
	case x.zero():
		return y
	case y.zero():
		return x
	}
	q := min(x.q, y.q)
	s := new(big.Int).Lsh(x.mant, uint(x.q-q))
	return newNumber(s.Add(s, new(big.Int).Lsh(y.mant, uint(y.q-q))), q)
}

// rounded returns a multiple of 2^q.
func (x number) rounded(q int, mode fp.Mode) number {
	if x.zero() || x.q >= q {
		return x
	}
	// floor <= x < floor+1 in units of 2^q; x is not a multiple.
	n := uint(q - x.q)
	floor := new(big.Int).Rsh(x.mant, n)
	rest := new(big.Int).Sub(x.mant, new(big.Int).Lsh(floor, n))
	half := rest.Cmp(new(big.Int).Lsh(big.NewInt(1), n-1))
	up := false
	switch mode {
	case fp.RZ:
		up = x.mant.Sign() < 0
	case fp.RU:
		up = true
	case fp.RTO:
		up = floor.Bit(0) == 0
	case fp.RNE:
		up = half > 0 || half == 0 && floor.Bit(0) == 1
	case fp.RNA:
		up = half > 0 || half == 0 && x.mant.Sign() > 0
	}
	if up {
		floor.Add(floor, big.NewInt(1))
	}
	return newNumber(floor, q)
}

// operand is an operand of a dot product: its value, and the parts that stand for it.
type operand struct {
	number
	parts []part
	// rest is a bound, by the parameters, of what the parts leave of the number.
	rest number
}

// part is what is multiplied: the whole operand if there are no passes.
type part struct {
	number         // what is computed with
	e       int    // nominal exponent, also of a zero
	neg     bool   // sign, also of a zero
	flushed bool   // it is 0 in place of a subnormal
	most    number // bound of its magnitude by the parameters; of a flushed part, of what is lost
}

// read reads the operands, finds the base, and returns the products of each pass in
// sequence, and c, which is nil if there is none. What the conditioning of the operands
// has lost goes to e.lost.
func (e *bounder) read(d *mma.Dot) (products [][]known, c *known, ok bool) {
	k := len(d.A)
	for i := range d.SA {
		var v [2]part
		for n, code := range []uint64{d.SA[i], d.SB[i]} {
			o, ok := e.decoded(e.f.Scale, code, conditioning{count: 1})
			if !ok {
				return nil, nil, false
			}
			v[n] = o.parts[0]
		}
		s, ok := e.scaling(&v[0], &v[1])
		if !ok {
			return nil, nil, false
		}
		e.scales = append(e.scales, s)
	}
	passes, count := e.p.Passes.List(), 3
	if passes == nil {
		passes, count = []mma.Pass{{}}, 1
	}
	in := &e.p.In
	factors := make([][2]operand, k)
	e.base = int(e.f.D.Get().Emin()) - int(e.f.D.Get().FracBits)
	for i := range k {
		v := &factors[i]
		if v[0], ok = e.decoded(e.f.A, d.A[i], conditioning{in.A, e.f.A.As(in.Widen), in.Sub, count}); !ok {
			return nil, nil, false
		}
		if v[1], ok = e.decoded(e.f.B, d.B[i], conditioning{in.B, e.f.B.As(in.Widen), in.Sub, count}); !ok {
			return nil, nil, false
		}
		lowest := v[0].q + v[1].q + min(e.p.Weight(e.f), -int(e.f.Down))
		if e.scales != nil {
			lowest += e.scales[i/int(e.f.Block)].lowest
		}
		e.base = min(e.base, lowest)
	}
	var v operand
	if e.f.C != fp.None {
		if v, ok = e.decoded(e.f.C, d.C, conditioning{in.NarrowC, fp.None, in.C, 1}); !ok {
			return nil, nil, false
		}
		e.base = min(e.base, v.q)
	}
	if !e.byBits || e.p.Refined() {
		e.base -= mma.MaxF + 2 // units of cuts below all terms
	}
	e.lost = bound{exact: new(big.Int), err: new(big.Int)}
	if e.f.C != fp.None {
		p := v.parts[0]
		t := e.term(p.number, p.e)
		t.sign = signOf(p.neg)
		c = &t
		e.lose(v.minus(p.number), v.without([]mma.Pass{{}}, &one))
	}
	order := mma.Sequence(e.p.Order, k)
	for _, x := range passes {
		var all []known
		for _, i := range order {
			f := &factors[i]
			all = append(all, e.product(&f[0].parts[x.A], &f[1].parts[x.B], i))
		}
		products = append(products, all)
	}
	for i := range factors {
		a, b := &factors[i][0], &factors[i][1]
		made, most := number{new(big.Int), 0}, number{new(big.Int), 0}
		for _, x := range passes {
			made = made.plus(a.parts[x.A].times(b.parts[x.B].number))
			most = most.plus(a.parts[x.A].most.times(b.parts[x.B].most))
		}
		left, without := a.number.times(b.number).minus(made), a.without(passes, b)
		if e.scales != nil {
			s := &e.scales[i/int(e.f.Block)]
			left = left.times(s.exact).plus(made.times(s.lost))
			without = without.times(s.exact.abs()).plus(most.times(s.most))
			made, most = made.times(s.exact.minus(s.lost)), most.times(s.exact.abs().plus(s.most))
		}
		if shift := int(e.p.Prod.Shift); shift != 0 { // what is multiplied counts too much or too little
			left = left.plus(made)
			made.q, most.q = made.q+shift, most.q+max(0, shift)
			left, without = left.minus(made), without.plus(most)
		}
		e.lose(e.down(left), e.down(without))
	}
	return products, c, !e.unbounded
}

// one is what c is multiplied by.
var one = operand{powerOf2(0), []part{{number: powerOf2(0), most: powerOf2(0)}}, number{new(big.Int), 0}}

// without is a bound, by the parameters, of what passes leave of a product: the sum of
// |a[i]|*|b[j]| over all parts and what they leave of an operand, less what is multiplied.
func (a *operand) without(passes []mma.Pass, b *operand) number {
	sum := number{new(big.Int), 0}
	for i, x := range a.bounds() {
		for j, y := range b.bounds() {
			multiplied := slices.Contains(passes, mma.Pass{A: i, B: j}) && !a.parts[i].flushed && !b.parts[j].flushed
			if !multiplied {
				sum = sum.plus(x.times(y))
			}
		}
	}
	return sum
}

// bounds returns bounds of the parts, and of what they leave.
func (a *operand) bounds() []number {
	var all []number
	for _, p := range a.parts {
		all = append(all, p.most)
	}
	return append(all, a.rest)
}

// lose adds to what conditioning has lost: a number, and a bound of its magnitude by the
// parameters.
func (e *bounder) lose(x, most number) {
	e.lost.exact.Add(e.lost.exact, e.units(x))
	if e.byBits {
		e.lost.err.Abs(e.lost.exact)
		return
	}
	if !most.zero() && most.q < e.base { // the next power of two
		most = powerOf2(max(most.log2()+1, e.base))
	}
	e.lost.err.Add(e.lost.err, e.units(most))
}

// down returns a product with the exponent that the formats take from all of them.
func (e *bounder) down(x number) number {
	x.q -= int(e.f.Down)
	return x
}

// scaling is the scales of a block: what is multiplied by, both of them or their rounded
// product; their exact product; what rounding it has lost, and a bound of that by the
// parameters.
type scaling struct {
	factors           []part
	exact, lost, most number
	lowest            int // the least power of two that multiplying by some of them may add
}

// scaling rounds the product of two scales if the program does; ok is false if it overflows.
func (e *bounder) scaling(a, b *part) (s scaling, ok bool) {
	none, r := number{new(big.Int), 0}, e.p.ScaleRound
	s = scaling{[]part{*a, *b}, a.times(b.number), none, none, min(0, a.q, b.q, a.q+b.q)}
	if r == (mma.Round{}) {
		return s, true
	}
	if s.exact.zero() {
		s.factors = []part{{number: none}}
		return s, true
	}
	emin, top := int(r.Emin), s.exact.log2()
	q := max(top, emin) - int(r.Frac)
	x := s.exact.rounded(q, r.Mode)
	s.most = powerOf2(q)
	if r.Mode == fp.RNE || r.Mode == fp.RNA {
		s.most = powerOf2(q - 1)
	}
	tiny := x // whether it is flushed
	switch r.Flush {
	case mma.FlushBefore:
		tiny = s.exact
	case mma.FlushAfter:
		tiny = s.exact.rounded(top-int(r.Frac), r.Mode)
	}
	if r.Flush != mma.NoFlush && top < emin {
		s.most = powerOf2(emin)
		if tiny.zero() || tiny.log2() < emin {
			x = none
		}
	}
	s.lost = s.exact.minus(x)
	if x.zero() {
		s.factors = []part{{number: none}}
		return s, true
	}
	ones := powerOf2(int(r.Emax) + 1).minus(powerOf2(int(r.Emax) - int(r.Frac)))
	if x.log2() > int(r.Emax) || r.Short(e.f.Scale) && x.abs().minus(ones).mant.Sign() >= 0 {
		return s, false
	}
	s.factors = []part{{number: x, e: max(x.log2(), emin), neg: a.neg != b.neg}}
	return s, true
}

// conditioning is what happens to an operand before it is multiplied.
type conditioning struct {
	narrow mma.Narrow
	widen  fp.ID
	sub    mma.InFlush
	count  int // of parts
}

// decoded reads a code and conditions its number; ok is false if it is an infinity or a
// NaN, reads as one, or overflows.
func (e *bounder) decoded(id fp.ID, code uint64, c conditioning) (o operand, ok bool) {
	f := id.Get()
	n := f.Decode(code)
	unread := c.narrow.Unread(f)
	if n.Class >= fp.Inf || f.Decode(code&^unread).Class >= fp.Inf { // -0 is a NaN of FNUZ formats
		return o, false
	}
	wide := f
	if c.widen != fp.None {
		wide = c.widen.Get()
	}
	value := func(code uint64) number {
		n := f.Decode(code)
		m := new(big.Int).SetUint64(n.Sig)
		if n.Class == fp.Zero {
			m.SetInt64(0)
		}
		if n.Neg {
			m.Neg(m)
		}
		return newNumber(m, int(n.Exp)-int(f.FracBits))
	}
	o = operand{number: value(code), rest: number{new(big.Int), 0}}
	if o.zero() {
		o.q = 0
	}
	rest := value(code &^ unread)
	r, least := c.narrow.Rounding(wide)
	if r.Frac == 0 {
		least = wide.Emin()
	}
	most := rest.abs()
	for range c.count {
		p := part{number: rest, e: int(wide.Emin()), neg: n.Neg, most: most}
		if len(o.parts) > 0 {
			p.neg = rest.mant.Sign() < 0
		}
		if r.Frac != 0 && !rest.zero() {
			p.number = rest.rounded(max(rest.log2(), int(least))-int(r.Frac), r.Mode)
		}
		rest = rest.minus(p.number)
		if !p.zero() {
			p.e = max(p.log2(), int(least))
			if p.log2() > int(r.Emax) && r.Frac != 0 {
				return o, false
			}
		}
		if len(o.parts) == 0 {
			p.most = p.abs()
		}
		p.flush(wide, c.sub)
		o.parts = append(o.parts, p)
		most, o.rest = restOf(most, r, int(least))
	}
	if unread != 0 && !o.zero() {
		o.rest = o.rest.plus(powerOf2(max(o.log2(), int(f.Emin())) - int(c.narrow.Frac)))
	}
	return o, true
}

// restOf returns bounds, by the parameters, of the next part, and of what a rounding leaves
// of a number.
func restOf(most number, r mma.Round, least int) (next, rest number) {
	if r.Frac == 0 || most.zero() {
		none := number{new(big.Int), 0}
		return none, none
	}
	n := max(most.log2(), least) - int(r.Frac)
	if r.Mode == fp.RNE || r.Mode == fp.RNA {
		n--
	}
	return powerOf2(max(n, least-int(r.Frac))), powerOf2(n)
}

// flush applies an input flush.
func (p *part) flush(f *fp.Format, sub mma.InFlush) {
	if !p.zero() && sub != mma.KeepSub && p.log2() < int(f.Emin()) {
		p.flushed, p.number, p.e = true, number{new(big.Int), 0}, int(f.Emin())
		p.most = powerOf2(p.e)
	}
	if p.zero() && sub == mma.FlushPlus {
		p.neg = false
	}
}

// units returns a number in units of 2^base.
func (e *bounder) units(x number) *big.Int {
	if x.zero() {
		return new(big.Int)
	}
	return new(big.Int).Lsh(x.mant, uint(x.q-e.base))
}

// power returns 2^n in units of 2^base, at least one.
func (e *bounder) power(n int) *big.Int {
	return new(big.Int).Lsh(big.NewInt(1), uint(max(0, n-e.base)))
}

func signOf(neg bool) int {
	if neg {
		return -1
	}
	return 1
}

// term makes a term of a number.
func (e *bounder) term(x number, exponent int) known {
	t := known{x: e.units(x), err: new(big.Int), grid: x.q, lo: exponent, hi: exponent, sure: true}
	if x.zero() {
		t.null, t.sure, t.grid = true, false, anyGrid
	}
	return t
}

// product forms a product, with its scales where they belong to products.
func (e *bounder) product(a, b *part, element int) known {
	x := a.times(b.number)
	weight := e.p.Weight(e.f)
	exponent := e.exponent(a) + e.exponent(b) + weight
	if !x.zero() && e.p.Prod.Exp == mma.Normalised {
		exponent = x.log2() + weight
	}
	if e.p.Prod.Up {
		exponent++
	}
	x.q += weight
	none := false // a scale is 0
	if e.scales != nil && e.p.Scale == mma.ScaleProduct {
		for _, s := range e.scales[element/int(e.f.Block)].factors {
			x = x.times(s.number)
			exponent += s.e
			none = none || s.zero()
		}
	}
	t := e.term(x, exponent)
	if x.zero() && e.p.Prod.Zeros && !none {
		t.null, t.sure = false, true
	}
	neg := a.neg != b.neg || e.p.Prod.Gate >= mma.GateSkip && (a.zero() || b.zero())
	t.element, t.sign = element, signOf(neg)
	if e.p.Prod.Round != (mma.Round{}) {
		t.sign = 0
	}
	return e.round(t, e.p.Prod.Round)
}

// exponent is the nominal exponent of a factor.
func (e *bounder) exponent(p *part) int {
	if e.p.Prod.Exp == mma.OperandSum && !p.zero() {
		return p.log2()
	}
	return p.e
}
