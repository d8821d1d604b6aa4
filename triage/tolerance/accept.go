package tolerance

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Accept says how far apart two results of a dot product may be.
type Accept struct {
	text  string
	ulp   uint64
	bound expression // nil: ulp
}

// names are what an expression of bound= can have; Judge has their values.
var names = []string{"u", "eta", "K", "S", "X", "A", "B"}

// Parse reads what --accept takes: bits, ulp=N or bound=EXPRESSION.
func Parse(text string) (*Accept, error) {
	a := &Accept{text: text}
	const forms = "--accept takes bits, ulp=N, or bound=EXPRESSION of u, eta, K, S, X, A, B, for example bound=(K+1)*u*S or bound=1e-5+1e-3*B; mmafuzz run --help says what they are"
	kind, value, _ := strings.Cut(text, "=")
	switch kind {
	case "bits":
		if value == "" {
			return a, nil
		}
	case "ulp":
		n, err := strconv.ParseUint(value, 10, 63)
		if err == nil {
			a.ulp = n
			return a, nil
		}
	case "bound":
		var err error
		if a.bound, err = parseExpression(value, names); err != nil {
			return nil, hint.New(forms, "--accept %s: %w", text, err)
		}
		return a, nil
	}
	return nil, hint.New(forms, "--accept is %q", text)
}

// String is what Parse reads.
func (a *Accept) String() string { return a.text }

// Verdict is what a pair of results is by an Accept.
type Verdict struct {
	Judged  bool    // false: a bound says nothing where the sum may overflow
	Ratio   float64 // of the difference to what is accepted: above 1 it is not; +Inf where nothing or no number is
	Differ  *big.Float
	Allowed *big.Float // nil where the kinds of the results decided, or codes
}

// Beyond reports whether the results are further apart than is accepted.
func (v *Verdict) Beyond() bool { return v.Judged && v.Ratio > 1 }

// Judge compares the results x and y of a dot product. Results of different kinds, of which one is
// a NaN or an infinity, are never accepted, but by ulp=N the largest number beside an infinity. Of
// operands that are no numbers, and of sums that may overflow, a bound says nothing else.
func (a *Accept) Judge(f mma.Formats, d *mma.Dot, x, y uint64) (Verdict, error) {
	format := f.D.Get()
	class := oracle.Compare(f.D, oracle.Policy{NaN: oracle.ByClass, Zero: oracle.ByClass}, x, y)
	if a.bound == nil {
		return a.judgeCodes(format, class, x, y), nil
	}
	s := oracle.MagnitudeDot(f, d)
	number := isNumber(format, x) && isNumber(format, y)
	switch {
	case s.Kind == oracle.Finite && isLarge(format, &s):
		return Verdict{}, nil
	case !number && class == oracle.Same:
		return Verdict{Judged: true}, nil
	case !number || s.Kind != oracle.Finite:
		return Verdict{Judged: true, Ratio: math.Inf(1)}, nil
	}
	v := Verdict{Judged: true, Differ: difference(format, x, y)}
	exact := oracle.ExactDot(f, d)
	allowed, err := a.bound(map[string]*big.Float{
		"u":   power2(-int(format.FracBits) - 1),
		"eta": power2(int(format.Emin()) - int(format.FracBits)),
		"K":   number2(float64(len(d.A))),
		"S":   valueOf(&s), "X": valueOf(&exact).Abs(valueOf(&exact)),
		"A": codeValue(format, x&^format.SignBit()), "B": codeValue(format, y&^format.SignBit()),
	})
	if err != nil {
		return v, fmt.Errorf("--accept %s, on %s: %w", a.text, mma.FormatDot(f, d), err)
	}
	v.Allowed = allowed
	switch {
	case v.Differ.Sign() == 0 && allowed.Sign() >= 0:
	case allowed.Sign() <= 0:
		v.Ratio = math.Inf(1)
	default:
		v.Ratio, _ = number2(0).Quo(v.Differ, allowed).Float64()
		if v.Ratio <= 1 && v.Differ.Cmp(allowed) > 0 {
			v.Ratio = math.Nextafter(1, 2) // by less than a float64 shows
		}
	}
	return v, nil
}

// judgeCodes compares two codes by their distance.
func (a *Accept) judgeCodes(format *fp.Format, class oracle.Class, x, y uint64) Verdict {
	v := Verdict{Judged: true}
	switch class {
	case oracle.Same:
		return v
	case oracle.NaN:
		v.Ratio = math.Inf(1)
		return v
	}
	v.Ratio = float64(format.Distance(x, y))
	if a.ulp > 0 {
		v.Ratio /= float64(a.ulp)
	} else {
		v.Ratio = math.Inf(1)
	}
	return v
}

func isNumber(f *fp.Format, code uint64) bool {
	c := f.Decode(code).Class
	return c != fp.NaN && c != fp.Inf
}

// isLarge reports whether a sum reaches the largest number of a format.
func isLarge(f *fp.Format, x *oracle.Exact) bool {
	return valueOf(x).Cmp(codeValue(f, f.MaxFinite())) >= 0
}

func number2(v float64) *big.Float { return number().SetFloat64(v) }

func power2(n int) *big.Float { return number().SetMantExp(big.NewFloat(1), n) }

// valueOf is an exact value, which is finite, in all of its bits.
func valueOf(x *oracle.Exact) *big.Float {
	v := new(big.Float).SetPrec(uint(max(precision, x.Mant.BitLen())))
	return v.SetMantExp(v.SetInt(x.Mant), x.Exp)
}

// codeValue is the value of a code of a number.
func codeValue(f *fp.Format, code uint64) *big.Float {
	n := f.Decode(code)
	v := number()
	if n.Class == fp.Finite {
		v.SetMantExp(v.SetUint64(n.Sig), int(n.Exp)-int(f.FracBits))
	}
	if n.Neg {
		v.Neg(v)
	}
	return v
}

// difference is |x - y|, in all of its bits.
func difference(f *fp.Format, x, y uint64) *big.Float {
	a, b := codeValue(f, x), codeValue(f, y)
	v := new(big.Float).SetPrec(4096)
	return v.Abs(v.Sub(a, b))
}
