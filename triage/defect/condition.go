package defect

import (
	"math"
	"math/bits"
)

// Condition compares a feature with a value.
type Condition struct {
	Feature string `json:"feature"`
	Is      Is     `json:"is"`
	Value   int64  `json:"value"`
	Mask    int64  `json:"mask,omitempty"` // with HasBits: the bits that have those of Value
	// Doubt says which cases that do not meet the condition may show the effect all the same, as no
	// case has decided it: with AtLeast and AtMost, those of so many values next to the bound, or of
	// all values beyond it if Doubt is -1; with codes, those that differ from Value in these bits only.
	Doubt  int64  `json:"doubt,omitempty"`
	Digits int    `json:"digits,omitempty"` // with which Value is printed, if it is a code
	Sum    string `json:"sum,omitempty"`    // the name of the sum whose number is Value
}

// Is is how a feature is compared.
type Is string

// The comparisons.
const (
	Equal   Is = "="
	Unequal Is = "!="
	AtLeast Is = ">="
	AtMost  Is = "<="
	HasBits Is = "&"
)

// absent is the value of a feature that a case does not have: the exponent of a zero. No condition
// holds for it.
const absent int64 = math.MinInt64

// holds reports whether a value meets the condition.
func (c *Condition) holds(v int64) bool {
	if v == absent {
		return false
	}
	switch c.Is {
	case Equal:
		return v == c.Value
	case Unequal:
		return v != c.Value
	case AtLeast:
		return v >= c.Value
	case AtMost:
		return v <= c.Value
	}
	return v&c.Mask == c.Value
}

// distance is by how much a value misses the condition: in bits for codes, in steps for numbers.
func (c *Condition) distance(v int64) int {
	const far = 64
	switch {
	case c.holds(v):
		return 0
	case v == absent:
		return far
	case c.Is == HasBits:
		return bits.OnesCount64(uint64((v ^ c.Value) & c.Mask))
	case featureOf(c.Feature).kind == code:
		return bits.OnesCount64(uint64(v ^ c.Value))
	}
	return int(min(max(v-c.Value, c.Value-v, 1), far))
}
