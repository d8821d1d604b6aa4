package schedule

import (
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Relu is what of a result becomes +0.
type Relu uint8

// What becomes +0: code differs in all but negative numbers.
const (
	Negative Relu = 1 << iota // and negative infinity
	NegativeZero
	NaN
)

// relus are what "zeroes" of a relu may say.
var relus = []string{"", "-0", "nan", "-0 nan"}

// String lists what becomes +0.
func (r Relu) String() string {
	var all []string
	for i, name := range []string{"negative", "-0", "nan"} {
		if r>>i&1 != 0 {
			all = append(all, name)
		}
	}
	return strings.Join(all, " ")
}

// relu returns what a relu makes +0.
func (s *Step) relu() Relu {
	r := Negative
	if strings.Contains(s.Zeroes, "-0") {
		r |= NegativeZero
	}
	if strings.Contains(s.Zeroes, "nan") {
		r |= NaN
	}
	return r
}

// Of returns what becomes of a code.
func (r Relu) Of(id fp.ID, code uint64) uint64 {
	of := Negative
	switch v := id.Get().Decode(code); {
	case v.Class == fp.NaN:
		of = NaN
	case !v.Neg:
		return code
	case v.Class == fp.Zero:
		of = NegativeZero
	}
	if r&of != 0 {
		return 0
	}
	return code
}
