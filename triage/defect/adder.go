package defect

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// What may be wrong with an adder: a bit of a term that it gets, a bit of the sum, the bits above
// its width, or the rounding behind it. Bits are counted from the exponent to which terms are
// aligned downwards.

// adderBits are the first and the last bit of a term or a sum that may be wrong: negative ones are
// above that exponent.
const adderBits, lastAdderBit = -3, 30

// onNumber are operations on the number in an adder whose terms are aligned to 2^e.
var onNumber = map[string]struct {
	text string // with %s for what is changed, %d for n
	do   func(v fp.Dyadic, e int32, n int64) fp.Dyadic
}{
	"set": {"bit %[2]d below the largest exponent of %[1]s is stuck at 1", func(v fp.Dyadic, e int32, n int64) fp.Dyadic {
		return withBit(v, e-int32(n), func(x, bit uint64) uint64 { return x | bit })
	}},
	"clear": {"bit %[2]d below the largest exponent of %[1]s is stuck at 0", func(v fp.Dyadic, e int32, n int64) fp.Dyadic {
		return withBit(v, e-int32(n), func(x, bit uint64) uint64 { return x &^ bit })
	}},
	"flip": {"bit %[2]d below the largest exponent of %[1]s is inverted", func(v fp.Dyadic, e int32, n int64) fp.Dyadic {
		return withBit(v, e-int32(n), func(x, bit uint64) uint64 { return x ^ bit })
	}},
	"set-2": {"bit %[2]d below the largest exponent of %[1]s in two's complement is stuck at 1", func(v fp.Dyadic, e int32, n int64) fp.Dyadic {
		return withTwosBit(v, e-int32(n), func(uint64) uint64 { return 1 })
	}},
	"clear-2": {"bit %[2]d below the largest exponent of %[1]s in two's complement is stuck at 0", func(v fp.Dyadic, e int32, n int64) fp.Dyadic {
		return withTwosBit(v, e-int32(n), func(uint64) uint64 { return 0 })
	}},
	"negate": {"%[1]s has the wrong sign", func(v fp.Dyadic, _ int32, _ int64) fp.Dyadic { v.Neg = !v.Neg; return v }},
	"lost":   {"%[1]s is lost", func(v fp.Dyadic, _ int32, _ int64) fp.Dyadic { return fp.Dyadic{Neg: v.Neg} }},
	"half":   {"%[1]s is half of what it should be", func(v fp.Dyadic, _ int32, _ int64) fp.Dyadic { v.Q--; return v }},
	"twice":  {"%[1]s is twice what it should be", func(v fp.Dyadic, _ int32, _ int64) fp.Dyadic { v.Q++; return v }},
	"wrap": {"%[1]s lacks the bits more than %[2]d above the largest exponent", func(v fp.Dyadic, e int32, n int64) fp.Dyadic {
		return below(v, e+int32(n)+1)
	}},
	// Of a sum: each of its terms is cut.
	cutsTerms: {"the terms of %[1]s are cut %[2]d bits below the largest exponent", func(v fp.Dyadic, e int32, n int64) fp.Dyadic {
		return v.Round(e-int32(n), fp.RZ)
	}},
	"ones": {"%[1]s, where it is negative, is one unit too low %[2]d bits below the largest exponent, as in ones' complement", func(v fp.Dyadic, e int32, n int64) fp.Dyadic {
		return onesComplement(v, e-int32(n), 1)
	}},
	"ones-back": {"%[1]s, where it is negative, is one unit too high %[2]d bits below the largest exponent, as in ones' complement", func(v fp.Dyadic, e int32, n int64) fp.Dyadic {
		x := onesComplement(v, e-int32(n), -1)
		if x.IsZero() {
			x.Neg = false
		}
		return x
	}},
	"ones-back-minus": {"%[1]s, where it is negative, is one unit too high %[2]d bits below the largest exponent, as in ones' complement, and -0 if that is zero", func(v fp.Dyadic, e int32, n int64) fp.Dyadic {
		return onesComplement(v, e-int32(n), -1)
	}},
	"normalise": {"%[1]s is normalised by %[3]s", func(v fp.Dyadic, e int32, n int64) fp.Dyadic {
		bits, above := normaliser(n)
		if d := e + above - v.Exponent(); d > 0 {
			v.Q -= d &^ (1<<bits - 1)
		}
		return v
	}},
	hidesBit: {"%[1]s is normalised by %[3]s, and what is then in the place of its leading bit is taken for 1", func(v fp.Dyadic, e int32, n int64) fp.Dyadic {
		bits, above := normaliser(n)
		if d := e + above - v.Exponent(); d >= 1<<bits {
			return withBit(v, e+above-d&(1<<bits-1), func(x, bit uint64) uint64 { return x | bit })
		}
		return v
	}},
	"overflow": {"%[1]s overflows, as in two's complement, into the sign bit %[2]d above the largest exponent", func(v fp.Dyadic, e int32, n int64) fp.Dyadic {
		return twosComplement(v, e+int32(n))
	}},
}

// hidesBit is that a sum is shifted by too little, and its exponent is made of that distance, so that a
// leading bit that is not there is hidden.
const hidesBit = "normalise-hidden"

// normaliser is n of a sum that is normalised by a distance that lacks bits: how many it has, and how
// far the bit from which it is counted is above the largest exponent.
func normaliser(n int64) (bits, above int32) { return int32(n % 8), int32(n / 8) }

// normalisers are such n.
func normalisers() (ns []int64) {
	const mostAbove = 7
	for bits := int64(2); bits < 8; bits++ {
		for above := range int64(mostAbove + 1) {
			ns = append(ns, 8*above+bits)
		}
	}
	return ns
}

// onRounding are other roundings of a sum.
var onRounding = map[string]fp.Mode{"rz": fp.RZ, "rne": fp.RNE, "rna": fp.RNA, "ru": fp.RU, "rd": fp.RD, "rto": fp.RTO}

// onZero are signs of a sum that is zero because its terms cancel: as the accumulator's, as that of
// what was added to it, or minus; and of one that is zero for that reason or because it is rounded.
var onZero = map[string]struct {
	text string
	do   func(minus, accMinus bool) bool
	any  bool // also of one that is rounded to zero
}{
	"sign-acc":   {"whose terms cancel is a zero with the sign of the accumulator", ofAccumulator, false},
	"sign-other": {"whose terms cancel is a zero with the sign of what is added to the accumulator", ofOther, false},
	"sign-minus": {"whose terms cancel is a zero with a minus sign", minusSign, false},
	"zero-acc":   {"that is zero, though the accumulator is not, has the sign of the accumulator", ofAccumulator, true},
	"zero-other": {"that is zero, though the accumulator is not, has the other sign than the accumulator", ofOther, true},
	"zero-minus": {"that is zero, though the accumulator is not, has a minus sign", minusSign, true},
	"zero-below": {"that is zero has a minus sign if the accumulator is below zero", func(minus, accMinus bool) bool { return minus || accMinus }, true},
}

func ofAccumulator(_, accMinus bool) bool { return accMinus }
func ofOther(_, accMinus bool) bool       { return !accMinus }
func minusSign(bool, bool) bool           { return true }

// comparesLow is the operation on a sum that its exponents are compared by their low bits alone.
const comparesLow = "compare"

// lowCompared is n of it: the number of bits, and what is added to exponents before.
func lowCompared(n int64) (bits, bias int64) { return n & 15, n >> 4 }

// lowComparisons are such n: biases are those of the operands' formats and of c's.
func (s *search) lowComparisons() (ns []int64) {
	a, b := int64(1-s.f.A.Get().Emin()), int64(1-s.f.B.Get().Emin())
	biases := []int64{0, a + b, a + b - 1, 127}
	for bits := int64(2); bits < 9; bits++ {
		for _, bias := range biases {
			if n := bias&(1<<bits-1)<<4 | bits; !slices.Contains(ns, n) {
				ns = append(ns, n)
			}
		}
	}
	return ns
}

// unseenByLowBits are the terms whose exponents' low bits are not the largest of their sum's.
func (r *runner) unseenByLowBits(v *view) (all []place) {
	n, bias := lowCompared(r.effect.N)
	r.tr.Reset()
	r.m.Dot(v.dot, &r.tr)
	for i := range r.tr.Sums {
		terms, most := r.tr.Sums[i].Terms, int64(-1)
		low := func(j int) int64 { return (int64(terms[j].E) + bias) & (1<<n - 1) }
		for j := range terms {
			if finite(&terms[j]) {
				most = max(most, low(j))
			}
		}
		for j := range terms {
			if finite(&terms[j]) && low(j) < most {
				all = append(all, place{i, j})
			}
		}
	}
	return all
}

// saturates is the operation on a sum that it becomes the largest number where it overflows.
const saturates = "saturates"

// nearPath are the operations of an adder whose path for numbers of opposite signs and nearly equal
// exponents has too few bits: both terms are cut, always or if both are normal in the result's format.
var nearPath = map[string]bool{"near": false, "near-normal": true}

func isNear(do string) bool { _, is := nearPath[do]; return is }

// isNearPath reports whether two terms are those of the near path.
func (e *Effect) isNearPath(f *fp.Format, x, y fp.Dyadic, ex, ey int32) bool {
	return x.Neg != y.Neg && ex-ey < 2 && ey-ex < 2 && (!nearPath[e.Do] || min(x.Exponent(), y.Exponent()) >= f.Emin())
}

// cutsTerms is the operation on a sum that its terms are cut as if it had no bits below those of the
// result, or few. notSeen is that on a product that its exponent does not count for the largest one.
const (
	cutsTerms = "cut"
	notSeen   = "unseen"
	// atLargest is the same where the term is then aligned to the largest exponent, which is below its own.
	atLargest = "unseen-flat"
)

// guardBits are those below the result's that an adder which cuts terms may have.
const guardBits = 3

// inAdder reports whether an effect is one of an adder.
func (e *Effect) inAdder() bool {
	return e.On == OnTerm || e.On == OnTermC || e.On == OnSum || e.On == OnStep || e.On == OnEach
}

// hasAdder reports whether there is such an effect.
func (e *Effect) hasAdder() bool {
	if e.On == OnStep {
		return e.hasStep()
	}
	_, rounds := onRounding[e.Do]
	_, zero := onZero[e.Do]
	rounds = rounds || zero || e.hasPlace() || isNear(e.Do) && e.N > 0 && e.N < 64 || e.Do == saturates || unchecked[e.Do] != nil || e.Do == comparesLow && e.N > 0 && e.N < 1<<16
	_, number := onNumber[e.Do]
	number = number && (e.Do != "normalise" && e.Do != hidesBit || e.N >= 0)
	number = number && (e.Do != cutsTerms || e.On == OnSum || e.On == OnTerm || e.On == OnTermC)
	number = number && (e.Do != "ones" || e.On != OnSum) && (e.Do != "ones-back" && e.Do != "ones-back-minus" || e.On == OnSum)
	return number && e.N > -64 && e.N < 64 || rounds && e.On == OnSum || (e.Do == notSeen || e.Do == atLargest || e.alignment() != "") && e.On == OnTerm
}

// adderEffects are the effects on terms and sums.
func (s *search) adderEffects(on Place) (all []Effect) {
	for n := int64(adderBits); n <= lastAdderBit; n++ {
		for _, do := range []string{"clear", "set", "flip", "clear-2", "set-2"} {
			if strings.HasSuffix(do, "-2") && on != OnSum {
				continue
			}
			all = append(all, Effect{On: on, Do: do, N: n})
		}
	}
	for n := int64(0); n <= lastAdderBit && !s.f.D.Get().Integer(); n++ {
		if on != OnSum {
			all = append(all, Effect{On: on, Do: "ones", N: n})
			continue
		}
		all = append(all, Effect{On: on, Do: "ones-back", N: n}, Effect{On: on, Do: "ones-back-minus", N: n})
	}
	if on == OnTerm && s.f.A.Get().Integer() { // whose least number has no opposite in its format
		all = append(all, Effect{On: on, Do: "negate"})
	}
	if on != OnSum && !s.f.A.Get().Integer() {
		for n := int64(lastAdderBit); n > guardBits; n-- {
			all = append(all, Effect{On: on, Do: cutsTerms, N: n})
		}
	}
	if on == OnTerm && !s.f.A.Get().Integer() {
		all = append(all, Effect{On: on, Do: notSeen}, Effect{On: on, Do: atLargest})
		all = append(all, oneShiftEffects()...)
	}
	if on != OnSum {
		return all
	}
	all = append(all, s.placeEffects()...)
	for n := range int64(guardBits) {
		bits := int64(s.f.D.Get().FracBits) + n
		all = append(all, Effect{On: on, Do: "near", N: bits}, Effect{On: on, Do: "near-normal", N: bits})
	}
	for n := int64(s.f.D.Get().FracBits) + guardBits - 1; n > guardBits; n-- {
		all = append(all, Effect{On: on, Do: cutsTerms, N: n})
	}
	for _, do := range []string{"rz", "rne", "rna", "ru", "rd", "rto", saturates, "negate", "lost", "half", "twice", "sign-acc", "sign-other", "sign-minus", "zero-acc", "zero-other", "zero-minus", "zero-below", "wraps-over", "wraps-under"} {
		all = append(all, Effect{On: on, Do: do})
	}
	for _, n := range s.lowComparisons() {
		all = append(all, Effect{On: on, Do: comparesLow, N: n})
	}
	for _, n := range normalisers() {
		all = append(all, Effect{On: on, Do: "normalise", N: n}, Effect{On: on, Do: hidesBit, N: n})
	}
	for n := range int64(8) {
		all = append(all, Effect{On: on, Do: "wrap", N: n}, Effect{On: on, Do: "overflow", N: n})
	}
	return all
}

// place is where a term stands: the number of a sum and its own.
type place struct{ sum, term int }

// adder is the result where terms or sums of some numbers are changed. It reports whether there
// are any.
func (r *runner) adder(v *view, numbers []int) (uint64, bool) {
	some := false
	change := r.adderChange(v, numbers, &some)
	got := r.m.DotChanged(v.dot, change)
	return got, some
}

// adderChange is what adder changes; some becomes true where it does.
func (r *runner) adderChange(v *view, numbers []int, some *bool) (change sim.Change) {
	e := &r.effect
	number := onNumber[e.Do].do
	mode, rounds := onRounding[e.Do]
	switch {
	case e.On == OnStep:
		if e.choosesSums() {
			numbers = r.chosenSums(v)
		}
		change.Result = r.stepChange(numbers, some)
	case rounds || e.Do == saturates:
		change.Round = func(sum int, round *mma.Round) *mma.Round {
			if round.Frac == 0 || !slices.Contains(numbers, sum) {
				return round
			}
			*some = true
			other := *round
			if e.Do == saturates {
				other.Over = mma.OverMax
				return &other
			}
			if other.Mode = mode; other.Over == mma.OverInf { // which a rounding to nearest means by it
				other.Over = mma.OverIEEE
			}
			return &other
		}
	case e.On == OnSum && onZero[e.Do].do != nil:
		zero := onZero[e.Do]
		change.Zero = func(sum int, minus, accMinus, cancels bool) bool {
			if !slices.Contains(numbers, sum) || !cancels && !zero.any {
				return minus
			}
			*some = true
			return zero.do(minus, accMinus)
		}
	case e.On == OnSum && onPlaces[e.Do] != nil:
		change.Sum = func(sum int, x fp.Dyadic, _ int32) fp.Dyadic {
			if slices.Contains(numbers, sum) {
				*some = true
				return onPlaces[e.Do](r.f.D.Get(), x, e.N)
			}
			return x
		}
	case e.On == OnSum && unchecked[e.Do] != nil:
		r.wrap(&change, numbers, some)
	case e.On == OnSum && e.Do == coarse:
		change.Round = func(sum int, round *mma.Round) *mma.Round {
			if int64(round.Frac) <= e.N || !slices.Contains(numbers, sum) {
				return round
			}
			*some = true
			other := *round
			other.Frac -= mma.Frac(e.N)
			return &other
		}
	case e.On == OnSum && e.Do == comparesLow:
		unseen := r.unseenByLowBits(v)
		change.Unseen = func(sum, term int) bool {
			if !slices.Contains(numbers, sum) || !slices.Contains(unseen, place{sum, term}) {
				return false
			}
			*some = true
			return true
		}
	case e.On == OnSum && isNear(e.Do):
		change.Terms = func(sum int, x, y fp.Dyadic, ex, ey, top int32) (fp.Dyadic, fp.Dyadic) {
			if !slices.Contains(numbers, sum) || !e.isNearPath(r.f.D.Get(), x, y, ex, ey) {
				return x, y
			}
			*some = true
			return x.Round(top-int32(e.N), fp.RZ), y.Round(top-int32(e.N), fp.RZ)
		}
	case e.On == OnSum && e.Do == cutsTerms:
		change.Term = func(sum, _ int, x fp.Dyadic, top int32) fp.Dyadic {
			if !slices.Contains(numbers, sum) {
				return x
			}
			*some = true
			return number(x, top, e.N)
		}
	case e.alignment() != "":
		changed, align := r.places(v, numbers), shifts[e.alignment()].do
		change.Term = func(sum, term int, x fp.Dyadic, top int32) fp.Dyadic {
			at := place{sum, term}
			if places := top - v.exps[at]; slices.Contains(changed, at) && places >= 0 {
				*some = true
				x.Q += places - align(places, e.N)
			}
			return x
		}
	case e.Do == notSeen || e.Do == atLargest:
		changed := r.places(v, numbers)
		if e.Do == atLargest {
			change.Term = func(sum, term int, x fp.Dyadic, top int32) fp.Dyadic {
				if at := (place{sum, term}); slices.Contains(changed, at) && v.exps[at] > top {
					x.Q -= v.exps[at] - top
				}
				return x
			}
		}
		change.Unseen = func(sum, term int) bool {
			unseen := slices.Contains(changed, place{sum, term})
			*some = *some || unseen
			return unseen
		}
	case e.On == OnSum:
		change.Sum = func(sum int, x fp.Dyadic, top int32) fp.Dyadic {
			if !slices.Contains(numbers, sum) {
				return x
			}
			*some = true
			y := number(x, top, e.N)
			if e.Do == hidesBit && y.Exponent() < r.f.D.Get().Emin() { // of a subnormal nothing is hidden
				return x
			}
			return y
		}
	default:
		changed := r.places(v, numbers)
		change.Term = func(sum, term int, x fp.Dyadic, top int32) fp.Dyadic {
			if !slices.Contains(changed, place{sum, term}) {
				return x
			}
			*some = true
			return number(x, top, e.N)
		}
	}
	return change
}

// places are those of the products of some numbers in the sums that take them, of c and of
// accumulators, or of the terms of some numbers.
func (r *runner) places(v *view, numbers []int) (all []place) {
	if r.effect.On == OnEach {
		r.add(v, OfTerm)
		for _, n := range numbers {
			all = append(all, v.terms[n])
		}
		return all
	}
	places := r.productPlaces(v)
	if r.effect.On == OnTermC {
		return places[-1]
	}
	for _, k := range numbers {
		all = append(all, places[k]...)
	}
	return all
}

// productPlaces are those of each product, and at -1 those of c and of accumulators.
func (r *runner) productPlaces(v *view) map[int][]place {
	if v.places == nil {
		v.places, v.exps = map[int][]place{}, map[place]int32{}
		r.tr.Reset()
		r.m.Dot(v.dot, &r.tr)
		for i := range r.tr.Sums {
			for j := range r.tr.Sums[i].Terms {
				switch t := &r.tr.Sums[i].Terms[j]; t.From {
				case sim.FromProduct:
					v.exps[place{i, j}] = t.E
					v.places[t.K] = append(v.places[t.K], place{i, j})
				case sim.FromC, sim.FromAcc:
					v.places[-1] = append(v.places[-1], place{i, j})
				}
			}
		}
	}
	return v.places
}

// withBit changes the bit of weight 2^w of a magnitude, which stays as it is where it is too long.
func withBit(v fp.Dyadic, w int32, do func(x, bit uint64) uint64) fp.Dyadic {
	const most = 126
	if w-v.Q >= most {
		v = v.Round(w-most/2, fp.RZ)
		v.Q = w - most/2
	}
	if v.Q > w {
		if v.Len()+v.Q-w > most {
			return v
		}
		v = v.Shl(v.Q - w)
	}
	if n := w - v.Q; n < 64 {
		v.Lo = do(v.Lo, 1<<n)
	} else {
		v.Hi = do(v.Hi, 1<<(n-64))
	}
	return v
}

// withTwosBit makes the bit of weight 2^w of a number in two's complement the one that do makes of it.
func withTwosBit(v fp.Dyadic, w int32, do func(x uint64) uint64) fp.Dyadic {
	const most = 120
	if v.Q > w {
		if v.Len()+v.Q-w > most {
			return v
		}
		v = v.Shl(v.Q - w)
	}
	n := w - v.Q
	if n >= most {
		return v
	}
	one := fp.Dyadic{Lo: 1}.Shl(n) // 2^w in units of v
	if n == 0 {
		one = fp.Dyadic{Lo: 1}
	}
	bit := truth(v.Hi&one.Hi|v.Lo&one.Lo != 0)
	if v.Neg && w > v.Low() {
		bit = 1 - bit
	}
	if int64(do(uint64(bit))) == bit {
		return v
	}
	if v.Neg == (bit == 1) { // away from zero
		lo, carry := bits.Add64(v.Lo, one.Lo, 0)
		v.Lo, v.Hi = lo, v.Hi+one.Hi+carry
		return v
	}
	lo, borrow := bits.Sub64(v.Lo, one.Lo, 0)
	hi, under := bits.Sub64(v.Hi, one.Hi, borrow)
	if v.Hi, v.Lo = hi, lo; under != 0 {
		v.Lo, borrow = bits.Sub64(0, lo, 0)
		v.Hi, _ = bits.Sub64(0, hi, borrow)
		v.Neg = !v.Neg
	}
	return v
}

// onesComplement is a number that is cut to a multiple of 2^w and, if negative, larger in magnitude by so
// many of these.
func onesComplement(v fp.Dyadic, w int32, more int64) fp.Dyadic {
	const most = 120
	if !v.Neg {
		return v
	}
	x := v.Round(w, fp.RZ)
	if x.IsZero() {
		if more < 0 {
			return v
		}
		return fp.Dyadic{Lo: 1, Q: w, Neg: true}
	}
	if x.Q > w {
		if x.Len()+x.Q-w > most {
			return v
		}
		x = x.Shl(x.Q - w)
	}
	lo, carry := bits.Add64(x.Lo, uint64(more), 0)
	x.Hi += uint64(more>>63) + carry
	x.Lo = lo
	return x
}

// below is a number without its bits from 2^w on.
func below(v fp.Dyadic, w int32) fp.Dyadic {
	switch n := w - v.Q; {
	case n <= 0:
		return fp.Dyadic{Neg: v.Neg}
	case n < 64:
		v.Hi, v.Lo = 0, v.Lo&(1<<n-1)
	case n < 128:
		v.Hi &= 1<<(n-64) - 1
	}
	return v
}

// twosComplement is a number in two's complement whose sign bit has the weight 2^w.
func twosComplement(v fp.Dyadic, w int32) fp.Dyadic {
	x := below(v, w+1)
	if x.IsZero() || x.Exponent() < w || v.Neg && x.Exponent() == w && x.Low() == w {
		return x
	}
	if x.Len() > 120 || x.Q > w {
		return v
	}
	// 2^(w+1) - x, with the other sign
	one := fp.Dyadic{Lo: 1, Q: w + 1}
	one = one.Shl(w + 1 - x.Q)
	hi, lo := one.Hi-x.Hi, one.Lo-x.Lo
	if one.Lo < x.Lo {
		hi--
	}
	return fp.Dyadic{Hi: hi, Lo: lo, Q: x.Q, Neg: !x.Neg}
}

// adderText says what is wrong; name names the only product or sum in which it is.
func (e *Effect) adderText(name string) string {
	noun := map[Place]string{OnTerm: "each aligned product", OnTermC: "the aligned c or accumulator", OnSum: "each sum", OnStep: "the result of each sum", OnEach: "each term of a sum"}[e.On]
	switch {
	case name != "" && e.On == OnTerm:
		noun = "the aligned " + name
	case name != "":
		noun = name
	}
	if e.On == OnStep {
		return e.stepText(name)
	}
	if sign, ok := onZero[e.Do]; ok && e.On == OnSum {
		return noun + " " + sign.text
	}
	if onPlaces[e.Do] != nil || e.Do == coarse {
		return e.placeText(noun)
	}
	if x := unchecked[e.Do]; x != nil {
		return fmt.Sprintf(x.text, noun)
	}
	if do := e.alignment(); do != "" {
		return shiftText(do, cmp.Or(name, "each product"), e.N)
	}
	if e.Do == cutsTerms && e.On != OnSum {
		return fmt.Sprintf("%s is cut %d bits below the largest exponent", noun, e.N)
	}
	if e.Do == comparesLow {
		low, bias := lowCompared(e.N)
		plus := ""
		if bias != 0 {
			plus = fmt.Sprintf(" plus %d", bias)
		}
		return fmt.Sprintf("the largest exponent of %s is found by the low %d bits of the exponents%s", noun, low, plus)
	}
	if e.Do == saturates {
		return noun + " saturates where it overflows"
	}
	if mode, ok := onRounding[e.Do]; ok && e.On == OnSum {
		return fmt.Sprintf("%s is rounded by %s", noun, strings.ToUpper(mode.String()))
	}
	if normal, ok := nearPath[e.Do]; ok {
		all := "two terms of opposite signs, whose exponents differ by at most 1,"
		if normal {
			all = "two normal terms of opposite signs, whose exponents differ by at most 1,"
		}
		return fmt.Sprintf("in %s %s are cut %d bits below the largest exponent", noun, all, e.N)
	}
	if e.Do == atLargest {
		return "the exponent of " + noun + " does not count for the largest one, and where it is larger the product is not shifted"
	}
	if e.Do == notSeen {
		return "the exponent of " + noun + " does not count for the largest one"
	}
	number := onNumber[e.Do].text
	if e.Do == "normalise" || e.Do == hidesBit {
		bits, above := normaliser(e.N)
		distance := fmt.Sprintf("the distance of its leading bit from the largest exponent, modulo %d", 1<<bits)
		if above > 0 {
			distance = fmt.Sprintf("the distance of its leading bit from the bit %d above the largest exponent, modulo %d", above, 1<<bits)
		}
		return fmt.Sprintf(number, noun, 0, distance)
	}
	if e.N < 0 {
		number = strings.Replace(number, "below", "above", 1)
	}
	if !strings.Contains(number, "%[2]d") {
		return fmt.Sprintf(number, noun)
	}
	return fmt.Sprintf(number, noun, max(e.N, -e.N))
}
