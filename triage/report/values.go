package report

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// bit returns the bit of weight 2^w of a magnitude.
func bit(d fp.Dyadic, w int32) bool {
	n := w - d.Q
	switch {
	case n < 0 || n > 127:
		return false
	case n >= 64:
		return d.Hi>>(n-64)&1 != 0
	}
	return d.Lo>>n&1 != 0
}

// scaled returns d / 2^q as an integer; q is not above d.Q.
func scaled(d fp.Dyadic, q int32) *big.Int {
	m := new(big.Int).SetUint64(d.Hi)
	m.Lsh(m, 64)
	m.Or(m, new(big.Int).SetUint64(d.Lo))
	m.Lsh(m, uint(d.Q-q))
	if d.Neg {
		m.Neg(m)
	}
	return m
}

// distance returns floor(log2|x-y|), and whether x and y differ at all.
func distance(x, y fp.Dyadic) (int32, bool) {
	if x.IsZero() {
		x.Q = y.Q
	}
	if y.IsZero() {
		y.Q = x.Q
	}
	q := min(x.Q, y.Q)
	d := scaled(x, q)
	d.Sub(d, scaled(y, q))
	return q + int32(d.BitLen()) - 1, d.Sign() != 0
}

// sameValue reports whether two terms are the same number, or the same code of a
// NaN. Signs of zeros count.
func sameValue(x, y *sim.TermTrace) bool {
	if isNaN(x) || isNaN(y) {
		return x.Kind == y.Kind && x.Value.Lo == y.Value.Lo
	}
	if (x.Kind == sim.Inf) != (y.Kind == sim.Inf) || x.Value.Neg != y.Value.Neg {
		return false
	}
	_, differ := distance(x.Value, y.Value)
	return !differ || x.Kind == sim.Inf
}

func isNaN(t *sim.TermTrace) bool { return t.Kind >= sim.NaN }

func isFinite(t *sim.TermTrace) bool { return t.Kind < sim.Inf }

// multiply returns the product of two numbers of at most 64 bits.
func multiply(x, y fp.Dyadic) fp.Dyadic {
	p := fp.Dyadic{Q: x.Q + y.Q, Neg: x.Neg != y.Neg}
	p.Hi, p.Lo = bits.Mul64(x.Lo, y.Lo)
	return p
}

// hexfloat writes a value as C's %a does: -0x1.8p+1 is -3.
func hexfloat(d fp.Dyadic) string {
	x := new(big.Float).SetInt(scaled(d, d.Q))
	x.SetMantExp(x, int(d.Q))
	if d.IsZero() && d.Neg {
		x.Neg(x)
	}
	mant, exp, _ := strings.Cut(x.Text('x', -1), "p")
	digits := strings.TrimLeft(exp[1:], "0")
	if digits == "" {
		digits = "0"
	}
	return mant + "p" + exp[:1] + digits
}

// brief writes a value as valueText does, with no more digits than the narrowest panel
// has room for. The numbers of all formats fit whole; sums of more than 55 bits may not.
func brief(t *sim.TermTrace) string {
	return firstDigits(valueText(t), len("-0x1.fffffffffffff"))
}

// firstDigits cuts the significand of a hexadecimal number after so many characters.
func firstDigits(number string, most int) string {
	mant, exp, ok := strings.Cut(number, "p")
	if !ok || len(mant) <= most {
		return number
	}
	return mant[:most-1] + "…p" + exp
}

// valueText writes the value of a term; zeros with their sign alone.
func valueText(t *sim.TermTrace) string {
	switch {
	case isNaN(t):
		return "nan"
	case t.Kind == sim.Inf && t.Value.Neg:
		return "-inf"
	case t.Kind == sim.Inf:
		return "+inf"
	}
	if t.Value.IsZero() && t.Value.Neg {
		return "-0"
	}
	if t.Value.IsZero() {
		return "+0"
	}
	return hexfloat(t.Value)
}

// codeValue returns what a code stands for as a term.
func codeValue(id fp.ID, code uint64) sim.TermTrace {
	f := id.Get()
	n := f.Decode(code)
	switch n.Class {
	case fp.NaN:
		return sim.TermTrace{Kind: sim.NaN, Value: fp.Dyadic{Lo: code}}
	case fp.Inf:
		return sim.TermTrace{Kind: sim.Inf, Value: fp.Dyadic{Neg: n.Neg}}
	}
	return sim.TermTrace{Value: f.Dyadic(n)}
}

// codeOf returns the code of a value in a format, if it is one of its numbers.
func codeOf(id fp.ID, t *sim.TermTrace) (uint64, bool) {
	f := id.Get()
	switch {
	case isNaN(t):
		return 0, false
	case t.Kind == sim.Inf && !f.HasInf():
		return 0, false
	case t.Kind == sim.Inf:
		return f.InfCode(t.Value.Neg), true
	}
	code := f.Encode(t.Value, fp.RZ, fp.OverMax)
	back := codeValue(id, code)
	return code, sameValue(&back, t)
}

// Decimal writes a code's value: exactly if that is short, else with the fewest
// digits, four at least, that tell it from its neighbours. Of flags it writes the names.
func Decimal(id fp.ID, code uint64) string {
	if id.Flags() != 0 {
		return fp.Flags(code).String()
	}
	f := id.Get()
	x := f.Float64(code)
	if x == math.Trunc(x) && (math.Abs(x) < 1e9 || id.Integer() && math.Abs(x) < 1<<53) {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	exact := strings.ToLower(strconv.FormatFloat(x, 'g', -1, 64))
	if len(exact) <= 9 {
		return exact
	}
	for digits := 4; digits < 17; digits++ {
		text := strconv.FormatFloat(x, 'g', digits, 64)
		y, _ := strconv.ParseFloat(text, 64)
		if f.Float64(f.FromFloat64(y)) == x {
			return text
		}
	}
	return exact
}

// hasFields reports whether codes of a format have an exponent and a fraction.
func hasFields(id fp.ID) bool { return id.Flags() == 0 && !id.Integer() }

// fields writes a code as TestFloat does: sign, exponent field, fraction.
func fields(id fp.ID, code uint64) string {
	if !hasFields(id) {
		return ""
	}
	f := id.Get()
	sign, c := '+', code>>f.Low
	if code&f.SignBit() != 0 {
		sign = '-'
	}
	digits := func(bits uint8) int { return (int(bits) + 3) / 4 }
	exp, frac := c>>f.FracBits&(1<<f.ExpBits-1), c&(1<<f.FracBits-1)
	return fmt.Sprintf("%c%0*x.%0*x", sign, digits(f.ExpBits), exp, digits(f.FracBits), frac)
}

// exactProduct returns the value of the product of elements k with its scales and
// its weight, before any flush or rounding; zero if a factor is not finite. Scales that
// act on groups do not count.
func exactProduct(in *Input, p *mma.Params, k int) fp.Dyadic {
	f, d := in.Formats, in.Dot
	factors := []sim.TermTrace{codeValue(f.A, d.A[k]), codeValue(f.B, d.B[k])}
	if f.Scale != fp.None && p.Scale == mma.ScaleProduct {
		i := k / int(f.Block)
		factors = append(factors, codeValue(f.Scale, d.SA[i]), codeValue(f.Scale, d.SB[i]))
	}
	x := fp.Dyadic{Lo: 1, Q: int32(p.Weight(f))}
	for i := range factors {
		if !isFinite(&factors[i]) {
			return fp.Dyadic{}
		}
		if x.Hi != 0 { // only products of FP64, which has no scales, are so long
			return fp.Dyadic{}
		}
		x = multiply(x, factors[i].Value)
	}
	return x
}
