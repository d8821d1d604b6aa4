package fp

import (
	"fmt"
	"slices"
	"strings"
)

// Flags are the exceptions that an operation has raised (IEEE 754-2019 section 7), with the bits
// of RISC-V's fflags and of Berkeley SoftFloat.
type Flags uint8

// The exceptions. No operation of a matrix unit divides.
const (
	FlagInexact Flags = 1 << iota
	FlagUnderflow
	FlagOverflow
	FlagDivideByZero
	FlagInvalid
	AllFlags Flags = 1<<iota - 1
)

var flagNames = [...]string{"inexact", "underflow", "overflow", "divide-by-zero", "invalid"}

// String names the exceptions, such as underflow+inexact, or none.
func (f Flags) String() string {
	var names []string
	for i, name := range slices.Backward(flagNames[:]) {
		if f>>i&1 != 0 {
			names = append(names, name)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, "+")
}

// FlagRule is what IEEE 754 leaves open about exceptions, as the processors of an architecture
// do it.
type FlagRule uint8

// The rules. The zero FlagRule means that there are no flags.
const (
	FlagsX86   FlagRule = iota + 1 // Intel SDM vol. 1, 4.9.1.5
	FlagsRISCV                     // RISC-V ISA manual, extension F, of fflags and FMADD
	FlagsArm                       // Arm ARM, pseudocode of FPRoundBase and FPMulAdd, with FPCR.AH = 0
)

var flagRuleNames = [...]string{FlagsX86: "x86", FlagsRISCV: "riscv", FlagsArm: "arm"}

func (r FlagRule) String() string { return flagRuleNames[r] }

// TinyBefore reports whether a result is tiny, which an underflow has to be, if it is below the
// normal numbers before it is rounded (section 7.5 a); else it is if it would be after rounding it
// as if exponents had no lower end (7.5 b).
func (r FlagRule) TinyBefore() bool { return r == FlagsArm }

// InvalidBesideNaN reports whether a fused Inf*0 is invalid if a quiet NaN is added to it
// (section 7.2 c).
func (r FlagRule) InvalidBesideNaN() bool { return r != FlagsX86 }

// ParseFlagRule returns the rule of a name: x86, riscv or arm.
func ParseFlagRule(name string) (FlagRule, error) {
	if i := slices.Index(flagRuleNames[1:], name); i >= 0 {
		return FlagRule(i + 1), nil
	}
	return 0, fmt.Errorf("unknown rule of flags %q (known: %s)", name, strings.Join(flagRuleNames[1:], ", "))
}

// A format of D with a name such as fp32-flags-x86 has as its codes the Flags of an operation
// that gives a result in the format before the dash. In its row it is like that format, at which
// inputs are aimed, but for the width of its container, a byte.

// flagged is what a format of flags has besides its row.
type flagged struct {
	result ID
	rule   FlagRule
}

// flagFormats is indexed by ID.
var flagFormats [len(formats)]flagged

// WithFlags returns the format of the flags of operations with a result in a format, which has to
// be one of IEEE 754's kind with at least 8 bits.
func (id ID) WithFlags(r FlagRule) (ID, error) {
	f := *id.Get()
	if f.Specials != IEEE || f.Low != 0 || !f.Signed || f.Bits() < 8 || id.Flags() != 0 {
		return None, fmt.Errorf("operations with results in %s have no IEEE 754 flags", id)
	}
	f.Name, f.Width, f.Source = fmt.Sprintf("%s-flags-%s", f.Name, r), 1, "IEEE 754-2019 section 7"
	return f.declare(flagged{id, r})
}

// Flags returns the rule of a format of flags, 0 for any other.
func (id ID) Flags() FlagRule { return flagFormats[id].rule }

// Result returns the format of the results that come with flags; of any other format itself.
func (id ID) Result() ID {
	if id.Flags() != 0 {
		return flagFormats[id].result
	}
	return id
}

// parseFlags returns the format of flags that a name stands for, None if it is another name.
func parseFlags(name string) (ID, error) {
	of, rule, ok := strings.Cut(name, "-flags-")
	if !ok {
		return None, nil
	}
	id, err := Parse(of)
	if err != nil || id == None {
		return None, err
	}
	r, err := ParseFlagRule(rule)
	if err != nil {
		return None, err
	}
	return id.WithFlags(r)
}
