package sim

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Kind describes what a term is.
type Kind uint8

// The kinds of terms.
const (
	Finite  Kind = iota // has a nominal exponent; may be zero after a cancellation
	Null                // zero without a nominal exponent
	Inf                 // of sign Neg
	NaN                 // of the code Lo in D's format
	invalid             // a NaN that no Round has seen yet: Inf*0 or Inf-Inf
)

// term is a summand: an exact number with a nominal exponent (see package mma).
type term struct {
	fp.Dyadic
	e    int32
	kind Kind
	nan  origins // where a NaN or an infinity comes from
}

func zeroTerm(neg bool) term {
	return term{Dyadic: fp.Dyadic{Neg: neg}, kind: Null}
}

func infTerm(neg bool) term {
	return term{Dyadic: fp.Dyadic{Neg: neg}, kind: Inf}
}
