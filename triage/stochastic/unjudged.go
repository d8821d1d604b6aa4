package stochastic

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Unjudged is the error of Judge for units of whose rounding it cannot say anything: why.
type Unjudged string

// The reasons.
const (
	Integers Unjudged = "formats with integers are not judged"
	Scales   Unjudged = "formats with block scales are not judged"
	NoInputs Unjudged = "no single product of its formats that is a normal number has to be rounded"
)

func (u Unjudged) Error() string { return string(u) }

// Text says it of a unit.
func (u Unjudged) Text(name string) string {
	return fmt.Sprintf("whether %s rounds stochastically is not known: %s. Its results that change may be a defect or may be meant.", name, string(u))
}

// unjudged returns why units of some formats are not judged, whatever inputs they have; "" if they are.
func unjudged(f mma.Formats) Unjudged {
	switch {
	case f.A.Integer() || f.D.Integer():
		return Integers
	case f.Scale != fp.None:
		return Scales
	}
	return ""
}
