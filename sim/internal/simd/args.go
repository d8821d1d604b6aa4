package simd

// The argument blocks of the routines in assembly. A group is 8 adjacent columns
// of one tile, the last filled up with zeros. Strides are in bytes. E, F and U are
// those of the documentation of gen.

// Transpose turns groups of 8 columns of K codes, [group][column][k], into
// [group][k][column]. 16 bytes of a column are read at once: K is a multiple of the
// codes that these hold.
type Transpose struct {
	Src, Dst  *byte
	Groups, K int64
}

// Half decodes N codes of FP16, a multiple of 32, to values and exponent codes.
type Half struct {
	Src    *byte
	Val    *float32
	Code   *uint8
	N      int64
	AnyInf int64 // result: not 0 if some value is Inf
}

// Byte is Half for N codes, a multiple of 32, of a format of one byte with at most 5
// bits of exponent: read as FP16, they are their values times a power of two.
type Byte struct {
	Src            *byte
	Val            *float32
	Code           *uint8
	N              int64
	AnyInf         int64      // result: not 0 if some value is Inf
	Left, SignLeft int64      // shifts that bring the magnitude and the sign to where FP16 has them
	Magnitude, Top [16]uint16 // all bits of the magnitude, the largest one that is not NaN
	SignBit        [16]uint16 // of FP16
	Factor         [8]float32 // by which what FP16 reads is multiplied
}

// Halves converts N codes, a multiple of 16, to FP16, as Byte decodes them.
type Halves struct {
	Src, Dst *byte
	N        int64
	Byte     Byte
}

// Late adds C to N sums, a multiple of 8, of FP32 or FP16, rounding to nearest, and then
// adds Zero, which is +0 if a zero result is to be +0, else -0.
type Late struct {
	Sum, C, D *byte
	N         int64
	Zero      [8]uint32
	QNaN      [8]uint32 // code of a NaN result, as FP32
}

// Largest finds the largest exponent codes of the products of each step of L, a
// multiple of 4: A [tile][row][k] and B [tile][group][k][column], with AVX-512
// [tile][group][k/2][column][2], give E [step][tile][group][row][column]. Rows is a
// multiple of 4; if A has fewer, the rows that follow in memory are read. Bias is added
// to E, which saturates at 255. With AVX-512 AnyNull is not 0 if some E is below Null.
type Largest struct {
	A, B, E             *uint8
	Tiles, Groups, Rows int64
	Steps, L            int64
	ARow, ATile         int64
	EStep               int64
	Bias, Null          [32]uint8
	AnyNull             int64 // result
}

// Step adds the products of one step to the accumulators of all outputs. E, C and D are
// laid out [tile][group][row][column]. E holds the largest exponents of products, as
// exponent fields of a float32. Rows is a multiple of 4. The products are summed in two
// halves of 32 bits. One of them has C and, if L is an odd multiple of 4, up to four more
// products; the sum of the halves has 32 bits and a sign.
type Step struct {
	A                   *float32 // values of the step: [row][k]
	B                   *float32 // [k][column], with AVX-512 [k/2][column][2]
	E                   *uint8
	C, D                *byte // accumulators before and after the step
	Tiles, Groups, Rows int64
	L4                  int64 // 4*L, and L is a multiple of 4
	ARow, ATile, BGroup int64
	Consts              Consts
	AnyNull             int64 // not 0 if some E may be below Null (AVX-512)
}

// Consts are the constants of a step, in all lanes of a vector. Exponent fields stand
// where a float32 has them.
type Consts struct {
	Abs, Sign [8]uint32 // all bits but the sign, the sign
	Exponent  [8]uint32 // the bits of the exponent field
	Finite    [8]int32  // the largest finite number
	QNaN      [8]uint32 // code of a NaN result
	One       [8]int32
	Floor     [8]int32  // exponent field of the floor
	Emin      [8]int32  // exponent field of the least exponent of an accumulator that is not zero
	Unit      [8]int32  // exponent field of 2^(F-E) plus that of 2^E
	Inverse   [8]int32  // 2^x and 2^-x, as bits, add up to this
	Keep      [8]uint32 // bits of a float32 that a result keeps
	Small     [8]int32  // the largest magnitude that rounds to +0
	Null      [8]int32  // below this E all products are zero
	Special   [8]int32  // above this E some factor is Inf or NaN
	Infinite  [8]uint32 // table of VFIXUPIMMPS that lets only Inf replace the destination (AVX-512)
}

// Widen converts N codes, a multiple of 8, to FP32. Magnitudes up to Small become +0, others
// at least Least.
type Widen struct {
	Src, Dst     *byte
	N            int64
	Small, Least [8]int32
	Abs          [8]uint32
}

// Chain executes native arithmetic on all outputs: N products, in the sequence of
// Order, of A [row][k] and B [k][column]. C and D are laid out
// [tile][group][row][column], and Rows is a multiple of 4.
type Chain struct {
	A, B, C, D          *byte
	Order               *uint32
	N                   int64 // products
	Tiles, Groups, Rows int64
	ARow, ATile, BGroup int64
	Control             int64     // bits of MXCSR
	Abs                 [8]uint32 // all bits but the sign
	SmallC              [8]int32  // C's magnitudes up to this become +0 (FP32)
	QNaN                [4]uint64 // code of a NaN result, in all elements
	TinyA, TinyB        *uint8    // of Tiny, and its K
	K                   int64
}

// Tiny finds the subnormal numbers of FP32 among the operands of a Chain of K values, a
// multiple of 16: A gives TinyA [tile][four rows][k] and B gives TinyB [tile][group][k],
// bytes that are not 0 where the number of some row or column is subnormal.
type Tiny struct {
	A, B                   *float32
	TinyA, TinyB           *uint8
	Tiles, Groups, Rows, K int64
	ARow, ATile            int64
}

// Bits of Control.
const (
	RoundDown     = 1 << 13
	RoundUp       = 2 << 13
	RoundZero     = 3 << 13
	FlushResults  = 1 << 15
	FlushOperands = 1 << 6
)

// Decode decodes N codes, a multiple of 8, to float64 magnitudes; Inf and NaN become
// arbitrary numbers.
type Decode struct {
	Src    *byte
	Dst    *float64
	N      int64
	Keep   int64 // the bits of a magnitude
	Sign   int64 // the bit of the sign
	Left   int64 // shift that brings the magnitude to where float64 has it
	Rebias int64 // difference of the biases, as bits of a float64
	Hidden int64 // exponent field 1
	Two    float64
	Emin   float64 // smallest normal number
}

// Kinds turns N codes, a multiple of 32, into kinds: 0, 1 with the number's sign for any
// other finite number, Inf or NaN. The sum of the products of kinds is Inf or NaN where
// that of the numbers is.
type Kinds struct {
	Src              *byte
	Dst              *float32
	N                int64
	SignAt, SignLeft int64      // shifts that bring the sign down, and to the top of 16 bits
	Sign             [16]uint16 // the top bit
	Magnitude        [16]uint16
	Top              [16]uint16 // the largest finite magnitude
	Inf              [16]uint16 // the magnitude of Inf, 0xffff if there is none
	NaN              [16]uint16 // a code that is NaN
	Number           [16]uint16 // this and the following: kinds, as BF16
	InfKind, NaNKind [16]uint16
}

// Exponents computes two-byte exponent codes from N codes, a multiple of 32, and
// bytes that are 8 where the sign is negative, else 0.
type Exponents struct {
	Src       *byte
	Code      *uint16
	Sign      *uint8
	N         int64
	Any       int64 // result: not 0 if some value is Inf or NaN
	AnyInf    int64 // and if some is Inf
	Frac      int64 // shift that brings the exponent field down
	SignAt    int64 // shift that brings the sign down
	Eight     int64
	SignBit   [16]uint16
	Magnitude [16]uint16
	One       [16]uint16
	Base      [16]uint16 // code of emin, less 1
	Top       [16]uint16 // the largest finite magnitude
	Inf       [16]uint16 // the magnitude of Inf, 0xffff if there is none
	NaN       [16]uint16 // a code of one byte that is NaN
	Special   [16]uint16 // bits of the exponent codes of Inf and NaN
}

// Largest16 finds the largest exponent codes of two bytes of the products of a
// step of L, a multiple of 4: A [tile][row][k] and B [tile][group][k][column] give
// E [tile][group][row][column]. Rows is a multiple of 4. Bias is added to codes
// above Null, as signed numbers; the others become 0. The result is Floor at least.
type Largest16 struct {
	A, B, E             *uint16
	Tiles, Groups, Rows int64
	L                   int64
	ARow, ATile, BGroup int64
	Null, Bias, Floor   [16]uint16
	Over, Bit13         [16]uint16 // bit 13 is set in what is above Over, as signed numbers
	Cap                 [16]uint16 // the result is Cap at most
}

// Larger16 takes the larger of N words each, a multiple of 16, such as Largest16
// finds in parts of a step.
type Larger16 struct {
	A, B, D *uint16
	N       int64
}

// Sums prepares and finishes the sums of N accumulators and of products that are
// cut toward zero at F bits below the largest exponent. N is a multiple of 8.
type Sums struct {
	E                     *uint16 // of Largest16: exponent fields of a float64; 0: none
	Acc, Sum              *byte   // FP32 or float64
	Parts                 *float64
	Kinds                 *float32 // sums of the kinds of products
	N                     int64
	ExpMask, Abs, SignBit int64
	Least                 float64 // an accumulator that is not zero has at least the exponent of this
	Shift                 int64   // from an exponent field to that of 2^52 units
	Most                  float64 // what an infinite FP32 accumulator counts as: more than all products (AVX-512)
	// Of the rounding to FP32:
	Keep int64 // bits of a float64 that a result has if it is not subnormal (AVX-512)
	Emin float64
	Last int64   // from an exponent field to that of 2^52 units of the last place
	Over float64 // 2^128
	QNaN int64   // code of NaN
	// Of FP32: the exponent field, the fraction, and as for Decode.
	Inf32, Fraction32 int64
	Hidden, Rebias    int64
	Two               float64
	Bit13             int64
}

// Dot adds the products of a step of L, a multiple of 4, to sums: A and Sign
// [tile][row][k], B [tile][group][k][part][column] as Decode makes it, and Parts
// [tile][group][row][part][column]. Rows is a multiple of 4.
type Dot struct {
	A, B                *float64
	Sign                *uint8
	Parts               *float64
	Tiles, Groups, Rows int64
	L                   int64
	ARow, ATile         int64
	SignRow, SignTile   int64
	BGroup              int64
}

// Fused has what Prepare, Dot and Finish do, in one routine without Parts.
type Fused struct {
	Sums Sums
	Dot  Dot
}

// SumKinds sums the products of kinds, A [tile][row][k] and B [tile][group][k][column], of
// every four rows where bit 13 of some E is set. E and D are laid out
// [tile][group][row][column]. Rows and L are multiples of 4.
type SumKinds struct {
	A, B, D             *float32
	E                   *uint16
	Tiles, Groups, Rows int64
	L                   int64
	ARow, ATile, BGroup int64
}

// Round rounds N numbers, a multiple of 8, to a format, in the mode of Control.
type Round struct {
	Src, Dst *float64
	N        int64
	Control  int64
	ExpMask  int64
	Sign     int64
	Emin     float64
	Shift    int64   // from an exponent field to that of 2^52 units
	Over     float64 // numbers from here on become Inf
	TinySign int64   // not 0: what becomes zero keeps its sign
}

// Convert converts N numbers, a multiple of 8.
type Convert struct {
	Src, Dst *byte
	N        int64
	QNaN     int64 // code of NaN
}

// Scale multiplies decoded operands of N blocks of Block values of k by their
// scales. For rows a block is a multiple of 8 values of k and has one scale; for
// columns, in the three parts of Decode, one for each of 8 columns.
type Scale struct {
	Val      *float64
	Code     *uint16
	Kind     *float32 // may be nil
	N, Block int64
	Factor   *float64 // the scales, 1 for NaN
	Add      *uint16  // their exponents, which are added to codes that are not 0
	Set      *uint16  // bits that are set in all codes: those of NaN
	NaN      *float32 // NaN or 0, which is added to kinds
}

// Join adds C to N sums, a multiple of 8, by rounding down.
type Join struct {
	E        *uint16  // of Largest16
	Sum, Odd *float64 // Odd: of the second of two sums
	Acc      *float32
	D        *float64
	N        int64
	ExpMask  int64
	Emin     float64 // of FP32
	Floor    float64
	Drop     int64 // exponent field: C this far below the largest exponent is 0
	// From a power of two to 1.5 * 2^52 of the units in which something is cut:
	Sums     int64 // each of two sums
	Terms, C int64 // the sum, and C
	Post     int64 // the result
}

// Joined has what Fused does without accumulators, Join of one sum and Close, in one
// routine without Parts. The accumulators of Sums are those of Join, and Least the
// smallest normal number of FP32, which Floor must not be below.
type Joined struct {
	Sums  Sums
	Dot   Dot
	Floor float64
	// 1.5 * 2^52 of the units in which something is cut, as multiples of the power of 2 of
	// the largest exponent: C; the sum, whose units are not larger; the difference Terms-C;
	// and, as a multiple of the power of 2 of its own exponent, the result.
	C, Terms, Less, Post float64
	// Tables of VFIXUPIMMPS: with Replace an accumulator that is Inf or NaN replaces the
	// sum, with Quiet a result that is not NaN replaces the code of NaN.
	Replace, Quiet int64
}

// Shuffle permutes the bytes of each 16 of N, a multiple of 32.
type Shuffle struct {
	Src, Dst *byte
	N        int64
	Pattern  [32]uint8
}

// Small converts N codes, a multiple of 8, of a format of one byte without Inf and NaN to
// FP32.
type Small struct {
	Src            *byte
	Val, Mag       *float32
	N              int64
	Left, Right    int64 // shifts that bring the magnitude to where FP32 has it
	SignLeft, Sign int64 // the shift that brings the sign to the top, and the top bit
	Hidden, Rebias int64
	Two, Emin      [2]float32
}

// Groups computes the fused sum of C and of scaled sums, each cut toward zero, as
// float64. A scale is given by its value and the power of two of its exponent field.
type Groups struct {
	Sums, Sizes               *float32 // [group][output]: sums of products, and of their magnitudes
	SumStride                 int64    // in bytes, from a group to the next
	RowScales                 *float64 // [tile][row][group][2]
	ColumnScales              *float64 // [tile][column group][group][2][column]
	Acc                       *float32
	D                         *float64
	Kinds                     *float32 // NaN where a scale is, else 0
	Tiles, ColumnGroups, Rows int64
	Groups                    int64
	RowStride, RowTile        int64
	ColumnStride              int64
	ExpMask, SignBit, Shift   int64
	Emin, Floor               float64
}

// Exact sums C and L products at a time, of A [row][k] and B [k][column], exactly
// and rounds to FP32, to nearest.
type Exact struct {
	A, B                *float64
	C, D                *float32
	Tiles, Groups, Rows int64
	K                   int64
	ARow, ATile, BGroup int64
	ExpMask, One        int64
	Split               float64 // 1.5 * 2^52 * 2^-10
	QNaN                int64
}

// Program is a program that the kernel word runs on dot products side by side, as many in a group
// as a vector has float64. C and D have room for whole groups. A power of two stands for an exponent,
// its bits for its logarithm: Scale less a largest exponent is the factor that makes a term a number
// of units. A result is a NaN if it is not known: it may be an infinity, a NaN or a tiny number.
type Program struct {
	Terms            *float64 // [group][k]: values, and nominal exponents (0: none)
	C, D             *float32
	Groups, Steps, L int64 // L products in each step
	Post             int64 // 0: PostRound is not made

	// Sums of products. WithC has all bits set if E counts C, Zero is what a zero sum is added to.
	Mode                         int64 // of VROUNDPD, as in all cuts
	Scale, WithC                 [8]int64
	Floor, Zero, MinusZero, Emin [8]float64
	ExpMask, Abs, Inverse, NaN   [8]int64
	Join                         JoinCuts
	PostRound, AccRound          Rounding
	One                          [8]int64   // for exact sums
	Split                        [8]float64 // adding it rounds to multiples of the unit at which they are split
	Control                      uint64     // of MXCSR, for the sums of chained
	Zero32, Over32               [8]float32
	Abs32                        [8]uint32
}

// JoinCuts is how the sum of products and the accumulator are cut.
type JoinCuts struct {
	Mode, CMode   int64
	Scale, CScale [8]int64
	Floor         [8]float64
}

// Rounding is a rounding of the kernel word. The results of magnitudes from Over on, and below Tiny, are
// not known.
type Rounding struct {
	Mode             int64
	Scale            [8]int64
	Emin, Tiny, Over [8]float64
}

// Integers adds the products of integers to C, in dot products that lie side by side and take as
// many bytes of A and of B as of D: N bytes, a multiple of 64.
type Integers struct {
	A, B, C, D                 *byte
	N                          int64
	MaskA, SignA, MaskB, SignB [16]uint16 // of codes of one byte: all bits, and the one of the sign
}

// IntegerCodes makes words of N codes of one byte, a multiple of 16.
type IntegerCodes struct {
	Src        *byte
	Dst        *int16
	N          int64
	Mask, Sign [16]uint16 // as in Integers
}

// IntegerTiles adds products of words, A [tile][row][k] and B [tile][group][k/2][column][2], to
// C. C and D are laid out [tile][group][row][column], and Rows is a multiple of 4.
type IntegerTiles struct {
	A, B                *int16
	C, D                *byte
	Tiles, Groups, Rows int64
	Pairs               int64 // of products
	ARow, ATile, BGroup int64
}

// subnormal holds an FP16 code that a routine converts to FP32 and back while MXCSR says
// that subnormal numbers are zeros.
type subnormal struct {
	Code [4]uint16
}
