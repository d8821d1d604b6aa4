//go:build amd64 && !purego

package simd

// Run turns the columns of codes of some bytes: 1, 2, 4 or 8.
func (x *Transpose) Run(width int) {
	switch width {
	case 1:
		transpose8AVX2(x)
	case 2:
		transpose16AVX2(x)
	case 4:
		transpose32AVX2(x)
	case 8:
		transpose64AVX2(x)
	}
}

// Half widens FP16, Brain BF16, and TF32 what its name says.
func (x *Widen) Half()  { widenHalfAVX2(x) }
func (x *Widen) Brain() { widenBrainAVX2(x) }
func (x *Widen) TF32()  { widenTF32AVX2(x) }

// FromOne widens N codes of some bytes, a multiple of 16, of BF16 or TF32; all but zeros
// become 1 at least. It needs AVX-512.
func (x *Widen) FromOne(width int) {
	if width == 2 {
		widenFromOne2AVX512(x)
	} else {
		widenFromOne4AVX512(x)
	}
}

// FMA32, FMA64 and AddMul are the operations of a chain: FMAs of FP32 or FP64, or
// l products of FP32 (2 or 4), rounded, added in pairs, and added to C.
func (x *Chain) FMA32() { fma32AVX2(x) }
func (x *Chain) FMA64() { fma64AVX2(x) }
func (x *Chain) AddMul(l int) {
	if l == 4 {
		addMul4AVX2(x)
	} else {
		addMul2AVX2(x)
	}
}

// TinyFMA32 is FMA32 with AVX-512 for operands some of which may be subnormal, and are
// not flushed. It needs the results of Tiny.
func (x *Chain) TinyFMA32() { fma32TinyAVX512(x) }

// Run finds the numbers, with AVX-512.
func (x *Tiny) Run() { tinyAVX512(x) }

// Run decodes and says whether some value is Inf.
func (x *Half) Run(l Level) bool {
	if l >= AVX512 {
		decodeHalfAVX512(x)
	} else {
		decodeHalfAVX2(x)
	}
	return x.AnyInf != 0
}

// Run decodes and says whether some value is Inf.
func (x *Byte) Run(l Level) bool {
	if l >= AVX512 {
		decodeByteAVX512(x)
	} else {
		decodeByteAVX2(x)
	}
	return x.AnyInf != 0
}

// Run makes the codes.
func (x *Halves) Run() { halvesAVX2(x) }

// Single and Half add FP32 and FP16.
func (x *Late) Single() { late32AVX2(x) }
func (x *Late) Half()   { late16AVX2(x) }

// Run finds the codes.
func (x *Largest) Run(l Level) {
	if l >= AVX512 {
		largest8AVX512(x)
	} else {
		largest8AVX2(x)
	}
}

// Kind is what the accumulators of a step are.
type Kind int

// The kinds.
const (
	Truncated Kind = iota // FP32 rounded toward zero, of Consts.Keep
	Fitting               // the same of all 23 bits, and no sum of a step reaches 2^31 units
	Rounded               // FP16 rounded to nearest even
)

// Run adds the products. inf says that factors may be Inf.
func (x *Step) Run(l Level, kind Kind, inf bool) {
	switch {
	case l >= AVX512 && inf:
		x.special512(kind)
	case l >= AVX512:
		x.usual512(kind)
	case inf:
		x.special2(kind)
	default:
		x.usual2(kind)
	}
}

// Direct calls, so that the compiler sees that arguments do not escape.

func (x *Step) special512(kind Kind) {
	switch kind {
	case Truncated:
		stepSpecialAVX512(x)
	case Fitting:
		fittingSpecialAVX512(x)
	case Rounded:
		halfSpecialAVX512(x)
	}
}

func (x *Step) usual512(kind Kind) {
	switch kind {
	case Truncated:
		stepAVX512(x)
	case Fitting:
		fittingAVX512(x)
	case Rounded:
		halfAVX512(x)
	}
}

func (x *Step) special2(kind Kind) {
	switch kind {
	case Truncated:
		stepSpecialAVX2(x)
	case Fitting:
		fittingSpecialAVX2(x)
	case Rounded:
		halfSpecialAVX2(x)
	}
}

func (x *Step) usual2(kind Kind) {
	switch kind {
	case Truncated:
		stepAVX2(x)
	case Fitting:
		fittingAVX2(x)
	case Rounded:
		halfAVX2(x)
	}
}

// Rows decodes rows of codes of some bytes: 1, 2 or 4.
func (x *Decode) Rows(l Level, width int) {
	switch {
	case l >= AVX512 && width == 1:
		rows1AVX512(x)
	case l >= AVX512 && width == 2:
		rows2AVX512(x)
	case l >= AVX512:
		rows4AVX512(x)
	case width == 1:
		rows1AVX2(x)
	case width == 2:
		rows2AVX2(x)
	default:
		rows4AVX2(x)
	}
}

// Columns decodes columns by k, each 8 codes in three parts.
func (x *Decode) Columns(l Level, width int) {
	switch {
	case l >= AVX512 && width == 1:
		columns1AVX512(x)
	case l >= AVX512 && width == 2:
		columns2AVX512(x)
	case l >= AVX512:
		columns4AVX512(x)
	case width == 1:
		columns1AVX2(x)
	case width == 2:
		columns2AVX2(x)
	default:
		columns4AVX2(x)
	}
}

// Run makes the codes.
func (x *Exponents) Run(l Level, width int) {
	switch {
	case l >= AVX512 && width == 1:
		exponents1AVX512(x)
	case l >= AVX512 && width == 2:
		exponents2AVX512(x)
	case l >= AVX512:
		exponents4AVX512(x)
	case width == 1:
		exponents1AVX2(x)
	case width == 2:
		exponents2AVX2(x)
	default:
		exponents4AVX2(x)
	}
}

// Run makes the numbers.
func (x *Kinds) Run(l Level, width int) {
	switch {
	case l >= AVX512 && width == 1:
		kinds1AVX512(x)
	case l >= AVX512 && width == 2:
		kinds2AVX512(x)
	case l >= AVX512:
		kinds4AVX512(x)
	case width == 1:
		kinds1AVX2(x)
	case width == 2:
		kinds2AVX2(x)
	default:
		kinds4AVX2(x)
	}
}

// Run finds the codes.
func (x *Largest16) Run(l Level) {
	if l >= AVX512 {
		largest16AVX512(x)
	} else {
		largest16AVX2(x)
	}
}

// Run takes the larger ones.
func (x *Larger16) Run() { larger16AVX2(x) }

// Prepare makes Parts of E and Acc; fp32 says that Acc is FP32.
func (x *Sums) Prepare(l Level, fp32 bool) {
	switch {
	case l >= AVX512 && fp32:
		prepareFP32AVX512(x)
	case l >= AVX512:
		prepareAVX512(x)
	case fp32:
		prepareFP32AVX2(x)
	default:
		prepareAVX2(x)
	}
}

// Finish makes Sum of Parts, rounded toward zero if it is FP32. special says that
// Kinds counts where bit 13 of E is set.
func (x *Sums) Finish(l Level, fp32, special bool) {
	switch {
	case l >= AVX512 && fp32 && special:
		finishFP32SpecialAVX512(x)
	case l >= AVX512 && fp32:
		finishFP32AVX512(x)
	case l >= AVX512 && special:
		finishSpecialAVX512(x)
	case l >= AVX512:
		finishAVX512(x)
	case fp32 && special:
		finishFP32SpecialAVX2(x)
	case fp32:
		finishFP32AVX2(x)
	case special:
		finishSpecialAVX2(x)
	default:
		finishAVX2(x)
	}
}

// Run adds the products.
func (x *Dot) Run(l Level) {
	if l >= AVX512 {
		dotAVX512(x)
	} else {
		dotAVX2(x)
	}
}

// Products makes the sums of products alone, float64, and Run those of FP32. Both
// need AVX-512.
func (x *Fused) Products() { fusedAVX512(x) }

// Run makes sums with accumulators; special says that factors may be Inf or NaN.
func (x *Fused) Run(special bool) {
	if special {
		fusedFP32SpecialAVX512(x)
	} else {
		fusedFP32AVX512(x)
	}
}

// Run makes sums with accumulators; special says that factors may be Inf or NaN. It
// needs AVX-512.
func (x *Joined) Run(special bool) {
	if special {
		joinedSpecialAVX512(x)
	} else {
		joinedAVX512(x)
	}
}

// Run sums the kinds. Over sums products that are Inf or NaN as FP32 instead.
func (x *SumKinds) Run(l Level) {
	if l >= AVX512 {
		sumKindsAVX512(x)
	} else {
		sumKindsAVX2(x)
	}
}

func (x *SumKinds) Over(l Level) {
	if l >= AVX512 {
		sumOverAVX512(x)
	} else {
		sumOverAVX2(x)
	}
}

// Close converts Parts, which are float64, to FP32, to nearest.
func (x *Sums) Close(l Level, special bool) {
	switch {
	case l >= AVX512 && special:
		closingSpecialAVX512(x)
	case l >= AVX512:
		closingAVX512(x)
	case special:
		closingSpecialAVX2(x)
	default:
		closingAVX2(x)
	}
}

// Run adds C to one sum, or to two.
func (x *Join) Run(l Level, two bool) {
	switch {
	case l >= AVX512 && two:
		joinTwoAVX512(x)
	case l >= AVX512:
		joinAVX512(x)
	case two:
		joinTwoAVX2(x)
	default:
		joinAVX2(x)
	}
}

// Run permutes; cross says that then the lower halves of 32 bytes come first.
func (x *Shuffle) Run(cross bool) {
	if cross {
		shuffleCrossAVX2(x)
	} else {
		shuffleAVX2(x)
	}
}

// Run rounds.
func (x *Round) Run(l Level) {
	if l >= AVX512 {
		roundAVX512(x)
	} else {
		roundAVX2(x)
	}
}

// FromFloat32 converts to float64, ToFloat32 from float64, and NarrowHalf from
// FP32 to FP16, the latter two numbers that need no rounding.
func (x *Convert) FromFloat32(l Level) {
	if l >= AVX512 {
		fromFloat32AVX512(x)
	} else {
		fromFloat32AVX2(x)
	}
}

func (x *Convert) ToFloat32(l Level) {
	if l >= AVX512 {
		toFloat32AVX512(x)
	} else {
		toFloat32AVX2(x)
	}
}

func (x *Convert) NarrowHalf() { narrowHalfAVX2(x) }

// Rows and Columns multiply by scales.
func (x *Scale) Rows()    { scaleRowsAVX2(x) }
func (x *Scale) Columns() { scaleColumnsAVX2(x) }

// Run decodes.
func (x *Small) Run() { smallAVX2(x) }

// Run makes the sums.
func (x *Groups) Run(l Level) {
	if l >= AVX512 {
		groupsAVX512(x)
	} else {
		groupsAVX2(x)
	}
}

// Truncate converts Parts, which are float64, to FP32, toward zero.
func (x *Sums) Truncate(l Level) {
	if l >= AVX512 {
		truncatingAVX512(x)
	} else {
		truncatingAVX2(x)
	}
}

// Run sums l products at a time, 2 or 4.
func (x *Exact) Run(l Level, products int) {
	switch {
	case l >= AVX512 && products == 4:
		exact4AVX512(x)
	case l >= AVX512:
		exact2AVX512(x)
	case products == 4:
		exact4AVX2(x)
	default:
		exact2AVX2(x)
	}
}
