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
		for i, v := range c.X {
			fmt.Fprintf(&w, "  %v → %s; it stands for nan\n", v, code(s.Element, s.Bits, b.Codes[i]))
		}
		return w.String()
	}
	amax := max(c.Most, b.Most)
	switch {
	case !s.Tensor:
	case s.tensorRatio(amax) == 0:
		fmt.Fprintf(&w, "tensor 1: %v / (%v * %v), the largest scale and the largest element, is 0 in fp32\n", amax, s.Scale.Get().Float64(s.Scale.Get().MaxFinite()), most)
	default:
		fmt.Fprintf(&w, "tensor %v = %v / (%v * %v), the largest scale and the largest element\n", b.Tensor, amax, s.Scale.Get().Float64(s.Scale.Get().MaxFinite()), most)
	}
	value := s.Scale.Get().Float64(b.Scale)
	fmt.Fprintf(&w, "scale  %s (%v) by the rule %s: ", code(s.Scale, 8, b.Scale), value, s.Rule)
	e := 0
	if b.Most != 0 {
		e = math.Ilogb(float64(b.Most))
	}
	switch {
	case b.Most == 0:
		w.WriteString("all numbers are 0")
	case s.Rule == Floor:
		fmt.Fprintf(&w, "the largest number %v is at least 2^%d, the largest element %v at least 2^%d: 2^(%d-%d)", b.Most, e, most, emax, e, emax)
	case s.Rule == Ceil:
		fmt.Fprintf(&w, "the largest number %v is at most 2^%d, the largest element %v at least 2^%d", b.Most, s.exponent(b.Most)+emax, most, emax)
	case s.Rule == Even:
		fmt.Fprintf(&w, "the largest number %v, rounded to %d fraction bits, is at least 2^%d, the largest element %v at least 2^%d", b.Most, frac, s.exponent(b.Most)+emax, most, emax)
	case s.Rule == RCeil:
		fmt.Fprintf(&w, "the least power of two that is at least %v / %v", b.Most, most)
	case s.Tensor:
		fmt.Fprintf(&w, "%v / %v / tensor %v, in %s", b.Most, most, b.Tensor, s.Scale)
	default:
		fmt.Fprintf(&w, "%v / %v, in %s", b.Most, most, s.Scale)
	}
	w.WriteString(s.clamped(b) + "\n")
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
		quotient := fmt.Sprintf(" %s%v = %v", by, b.Factor, b.Quotient[i])
		if v == 0 {
			quotient = ""
		}
		fmt.Fprintf(&w, "  %v%s → %s (%v)%s; it stands for %v, %s\n", v, quotient, code(s.Element, s.Bits, b.Codes[i]), s.value(b.Codes[i]), note, b.Values[i], deviation(float64(v), b.Values[i]))
	}
	return w.String()
}

// Answer says what a unit made of a block.
func (s *Scheme) Answer(b *Block) string {
	text := fmt.Sprintf("scale  %s (%v)\n", code(s.Scale, 8, b.Scale), s.Scale.Get().Float64(b.Scale))
	for _, c := range b.Codes {
		text += fmt.Sprintf("  %s (%v)\n", code(s.Element, s.Bits, c), s.value(c))
	}
	return text
}

// clamped says that a scale is not what the rule gives, because its format ends there.
func (s *Scheme) clamped(b *Block) string {
	switch {
	case b.Most == 0:
		return ""
	case s.Rule != Most && s.exponent(b.Most) < -127:
		return fmt.Sprintf(", raised from 2^%d to the smallest scale", s.exponent(b.Most))
	case s.Rule != Most && s.exponent(b.Most) > 127:
		return fmt.Sprintf(", lowered from 2^%d to the largest scale", s.exponent(b.Most))
	case s.Rule == Most && s.roundedScale(b.Most, b.Tensor) == 0:
		return fmt.Sprintf(", raised from %v to the smallest scale", s.ratio(b.Most, b.Tensor))
	case s.Rule == Most && float64(s.ratio(b.Most, b.Tensor)) > s.Scale.Get().Float64(s.Scale.Get().MaxFinite()):
		return fmt.Sprintf(", lowered from %v to the largest scale", s.ratio(b.Most, b.Tensor))
	}
	return ""
}

// deviation says how far a value is from the number that it stands for.
func deviation(x, v float64) string {
	switch {
	case x == v:
		return "exact"
	case x == 0 || math.IsNaN(v):
		return "no number"
	}
	return fmt.Sprintf("error %+.3g %%", 100*(v-x)/x)
}

// code writes a code in hexadecimal.
func code(id fp.ID, bits int, c uint64) string {
	digits := (bits + 3) / 4
	if id != fp.None {
		digits = id.Get().Digits()
	}
	return fmt.Sprintf("%0*x", digits, c)
}
