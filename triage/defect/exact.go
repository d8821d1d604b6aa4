package defect

import (
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// exactly are the operations on the product of two significands, which is an integer: a wrong one is
// mostly no product of two operands. Products of zeros are as they should be.
var exactly = map[string]func(m uint64, n int64) uint64{
	"add":   func(m uint64, n int64) uint64 { return uint64(max(int64(m)+n, 0)) },
	"set":   func(m uint64, n int64) uint64 { return m | 1<<n },
	"clear": func(m uint64, n int64) uint64 { return m &^ (1 << n) },
	"flip":  func(m uint64, n int64) uint64 { return m ^ 1<<n },
	"cut":   func(m uint64, n int64) uint64 { return m &^ (1<<n - 1) },
}

// exponents are what may become of the exponent of a product, the sum of its operands'.
var exponents = map[string]func(e int32, n int64) int32{
	"scale":     func(e int32, n int64) int32 { return e + int32(n) },
	"exp-most":  func(e int32, n int64) int32 { return min(e, int32(n)) },
	"exp-least": func(e int32, n int64) int32 { return max(e, int32(n)) },
	"exp-modulo": func(e int32, n int64) int32 {
		bits, bias := exponentModulo(n)
		return (e+bias)&(1<<bits-1) - bias
	},
	"exp-wrap": func(e int32, n int64) int32 {
		if from, bits := exponentWrap(n); e >= from {
			return e - 1<<bits
		}
		return e
	},
}

// factor is what a multiplier gets of an operand: the significand as an integer, the exponent field, and
// the exponent, which a subnormal has too.
type factor struct {
	significand uint64
	field       int64
	exp         int32
	special     bool
}

type factors struct{ a, b factor }

func factorOf(f *fp.Format, c uint64) factor {
	n := f.Decode(c)
	if n.Class != fp.Finite {
		return factor{exp: f.Emin(), special: n.Class != fp.Zero}
	}
	return factor{f.Dyadic(n).Lo, int64(c&f.CodeMask()&^f.SignBit()) >> (f.FracBits + f.Low), int32(n.Exp), false}
}

func (w *viewer) factors(d *mma.Dot, k int) factors {
	return factors{factorOf(w.f.A.Get(), d.A[k]), factorOf(w.f.B.Get(), d.B[k])}
}

// ofNeighbour are the operations on a product whose multiplier gets a part of an operand of another one,
// n places after it, with the part's name: after operands were decoded.
var ofNeighbour = map[string]struct {
	part string
	do   func(own, other factors, p fp.Dyadic, e int32) (fp.Dyadic, int32)
}{
	"exp-of-a": {"the exponent of a", func(own, other factors, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
		return scaledProduct(p, e, other.a.exp-own.a.exp)
	}},
	"exp-of-b": {"the exponent of b", func(own, other factors, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
		return scaledProduct(p, e, other.b.exp-own.b.exp)
	}},
	"exp-of-both": {"the exponent", func(own, other factors, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
		return scaledProduct(p, e, other.a.exp-own.a.exp+other.b.exp-own.b.exp)
	}},
	"significand-of-a": {"the significand of a", func(own, other factors, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
		p.Lo = other.a.significand * own.b.significand
		return p, e
	}},
	"significand-of-b": {"the significand of b", func(own, other factors, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
		p.Lo = own.a.significand * other.b.significand
		return p, e
	}},
	"significand-of-both": {"the significand", func(own, other factors, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
		p.Lo = other.a.significand * other.b.significand
		return p, e
	}},
}

func scaledProduct(p fp.Dyadic, e, n int32) (fp.Dyadic, int32) {
	p.Q += n
	return p, e + n
}

// fromNeighbour is a product that gets such a part. It reports whether there is a number to get it from.
func (r *runner) fromNeighbour(d *mma.Dot, k int, p fp.Dyadic, e int32) (fp.Dyadic, int32, bool) {
	j := k + int(r.effect.N)
	if j < 0 || j >= len(d.A) {
		return p, e, false
	}
	other := r.factors(d, j)
	if other.a.special || other.b.special {
		return p, e, false
	}
	p, e = ofNeighbour[r.effect.Do].do(r.factors(d, k), other, p, e)
	return p, e, true
}

// neighbourEffects are these.
func (s *search) neighbourEffects() (all []Effect) {
	if s.f.A.Get().Integer() || s.f.B.Get().Integer() {
		return nil
	}
	for _, do := range []string{"exp-of-a", "exp-of-b", "exp-of-both", "significand-of-a", "significand-of-b", "significand-of-both"} {
		for _, n := range []int64{1, -1, 2, -2, 4, -4} {
			if max(n, -n) < int64(s.u.K) {
				all = append(all, Effect{On: OnExact, Do: do, N: n})
			}
		}
	}
	return all
}

// splitBoth is that a multiplier splits both factors, and that the sum of the two products of a low part and
// a high one lacks its carry out of some low bits: see splitAt.
const splitBoth = "split-both"

// withoutMiddleCarry is a product that lacks that carry.
func withoutMiddleCarry(p fp.Dyadic, a, b uint64, n int64) fp.Dyadic {
	bit, width := splitAt(n)
	low := uint64(1)<<bit - 1
	if middle := a>>bit*(b&low) + a&low*(b>>bit); p.Hi == 0 {
		p.Lo -= middle >> width << width << bit
	}
	return p
}

// splitA and splitB are that a multiplier adds the products with both parts of a factor, a or b, and that
// the carry out of some low bits of that sum is lost.
const splitA, splitB = "split-a", "split-b"

// splitAt is n of it: at which bit the factor is split, and the number of the low bits.
func splitAt(n int64) (bit, low int64) { return n >> 8, n & 255 }

// splits are such n.
func (s *search) splits(of fp.ID) (ns []int64) {
	width := int64(significand(s.f.A) + significand(s.f.B))
	if width > 64 {
		return nil
	}
	for bit := int64(2); bit < int64(significand(of)); bit++ {
		for low := bit; low < width; low++ {
			if low == bit || low%4 == 0 {
				ns = append(ns, bit<<8|low)
			}
		}
	}
	return ns
}

// ofFactors reports whether an effect is one of these operations.
func (e *Effect) ofFactors() bool {
	if e.Do == splitA || e.Do == splitB || e.Do == splitBoth {
		bit, low := splitAt(e.N)
		return bit > 0 && bit < 64 && low > 0 && low < 64
	}
	return ofFactors[e.Do] != nil && e.N >= 0 && e.N < 32
}

// withoutHalfCarry is a product that lacks that carry.
func withoutHalfCarry(p fp.Dyadic, x, y uint64, n int64) fp.Dyadic {
	bit, low := splitAt(n)
	mask := uint64(1)<<low - 1
	least, most := x*(y&(1<<bit-1)), x*(y>>bit)<<bit
	if least&mask+most&mask > mask && p.Hi == 0 {
		p.Lo -= mask + 1
	}
	return p
}

// ofFactors are the operations on a product that are about its factors: a partial product that a
// multiplier takes once too often or once too few, and a carry that the adder of two exponents lacks.
var ofFactors = map[string]func(x factors, p fp.Dyadic, e int32, n int64) (fp.Dyadic, int32){
	"more-a": func(x factors, p fp.Dyadic, e int32, n int64) (fp.Dyadic, int32) {
		p.Lo += x.a.significand << n
		return p, e
	},
	"more-b": func(x factors, p fp.Dyadic, e int32, n int64) (fp.Dyadic, int32) {
		p.Lo += x.b.significand << n
		return p, e
	},
	"less-a": func(x factors, p fp.Dyadic, e int32, n int64) (fp.Dyadic, int32) {
		return lessPartial(p, x.a.significand<<n), e
	},
	"less-b": func(x factors, p fp.Dyadic, e int32, n int64) (fp.Dyadic, int32) {
		return lessPartial(p, x.b.significand<<n), e
	},
	splitBoth: func(x factors, p fp.Dyadic, e int32, n int64) (fp.Dyadic, int32) {
		return withoutMiddleCarry(p, x.a.significand, x.b.significand, n), e
	},
	splitA: func(x factors, p fp.Dyadic, e int32, n int64) (fp.Dyadic, int32) {
		return withoutHalfCarry(p, x.b.significand, x.a.significand, n), e
	},
	splitB: func(x factors, p fp.Dyadic, e int32, n int64) (fp.Dyadic, int32) {
		return withoutHalfCarry(p, x.a.significand, x.b.significand, n), e
	},
	"exp-carry": func(x factors, p fp.Dyadic, e int32, n int64) (fp.Dyadic, int32) {
		if mask := int64(1)<<n - 1; x.a.field&mask+x.b.field&mask > mask {
			p.Q -= 1 << n
			return p, e - 1<<n
		}
		return p, e
	},
}

func lessPartial(p fp.Dyadic, n uint64) fp.Dyadic {
	if p.Lo -= n; p.Lo > 1<<63 {
		p.Lo, p.Neg = -p.Lo, !p.Neg
	}
	return p
}

// factorEffects are these.
func (s *search) factorEffects() (all []Effect) {
	if s.f.A.Get().Integer() || s.f.B.Get().Integer() {
		return nil
	}
	a, b := s.f.A.Get(), s.f.B.Get()
	for n := range int64(significand(s.f.B)) + 1 {
		all = append(all, Effect{On: OnExact, Do: "more-a", N: n}, Effect{On: OnExact, Do: "less-a", N: n})
	}
	for n := range int64(significand(s.f.A)) + 1 {
		all = append(all, Effect{On: OnExact, Do: "more-b", N: n}, Effect{On: OnExact, Do: "less-b", N: n})
	}
	if width := int64(max(significand(s.f.A), significand(s.f.B))); 2*width <= 64 {
		for n := int64(2); n < width; n++ {
			all = append(all, Effect{On: OnExact, Do: splitBoth, N: n<<8 | width})
		}
	}
	for _, n := range s.splits(s.f.A) {
		all = append(all, Effect{On: OnExact, Do: splitA, N: n})
	}
	for _, n := range s.splits(s.f.B) {
		all = append(all, Effect{On: OnExact, Do: splitB, N: n})
	}
	for n := int64(1); n < int64(min(a.CodeBits()-a.FracBits, b.CodeBits()-b.FracBits)); n++ {
		all = append(all, Effect{On: OnExact, Do: "exp-carry", N: n})
	}
	return all
}

// exponentModulo is n of an exponent that is added with a bias in so many bits: these bits, and the bias.
func exponentModulo(n int64) (bits, bias int32) { return int32(n & 15), int32(n >> 4) }

// exponentModuli are such n, with the biases of the result's format and of the operands'.
func (s *search) exponentModuli() (ns []int64) {
	bias := func(f *fp.Format) int64 { return int64(1 - f.Emin()) }
	sum := bias(s.f.A.Get()) + bias(s.f.B.Get())
	for bits := int64(4); bits < 12; bits++ {
		for _, b := range []int64{bias(s.f.D.Get()), sum, sum / 2} {
			ns = append(ns, b<<4|bits)
		}
	}
	return ns
}

// exponentWrap is n of a sum of exponents that lacks bits: from which exponent it is too small, by
// which power of two.
func exponentWrap(n int64) (from, bits int32) { return int32(n >> 4), int32(n & 15) }

// exponentEffects are those that may explain cases: in each of them a product has an exponent that is
// changed, and mostly in one of them by little.
func exponentEffects(differ []*sample) (all []Effect) {
	const near = 6
	largest, least := int64(1<<20), int64(-1<<20)
	for _, c := range differ {
		if top, low := c.view.whole[column(OfCase, "maxp")], c.view.whole[column(OfCase, "minp")]; top != absent {
			largest, least = min(largest, top), max(least, low)
		}
	}
	if largest == 1<<20 {
		return nil
	}
	for n := range int64(near) {
		all = append(all, Effect{On: OnExact, Do: "exp-most", N: largest - 1 - n}, Effect{On: OnExact, Do: "exp-least", N: least + 1 + n})
		for bits := int64(3); bits < 12; bits++ {
			if top := int64(1) << (bits - 1); largest-n < top-2 || largest-n > top+2 {
				continue // not where a number of so many bits with a sign is too large
			}
			all = append(all, Effect{On: OnExact, Do: "exp-wrap", N: (largest-n)<<4 | bits})
		}
	}
	return all
}

// overflows reports whether products can be too large for the format of results.
func overflows(f mma.Formats) bool {
	return !f.D.Get().Integer() && f.A.Get().Emax()+f.B.Get().Emax()+1 > f.D.Get().Emax()
}

// saturated is a product that is at most the largest number of the format of results.
func (r *runner) saturated(p fp.Dyadic, e int32) (fp.Dyadic, int32) {
	d := r.f.D.Get()
	if p.IsZero() || p.Exponent() <= d.Emax() {
		return p, e
	}
	most := d.Dyadic(d.Decode(d.MaxFinite()))
	most.Neg = p.Neg
	return most, min(e, d.Emax())
}

// productModes are the ways in which a product may be rounded other than its like.
var productModes = []fp.Mode{fp.RZ, fp.RNE, fp.RNA, fp.RU, fp.RD, fp.RTO}

// roundedTo rounds a product as wide as the program rounds it, or else as results are.
func (r *runner) roundedTo(p fp.Dyadic) fp.Dyadic {
	d := r.f.D.Get()
	frac, emin := int32(d.FracBits), d.Emin()
	if x := r.m.Params().Prod.Round; x.Frac != 0 {
		if frac, emin = int32(x.Frac), p.Exponent(); x.HasEmin() {
			emin = int32(x.Emin)
		}
	}
	mode := productModes[r.effect.N]
	rounded := p.Round(max(p.Exponent(), emin)-frac, mode)
	if r.m.Params().Prod.Round.Frac == 0 && !rounded.IsZero() && rounded.Exponent() > d.Emax() {
		if n := d.Decode(d.Encode(p, mode, fp.OverIEEE)); n.Class == fp.Finite { // see overflown
			return d.Dyadic(n)
		}
	}
	return rounded
}

// isExact reports whether products of significands are integers that can be changed: they fit, and
// are not those of parts of operands.
func (w *viewer) isExact() bool {
	return significand(w.f.A)+significand(w.f.B) < 64 && w.m.Params().Passes == 0
}

func significand(id fp.ID) int { return int(id.Get().FracBits) + 1 }

// exact is the result where the products of some numbers are changed.
func (r *runner) exact(v *view, places []int) (uint64, bool) {
	some, d := false, v.dot
	if r.effect.Do == "rounded" && r.m.Params().Prod.Round.Frac == 0 {
		d, some = r.overflown(v.dot, places)
	}
	got := r.m.DotChanged(d, r.exactChange(v.dot, places, &some))
	return got, some
}

// exactChange changes the products of some numbers; some becomes true where it does.
func (r *runner) exactChange(d *mma.Dot, places []int, some *bool) sim.Change {
	return sim.Change{Product: func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
		if !slices.Contains(places, k) {
			return p, e
		}
		if _, ok := ofNeighbour[r.effect.Do]; ok {
			p, e, ok = r.fromNeighbour(d, k, p, e)
			*some = *some || ok
			return p, e
		}
		*some = true
		if do := ofFactors[r.effect.Do]; do != nil {
			return do(r.factors(d, k), p, e, r.effect.N)
		}
		switch r.effect.Do {
		case "rounded":
			return r.roundedTo(p), e
		case "saturate":
			return r.saturated(p, e)
		case "plus-zero":
			return fp.Dyadic{}, e
		}
		if change := exponents[r.effect.Do]; change != nil {
			to := change(e, r.effect.N)
			p.Q += to - e
			return p, to
		}
		p.Lo = exactly[r.effect.Do](p.Lo, r.effect.N)
		return p, e
	}}
}

// overflown makes those of some products infinite that are when they are rounded as results are. It
// reports whether there are any.
func (r *runner) overflown(d *mma.Dot, places []int) (*mma.Dot, bool) {
	a, b, to := r.f.A.Get(), r.f.B.Get(), r.f.D.Get()
	if !a.HasInf() || !to.HasInf() || a.Emax()+b.Emax()+1 < to.Emax() {
		return d, false
	}
	some := false
	for _, k := range places {
		x, y := a.Decode(d.A[k]), b.Decode(d.B[k])
		if x.Class != fp.Finite || y.Class != fp.Finite {
			continue
		}
		p := multiplied(a.Dyadic(x), b.Dyadic(y))
		if p.IsZero() {
			continue
		}
		code := to.Encode(p, productModes[r.effect.N], fp.OverIEEE)
		if classOf(to, code) != isInf {
			continue
		}
		if !some {
			d, some = d.Clone(), true
		}
		d.A[k], d.B[k] = a.InfCode(p.Neg), b.FromFloat64(1)
	}
	return d, some
}

// multiplied is the exact product of two numbers of at most 64 bits.
func multiplied(x, y fp.Dyadic) fp.Dyadic {
	p := fp.Dyadic{Neg: x.Neg != y.Neg, Q: x.Q + y.Q}
	p.Hi, p.Lo = bits.Mul64(x.Lo, y.Lo)
	return p
}

// significands is the result where the significands of some operands, numbered as in the scope of
// operands, are a power of two times what they should be.
func (r *runner) significands(v *view, places []int) (uint64, bool) {
	some := false
	got := r.m.DotChanged(v.dot, sim.Change{Product: func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
		for _, x := range places {
			if x/2 == k {
				some = true
				p.Q += int32(r.effect.N)
			}
		}
		return p, e
	}})
	return got, some
}
