package quantize

import (
	"fmt"
	"math"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Explain says what a block becomes, number by number, and why.
func (s *Scheme) Explain(c Case) string {
	var w strings.Builder
	b := s.Of(c)
	most, emax, frac := s.largest()
	fmt.Fprintf(&w, "%s: %s\n", s.Name, s.Source)
	if b.Most != b.Most {
		fmt.Fprintf(&w, "scale  %s (nan): a number is infinite or a NaN\n", code(s.Scale, 8, b.Scale))
		return w.String()
	}
	if s.Tensor {
		fmt.Fprintf(&w, "tensor %v = %v / (%v * %v), the largest scale and the largest element\n", b.Tensor, max(c.Most, b.Most), s.Scale.Get().Float64(s.Scale.Get().MaxFinite()), most)
	}
	value := s.Scale.Get().Float64(b.Scale)
	fmt.Fprintf(&w, "scale  %s (%v) by the rule %s: ", code(s.Scale, 8, b.Scale), value, s.Rule)
	e := 0
	if b.Most != 0 {
		e = math.Ilogb(float64(b.Most))
	}
	switch {
	case b.Most == 0:
		w.WriteString("all numbers are 0\n")
	case s.Rule == Floor:
		fmt.Fprintf(&w, "the largest number %v is at least 2^%d, the largest element %v at least 2^%d: 2^(%d-%d)\n", b.Most, e, most, emax, e, emax)
	case s.Rule == Ceil:
		fmt.Fprintf(&w, "the largest number %v is at most 2^%d, the largest element %v at least 2^%d\n", b.Most, math.Ilogb(value)+emax, most, emax)
	case s.Rule == Even:
		fmt.Fprintf(&w, "the largest number %v, rounded to %d fraction bits, is at least 2^%d, the largest element %v at least 2^%d\n", b.Most, frac, math.Ilogb(value)+emax, most, emax)
	case s.Rule == RCeil:
		fmt.Fprintf(&w, "the least power of two that is at least %v / %v\n", b.Most, most)
	default:
		fmt.Fprintf(&w, "%v / %v, in %s\n", b.Most, most, s.Scale)
	}
	by := "/ "
	if s.Reciprocal && s.Scale != fp.E8M0 {
		by = "* 1/"
	}
	for i, v := range c.X {
		note := ""
		if q := math.Abs(b.Quotient[i]); q > most {
			note = fmt.Sprintf("  saturated: above %v", most)
			if s.Over != fp.OverMax && s.Element != fp.None {
				note = fmt.Sprintf("  above %v", most)
			}
		}
		fmt.Fprintf(&w, "  %v %s%v = %v → %s (%v)%s; it stands for %v, %s\n", v, by, b.Factor, b.Quotient[i], code(s.Element, s.Bits, b.Codes[i]), s.value(b.Codes[i]), note, b.Values[i], deviation(float64(v), b.Values[i]))
	}
	return w.String()
}

// deviation says how far a value is from the number that it stands for.
func deviation(x, v float64) string {
	switch {
	case x == v:
		return "exact"
	case x == 0 || math.IsNaN(v):
		return "no number"
	}
	return fmt.Sprintf("error %+.3g %%", 100*(v-x)/math.Abs(x))
}

// code writes a code in hexadecimal.
func code(id fp.ID, bits int, c uint64) string {
	digits := (bits + 3) / 4
	if id != fp.None {
		digits = id.Get().Digits()
	}
	return fmt.Sprintf("%0*x", digits, c)
}
