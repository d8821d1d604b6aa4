package mma

import (
	"fmt"
	"strconv"
	"strings"
)

// Names of the enumerations, as they stand in model files. Index is the value.
var (
	inFlushNames  = []string{"keep", "zero", "plus-zero"}
	prodExpNames  = []string{"field-sum", "operand-sum", "normalised"}
	scaleAtNames  = []string{"product", "group"}
	orderNames    = []string{"ascending", "descending", "swap-pairs", "split4", "even-odd", "halves"}
	startNames    = []string{"c", "zero", "empty"}
	sumNames      = []string{"off", "fused", "sequential", "pairwise", "pair-halves"}
	splitNames    = []string{"adjacent", "interleaved"}
	outFlushNames = []string{"keep", "before", "after", "result"}
	overNames     = []string{"inf", "ieee", "max", "sat"}
	gateNames     = []string{"off", "inf", "all", "skip", "skip-numbers"}
	stickyNames   = []string{"off", "round", "below", "last"}
	negateNames   = []string{"exact", "flip", "frame", "flip-numbers", "frame-numbers"}
	nanRuleNames  = []string{"ones", "quiet", "quiet-neg", "first", "signal", "mul-add", "larger", "of-c", "zero"}
)

func enumString(names []string, v uint8) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("unknown(%d)", v)
}

func enumParse[T ~uint8](dst *T, names []string, b []byte) error {
	for i, n := range names {
		if n == string(b) {
			*dst = T(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not one of %s", b, strings.Join(names, ", "))
}

func (v InFlush) String() string  { return enumString(inFlushNames, uint8(v)) }
func (v ProdExp) String() string  { return enumString(prodExpNames, uint8(v)) }
func (v ScaleAt) String() string  { return enumString(scaleAtNames, uint8(v)) }
func (v Order) String() string    { return enumString(orderNames, uint8(v)) }
func (v Start) String() string    { return enumString(startNames, uint8(v)) }
func (v Sum) String() string      { return enumString(sumNames, uint8(v)) }
func (v Split) String() string    { return enumString(splitNames, uint8(v)) }
func (v OutFlush) String() string { return enumString(outFlushNames, uint8(v)) }
func (v Over) String() string     { return enumString(overNames, uint8(v)) }
func (v NaNRule) String() string  { return enumString(nanRuleNames, uint8(v)) }
func (v Gate) String() string     { return enumString(gateNames, uint8(v)) }
func (v Sticky) String() string   { return enumString(stickyNames, uint8(v)) }
func (v Negate) String() string   { return enumString(negateNames, uint8(v)) }

// MarshalText and UnmarshalText carry the names into and out of JSON.

func (v InFlush) MarshalText() ([]byte, error)   { return []byte(v.String()), nil }
func (v *InFlush) UnmarshalText(b []byte) error  { return enumParse(v, inFlushNames, b) }
func (v ProdExp) MarshalText() ([]byte, error)   { return []byte(v.String()), nil }
func (v *ProdExp) UnmarshalText(b []byte) error  { return enumParse(v, prodExpNames, b) }
func (v ScaleAt) MarshalText() ([]byte, error)   { return []byte(v.String()), nil }
func (v *ScaleAt) UnmarshalText(b []byte) error  { return enumParse(v, scaleAtNames, b) }
func (v Order) MarshalText() ([]byte, error)     { return []byte(v.String()), nil }
func (v *Order) UnmarshalText(b []byte) error    { return enumParse(v, orderNames, b) }
func (v Start) MarshalText() ([]byte, error)     { return []byte(v.String()), nil }
func (v *Start) UnmarshalText(b []byte) error    { return enumParse(v, startNames, b) }
func (v Sum) MarshalText() ([]byte, error)       { return []byte(v.String()), nil }
func (v *Sum) UnmarshalText(b []byte) error      { return enumParse(v, sumNames, b) }
func (v Split) MarshalText() ([]byte, error)     { return []byte(v.String()), nil }
func (v *Split) UnmarshalText(b []byte) error    { return enumParse(v, splitNames, b) }
func (v OutFlush) MarshalText() ([]byte, error)  { return []byte(v.String()), nil }
func (v *OutFlush) UnmarshalText(b []byte) error { return enumParse(v, outFlushNames, b) }
func (v Over) MarshalText() ([]byte, error)      { return []byte(v.String()), nil }
func (v *Over) UnmarshalText(b []byte) error     { return enumParse(v, overNames, b) }
func (v NaNRule) MarshalText() ([]byte, error)   { return []byte(v.String()), nil }
func (v *NaNRule) UnmarshalText(b []byte) error  { return enumParse(v, nanRuleNames, b) }
func (v Gate) MarshalText() ([]byte, error)      { return []byte(v.String()), nil }
func (v *Gate) UnmarshalText(b []byte) error     { return enumParse(v, gateNames, b) }
func (v Sticky) MarshalText() ([]byte, error)    { return []byte(v.String()), nil }
func (v *Sticky) UnmarshalText(b []byte) error   { return enumParse(v, stickyNames, b) }
func (v Negate) MarshalText() ([]byte, error)    { return []byte(v.String()), nil }
func (v *Negate) UnmarshalText(b []byte) error   { return enumParse(v, negateNames, b) }

// String writes the bits, or "exact" for 0.
func (f Frac) String() string {
	if f == 0 {
		return "exact"
	}
	return strconv.Itoa(int(f))
}

// String writes the exponent, or "none" for 0.
func (e Exp) String() string {
	if e == 0 {
		return "none"
	}
	return strconv.Itoa(int(e))
}
