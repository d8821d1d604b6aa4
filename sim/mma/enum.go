package mma

import (
	"fmt"
	"strconv"
	"strings"
)

// Enum is an enumeration of the parameter program. Its values have the names that N lists, as
// they are in model files.
type Enum[N namesOf] uint8

// namesOf is a type that stands for the names of an enumeration, in the order of its values.
type namesOf interface{ list() string }

// The names of the enumerations.
type (
	inFlushNames  struct{}
	prodExpNames  struct{}
	scaleAtNames  struct{}
	orderNames    struct{}
	startNames    struct{}
	sumNames      struct{}
	splitNames    struct{}
	outFlushNames struct{}
	overNames     struct{}
	gateNames     struct{}
	stickyNames   struct{}
	negateNames   struct{}
	nanRuleNames  struct{}
	leafNames     struct{}
	sortNames     struct{}
)

func (inFlushNames) list() string  { return "keep zero plus-zero" }
func (prodExpNames) list() string  { return "field-sum operand-sum normalised" }
func (scaleAtNames) list() string  { return "product group" }
func (orderNames) list() string    { return "ascending descending swap-pairs split4 even-odd halves" }
func (startNames) list() string    { return "c zero empty" }
func (sumNames) list() string      { return "off fused sequential pairwise pair-halves" }
func (splitNames) list() string    { return "adjacent interleaved" }
func (outFlushNames) list() string { return "keep before after result" }
func (overNames) list() string     { return "inf ieee max sat wrap" }
func (gateNames) list() string     { return "off inf all skip skip-numbers" }
func (stickyNames) list() string   { return "off round below last" }
func (negateNames) list() string   { return "exact flip frame flip-numbers frame-numbers" }
func (nanRuleNames) list() string {
	return "ones quiet quiet-neg first signal mul-add larger of-c zero"
}
func (leafNames) list() string { return "none first last sum-first sum-last" }
func (sortNames) list() string { return "none rising falling" }

func (Enum[N]) names() []string {
	var n N
	return strings.Fields(n.list())
}

// String returns the name of a value.
func (v Enum[N]) String() string {
	if names := v.names(); int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("unknown(%d)", uint8(v))
}

// MarshalText writes the name, for JSON.
func (v Enum[N]) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (v *Enum[N]) UnmarshalText(b []byte) error {
	names := v.names()
	for i, n := range names {
		if n == string(b) {
			*v = Enum[N](i)
			return nil
		}
	}
	return fmt.Errorf("%q is not one of %s", b, strings.Join(names, ", "))
}

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
