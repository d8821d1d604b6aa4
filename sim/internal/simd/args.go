package simd

// The argument blocks of the routines in assembly. A group is 8 adjacent columns
// of one tile, the last filled up with zeros. Strides are in bytes.

// Transpose turns groups of 8 columns of K codes, [group][column][k], into
// [group][k][column]. 16 bytes of a column are read at once: K is a multiple of
// that.
type Transpose struct {
	Src, Dst  *byte
	Groups, K int64
}

// Half is the work of decoding FP16: N codes, a multiple of 32.
type Half struct {
	Src  *byte
	Val  *float32
	Code *uint8
	N    int64
	Any  int64 // result: not 0 if some value is Inf or NaN
}

// Largest finds the largest exponent codes of the products of each step of L, a
// multiple of 4: A [tile][row][k] and B [tile][group][k][column] give
// E [step][tile][group][row][column]. Rows is a multiple of 4; what A lacks of
// that is read from the rows that follow. Bias is added to E, which stops at 255.
type Largest struct {
	A, B, E             *uint8
	Tiles, Groups, Rows int64
	Steps, L            int64
	ARow, ATile         int64
	EStep               int64
	Bias                [32]uint8
}

// Step adds the products of one step to the accumulators of all outputs, which
// are laid out [tile][group][row][column] and so are E, C and D. E is the largest
// exponents of products, as exponent fields of a float32. Rows is a multiple of
// 4.
type Step struct {
	A                   *float32 // values of the step: [row][k]
	B                   *float32 // [k][column]
	E                   *uint8
	C, D                *byte // accumulators before and after the step
	Tiles, Groups, Rows int64
	L4                  int64 // 4*L, and L is a multiple of 4
	ARow, ATile, BGroup int64
	Consts              Consts
}

// Consts are the constants of a step, in all lanes of a vector.
type Consts struct {
	Abs, Sign [8]uint32 // all bits but the sign, the sign
	Finite    [8]int32  // the largest finite number
	QNaN      [8]uint32 // code of a NaN result
	One       [8]int32
	Floor     [8]int32  // exponent field of the floor
	Emin      [8]int32  // of the least exponent of an accumulator that is not zero
	Unit      [8]int32  // of 2^(F-E), plus that of 2^E
	Inverse   [8]int32  // 2^x and 2^-x, as bits, add up to this
	Keep      [8]uint32 // bits of a float32 that a result keeps
	Small     [8]int32  // the largest magnitude that rounds to +0
	Null      [8]int32  // below this E no product counts
	Special   [8]int32  // above this E some factor is Inf or NaN
}

// Widen makes FP32 of N codes of 2 bytes, a multiple of 8. Magnitudes up to Small
// become +0.
type Widen struct {
	Src, Dst *byte
	N        int64
	Small    [8]int32
	Abs      [8]uint32
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
}

// Bits of Control.
const (
	RoundDown     = 1 << 13
	RoundUp       = 2 << 13
	RoundZero     = 3 << 13
	FlushResults  = 1 << 15
	FlushOperands = 1 << 6
)
