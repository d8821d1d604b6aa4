package defect

import (
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Effect is what is wrong: an operation on the code of something, or another program.
type Effect struct {
	On      Place        `json:"on"`
	Do      string       `json:"do,omitempty"`
	N       int64        `json:"n,omitempty"`
	Changes []mma.Change `json:"changes,omitempty"` // of a program
	Digits  int          `json:"digits,omitempty"`  // with which N is printed, if it is a code
	Sign    bool         `json:"sign,omitempty"`    // N is the sign bit, which the text then names
	Sum     string       `json:"sum,omitempty"`     // the name of the sum that N chooses, or how sums are counted
}

// Place is what an effect changes.
type Place string

// The places. Those of products change each product in the scope of the conditions.
const (
	OnResult      Place = "result"
	OnC           Place = "c"
	OnA           Place = "a"
	OnB           Place = "b"
	OnRandom      Place = "random"  // b, which is random bits
	OnOperand     Place = "x"       // a or b
	OnProduct     Place = "p"       // a, or b where the operation cannot be applied to a
	OnExact       Place = "m"       // the product of the significands, an integer: see exact.go
	OnSignificand Place = "s"       // the significand of a or b, whose exponent is as it was: see exact.go
	OnShift       Place = "shift"   // the alignment of each term of a sum: see shift.go
	OnShiftP      Place = "shift-p" // of each term but the accumulator
	OnShiftC      Place = "shift-c" // of c and the accumulator
	OnTerm        Place = "term"    // each product as a term of a sum, aligned: see adder.go
	OnTermC       Place = "term-c"  // c and the accumulator as a term of a sum
	OnSum         Place = "sum"     // each sum
	OnStep        Place = "step"    // the result of each sum, rounded: see step.go
	OnEach        Place = "each"    // each term of a sum, aligned, of whatever kind: see each.go
	OnSwap        Place = "swap"    // operands of two products, which are exchanged
	OnPair        Place = "pair"    // the sum of two products: see pair.go
	OnInf         Place = "inf"     // the sum of infinities of opposite signs
	OnProgram     Place = "program"
)

// ofProducts reports whether an effect happens to single products, to their operands or to single
// sums: to those that meet its conditions.
func (e *Effect) ofProducts() bool {
	return e.On == OnTerm || e.On == OnSum || e.On == OnStep && !e.choosesSums() || e.On == OnEach || e.On == OnA || e.On == OnB || e.On == OnRandom || e.On == OnOperand || e.On == OnProduct || e.On == OnExact || e.On == OnSignificand
}

// scope is that of an effect on products, operands or sums.
func (e *Effect) scope() Scope {
	switch e.On {
	case OnOperand, OnSignificand:
		return OfOperand
	case OnSum, OnStep:
		if !e.choosesSums() {
			return OfSum
		}
	case OnEach:
		return OfTerm
	}
	return OfProduct
}

// operation is a row of the table of what may happen to a code. do changes a code, and reports
// whether that can happen to it; what n is, such as the number of a bit, a number of codes or a code,
// depends on the operation. numbers returns the n to try where only the code before is known, as of
// an operand; between returns the n that makes y of x, and whether there is one.
type operation struct {
	name    string
	text    string // of the effect, with %w for what it changes and %s for n
	cost    int
	bit     bool // n counts bits, or is the number of a bit
	do      func(f *fp.Format, x uint64, n int64) (uint64, bool)
	numbers func(f *fp.Format) []int64
	between func(f *fp.Format, x, y uint64) (int64, bool)
}

// operations is the table. Of effects that explain the same cases, the cheapest is taken; of those,
// the first.
var operations = []operation{
	{"set", "bit %s of %w is stuck at 1", 1, true, func(f *fp.Format, x uint64, n int64) (uint64, bool) { return x | 1<<n, true },
		bitNumbers, func(f *fp.Format, x, y uint64) (int64, bool) { return oneBit(y&^x, x&^y) }},
	{"clear", "bit %s of %w is stuck at 0", 1, true, func(f *fp.Format, x uint64, n int64) (uint64, bool) { return x &^ (1 << n), true },
		bitNumbers, func(f *fp.Format, x, y uint64) (int64, bool) { return oneBit(x&^y, y&^x) }},
	{"negate", "%w has the wrong sign", 1, false, func(f *fp.Format, x uint64, _ int64) (uint64, bool) { return x ^ f.SignBit(), f.SignBit() != 0 },
		once, constant},
	{"positive", "the sign of %w is stuck at 0", 1, false, never, nil, nil}, // of products
	{"negative", "the sign of %w is stuck at 1", 1, false, never, nil, nil},
	{"sign-and", "the sign of %w is minus where both its operands are negative, and plus elsewhere", 2, false, never, nil, nil},
	{"sign-or", "the sign of %w is minus where one of its operands is negative, or both", 2, false, never, nil, nil},
	{"zero", "%w is a zero of its sign", 1, false, func(f *fp.Format, x uint64, _ int64) (uint64, bool) { return x & f.SignBit(), !f.NoZero },
		once, constant},
	{"plus-zero", "%w is +0", 1, false, func(f *fp.Format, x uint64, _ int64) (uint64, bool) { return 0, !f.NoZero },
		once, constant},
	{"gate", "0 times infinity is 0 in %w", 1, false, never, nil, nil}, // of products: see gate
	{"gate-nan", "0 times NaN is 0 in %w", 1, false, never, nil, nil},
	{"ungated", "0 times infinity is infinity in %w", 1, false, never, nil, nil},
	{"gate-any", "0 times infinity or NaN is 0 in %w", 1, false, never, nil, nil},
	{"skip", "%w is left out", 1, false, never, nil, nil}, // of products
	{"max", "%w is the largest number of its sign", 1, false, func(f *fp.Format, x uint64, _ int64) (uint64, bool) {
		return x&f.SignBit() | f.MaxFinite(), true
	}, once, constant},
	{"inf", "%w is an infinity of its sign", 1, false, func(f *fp.Format, x uint64, _ int64) (uint64, bool) {
		if !f.HasInf() {
			return 0, false
		}
		return f.InfCode(x&f.SignBit() != 0), true
	}, once, constant},
	{"scale", "%w is %s what it should be", 2, false, scaled, func(*fp.Format) []int64 { return []int64{-1, 1, -2, 2} }, scaleBetween},
	{"number", "%w, if it is an infinity or a NaN, is read as the finite number that its exponent and significand would be", 1, false, never, nil, nil}, // see misread.go
	{asOther, "%w is read as a code of %s", 3, false, never, nil, nil},
	{"unsigned", "%w is read as unsigned", 1, false, never, nil, nil},
	{"factor", "%w is %s what it should be", 2, false, never, nil, nil},                                // of significands
	{"rounded", "%w is rounded by %s", 3, false, never, nil, nil},                                      // of exact products
	{"saturate", "%w is at most the largest number of the result's format", 2, false, never, nil, nil}, // of exact products
	{splitBoth, "%w lacks the carry out of %s", 4, false, never, nil, nil},
	{splitA, "%w lacks the carry out of %s", 4, false, never, nil, nil}, // see exact.go
	{splitB, "%w lacks the carry out of %s", 4, false, never, nil, nil},
	{"more-a", "%w is larger than it should be by that of a shifted left by %s", 4, false, never, nil, nil}, // of exact products: see exact.go
	{"more-b", "%w is larger than it should be by that of b shifted left by %s", 4, false, never, nil, nil},
	{"less-a", "%w is smaller than it should be by that of a shifted left by %s", 4, false, never, nil, nil},
	{"less-b", "%w is smaller than it should be by that of b shifted left by %s", 4, false, never, nil, nil},
	{"exp-carry", "the exponent of %w lacks the carry out of the low %s bits of the exponents that are added", 2, false, never, nil, nil},
	{"cross", "the bits %s of %w are exchanged", 3, false, crossed, crossings, crossBetween},
	{"copy", "bit %s", 3, false, copied, copies, nil},
	{"exp-most", "the exponent of %w is at most %s", 2, false, never, nil, nil},
	{"exp-least", "the exponent of %w is at least %s", 2, false, never, nil, nil},
	{"exp-modulo", "the exponent of %w is %s", 3, false, never, nil, nil},
	{"exp-wrap", "the exponent of %w is %s", 8, false, never, nil, nil},
	{"field", "the exponent field of %w is %s", 2, false, func(f *fp.Format, x uint64, n int64) (uint64, bool) {
		return added(f, x, n<<f.FracBits)
	}, nil, func(f *fp.Format, x, y uint64) (int64, bool) {
		n, ok := addBetween(f, x, y)
		return n >> f.FracBits, ok && n != 0 && n&(1<<f.FracBits-1) == 0
	}},
	{"add", "%w is %s in magnitude", 2, false, added, func(*fp.Format) []int64 { return []int64{1, -1} }, addBetween},
	{"up", "%w is %s", 3, false, raised, func(*fp.Format) []int64 { return nil }, func(f *fp.Format, x, y uint64) (int64, bool) {
		n, ok := addBetween(f, x, y)
		if x&f.SignBit() != 0 {
			n = -n
		}
		return n, ok
	}},
	{"plus", "the code of %w is off by %s", 4, false, func(f *fp.Format, x uint64, n int64) (uint64, bool) {
		return (x + uint64(n)) & f.CodeMask(), true
	}, nil, func(_ *fp.Format, x, y uint64) (int64, bool) { return int64(y - x), true }},
	{"flip", "bit %s of %w is inverted", 2, true, func(f *fp.Format, x uint64, n int64) (uint64, bool) { return x ^ 1<<n, true },
		bitNumbers, func(f *fp.Format, x, y uint64) (int64, bool) { return oneBit(x^y, 0) }},
	{"moved", "the magnitude of %w, where it is subnormal, is shifted by %s", 3, false, moved, nil, movedBetween},
	{"unadjusted", "%w, where it is subnormal, is shifted until it has a leading bit, and its exponent stays", 3, false, unadjusted, once, nil},
	{"cross-bytes", "the groups of bits %s of %w are exchanged", 3, false, crossedBytes, byteCrossings, nil},
	{"lead", "%w lacks the leading bit of its significand", 2, false, withoutLead, once, constant},
	{"cut", "the low %s bits of %w are zero", 2, true, func(f *fp.Format, x uint64, n int64) (uint64, bool) { return x &^ (1<<n - 1), true },
		lowParts, nil},
	{"fill", "the low %s bits of %w are ones", 2, true, func(f *fp.Format, x uint64, n int64) (uint64, bool) { return x | (1<<n - 1), true },
		lowParts, nil},
	{"magnitude", "%w has the magnitude %s and its sign", 3, false, func(f *fp.Format, x uint64, n int64) (uint64, bool) {
		return x&f.SignBit() | uint64(n), true
	}, nil, func(f *fp.Format, x, y uint64) (int64, bool) {
		return int64(y &^ f.SignBit()), (x^y)&f.SignBit() == 0
	}},
	{"narrow", "%w wraps around in %s bits", 2, false, narrowed, narrower, nil}, // of integers
	{"narrow-sat", "%w saturates in %s bits", 2, false, saturated, narrower, nil},
	{roundsTo, "%w is rounded to %s", 1, false, roundedTo, nil, nil}, // of sums: see step.go
	{bypass, "%w is c", 2, false, never, nil, nil},
	{"reverse", "the bits of %w are in reverse", 2, false, func(f *fp.Format, x uint64, _ int64) (uint64, bool) {
		return bits.Reverse64(x) >> (64 - f.CodeBits()), f.ID.RandomBits() != 0
	}, nil, nil},
	{"left", "%w is shifted left by %s", 2, true, func(f *fp.Format, x uint64, n int64) (uint64, bool) { return x << n & f.CodeMask(), true }, nil, nil},
	{"right", "%w is shifted right by %s", 2, true, func(f *fp.Format, x uint64, n int64) (uint64, bool) { return x >> n, true }, nil, nil},
	{"code", "%w is %s", 2, false, func(f *fp.Format, x uint64, n int64) (uint64, bool) { return uint64(n), true },
		codesOf, func(f *fp.Format, x, y uint64) (int64, bool) { return int64(y), true }},
	{anyNaN, "%w is a NaN", 2, false, func(f *fp.Format, _ uint64, _ int64) (uint64, bool) { return f.QuietNaN(false), true }, nil, nil}, // of several codes
	{"xor", "the bits %s of %w are inverted", 4, false, func(f *fp.Format, x uint64, n int64) (uint64, bool) { return x ^ uint64(n), true },
		nil, func(f *fp.Format, x, y uint64) (int64, bool) { return int64(x ^ y), true }},
	{"and", "the bits %s of %w are stuck at 0", 3, false, func(f *fp.Format, x uint64, n int64) (uint64, bool) { return x &^ uint64(n), true }, nil, nil},
	{"or", "the bits %s of %w are stuck at 1", 3, false, func(f *fp.Format, x uint64, n int64) (uint64, bool) { return x | uint64(n), true }, nil, nil},
}

func find(name string) *operation {
	i := slices.IndexFunc(operations, func(o operation) bool { return o.name == name })
	if i < 0 {
		return nil
	}
	return &operations[i]
}

// anyNaN is what becomes of the operation code if its code is a NaN and the unit has others as well.
const anyNaN = "nan"

// AnyNaN reports whether an effect makes NaNs of which it does not say the code.
func (e *Effect) AnyNaN() bool { return e.Do == anyNaN }

// ofSign are the operations of which a code keeps its sign alone.
var ofSign = []string{"zero", "max", "inf", "magnitude"}

// randomEffects returns what may happen to an operand that is random bits and not a number: some of
// them are stuck, inverted, moved or ignored.
func randomEffects(id fp.ID) (all []Effect) {
	w, ones := int64(id.RandomBits()), int64(1)<<id.RandomBits()-1
	add := func(do string, ns ...int64) {
		for _, n := range ns {
			all = append(all, Effect{On: OnRandom, Do: do, N: n})
		}
	}
	add("reverse", 0)
	add("xor", ones)
	add("plus", 1, -1)
	add("code", 0, ones, ones/2+1)
	for n := range w {
		add("clear", n)
		add("set", n)
		add("flip", n)
	}
	for n := int64(1); n < w; n++ {
		add("cut", n)
		add("fill", n)
		add("and", ones&^(ones>>n))
		add("or", ones&^(ones>>n))
		add("left", n)
		add("right", n)
	}
	return all
}

// never is the do of operations that do not change a code by itself: what they do is computed
// elsewhere.
func never(*fp.Format, uint64, int64) (uint64, bool) { return 0, false }

// crossedBits returns the numbers of two bits that are exchanged, the lower one first, from n.
func crossedBits(n int64) (low, high int64) { return n & 63, n >> 6 }

// crossed exchanges two bits.
func crossed(_ *fp.Format, x uint64, n int64) (uint64, bool) {
	low, high := crossedBits(n)
	differ := (x>>low ^ x>>high) & 1
	return x ^ differ<<low ^ differ<<high, true
}

// crossings are pairs of bits that may be exchanged: neighbours, and in a small format any two.
func crossings(f *fp.Format) (ns []int64) {
	w := int64(f.CodeBits())
	for low := range w {
		for high := low + 1; high < w && (w <= 8 || high == low+1); high++ {
			ns = append(ns, high<<6|low)
		}
	}
	return ns
}

// copied copies a bit to another: n has the bit that is changed first, then the one that is read.
func copied(_ *fp.Format, x uint64, n int64) (uint64, bool) {
	to, from := crossedBits(n)
	return x&^(1<<to) | x>>from&1<<to, true
}

// copies are pairs of neighbouring bits of which one may be a copy of the other.
func copies(f *fp.Format) (ns []int64) {
	for n := range int64(f.CodeBits()) - 1 {
		ns = append(ns, n<<6|(n+1), (n+1)<<6|n)
	}
	return ns
}

func crossBetween(f *fp.Format, x, y uint64) (int64, bool) {
	if bits.OnesCount64(x^y) != 2 {
		return 0, false
	}
	n := int64(63-bits.LeadingZeros64(x^y))<<6 | int64(bits.TrailingZeros64(x^y))
	got, ok := crossed(f, x, n)
	return n, ok && got == y
}

// narrower returns numbers of bits that are fewer than those of the format, for signed integers.
func narrower(f *fp.Format) (ns []int64) {
	if f.Integer() && f.SignBit() != 0 {
		for n := int64(f.CodeBits()) - 1; n > 3; n-- {
			ns = append(ns, n)
		}
	}
	return ns
}

// narrowed is an integer in two's complement of n bits.
func narrowed(f *fp.Format, x uint64, n int64) (uint64, bool) {
	return uint64(narrowTo(int64(x), n)) & f.CodeMask(), f.Integer()
}

// saturated is the integer of n bits in two's complement that is nearest to another one.
func saturated(f *fp.Format, x uint64, n int64) (uint64, bool) {
	return uint64(saturateTo(narrowTo(int64(x), int64(f.CodeBits())), n)) & f.CodeMask(), f.Integer()
}

// narrowTo is a number in two's complement of n bits.
func narrowTo(x, n int64) int64 { return x << (64 - n) >> (64 - n) }

// saturateTo is the number of n bits that is nearest to another one.
func saturateTo(x, n int64) int64 { return min(max(x, -1<<(n-1)), 1<<(n-1)-1) }

// unadjusted is a subnormal number as if it were normal and had the least exponent of these.
func unadjusted(f *fp.Format, x uint64, _ int64) (uint64, bool) {
	if classOf(f, x) != isSubnormal {
		return 0, false
	}
	v := f.Dyadic(f.Decode(x))
	v.Q += f.Emin() - v.Exponent()
	return f.Encode(v, fp.RZ, fp.OverInf), true
}

// crossedGroups returns, from n, how many bits each of two groups of bits that are exchanged has, and the
// numbers of both groups.
func crossedGroups(n int64) (width, low, high int64) { return n >> 12, n & 63, n >> 6 & 63 }

// crossedBytes exchanges two groups of bits.
func crossedBytes(_ *fp.Format, x uint64, n int64) (uint64, bool) {
	width, low, high := crossedGroups(n)
	differ := (x>>(low*width) ^ x>>(high*width)) & (1<<width - 1)
	return x ^ differ<<(low*width) ^ differ<<(high*width), true
}

// byteCrossings are groups of 4, 8, 16 or 32 bits that may be exchanged.
func byteCrossings(f *fp.Format) (ns []int64) {
	w := int64(f.CodeBits())
	for width := int64(4); width < w; width *= 2 {
		if w%width != 0 {
			break
		}
		for low := range w / width {
			for high := low + 1; high < w/width; high++ {
				ns = append(ns, width<<12|high<<6|low)
			}
		}
	}
	return ns
}

// once is the numbers of an operation that does not depend on n: it is tried once.
func once(*fp.Format) []int64 { return []int64{0} }

// lowParts are the numbers of low bits of a fraction, from two on.
func lowParts(f *fp.Format) (ns []int64) {
	for n := int64(2); n <= int64(f.FracBits); n++ {
		ns = append(ns, n)
	}
	return ns
}

func constant(*fp.Format, uint64, uint64) (int64, bool) { return 0, true }

func bitNumbers(f *fp.Format) []int64 {
	ns := make([]int64, f.CodeBits())
	for i := range ns {
		ns[i] = int64(i)
	}
	return ns
}

// codesOf are all codes of a small format, and a few of others.
func codesOf(f *fp.Format) []int64 {
	var ns []int64
	if f.CodeBits() <= 8 {
		for c := range int64(1) << f.CodeBits() {
			ns = append(ns, c)
		}
		return ns
	}
	for _, x := range []float64{1, -1, 2, 0.5} {
		ns = append(ns, int64(f.FromFloat64(x)))
	}
	if f.HasNaN() {
		ns = append(ns, int64(f.QuietNaN(false)))
	}
	return ns
}

// oneBit returns the number of the only bit of x, if nothing else changes.
func oneBit(x, other uint64) (int64, bool) {
	if other != 0 || x == 0 || x&(x-1) != 0 {
		return 0, false
	}
	n := int64(0)
	for ; x > 1; x >>= 1 {
		n++
	}
	return n, true
}

// magnitude returns a code without its sign, if it is a number.
func magnitude(f *fp.Format, x uint64) (int64, bool) {
	k := classOf(f, x)
	return int64(x &^ f.SignBit() & f.CodeMask()), k != isNaN
}

// step is the difference of the codes of neighbours: TF32 has bits below its fraction.
func step(f *fp.Format) int64 { return 1 << f.Low }

// added makes a magnitude so many codes larger. It does not go beyond zero or infinity.
func added(f *fp.Format, x uint64, n int64) (uint64, bool) {
	m, ok := magnitude(f, x)
	y := m + n*step(f)
	if !ok || y < 0 || uint64(y) > f.CodeMask()&^f.SignBit() {
		return 0, false
	}
	return x&f.SignBit() | uint64(y), true
}

func addBetween(f *fp.Format, x, y uint64) (int64, bool) {
	m, ok := magnitude(f, x)
	n, also := magnitude(f, y)
	return (n - m) / step(f), ok && also && (x^y)&f.SignBit() == 0 && (n-m)%step(f) == 0 && classOf(f, x) != isZero
}

// raised moves a number upwards by so many codes, towards plus infinity.
func raised(f *fp.Format, x uint64, n int64) (uint64, bool) {
	if x&f.SignBit() != 0 {
		n = -n
	}
	return added(f, x, n)
}

// moved shifts the magnitude of a subnormal number to the left, or to the right if n is negative, as
// if it had been shifted by a wrong number of places.
func moved(f *fp.Format, x uint64, n int64) (uint64, bool) {
	m, ok := magnitude(f, x)
	if ok = ok && classOf(f, x) == isSubnormal && f.Low == 0; n < 0 {
		m >>= -n
	} else {
		m <<= n
	}
	return x&f.SignBit() | uint64(m), ok && uint64(m) < f.SignBit()
}

func movedBetween(f *fp.Format, x, y uint64) (int64, bool) {
	for _, n := range []int64{-1, 1, -2, 2} {
		if got, ok := moved(f, x, n); ok && got == y {
			return n, true
		}
	}
	return 0, false
}

// withoutLead is a number less its leading power of two.
func withoutLead(f *fp.Format, x uint64, _ int64) (uint64, bool) {
	d := f.Decode(x)
	if d.Class != fp.Finite {
		return 0, false
	}
	v := f.Dyadic(d)
	v.Lo &^= 1 << (v.Len() - 1)
	return f.Encode(v, fp.RZ, fp.OverInf), true
}

// scaled multiplies a number by a power of two, if that can be done exactly.
func scaled(f *fp.Format, x uint64, n int64) (uint64, bool) {
	d := f.Decode(x)
	if d.Class != fp.Finite {
		return x, d.Class != fp.NaN
	}
	v := f.Dyadic(d)
	v.Q += int32(n)
	if v.Exponent() > f.Emax() || v.Low() < f.Emin()-int32(f.FracBits) {
		return 0, false
	}
	return f.Encode(v, fp.RZ, fp.OverInf) &^ (1<<f.Low - 1), true
}

func scaleBetween(f *fp.Format, x, y uint64) (int64, bool) {
	if k := classOf(f, x); k != isNormal && k != isSubnormal {
		return 0, false
	}
	if k := classOf(f, y); k != isNormal && k != isSubnormal {
		return 0, false
	}
	n := int64(f.Dyadic(f.Decode(y)).Exponent() - f.Dyadic(f.Decode(x)).Exponent())
	got, ok := scaled(f, x, n)
	return n, ok && got == y && n != 0
}

// The operations on a product that read an operand of another product. N says of which one.
const (
	readsOther  = "reads"     // of the product that is N places later
	readsFixed  = "reads-at"  // of product N
	readsBeside = "reads-xor" // of the product whose number differs in the bits of N
)

// other returns the number of the product that is read instead of k; -1 if there is none.
func (e *Effect) other(k, of int) int {
	j := -1
	switch e.Do {
	case readsOther:
		j = k + int(e.N)
	case readsFixed:
		j = int(e.N)
	case readsBeside:
		j = k ^ int(e.N)
	}
	if j < 0 || j >= of || j == k {
		return -1
	}
	return j
}

// reads reports whether an effect is that another product's operand is read.
func (e *Effect) reads() bool { return e.Do == readsOther || e.Do == readsFixed || e.Do == readsBeside }

// bypass names the operation that makes the result c.
const bypass = "bypass"

// known reports whether there is such an effect on the code of an operand, a product or the result.
func (e *Effect) known(f mma.Formats, op *operation) bool {
	switch {
	case e.reads():
		return e.ofProducts()
	case parts[e.Do] != nil:
		return e.On == OnA || e.On == OnB
	case e.Do == bypass:
		return e.On == OnResult && f.C == f.D
	}
	return op != nil
}

// runner computes effects.
type runner struct {
	*viewer
	effect Effect
	model  *sim.Model // of OnProgram
	op     *operation
}

// newRunner returns what computes an effect; nil if there is no such effect.
func newRunner(w *viewer, k int, p *mma.Params, e Effect) *runner {
	r := &runner{viewer: w, effect: e, op: find(e.Do)}
	if e.On == OnProgram {
		q := *p
		if q.Apply(e.Changes) != nil {
			return nil
		}
		m, err := sim.New(w.f, k, q)
		if err != nil {
			return nil
		}
		r.model = m
		return r
	}
	if e.aligns() {
		if o, ok := shifts[e.Do]; !ok || e.N < o.from || e.N > o.most {
			return nil
		}
		return r
	}
	known := true
	switch on := e.On; {
	case slices.Contains(misreads, e.Do):
		known = e.misreads(w.f) && w.m.Params().Passes == 0
	case on == OnSignificand:
		known = w.m.Params().Passes == 0 && e.Do == "factor" && e.N > -64 && e.N < 64
	case on == OnExact:
		known = w.isExact() && (exactly[e.Do] != nil || exponents[e.Do] != nil || e.ofFactors() || ofNeighbour[e.Do].do != nil && e.N != 0 || e.Do == "rounded" || e.Do == "plus-zero" || e.Do == "saturate" && overflows(w.f)) && max(e.N, -e.N) < 1<<16 && (e.Do != "rounded" || e.N >= 0 && e.N < int64(len(productModes)))
	case e.inAdder():
		known = e.hasAdder()
	case on == OnPair:
		known = e.pairs(w.f, k)
	case on == OnSwap:
		known = e.swaps(w.f)
	case on == OnInf:
		known = w.f.D.Get().HasInf() && slices.Contains([]string{"first", "last", firstProduct, lastProduct}, e.Do)
	default:
		known = slices.Contains([]Place{OnResult, OnC, OnA, OnB, OnRandom, OnOperand, OnProduct}, e.On) &&
			(e.On != OnRandom || w.f.B.RandomBits() != 0) && e.known(w.f, r.op)
	}
	if !known {
		return nil
	}
	return r
}

// run returns the result if the effect happens to the products whose numbers are in places, or, if it
// is not one of single products, to the case. It reports whether the effect can happen there.
func (r *runner) run(v *view, places []int) (uint64, bool) {
	e := &r.effect
	if e.On != OnResult && e.On != OnInf {
		r.budget.dots(PerDot, len(v.dot.A))
	}
	if slices.Contains(misreads, e.Do) {
		return r.misread(v, places)
	}
	switch e.On {
	case OnProgram:
		return r.model.Dot(v.dot, nil), true
	case OnResult:
		if e.Do == bypass {
			return v.dot.C, true
		}
		if slices.Contains(ofSign, e.Do) && classOf(r.f.D.Get(), v.right) == isNaN { // whose sign says nothing
			return 0, false
		}
		return r.op.do(r.f.D.Get(), v.right, e.N)
	case OnExact:
		return r.exact(v, places)
	case OnSignificand:
		return r.significands(v, places)
	case OnShift, OnShiftP, OnShiftC:
		return r.shifted(v), true
	case OnTerm, OnTermC, OnSum, OnStep, OnEach:
		return r.adder(v, places)
	case OnPair:
		return r.pair(v)
	case OnInf:
		return r.oneInfinity(v)
	}
	d, ok := r.changed(v, places)
	return r.result(v, d), ok
}

// changed returns what an effect on operands makes of a dot product. It reports whether it can
// happen there.
func (r *runner) changed(v *view, places []int) (*mma.Dot, bool) {
	e, d, some := &r.effect, v.dot.Clone(), false
	if e.On == OnC {
		if some = r.f.C != fp.None; some {
			d.C, some = r.op.do(r.f.C.Get(), d.C, e.N)
		}
		return d, some
	}
	if e.On == OnSwap {
		return d, e.swap(d)
	}
	for _, k := range places {
		some = r.product(v.dot, d, k) || some
	}
	return d, some
}

// onInputs reports whether an effect replaces operands and leaves the computation as it is.
func (e *Effect) onInputs() bool {
	return e.On == OnC || e.On == OnSwap || e.ofProducts() && !e.inAdder() && e.On != OnExact && e.On != OnSignificand && !slices.Contains(misreads, e.Do)
}

// result is the program's result on a changed dot product.
func (r *runner) result(v *view, d *mma.Dot) uint64 {
	if d.Equal(v.dot) {
		return v.right
	}
	return r.m.Dot(d, nil)
}

// product changes product k, or operand k: a and b of the first product, of the second and so on.
func (r *runner) product(from, d *mma.Dot, k int) bool {
	e := &r.effect
	a, b := r.f.A.Get(), r.f.B.Get()
	if e.reads() {
		j := e.other(k, len(d.A))
		if j < 0 {
			return false
		}
		if e.On != OnB {
			d.A[k] = from.A[j]
		}
		if e.On != OnA {
			d.B[k] = from.B[j]
		}
		return true
	}
	if e.On == OnProduct && e.Do == "plus-zero" { // the product is not there
		d.A[k], d.B[k] = 0, 0
		return true
	}
	if e.On == OnProduct && e.Do == "skip" { // nothing is added in its place: -0 changes no sum
		d.A[k], d.B[k] = 0, b.SignBit()
		return b.SignBit() != 0 && !a.NoZero && !b.NoZero
	}
	if sign := signs[e.Do]; sign != nil {
		return setSign(sign(d.A[k]&a.SignBit() != 0, d.B[k]&b.SignBit() != 0), a, &d.A[k], b, &d.B[k])
	}
	if e.Do == "ungated" {
		return ungate(a, &d.A[k], b, d.B[k]) || ungate(b, &d.B[k], a, d.A[k])
	}
	if classes := gated[e.Do]; classes != nil {
		return gate(classes, a, &d.A[k], b, &d.B[k]) || gate(classes, b, &d.B[k], a, &d.A[k])
	}
	if part := parts[e.Do]; part != nil {
		return e.readPart(part, from, d, k, a, b)
	}
	onB := e.On == OnB || e.On == OnRandom
	if e.On == OnOperand {
		k, onB = k/2, k%2 == 1
	}
	if onB {
		y, ok := r.op.do(b, d.B[k], e.N)
		if ok {
			d.B[k] = y
		}
		return ok
	}
	y, ok := r.op.do(a, d.A[k], e.N)
	if ok {
		d.A[k] = y
		return true
	}
	if e.On == OnProduct {
		if y, ok = r.op.do(b, d.B[k], e.N); ok {
			d.B[k] = y
		}
	}
	return ok
}

// infinities are those that are added: c's, and those of products in their order.
type infinities struct {
	negative []bool
	nan      bool // an operand is a NaN
	gated    bool // zero is multiplied by infinity
}

func (w *viewer) infinities(d *mma.Dot) (x infinities) {
	add := func(class numberClass, neg bool) {
		if x.nan = x.nan || class == isNaN; class == isInf {
			x.negative = append(x.negative, neg)
		}
	}
	if w.f.C != fp.None {
		add(classOf(w.f.C.Get(), d.C), d.C&w.f.C.Get().SignBit() != 0)
	}
	a, b := w.f.A.Get(), w.f.B.Get()
	for k := range d.A {
		p, q := classOf(a, d.A[k]), classOf(b, d.B[k])
		if min(p, q) == isZero && max(p, q) == isInf {
			x.gated = true
			continue
		}
		add(max(p, q), d.A[k]&a.SignBit() != 0 != (d.B[k]&b.SignBit() != 0))
	}
	return x
}

// opposed reports whether there are infinities of both signs.
func (x *infinities) opposed() bool {
	return slices.Contains(x.negative, true) && slices.Contains(x.negative, false)
}

// firstProduct and lastProduct: of the infinities among products, the first or the last remains, and c
// is added to it.
const firstProduct, lastProduct = "first product", "last product"

// oneInfinity returns the result if one of several infinities of opposite signs remains, where a NaN
// would be right. It reports whether there are such infinities.
func (r *runner) oneInfinity(v *view) (uint64, bool) {
	x := r.infinities(v.dot)
	if !x.opposed() || x.nan || x.gated {
		return v.right, false
	}
	from := x
	ofProducts := r.effect.Do == firstProduct || r.effect.Do == lastProduct
	if ofProducts {
		if from = r.infinities(&mma.Dot{A: v.dot.A, B: v.dot.B}); !from.opposed() {
			return v.right, false
		}
	}
	neg := from.negative[0]
	if r.effect.Do == "last" || r.effect.Do == lastProduct {
		neg = from.negative[len(from.negative)-1]
	}
	if ofProducts && len(from.negative) < len(x.negative) && x.negative[0] != neg { // c is the opposite infinity
		return v.right, true
	}
	return r.f.D.Get().InfCode(neg), true
}

// signs has the operations on the sign of a product: each computes it from the signs of a and b.
var signs = map[string]func(a, b bool) bool{
	"positive": func(_, _ bool) bool { return false },
	"negative": func(_, _ bool) bool { return true },
	"sign-and": func(a, b bool) bool { return a && b },
	"sign-or":  func(a, b bool) bool { return a || b },
}

// setSign gives the product of two operands a sign, by that of one of them. It reports whether one has a sign.
func setSign(negative bool, f *fp.Format, x *uint64, g *fp.Format, y *uint64) bool {
	if now := *x&f.SignBit() != 0 != (*y&g.SignBit() != 0); now == negative {
		return true
	}
	if f.SignBit() != 0 {
		*x ^= f.SignBit()
	} else {
		*y ^= g.SignBit()
	}
	return f.SignBit()|g.SignBit() != 0
}

// gated has, for each of these operations, the classes of numbers of which a product with zero is zero.
var gated = map[string][]numberClass{"gate": {isInf}, "gate-nan": {isNaN}, "gate-any": {isInf, isNaN}}

// ungate makes a zero that is multiplied by an infinity a one of its sign.
func ungate(f *fp.Format, x *uint64, other *fp.Format, y uint64) bool {
	if classOf(f, *x) != isZero || classOf(other, y) != isInf {
		return false
	}
	*x = *x&f.SignBit() | f.FromFloat64(1)
	return true
}

// gate makes an operand of some classes a zero of its sign if it is multiplied by a zero.
func gate(classes []numberClass, f *fp.Format, x *uint64, other *fp.Format, y *uint64) bool {
	if !slices.Contains(classes, classOf(f, *x)) || classOf(other, *y) != isZero {
		return false
	}
	*x &= f.SignBit()
	return true
}
