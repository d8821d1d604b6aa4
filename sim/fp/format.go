// Package fp holds the number formats of matrix units as one data table (format.go), the
// conversions between codes (raw bits) and numbers, and the modes of rounding (mode.go).
//
// # Formats that a name describes
//
// Parse takes names such as e5m3, ue5m10, e4m3-b11-fnuz, e5m10-finite, e6m9-fn and e4m3-ieee too: exponent
// bits, fraction bits, the bias unless it is 2^(bits-1)-1, and which codes are special, as IEEE 754
// has them unless the name says so (fn: ones are NaN, fnuz: the code of -0 is the only NaN). They
// have subnormals, a sign unless the name begins with u, and at most 32 bits. rbits16 and the like are
// random bits, ue8m0-inverse scales that divide (described.go). fp32-flags-x86 and the like are formats of exception
// flags (flags.go).
//
// # Adding a format
//
// A format is one row of the table in format.go, one constant of type ID and
// one row of facts in facts_test.go, copied from the format's specification and
// not from here. The tests of this package decode and encode every code of every
// format of up to 16 bits, so a new format needs no other test.
//
// Sources: IEEE 754-2019 for FP64, FP32 and FP16; OCP 8-bit Floating Point
// Specification (OFP8) for E5M2 and E4M3; OCP Microscaling Formats (MX) for
// E3M2, E2M3, E2M1 and E8M0; AMD Instinct MI300 ISA for the FNUZ formats and
// XF32; PTX ISA for TF32 and UE4M3.
package fp

import (
	"fmt"
	"strings"
)

// ID names a format. The zero ID means "no format" (an instruction without
// scales has Scale == None).
type ID uint8

// The formats. TF32 is a 32-bit register of which the low 13 bits are not
// part of the value; AMD calls the same thing XF32. One has one number, 1: it is
// the format of B in an operation of A alone, such as a conversion. S and U with a
// number are signed and unsigned integers of so many bits (Format.Integer).
const (
	None ID = iota
	FP64
	FP32
	TF32
	XF32
	BF16
	FP16
	E5M2
	E4M3
	E5M2FNUZ
	E4M3FNUZ
	E3M2
	E2M3
	E2M1
	E8M0
	UE4M3
	One
	S32
	S16
	S8
	U8
	S4
	U4
	B1
	U32
	U16
	numFormats
)

// Specials specifies which codes of a format are not finite numbers.
type Specials uint8

const (
	// AllFinite has neither infinities nor NaNs (OCP FP6 and FP4).
	AllFinite Specials = iota
	// IEEE: the largest exponent field is Inf (fraction 0) or NaN (any other).
	IEEE
	// OnesNaN: only the codes with all exponent and fraction bits set are NaN,
	// there is no Inf (OCP E4M3; UE4M3; E8M0, whose FF is NaN).
	OnesNaN
	// NegZeroNaN: the code of -0 is the only NaN; there is no Inf and no -0
	// (the FNUZ formats).
	NegZeroNaN
)

// Format is one row of the format table.
type Format struct {
	ID       ID
	Name     string
	ExpBits  uint8
	FracBits uint8
	Bias     int16
	Signed   bool // a sign bit above the exponent field
	Specials Specials
	NoZero   bool  // exponent field 0 is a normal number (E8M0)
	Inverse  bool  // a code is the reciprocal of what it would else be: the exponent is Bias less the field (ue8m0-inverse, whose range is that of E8M0)
	Low      uint8 // register bits below the fraction that are dropped before the code is read (TF32, XF32)
	Width    uint8 // bytes of the container of one code in buffers: 1, 2, 4 or 8
	Source   string
}

// formats is the table, and after it the formats that names describe; index is the ID. Emin, the largest finite number and
// the like follow from a row and are methods.
var formats = [255]Format{
	FP64:     {FP64, "fp64", 11, 52, 1023, true, IEEE, false, false, 0, 8, "IEEE 754-2019 binary64"},
	FP32:     {FP32, "fp32", 8, 23, 127, true, IEEE, false, false, 0, 4, "IEEE 754-2019 binary32"},
	TF32:     {TF32, "tf32", 8, 10, 127, true, IEEE, false, false, 13, 4, "PTX ISA, .tf32; the low 13 bits are dropped before classification"},
	XF32:     {XF32, "xf32", 8, 10, 127, true, IEEE, false, false, 13, 4, "AMD CDNA3 ISA, XF32"},
	BF16:     {BF16, "bf16", 8, 7, 127, true, IEEE, false, false, 0, 2, "PTX ISA, .bf16"},
	FP16:     {FP16, "fp16", 5, 10, 15, true, IEEE, false, false, 0, 2, "IEEE 754-2019 binary16"},
	E5M2:     {E5M2, "e5m2", 5, 2, 15, true, IEEE, false, false, 0, 1, "OCP OFP8"},
	E4M3:     {E4M3, "e4m3", 4, 3, 7, true, OnesNaN, false, false, 0, 1, "OCP OFP8"},
	E5M2FNUZ: {E5M2FNUZ, "e5m2fnuz", 5, 2, 16, true, NegZeroNaN, false, false, 0, 1, "AMD CDNA3 ISA, BF8"},
	E4M3FNUZ: {E4M3FNUZ, "e4m3fnuz", 4, 3, 8, true, NegZeroNaN, false, false, 0, 1, "AMD CDNA3 ISA, FP8"},
	E3M2:     {E3M2, "e3m2", 3, 2, 3, true, AllFinite, false, false, 0, 1, "OCP MX v1.0"},
	E2M3:     {E2M3, "e2m3", 2, 3, 1, true, AllFinite, false, false, 0, 1, "OCP MX v1.0"},
	E2M1:     {E2M1, "e2m1", 2, 1, 1, true, AllFinite, false, false, 0, 1, "OCP MX v1.0"},
	E8M0:     {E8M0, "ue8m0", 8, 0, 127, false, OnesNaN, true, false, 0, 1, "OCP MX v1.0; PTX ISA, .ue8m0"},
	UE4M3:    {UE4M3, "ue4m3", 4, 3, 7, false, OnesNaN, false, false, 0, 1, "PTX ISA, .ue4m3; bit 7 of the byte is ignored"},
	One:      {One, "one", 0, 0, 0, false, AllFinite, true, false, 0, 1, "the number 1; its code has no bits"},
	S32:      {S32, "s32", 0, 31, -30, true, AllFinite, false, false, 0, 4, "PTX ISA, .s32"},
	S16:      {S16, "s16", 0, 15, -14, true, AllFinite, false, false, 0, 2, "PTX ISA, .s16"},
	S8:       {S8, "s8", 0, 7, -6, true, AllFinite, false, false, 0, 1, "PTX ISA, .s8"},
	U8:       {U8, "u8", 0, 8, -7, false, AllFinite, false, false, 0, 1, "PTX ISA, .u8"},
	S4:       {S4, "s4", 0, 3, -2, true, AllFinite, false, false, 0, 1, "PTX ISA, .s4"},
	U4:       {U4, "u4", 0, 4, -3, false, AllFinite, false, false, 0, 1, "PTX ISA, .u4"},
	B1:       {B1, "b1", 0, 1, 0, false, AllFinite, false, false, 0, 1, "PTX ISA, .b1"},
	U32:      {U32, "u32", 0, 32, -31, false, AllFinite, false, false, 0, 4, "PTX ISA, .u32"},
	U16:      {U16, "u16", 0, 16, -15, false, AllFinite, false, false, 0, 2, "PTX ISA, .u16"},
}

// Integers are the formats of integers, which All leaves out. To everything that reads a row of
// the table they are fixed-point numbers: no exponent bits, and a fraction whose last place is 1,
// so that all but the lowest signed number are subnormal.
func Integers() []ID { return []ID{S32, S16, S8, U8, S4, U4, B1, U32, U16} }

// Integer reports whether the codes are integers, those of signed ones in two's complement.
func (f *Format) Integer() bool { return f.ExpBits == 0 && !f.NoZero }

// Integer reports whether it is a format of integers, which None is not.
func (id ID) Integer() bool { return id != None && id.Get().Integer() }

// OtherSign returns the format of integers that reads the same codes with a sign if this one has
// none, and the other way round; None if there is no such format.
func (id ID) OtherSign() ID {
	switch id {
	case S8:
		return U8
	case U8:
		return S8
	case S4:
		return U4
	case U4:
		return S4
	case S16:
		return U16
	case U16:
		return S16
	}
	return None
}

// aliases are other spellings that people use.
var aliases = map[string]ID{
	"f64": FP64, "f32": FP32, "f16": FP16, "half": FP16, "bfloat16": BF16,
	"i32": S32, "int32": S32, "i16": S16, "int16": S16, "i8": S8, "int8": S8, "uint32": U32, "uint16": U16, "uint8": U8, "i4": S4, "int4": S4, "uint4": U4,
	"bf8": E5M2FNUZ, "fp8": E4M3FNUZ, "e8m0": E8M0, "fp4": E2M1,
}

// Get returns the row of a format. It panics for None and for unknown IDs.
func (id ID) Get() *Format {
	if id == None || uint32(id) >= declared.Load() {
		panic(fmt.Sprintf("fp: no format %d", uint8(id)))
	}
	return &formats[id]
}

// All returns the ID of every floating-point format in table order.
func All() []ID {
	ids := make([]ID, 0, One-1)
	for id := FP64; id < One; id++ {
		ids = append(ids, id)
	}
	return ids
}

// String returns the format's name, or "none".
func (id ID) String() string {
	if id == None {
		return "none"
	}
	if uint32(id) >= declared.Load() {
		return fmt.Sprintf("format(%d)", uint8(id))
	}
	return formats[id].Name
}

// Parse returns the format of a name or alias, in upper or lower case, or the one that a name
// such as e5m3 describes (described.go); None for "none" and "".
func Parse(name string) (ID, error) {
	n := strings.ToLower(name)
	if n == "none" || n == "" {
		return None, nil
	}
	for id := FP64; id < numFormats; id++ {
		if formats[id].Name == n {
			return id, nil
		}
	}
	if id, ok := aliases[n]; ok {
		return id, nil
	}
	if id, err := described(n); id != None || err != nil {
		return id, err
	}
	return None, fmt.Errorf("unknown format %q", name)
}

// PowersOfTwo reports whether the numbers of the format are powers of two, without a sign and
// without zero, as those of E8M0.
func (f *Format) PowersOfTwo() bool { return f.NoZero && f.FracBits == 0 && f.ExpBits != 0 }

// FNUZ returns AMD's format with the fields of a format of OCP and other special values: None if
// there is none.
func (id ID) FNUZ() ID {
	switch id {
	case E4M3:
		return E4M3FNUZ
	case E5M2:
		return E5M2FNUZ
	}
	return None
}

// As returns the format of an operand that is converted to a wider one, or to none (None). A FNUZ
// format stands for that of each operand.
func (id ID) As(wide ID) ID {
	switch {
	case wide == None:
		return id
	case wide.Get().Specials == NegZeroNaN && id.FNUZ() != None:
		return id.FNUZ()
	}
	return wide
}

// MarshalText writes the format's name, for JSON.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads a format's name, for JSON.
func (id *ID) UnmarshalText(b []byte) (err error) {
	*id, err = Parse(string(b))
	return err
}

// Bits returns the bits of a code that carry meaning: sign, exponent and
// fraction (19 for TF32, whose code is the upper 19 bits of a register).
func (f *Format) Bits() uint8 {
	n := f.ExpBits + f.FracBits
	if f.Signed {
		n++
	}
	return n
}

// CodeBits returns the bits of a code as it is in its register: Bits plus
// the dropped low bits, and the ignored top bits of UE4M3 and of described formats without a sign.
func (f *Format) CodeBits() uint8 {
	if !f.Signed && (f.ID == UE4M3 || f.ID.Described()) {
		return 8 * f.Width
	}
	return f.Bits() + f.Low
}

// Digits returns the hexadecimal digits in which a code is written: the whole
// digits of its container (FP4 and FP6 take two, like FP8).
func (f *Format) Digits() int { return 2 * int(f.Width) }

// CodeMask returns a mask of CodeBits ones.
func (f *Format) CodeMask() uint64 { return 1<<f.CodeBits() - 1 }

// Emin returns the exponent of the smallest normal number, which is also the
// exponent of subnormals and zero.
func (f *Format) Emin() int32 {
	if f.NoZero {
		return -int32(f.Bias)
	}
	return 1 - int32(f.Bias)
}

// Emax returns the exponent of the largest finite number.
func (f *Format) Emax() int32 {
	top := int32(1)<<f.ExpBits - 1 - int32(f.Bias)
	if f.Specials == IEEE || f.Specials == OnesNaN && f.FracBits == 0 {
		return top - 1
	}
	return top
}

// MaxFinite returns the code of the largest finite number.
func (f *Format) MaxFinite() uint64 {
	if f.Inverse {
		return 0
	}
	ones := uint64(1)<<(f.ExpBits+f.FracBits) - 1 // all exponent and fraction bits
	switch f.Specials {
	case IEEE:
		ones = (ones>>f.FracBits)<<f.FracBits - 1
	case OnesNaN:
		ones--
	}
	return ones << f.Low
}

// SignBit returns the mask of the sign in a code; 0 for unsigned formats.
func (f *Format) SignBit() uint64 {
	if !f.Signed {
		return 0
	}
	return 1 << (f.ExpBits + f.FracBits + f.Low)
}

// Exponent returns the exponent that an exponent field of a normal number stands for.
func (f *Format) Exponent(field uint64) int32 {
	if f.Inverse {
		return int32(f.Bias) - int32(field)
	}
	return int32(field) - int32(f.Bias)
}

// Field returns the exponent field of a normal number of an exponent from Emin to Emax.
func (f *Format) Field(exponent int32) uint64 {
	if f.Inverse {
		return uint64(int32(f.Bias) - exponent)
	}
	return uint64(exponent + int32(f.Bias))
}

// HasInf reports whether the format has infinities.
func (f *Format) HasInf() bool { return f.Specials == IEEE }

// HasNaN reports whether the format has NaNs.
func (f *Format) HasNaN() bool { return f.Specials != AllFinite }

// HasNegZero reports whether the format has a zero with the sign bit set.
func (f *Format) HasNegZero() bool { return f.Signed && f.Specials != NegZeroNaN && !f.Integer() }

// InfCode returns the code of an infinity. It panics if there is none.
func (f *Format) InfCode(neg bool) uint64 {
	if !f.HasInf() {
		panic("fp: " + f.Name + " has no infinity")
	}
	code := (uint64(1)<<f.ExpBits - 1) << (f.FracBits + f.Low)
	if neg {
		code |= f.SignBit()
	}
	return code
}

// Width returns the bytes of the format's container; 0 for None.
func (id ID) Width() int {
	if id == None {
		return 0
	}
	return int(id.Get().Width)
}
