package oracle

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Class is how two results of one dot product differ.
type Class uint8

// The classes.
const (
	Same     Class = iota // no difference, or none that the policy counts
	Value                 // two numbers, or infinities of opposite signs
	ZeroSign              // +0 and -0
	NaNCode               // two NaNs
	NaN                   // only one is a NaN
	Inf                   // one is an infinity, the other a number
	Fault                 // one side has no result; Compare never returns it
)

var classNames = [...]string{"same", "value", "zero-sign", "nan-code", "nan", "inf", "fault"}

// String returns the name of the class, such as zero-sign.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// MarshalText writes the name, for JSON.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a name, for JSON.
func (c *Class) UnmarshalText(b []byte) error {
	for i, n := range classNames {
		if n == string(b) {
			*c = Class(i)
			return nil
		}
	}
	return fmt.Errorf("unknown class %q", b)
}

// Strictness specifies when two results of a kind are the same.
type Strictness uint8

// The degrees of strictness.
const (
	Bits    Strictness = iota // if their codes are equal
	ByClass                   // if both are of that kind
)

// String names a degree as the flags do.
func (s Strictness) String() string {
	if s == ByClass {
		return "class"
	}
	return "bits"
}

// Policy describes how strictly NaNs and zeros are compared. The zero Policy compares
// bits.
type Policy struct{ NaN, Zero Strictness }

// DefaultPolicy compares bits, except that what either side leaves open is compared by
// class.
func DefaultPolicy(a, b mma.Facets) Policy {
	var p Policy
	if (a|b)&mma.FacetNaN != 0 {
		p.NaN = ByClass
	}
	if (a|b)&mma.FacetZero != 0 {
		p.Zero = ByClass
	}
	return p
}

// Compare returns how two codes of a format with NaNs differ. Infinities of opposite
// signs differ in Value, because Inf is for a difference in kind; a NaN differs
// from an infinity as it does from a number, in NaN.
func Compare(d fp.ID, p Policy, x, y uint64) Class {
	c := NewComparer(d, p)
	return c.Compare(x, y)
}

// Comparer is Compare for many codes of a format.
type Comparer struct {
	policy         Policy
	sign, inf, nan uint64 // inf and nan: the codes, without sign, of an infinity (all ones if there is none) and of the least NaN
	minus          bool   // the code of -0 is the only NaN
	zeros          bool   // zeros have signs, which integers have not: 80...0 is their smallest
}

// NewComparer returns the Comparer of a format with NaNs and a policy.
func NewComparer(d fp.ID, p Policy) Comparer {
	f := d.Get()
	c := Comparer{policy: p, sign: f.SignBit(), inf: ^uint64(0), nan: f.MaxFinite() + 1, minus: f.Specials == fp.NegZeroNaN, zeros: f.HasNegZero()}
	if f.HasInf() {
		c.inf, c.nan = c.nan, c.nan+1
	}
	return c
}

// isNaN reports whether a code is a NaN.
func (c *Comparer) isNaN(code uint64) bool {
	return code&^c.sign >= c.nan || c.minus && code == c.sign
}

// Compare does what the function Compare does.
func (c *Comparer) Compare(x, y uint64) Class {
	if x == y {
		return Same
	}
	magX, magY := x&^c.sign, y&^c.sign
	nanX, nanY := c.isNaN(x), c.isNaN(y)
	switch {
	case nanX && nanY:
		return unless(c.policy.NaN, NaNCode)
	case nanX || nanY:
		return NaN
	case (magX == c.inf) != (magY == c.inf):
		return Inf
	case magX|magY == 0 && c.zeros:
		return unless(c.policy.Zero, ZeroSign)
	}
	return Value
}

// Explains reports whether got, the result of a program, explains want, which a side gave where the
// other one gave other: it is the same result, or another NaN in the place of a number. Why there is a
// NaN is one question, and which code NaNs have is another, which cases of two NaNs answer.
func (c *Comparer) Explains(got, want, other uint64) bool {
	return c.Compare(got, want) == Same || c.isNaN(got) && c.isNaN(want) && !c.isNaN(other)
}

// unless returns c, or Same if results of that kind are compared by class.
func unless(s Strictness, c Class) Class {
	if s == ByClass {
		return Same
	}
	return c
}
