package fp

import "fmt"

// Mode is a rounding direction. The zero Mode means "not set": nothing may be
// rounded with it.
type Mode uint8

// The rounding directions, with the field's usual abbreviations.
const (
	RNE Mode = iota + 1 // to nearest, ties to even
	RZ                  // toward zero: truncation of the magnitude
	RD                  // toward minus infinity: truncation of a two's complement number
	RU                  // toward plus infinity
	RNA                 // to nearest, ties away from zero
	RTO                 // to odd: if inexact, the last bit kept is set (von Neumann rounding)
	// RS is stochastic rounding with the random bits as an operand (ID.RandomBits): they are
	// added to the magnitude as a fraction of the unit of the last bit kept, and what is below that
	// unit is truncated.
	RS
	numModes
)

var modeNames = [numModes]string{"", "rne", "rz", "rd", "ru", "rna", "rto", "rs"}

// Modes returns every rounding direction that needs no random bits.
func Modes() []Mode { return []Mode{RNE, RZ, RD, RU, RNA, RTO} }

// String returns the abbreviation; "" for the zero Mode.
func (m Mode) String() string {
	if m >= numModes {
		return fmt.Sprintf("mode(%d)", uint8(m))
	}
	return modeNames[m]
}

// ParseMode returns the Mode of an abbreviation; "" is the zero Mode.
func ParseMode(s string) (Mode, error) {
	for m, n := range modeNames {
		if n == s {
			return Mode(m), nil
		}
	}
	return 0, fmt.Errorf("unknown rounding mode %q (one of rne, rz, rd, ru, rna, rto; rs where there are random bits)", s)
}

// MarshalText writes the abbreviation, for JSON.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads an abbreviation, for JSON.
func (m *Mode) UnmarshalText(b []byte) (err error) {
	*m, err = ParseMode(string(b))
	return err
}

// lostPart describes how the bits dropped by a truncation compare with half a unit of
// the last bit kept (LLVM's lostFraction).
type lostPart uint8

// The four cases of a lost fraction.
const (
	lostZero lostPart = iota
	lostLess
	lostHalf
	lostMore
)

// up reports whether a magnitude truncated to a multiple of the unit is to be
// increased by one unit, given its sign, whether it is odd and what was lost: a tie is lostHalf.
func (m Mode) up(neg, odd bool, l lostPart) bool {
	switch m {
	case RNE:
		return l == lostMore || l == lostHalf && odd
	case RZ:
		return false
	case RD:
		return neg && l != lostZero
	case RU:
		return !neg && l != lostZero
	case RNA:
		return l >= lostHalf
	case RTO:
		return !odd && l != lostZero
	}
	panic("fp: rounding with no mode set")
}
