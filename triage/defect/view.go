package defect

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// view is what the program makes of a dot product: its result and the features of each instance of
// a scope. Those of products, pairs and sums are made when they are asked for.
type view struct {
	dot   *mma.Dot // as the defect before leaves it
	right uint64   // the program's result, or what the defect before makes of it
	// unknown: the defect before is in doubt.
	unknown bool
	of      map[Scope][][]int64
	whole   []int64         // those of the case
	places  map[int][]place // of products in sums, and of c and accumulators (-1)
	exps    map[place]int32 // the nominal exponents of products there
	terms   []place         // those of the scope of terms
}

// viewer makes views. It is for one goroutine.
type viewer struct {
	f  mma.Formats
	m  *sim.Model
	tr sim.Trace
	// budget is charged for the dot products of the model; nil: none is.
	budget  *Budget
	held    int   // features of scopes that views have
	rule    *Rule // of which columns are those of the conditions; no rule changes
	columns []int
	// before is a defect that comes first, if not nil.
	before *hypothesis
}

// mostPaired is the number of products, other than zeros, of which all pairs are looked at: with
// more, only pairs of neighbours.
const mostPaired = 16

// mostPairs numbers pairs: it is more than a dot product has products.
const mostPairs = 1 << 30

// mostLanes is the number of products of which sets are features.
const mostLanes = 62

// view looks at a dot product.
func (w *viewer) view(d *mma.Dot) *view {
	v, b := w.look(d, nil), w.before
	if b == nil {
		return v
	}
	got, met := w.predict(b, v)
	unknown := !w.known(b, v, met)
	if len(met) > 0 && b.p.effect.On == OnResult {
		v = w.look(d, &got)
	} else if len(met) > 0 {
		if d, ok := b.p.changed(v, met); ok {
			v = w.look(d, nil)
		}
	}
	v.unknown = unknown
	return v
}

// look looks at a dot product, of which the result may be another one than the program's.
func (w *viewer) look(d *mma.Dot, result *uint64) *view {
	v := &view{dot: d, of: map[Scope][][]int64{}}
	w.tr.Reset()
	w.budget.dots(ofTrace, len(d.A))
	if v.right = w.m.Dot(d, &w.tr); result != nil {
		v.right = *result
	}
	v.whole = w.ofCase(v)
	v.of[OfCase] = [][]int64{v.whole}
	return v
}

// add adds the features of a scope.
func (w *viewer) add(v *view, s Scope) {
	if v.of[s] != nil {
		return
	}
	w.tr.Reset()
	w.budget.dots(ofTrace, len(v.dot.A))
	w.m.Dot(v.dot, &w.tr)
	switch s {
	case OfProduct:
		v.of[s] = w.ofProducts(v)
	case OfOperand:
		v.of[s] = w.ofOperands(v)
	case OfPair:
		v.of[s] = w.ofPairs(v)
	case OfSum:
		v.of[s] = w.ofSums(v)
	case OfTerm:
		v.of[s] = w.ofTerms(v)
	}
	for _, vs := range v.of[s] {
		w.held += len(vs)
	}
}

// shed forgets the features of all scopes but those of the case.
func (v *view) shed() { v.of = map[Scope][][]int64{OfCase: v.of[OfCase]} }

// value returns a feature of an instance of a scope, by its number in columns.
func (v *view) value(s Scope, instance, column int) int64 {
	return valueOf(v.whole, v.of[s][instance], column)
}

// valueOf does so for an instance with these features of its own, and its case's.
func valueOf(whole, own []int64, column int) int64 {
	if n := len(caseFeatures); column >= n {
		return own[column-n]
	}
	return whole[column]
}

// finite reports whether a term is a number other than a plain zero.
func finite(t *sim.TermTrace) bool { return t.Kind == sim.Finite && !t.Value.IsZero() }

// terms are the products of the trace by their k: with passes, the first of each.
func (w *viewer) terms(k int) []*sim.TermTrace {
	ts := make([]*sim.TermTrace, k)
	for i := range w.tr.Products {
		if p := &w.tr.Products[i]; p.K < k && ts[p.K] == nil {
			ts[p.K] = &p.Term
		}
	}
	return ts
}

func (w *viewer) cExp(d *mma.Dot) int64 {
	if w.f.C == fp.None {
		return absent
	}
	f := w.f.C.Get()
	if k := classOf(f, d.C); k != isNormal && k != isSubnormal {
		return absent
	}
	return int64(f.Decode(d.C).Exp)
}

// cTop is the exponent of the value of c.
func (w *viewer) cTop(d *mma.Dot) int64 {
	if w.cExp(d) == absent {
		return absent
	}
	f := w.f.C.Get()
	return int64(f.Dyadic(f.Decode(d.C)).Exponent())
}

func minus(x, y int64) int64 {
	if x == absent || y == absent {
		return absent
	}
	return x - y
}

func (w *viewer) ofCase(v *view) []int64 {
	d := v.dot
	vs := codeValues(nil, w.f.C, d.C)
	vs = codeValues(vs, w.f.D, v.right)
	vs = w.sumValues(vs, w.tr.Last())
	most, least, top := absent, absent, w.cTop(d)
	var count, negative, subnormal, special, positive int64
	for _, t := range w.terms(len(d.A)) {
		if t == nil || !finite(t) {
			continue
		}
		count++
		top = max(top, int64(t.Value.Exponent()))
		if t.Value.Neg {
			negative++
		} else {
			positive++
		}
		if e := int64(t.E); most == absent {
			most, least = e, e
		} else {
			most, least = max(most, e), min(least, e)
		}
	}
	for _, side := range []struct {
		id    fp.ID
		codes []uint64
	}{{w.f.A, d.A}, {w.f.B, d.B}} {
		for _, c := range side.codes {
			switch k := classOf(side.id.Get(), c); {
			case k == isSubnormal:
				subnormal++
			case k >= isInf:
				special++
			}
		}
	}
	inf := w.infinities(d)
	ones := [3]int64{}
	for k := range d.A {
		ones[0] += int64(bits.OnesCount64(d.A[k]))
		ones[1] += int64(bits.OnesCount64(d.B[k]))
	}
	ones[2] = ones[0] + ones[1] + int64(bits.OnesCount64(d.C))
	opposed := absent
	if w.f.C != fp.None && count > 0 && classOf(w.f.C.Get(), d.C) != isZero {
		opposed = truth(negative > 0 && d.C&w.f.C.Get().SignBit() == 0 || positive > 0 && d.C&w.f.C.Get().SignBit() != 0)
	}
	zeros := w.zeros(d)
	minusSet, minusCount := w.minusSigns(d)
	dTop := absent
	if f := w.f.D.Get(); classOf(f, v.right) == isNormal || classOf(f, v.right) == isSubnormal {
		dTop = int64(f.Dyadic(f.Decode(v.right)).Exponent())
	}
	cExp := w.cExp(d)
	carries, propagates := w.carries(v)
	return append(vs, truth(v.right&^w.f.D.Get().SignBit() == w.f.D.Get().MaxFinite()), minus(cExp, most), truth(cExp != absent && cExp >= most), most, least, minus(most, least),
		count, negative, subnormal, special, truth(inf.nan), truth(inf.gated), truth(inf.opposed()), ones[0], ones[1], ones[2], w.infinitiesApart(d, &inf), opposed, opposite(w.f.D, v.right, w.f.C, d.C), truth(negative > 0 && positive > 0), minus(top, dTop), carries, propagates, zeros[0], zeros[1], zeros[2], w.negatives(d), minusSet, minusCount)
}

// infinitiesApart says whether infinities of opposite signs are added, but no single sum of products has
// both.
func (w *viewer) infinitiesApart(d *mma.Dot, all *infinities) int64 {
	products := w.infinities(&mma.Dot{A: d.A, B: d.B})
	if !products.opposed() || all.nan || all.gated {
		return 0
	}
	step := w.step()
	for k := 0; k < len(d.A); k += step {
		part := w.infinities(&mma.Dot{A: d.A[k:min(k+step, len(d.A))], B: d.B[k:min(k+step, len(d.A))]})
		if part.opposed() {
			return 0
		}
	}
	return 1
}

// carries are the bits of an integer result into which the addition of c to the sum of the products
// carries, and those in which either c or that sum is one.
func (w *viewer) carries(v *view) (carries, propagates int64) {
	c, d := w.f.C, w.f.D.Get()
	if c == fp.None || !c.Get().Integer() || !d.Integer() || c.Get().CodeBits() != d.CodeBits() {
		return absent, absent
	}
	either := v.right - v.dot.C ^ v.dot.C
	return int64((either ^ v.right) & d.CodeMask()), int64(either & d.CodeMask())
}

// zeros are the products that are zero, those with a zero a and those with a zero b, as sets of bits.
func (w *viewer) zeros(d *mma.Dot) [3]int64 {
	if len(d.A) > mostLanes {
		return [3]int64{absent, absent, absent}
	}
	var sets [3]int64
	for k := range d.A {
		a, b := truth(classOf(w.f.A.Get(), d.A[k]) == isZero), truth(classOf(w.f.B.Get(), d.B[k]) == isZero)
		for n, is := range []int64{a | b, a, b} {
			sets[n] |= is << k
		}
	}
	return sets
}

// negatives are the negative products, as a set of bits.
func (w *viewer) negatives(d *mma.Dot) (set int64) {
	if len(d.A) > mostLanes {
		return absent
	}
	for k, t := range w.terms(len(d.A)) {
		if t != nil && finite(t) && t.Value.Neg {
			set |= 1 << k
		}
	}
	return set
}

// minusSigns are the products whose operands' sign bits differ, whatever they are, as a set of bits and
// their number: a unit that looks at these bits alone does not see that a product is zero.
func (w *viewer) minusSigns(d *mma.Dot) (set, count int64) {
	a, b := w.f.A.Get(), w.f.B.Get()
	if a.Integer() || b.Integer() {
		return absent, absent
	}
	for k := range d.A {
		if d.A[k]&a.SignBit() != 0 != (d.B[k]&b.SignBit() != 0) {
			count++
			set |= 1 << k
		}
	}
	if len(d.A) > mostLanes {
		set = absent
	}
	return set, count
}

// partners moves to bit n what a set says of the product whose number differs from k in bit n.
func partners(set int64, k, of int) (moved int64) {
	if set == absent {
		return absent
	}
	for n := 0; 1<<n < of; n++ {
		moved |= set >> (k ^ 1<<n) & 1 << n
	}
	return moved
}

// sumValues are the values of sumFeatures.
func (w *viewer) sumValues(vs []int64, s *sim.SumTrace) []int64 {
	f := w.f.D.Get()
	if s.Sum.Kind == sim.Inf || s.Sum.Kind == sim.NaN {
		return append(vs, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, absent, absent, absent, absent)
	}
	x, cut, e, top := s.Sum.Value, int64(0), absent, absent
	some := false
	for i := range s.Terms {
		t := &s.Terms[i]
		if finite(t) {
			some, top = true, max(top, int64(t.Value.Exponent()))
		}
		if t.IsCut && !t.Value.IsZero() && t.Value.Low() < t.Q {
			cut++
		}
	}
	if s.HasE {
		e = int64(s.E)
	}
	if x.IsZero() {
		return append(vs, 0, 0, 0, 0, 0, 0, 0, 0, 0, truth(some), absent, absent, e, cut)
	}
	q := max(x.Exponent(), f.Emin()) - int32(f.FracBits)
	floor := x.Round(q, fp.RZ)
	after := x
	overflow, beyond := false, false
	if n := len(s.Rounds); n > 0 {
		last := &s.Rounds[n-1]
		if n > 1 && s.Rounds[n-2].After.Kind == sim.Finite && !s.Rounds[n-2].After.Value.IsZero() { // it is the last one that is looked at
			x = s.Rounds[n-2].After.Value
			q = max(x.Exponent(), f.Emin()) - int32(f.FracBits)
			floor = x.Round(q, fp.RZ)
		}
		after, overflow = last.After.Value, last.After.Kind == sim.Inf || last.After.Kind == sim.NaN
		before := n > 1 && s.Rounds[n-2].After.Kind == sim.Inf
		beyond = overflow && !before && carries(x, q, last.Round.Mode)
	}
	ones := !floor.IsZero() && oneRun(floor, int32(f.FracBits)+1)
	up := !overflow && !after.IsZero() && compare(after, x) > 0
	carry := up && after.Exponent() > x.Exponent() && after.Exponent() >= f.Emin() || beyond // into the field of the exponent
	return append(vs, truth(x.Low() == q-1), truth(ones), truth(carry), truth(carry && x.Exponent() >= f.Emin() && x.Exponent() <= f.Emax()), truth(up), truth(x.Low() < q),
		truth(overflow), truth(overflow && x.Exponent() == f.Emax()), truth(x.Exponent() > f.Emax()), 0, minus(top, int64(x.Exponent())), minus(e, int64(x.Exponent())), e, cut)
}

// carries reports whether rounding to a multiple of 2^q carries into the next power of two, however
// large that is.
func carries(x fp.Dyadic, q int32, m fp.Mode) bool {
	return m != 0 && m != fp.RS && x.Round(q, m).Exponent() > x.Exponent()
}

// oneRun reports whether the upper n bits of a magnitude are ones and no other is.
func oneRun(x fp.Dyadic, n int32) bool {
	return x.Exponent()-x.Low() == n-1 && bits.OnesCount64(x.Hi)+bits.OnesCount64(x.Lo) == int(n)
}

// compare compares two magnitudes other than zero.
func compare(x, y fp.Dyadic) int {
	ex, ey := x.Exponent(), y.Exponent()
	x, y = x.Shl(128-x.Len()), y.Shl(128-y.Len())
	return cmp.Or(cmp.Compare(ex, ey), cmp.Compare(x.Hi, y.Hi), cmp.Compare(x.Lo, y.Lo))
}

func (w *viewer) ofProducts(v *view) [][]int64 {
	d := v.dot
	ts := w.terms(len(d.A))
	most := v.whole[column(OfCase, "maxp")]
	aligned := w.alignment(len(d.A))
	all := make([][]int64, len(d.A))
	for k := range d.A {
		vs := codeValues(append(make([]int64, 0, len(productFeatures)), int64(k), int64(k), int64(k)), w.f.A, d.A[k])
		vs = codeValues(vs, w.f.B, d.B[k])
		neg, exp, top, wide, shift, cut, largest, opposed := absent, absent, absent, absent, absent, absent, absent, absent
		if t := ts[k]; t != nil && finite(t) {
			neg, exp, top, wide = truth(t.Value.Neg), int64(t.E), int64(t.Value.Exponent()), truth(t.Value.Exponent() > t.E)
			largest = truth(exp == most)
			if w.f.C != fp.None {
				opposed = truth(t.Value.Neg != (d.C&w.f.C.Get().SignBit() != 0))
			}
			if at := aligned[k]; at != nil && at.e != absentExp {
				shift, cut = minus(int64(at.e), exp), at.cut
			}
		}
		acc := accumulator(aligned[k], ts[k])
		vs = append(vs, truth(ts[k] != nil && ts[k].Kind > sim.Inf), truth(ts[k] == nil || ts[k].Kind < sim.Inf), neg, exp, wide, shift, cut, minus(exp, w.cExp(d)), top, minus(top, w.cTop(d)))
		for _, j := range []int{k - 1, k + 1} {
			zero, neg, beside := absent, absent, absent
			if j >= 0 && j < len(ts) && ts[j] != nil && (ts[j].Kind == sim.Finite || ts[j].Kind == sim.Null) {
				zero, neg = truth(ts[j].Value.IsZero()), truth(ts[j].Value.Neg)
				if zero == 0 {
					beside = int64(ts[j].E)
				}
			}
			vs = append(vs, zero, neg)
			if j < k {
				vs = append(vs, acc...)
			}
			vs = append(vs, minus(exp, beside))
		}
		for _, name := range []string{"zero.p", "zero.a", "zero.b"} {
			vs = append(vs, partners(v.whole[column(OfCase, name)], k, len(d.A)))
		}
		vs = append(w.roundedProduct(vs, d, k, ts[k]), minus(most, exp), largest, opposed, opposite(w.f.A, d.A[k], w.f.C, d.C), opposite(w.f.B, d.B[k], w.f.C, d.C), truth(d.A[k] == d.B[k]), truth(equalNumbers(w.f.A, d.A[k], w.f.B, d.B[k])),
			w.sameExponent(d, k), w.sameSignificand(d, k), w.exponents(d, k), truth(larger(w.f.A, d.A[k], w.f.B, d.B[k])), truth(larger(w.f.B, d.B[k], w.f.A, d.A[k])),
			sameCode(w.f.A, d.A[k], w.f.C, d.C), sameCode(w.f.B, d.B[k], w.f.C, d.C), int64(bits.OnesCount64(d.A[k])+bits.OnesCount64(d.B[k])))
		vs = append(vs, same(d.A, d.A, k), same(d.B, d.B, k), same(d.A, d.B, k))
		var sa, sb uint64
		if w.f.Scale != fp.None {
			b := k / int(w.f.Block)
			sa, sb = d.SA[b], d.SB[b]
		}
		vs = codeValues(codeValues(vs, w.f.Scale, sa), w.f.Scale, sb)
		all[k] = vs
	}
	return all
}

// ofOperands are the features of each a and b: those of the operand, of the other factor and of
// the product.
func (w *viewer) ofOperands(v *view) [][]int64 {
	w.add(v, OfProduct)
	d, n := v.dot, len(noCode)
	all := make([][]int64, 0, 2*len(d.A))
	for k, vs := range v.of[OfProduct] {
		for side := range 2 {
			own, other := vs[3:3+n], vs[3+n:3+2*n]
			if side == 1 {
				own, other = other, own
			}
			x := append([]int64{int64(side)}, own...)
			all = append(all, append(append(append(x, other...), int64(k), int64(k), int64(k)), vs[3+2*n:]...))
		}
	}
	return all
}

// roundedProduct are the features of the rounding of a product.
func (w *viewer) roundedProduct(vs []int64, d *mma.Dot, k int, t *sim.TermTrace) []int64 {
	r := w.m.Params().Prod.Round
	a, b := w.f.A.Get().Decode(d.A[k]), w.f.B.Get().Decode(d.B[k])
	if r.Frac == 0 || t == nil || !finite(t) || a.Class != fp.Finite || b.Class != fp.Finite {
		return append(vs, 0, 0, 0, 0)
	}
	x := multiplied(w.f.A.Get().Dyadic(a), w.f.B.Get().Dyadic(b))
	e := x.Exponent()
	if r.HasEmin() {
		e = max(e, int32(r.Emin))
	}
	q := e - int32(r.Frac)
	up := compare(t.Value, x) > 0
	return append(vs, truth(x.Low() == q-1), truth(up && t.Value.Exponent() > x.Exponent()), truth(up), truth(x.Low() < q))
}

// aligned is how a product stands in the sum that takes it.
type aligned struct {
	e   int32          // the exponent to which it is aligned
	cut int64          // whether it loses bits; absent where none can
	to  *sim.TermTrace // the accumulator of a sum of two terms; nil: it has more, or none
}

// absentExp is the exponent of no sum.
const absentExp = math.MinInt32

// accumulator are the features of the sum to which a product is added.
func accumulator(at *aligned, p *sim.TermTrace) []int64 {
	if at == nil || at.to == nil || at.to.Kind > sim.Inf {
		return []int64{absent, absent, absent, absent, absent, absent}
	}
	t := at.to
	if t.Kind == sim.Inf {
		return []int64{truth(t.Value.Neg), 0, truth(t.Value.Neg != p.Value.Neg), absent, absent, absent}
	}
	if t.Value.IsZero() {
		return []int64{absent, 1, absent, absent, absent, absent}
	}
	e, top := int64(t.Value.Exponent()), absent
	if finite(p) {
		top = int64(p.Value.Exponent()) - e
	}
	return []int64{truth(t.Value.Neg), 0, truth(t.Value.Neg != p.Value.Neg), e, int64(p.E) - e, top}
}

func (w *viewer) alignment(k int) []*aligned {
	all := make([]*aligned, k)
	for i := range w.tr.Sums {
		s := &w.tr.Sums[i]
		for j := range s.Terms {
			t := &s.Terms[j]
			if t.From != sim.FromProduct || t.K >= k {
				continue
			}
			if all[t.K] == nil {
				all[t.K] = &aligned{e: absentExp, cut: absent}
				if len(s.Terms) == 2 && s.Terms[1-j].From != sim.FromProduct {
					all[t.K].to = &s.Terms[1-j]
				}
			}
			if s.HasE && finite(t) {
				all[t.K].e = s.E
				if t.IsCut {
					all[t.K].cut = truth(t.Value.Low() < t.Q)
				}
			}
		}
	}
	return all
}

// equalNumbers reports whether two codes are of the same number.
func equalNumbers(f fp.ID, x uint64, g fp.ID, y uint64) bool {
	p, q := classOf(f.Get(), x), classOf(g.Get(), y)
	switch {
	case p != q || p == isNaN:
		return false
	case p == isZero:
		return true
	case f == g:
		return x == y
	case p == isInf:
		return x&f.Get().SignBit() != 0 == (y&g.Get().SignBit() != 0)
	}
	m, n := f.Get().Dyadic(f.Get().Decode(x)), g.Get().Dyadic(g.Get().Decode(y))
	return m.Neg == n.Neg && compare(m, n) == 0
}

// exponents is the exponent of a of a product minus that of b.
func (w *viewer) exponents(d *mma.Dot, k int) int64 {
	of := func(id fp.ID, c uint64) int64 {
		if k := classOf(id.Get(), c); id.Get().Integer() || k != isNormal && k != isSubnormal {
			return absent
		}
		return int64(id.Get().Decode(c).Exp)
	}
	return minus(of(w.f.A, d.A[k]), of(w.f.B, d.B[k]))
}

func (w *viewer) sameExponent(d *mma.Dot, k int) int64 {
	if n := w.exponents(d, k); n != absent {
		return truth(n == 0)
	}
	return absent
}

// sameSignificand says whether a and b of a product are the same number but for sign and exponent.
func (w *viewer) sameSignificand(d *mma.Dot, k int) int64 {
	if w.exponents(d, k) == absent {
		return absent
	}
	a, b := w.f.A.Get(), w.f.B.Get()
	return truth(a.Dyadic(a.Decode(d.A[k])).Lo == b.Dyadic(b.Decode(d.B[k])).Lo && w.f.A == w.f.B)
}

// larger reports whether a code is of a larger magnitude than another.
func larger(f fp.ID, x uint64, g fp.ID, y uint64) bool {
	p, q := classOf(f.Get(), x), classOf(g.Get(), y)
	if max(p, q) == isNaN {
		return false
	}
	if p != isNormal && p != isSubnormal || q != isNormal && q != isSubnormal {
		return p > q
	}
	return compare(f.Get().Dyadic(f.Get().Decode(x)), g.Get().Dyadic(g.Get().Decode(y))) > 0
}

// opposite reports whether two codes are numbers other than zero of opposite signs.
func opposite(f fp.ID, x uint64, g fp.ID, y uint64) int64 {
	if g == fp.None {
		return absent
	}
	p, q := classOf(f.Get(), x), classOf(g.Get(), y)
	return truth(min(p, q) != isZero && max(p, q) != isNaN && x&f.Get().SignBit() != 0 != (y&g.Get().SignBit() != 0))
}

// sameCode compares codes of formats of one width; absent: they have another.
func sameCode(f fp.ID, x uint64, g fp.ID, y uint64) int64 {
	if g == fp.None || f.Get().CodeBits() != g.Get().CodeBits() {
		return absent
	}
	return truth(x == y)
}

// same is the set of the n for which x of product k is y of the product whose number differs in the
// bits n.
func same(x, y []uint64, k int) (set int64) {
	if len(x) > mostLanes {
		return absent
	}
	for j := range y {
		if j != k {
			set |= truth(x[k] == y[j]) << (j ^ k)
		}
	}
	return set
}

// less reports whether a number is below another of its format.
func less(f *fp.Format, x, y uint64) int64 {
	if classOf(f, x) == isNaN || classOf(f, y) == isNaN {
		return 0
	}
	order := func(c uint64) int64 {
		if m := int64(c &^ f.SignBit()); c&f.SignBit() == 0 {
			return m
		} else {
			return -m
		}
	}
	return truth(order(x) < order(y))
}

// mostAnyPairs is the number of products of which all pairs are looked at, zeros included.
const mostAnyPairs = 8

func (w *viewer) ofPairs(v *view) [][]int64 {
	d := v.dot
	ts := w.terms(len(d.A))
	var some []int
	for k, t := range ts {
		if t != nil && finite(t) || len(d.A) <= mostAnyPairs {
			some = append(some, k)
		}
	}
	a, b := w.f.A.Get(), w.f.B.Get()
	all := [][]int64{}
	for n, i := range some {
		rest := some[n+1:]
		if len(some) > mostPaired {
			rest = rest[:min(len(rest), 1)]
		}
		for _, j := range rest {
			vs := []int64{int64(i), int64(j), int64(i*mostPairs + j), absent, int64(j - i), absent, absent, absent, 0, 0}
			if x, y := ts[i], ts[j]; x != nil && y != nil && finite(x) && finite(y) {
				same := compare(x.Value, y.Value) == 0
				vs = append(vs[:3], truth(x.Value.Neg)+2*truth(y.Value.Neg), int64(j-i), int64(x.E-y.E), int64(x.Value.Exponent()-y.Value.Exponent()), truth(x.Value.Neg != y.Value.Neg),
					truth(same && x.Value.Neg != y.Value.Neg), truth(same && x.Value.Neg == y.Value.Neg))
			}
			all = append(all, append(vs, truth(d.A[i] == d.A[j]), truth(d.B[i] == d.B[j]),
				truth(equalNumbers(w.f.A, d.A[i], w.f.A, d.A[j])), truth(equalNumbers(w.f.B, d.B[i], w.f.B, d.B[j])),
				truth(w.f.A == w.f.B && d.A[i] == d.B[j]), truth(w.f.A == w.f.B && d.B[i] == d.A[j]),
				opposite(w.f.A, d.A[i], w.f.A, d.A[j]), opposite(w.f.B, d.B[i], w.f.B, d.B[j]),
				less(a, d.A[i], d.A[j]), less(b, d.B[i], d.B[j]), less(a, d.A[i]&^a.SignBit(), d.A[j]&^a.SignBit())))
		}
	}
	return all
}

// accumulatorLeads says whether the accumulator of a sum is greater in magnitude than each other term.
func accumulatorLeads(s *sim.SumTrace) int64 {
	acc := slices.IndexFunc(s.Terms, func(t sim.TermTrace) bool { return t.From == sim.FromC || t.From == sim.FromAcc })
	if acc < 0 || !finite(&s.Terms[acc]) {
		return absent
	}
	for i := range s.Terms {
		if t := &s.Terms[i]; i != acc && finite(t) && compare(s.Terms[acc].Value, t.Value) <= 0 {
			return 0
		}
	}
	return 1
}

// opposesFirst says whether a sum and its first term have opposite signs.
func opposesFirst(s *sim.SumTrace) int64 {
	if len(s.Terms) == 0 || !finite(&s.Terms[0]) || s.Sum.Kind != sim.Finite || s.Sum.Value.IsZero() {
		return absent
	}
	return truth(s.Sum.Value.Neg != s.Terms[0].Value.Neg)
}

func (w *viewer) ofSums(v *view) [][]int64 {
	all := make([][]int64, len(w.tr.Sums))
	for i := range w.tr.Sums {
		s := &w.tr.Sums[i]
		exp, neg, zero, apart, far := absent, absent, absent, absent, absent
		if s.Sum.Kind == sim.Finite || s.Sum.Kind == sim.Null {
			neg, zero = truth(s.Sum.Value.Neg), truth(s.Sum.Value.IsZero())
			if zero == 0 {
				exp = int64(s.Sum.Value.Exponent())
			}
		}
		var signs [2]bool
		for j := range s.Terms {
			if t := &s.Terms[j]; finite(t) {
				signs[truth(t.Value.Neg)] = true
			}
		}
		if n := len(s.Terms); n > 1 && finite(&s.Terms[0]) && finite(&s.Terms[n-1]) {
			apart = int64(s.Terms[0].E - s.Terms[n-1].E)
			far = max(apart, -apart)
		}
		all[i] = w.sumValues([]int64{int64(i), exp, neg, zero, truth(signs[0] && signs[1]), apart, accumulatorLeads(s), opposesFirst(s), far}, s)
	}
	return all
}

// step is the number of products of each sum.
func (w *viewer) step() int {
	p := w.m.Params()
	return max(1, p.Step(w.m.K()))
}
