package probe

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// BriefConversion says in three lines how a conversion, which has no sums to ask about, rounds: the
// fraction bits that are kept, the rounding with what is too large, an infinity and a NaN, and
// subnormals; "-" where no operand decides.
func (p *Prober) BriefConversion() (string, error) {
	bits := p.keptBits()
	rounding := append([]string{p.conversionRounding(bits)}, p.extremes()...)
	ofA := p.convertsSubnormal(p.a)
	if ofA == "-" {
		ofA = p.inputKept(false).value // with a large scale
	}
	text := fmt.Sprintf("bits kept: results %d\nrounding: %s\nsubnormals are numbers: a %s, results %s\n",
		bits, strings.Join(rounding, ", "), ofA, p.convertsSubnormal(p.d))
	return text, p.err
}

// ofSums are the questions that a conversion, which adds nothing, has an answer to that says nothing.
var ofSums = map[string]bool{"3.1.2 products": true, "Step 1": true, "2 order": true, "NaN Inf*0": true}

// dyadic is n * 2^q.
func dyadic(n int, q int32) fp.Dyadic { return fp.Dyadic{Lo: uint64(max(n, -n)), Q: q, Neg: n < 0} }

// codeOf returns the code of a number in a format, if that has it.
func codeOf(f *fp.Format, x fp.Dyadic) (code uint64, ok bool) {
	code = f.Encode(x, fp.RZ, fp.OverMax)
	n := f.Decode(code)
	cut := f.Dyadic(n) // has other ends if bits are lost
	return code, n.Class == fp.Finite && n.Neg == x.Neg && cut.Exponent() == x.Exponent() && cut.Low() == x.Low()
}

// converted returns the results of codes of A, which are scaled by 1. Random bits are 0.
func (p *Prober) converted(codes ...uint64) []uint64 {
	dots := make([]*mma.Dot, len(codes))
	for i, c := range codes {
		dots[i] = mma.NewDot(p.f, p.k)
		if dots[i].A[0] = c; !p.f.B.IsOne() {
			dots[i].B[0] = p.b.Encode(dyadic(1, 0), fp.RNE, fp.OverMax)
		}
	}
	var results []uint64
	for _, s := range p.ask(dots...) {
		results = append(results, s.Got)
	}
	return results
}

// keptBits is the largest number of bits below 1 that come back, at most those of both formats.
func (p *Prober) keptBits() int32 {
	for n := int32(min(p.a.FracBits, p.d.FracBits)); n > 0; n-- {
		x := dyadic(1<<n+1, -n)
		a, ok := codeOf(p.a, x)
		want, same := codeOf(p.d, x)
		if ok && same && p.converted(a)[0] == want {
			return n
		}
	}
	return 0
}

// conversionRounding names the directions in which numbers and ties between two results of so many
// fraction bits are rounded, of both signs, or positive ones if all negative numbers become 0.
func (p *Prober) conversionRounding(bits int32) string {
	if p.f.B.RandomBits() != 0 {
		return "by random bits"
	}
	below := bits + 2 // a quarter of a unit
	var numbers []fp.Dyadic
	var codes []uint64
	rounds := false
	rounded := func(x fp.Dyadic, m fp.Mode) fp.Dyadic {
		x.Neg = x.Neg && p.d.Signed
		return x.Round(x.Exponent()-bits, m)
	}
	for n := 1<<below + 1; n < 1<<below+8; n++ {
		for _, x := range []fp.Dyadic{dyadic(n, -below), dyadic(-n, -below)} {
			if c, ok := codeOf(p.a, x); ok {
				numbers, codes = append(numbers, x), append(codes, c)
				rounds = rounds || rounded(x, fp.RZ).Low() != x.Low()
			}
		}
	}
	if !rounds {
		return "nothing is rounded"
	}
	got := p.converted(codes...)
	zero := func(i int) bool { return p.d.Decode(got[i]).Class == fp.Zero }
	relu := true
	for i, x := range numbers {
		relu = relu && (!x.Neg || zero(i))
	}
	var names []string
	for _, m := range fp.Modes() {
		explains := true
		for i, x := range numbers {
			explains = explains && (relu && x.Neg || got[i] == p.d.Encode(rounded(x, m), fp.RNE, fp.OverMax))
		}
		if explains {
			names = append(names, strings.ToUpper(m.String()))
		}
	}
	switch {
	case len(names) == 0:
		return "-"
	case relu && p.a.Signed:
		return strings.Join(names, " or ") + ", negative numbers give 0"
	}
	return strings.Join(names, " or ")
}

// extremes says what becomes of the largest number, an infinity and a NaN.
func (p *Prober) extremes() (all []string) {
	add := func(what string, code uint64) {
		all = append(all, what+" gives "+p.shown(p.converted(code)[0]))
	}
	most := p.a.MaxFinite()
	if _, ok := codeOf(p.d, p.a.Dyadic(p.a.Decode(most))); !ok {
		add("the largest number", most)
	}
	if p.a.HasInf() {
		add("infinity", p.a.InfCode(false))
	}
	if p.a.HasNaN() {
		add("NaN", p.a.QuietNaN(false))
	}
	return all
}

// shown is a result for people.
func (p *Prober) shown(code uint64) string {
	switch text := mma.FormatCode(p.f.D, code); {
	case p.d.Decode(code).Class == fp.NaN:
		return text + " (NaN)"
	case p.d.Decode(code).Class == fp.Inf:
		return text + " (infinity)"
	case code == p.d.MaxFinite():
		return text + " (the largest number)"
	default:
		return fmt.Sprintf("%s (%g)", text, p.d.Float64(code))
	}
}

// convertsSubnormal says whether a subnormal number of one format, which is a normal one of the other,
// stays.
func (p *Prober) convertsSubnormal(f *fp.Format) string {
	if f.FracBits == 0 || f.NoZero {
		return "-"
	}
	x := dyadic(1, f.Emin()-1)
	a, ok := codeOf(p.a, x)
	want, same := codeOf(p.d, x)
	other := p.d
	if f == p.d {
		other = p.a
	}
	switch {
	case !ok || !same || x.Exponent() < other.Emin() && f == p.a:
		return "-"
	case p.converted(a)[0] == want:
		return "yes"
	}
	return "no"
}
