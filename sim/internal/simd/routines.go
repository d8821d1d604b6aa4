//go:build amd64 && !purego

package simd

// run calls a routine of a level. It is inlined, so that the calls are direct and x does
// not escape.
func run[T any](l Level, x *T, avx2, avx512 func(*T)) {
	if l >= AVX512 {
		avx512(x)
	} else {
		avx2(x)
	}
}

// Run turns columns of codes of width bytes: 1, 2, 4 or 8.
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

// Half, Brain and TF32 widen FP16, BF16 and TF32.
func (x *Widen) Half()  { widenHalfAVX2(x) }
func (x *Widen) Brain() { widenBrainAVX2(x) }
func (x *Widen) TF32()  { widenTF32AVX2(x) }

// FromOne widens N codes, a multiple of 16, of BF16 or TF32 (width 2 or 4); magnitudes
// other than zero become at least 1. It needs AVX-512.
func (x *Widen) FromOne(width int) {
	if width == 2 {
		widenFromOne2AVX512(x)
	} else {
		widenFromOne4AVX512(x)
	}
}

// FMA32, FMA64, MulAdd32, MulAdd64 and AddMul are the operations of a chain: FMAs of FP32
// or FP64, the same with a rounded product, or the products of 1, 2 or 4 elements, which are
// rounded and added in pairs, then to the accumulator, all in FP32.
func (x *Chain) FMA32()    { fma32AVX2(x) }
func (x *Chain) FMA64()    { fma64AVX2(x) }
func (x *Chain) MulAdd32() { mulAdd32AVX2(x) }
func (x *Chain) MulAdd64() { mulAdd64AVX2(x) }
func (x *Chain) AddMul(l int) {
	switch l {
	case 1:
		addMul1AVX2(x)
	case 2:
		addMul2AVX2(x)
	default:
		addMul4AVX2(x)
	}
}

// TinyFMA32 is FMA32 with AVX-512 for operands some of which may be subnormal, and are
// not flushed. It needs the results of Tiny.
func (x *Chain) TinyFMA32() { fma32TinyAVX512(x) }

// Run finds the numbers, with AVX-512.
func (x *Tiny) Run() { tinyAVX512(x) }

// Run decodes and reports whether some value is Inf.
func (x *Half) Run(l Level) bool {
	run(l, x, decodeHalfAVX2, decodeHalfAVX512)
	return x.AnyInf != 0
}

// Run decodes and reports whether some value is Inf.
func (x *Byte) Run(l Level) bool {
	run(l, x, decodeByteAVX2, decodeByteAVX512)
	return x.AnyInf != 0
}

// Run makes the codes.
func (x *Halves) Run() { halvesAVX2(x) }

// Single and Half add FP32 and FP16.
func (x *Late) Single() { late32AVX2(x) }
func (x *Late) Half()   { late16AVX2(x) }

// Run finds the codes.
func (x *Largest) Run(l Level) { run(l, x, largest8AVX2, largest8AVX512) }

// Kind is what the accumulators of a step are.
type Kind int

// The kinds.
const (
	truncated Kind = iota // FP32 rounded toward zero, with the bits Consts.Keep
	Fitting               // the same with all 23 bits, and no sum of a step reaches 2^31 units
	Rounded               // FP16 rounded to nearest even
)

// Run adds the products. inf is whether factors may be Inf.
func (x *Step) Run(l Level, kind Kind, inf bool) {
	switch {
	case kind == truncated && inf:
		run(l, x, stepSpecialAVX2, stepSpecialAVX512)
	case kind == truncated:
		run(l, x, stepAVX2, stepAVX512)
	case kind == Fitting && inf:
		run(l, x, fittingSpecialAVX2, fittingSpecialAVX512)
	case kind == Fitting:
		run(l, x, fittingAVX2, fittingAVX512)
	case inf:
		run(l, x, halfSpecialAVX2, halfSpecialAVX512)
	default:
		run(l, x, halfAVX2, halfAVX512)
	}
}

// Rows decodes rows of codes of 1, 2 or 4 bytes.
func (x *Decode) Rows(l Level, width int) {
	switch width {
	case 1:
		run(l, x, rows1AVX2, rows1AVX512)
	case 2:
		run(l, x, rows2AVX2, rows2AVX512)
	default:
		run(l, x, rows4AVX2, rows4AVX512)
	}
}

// Columns decodes columns by k, each 8 codes in three parts.
func (x *Decode) Columns(l Level, width int) {
	switch width {
	case 1:
		run(l, x, columns1AVX2, columns1AVX512)
	case 2:
		run(l, x, columns2AVX2, columns2AVX512)
	default:
		run(l, x, columns4AVX2, columns4AVX512)
	}
}

// Run makes the codes.
func (x *Exponents) Run(l Level, width int) {
	switch width {
	case 1:
		run(l, x, exponents1AVX2, exponents1AVX512)
	case 2:
		run(l, x, exponents2AVX2, exponents2AVX512)
	default:
		run(l, x, exponents4AVX2, exponents4AVX512)
	}
}

// Run makes the kinds.
func (x *Kinds) Run(l Level, width int) {
	switch width {
	case 1:
		run(l, x, kinds1AVX2, kinds1AVX512)
	case 2:
		run(l, x, kinds2AVX2, kinds2AVX512)
	default:
		run(l, x, kinds4AVX2, kinds4AVX512)
	}
}

// Run finds the codes.
func (x *Largest16) Run(l Level) { run(l, x, largest16AVX2, largest16AVX512) }

// Run takes the larger ones.
func (x *Larger16) Run() { larger16AVX2(x) }

// Prepare computes Parts from E and Acc. fp32 is whether Acc is FP32.
func (x *Sums) Prepare(l Level, fp32 bool) {
	if fp32 {
		run(l, x, prepareFP32AVX2, prepareFP32AVX512)
	} else {
		run(l, x, prepareAVX2, prepareAVX512)
	}
}

// Finish computes Sum from Parts, rounded toward zero if it is FP32. special is whether Kinds
// counts where bit 13 of E is set.
func (x *Sums) Finish(l Level, fp32, special bool) {
	switch {
	case fp32 && special:
		run(l, x, finishFP32SpecialAVX2, finishFP32SpecialAVX512)
	case fp32:
		run(l, x, finishFP32AVX2, finishFP32AVX512)
	case special:
		run(l, x, finishSpecialAVX2, finishSpecialAVX512)
	default:
		run(l, x, finishAVX2, finishAVX512)
	}
}

// Run adds the products.
func (x *Dot) Run(l Level) { run(l, x, dotAVX2, dotAVX512) }

// Products computes the sums of products alone, float64, and Run those of FP32 with
// accumulators; special is whether factors may be Inf or NaN. Both need AVX-512.
func (x *Fused) Products() { fusedAVX512(x) }
func (x *Fused) Run(special bool) {
	if special {
		fusedFP32SpecialAVX512(x)
	} else {
		fusedFP32AVX512(x)
	}
}

// Run makes sums with accumulators; special is whether factors may be Inf or NaN. It
// needs AVX-512.
func (x *Joined) Run(special bool) {
	if special {
		joinedSpecialAVX512(x)
	} else {
		joinedAVX512(x)
	}
}

// Run sums the kinds. Over sums products that are Inf or NaN as FP32 instead.
func (x *SumKinds) Run(l Level)  { run(l, x, sumKindsAVX2, sumKindsAVX512) }
func (x *SumKinds) Over(l Level) { run(l, x, sumOverAVX2, sumOverAVX512) }

// Close converts Parts, which are float64, to FP32, to nearest.
func (x *Sums) Close(l Level, special bool) {
	if special {
		run(l, x, closingSpecialAVX2, closingSpecialAVX512)
	} else {
		run(l, x, closingAVX2, closingAVX512)
	}
}

// Truncate converts Parts, which are float64, to FP32, toward zero.
func (x *Sums) Truncate(l Level) { run(l, x, truncatingAVX2, truncatingAVX512) }

// Run adds C to one sum, or to two.
func (x *Join) Run(l Level, two bool) {
	if two {
		run(l, x, joinTwoAVX2, joinTwoAVX512)
	} else {
		run(l, x, joinAVX2, joinAVX512)
	}
}

// Run permutes. With cross, the lower halves of both 16 bytes of each 32 then come first.
func (x *Shuffle) Run(cross bool) {
	if cross {
		shuffleCrossAVX2(x)
	} else {
		shuffleAVX2(x)
	}
}

// Run rounds.
func (x *Round) Run(l Level) { run(l, x, roundAVX2, roundAVX512) }

// FromFloat32 converts to float64, ToFloat32 from float64, and NarrowHalf from FP32 to
// FP16. The latter two convert numbers that need no rounding.
func (x *Convert) FromFloat32(l Level) { run(l, x, fromFloat32AVX2, fromFloat32AVX512) }
func (x *Convert) ToFloat32(l Level)   { run(l, x, toFloat32AVX2, toFloat32AVX512) }
func (x *Convert) NarrowHalf()         { narrowHalfAVX2(x) }

// Rows and Columns multiply by scales.
func (x *Scale) Rows()    { scaleRowsAVX2(x) }
func (x *Scale) Columns() { scaleColumnsAVX2(x) }

// Run decodes.
func (x *Small) Run() { smallAVX2(x) }

// Run makes the sums.
func (x *Groups) Run(l Level) { run(l, x, groupsAVX2, groupsAVX512) }

// Run runs the steps, Exact those whose sums are exact, and Chained those that add one product each
// exactly to FP32.
func (x *Program) Run(l Level)     { run(l, x, programAVX2, programAVX512) }
func (x *Program) Exact(l Level)   { run(l, x, exactSumsAVX2, exactSumsAVX512) }
func (x *Program) Chained(l Level) { run(l, x, chainedAVX2, chainedAVX512) }

// Run sums l products at a time, 2 or 4.
func (x *Exact) Run(l Level, products int) {
	if products == 4 {
		run(l, x, exact4AVX2, exact4AVX512)
	} else {
		run(l, x, exact2AVX2, exact2AVX512)
	}
}

// IntegerSum is what Integers adds up for an element of D.
type IntegerSum int

// The sums.
const (
	FourBytes IntegerSum = iota // four products of codes of one byte
	TwoWords                    // two products of words
	TwoPairs                    // two sums of two products of codes of one byte, which saturate in 16 bits
	OnePair                     // one such sum, in 16 bits and without C
)

// Run makes the sums. They wrap or, with saturates, saturate: those of four bytes and of two words.
// With mixed, all bytes of A are unsigned and those of B signed, which is faster.
func (x *Integers) Run(l Level, sum IntegerSum, saturates, mixed bool) {
	switch {
	case mixed && sum == OnePair:
		run(l, x, mixedPairAVX2, mixedPairAVX512)
	case mixed && sum == TwoPairs:
		run(l, x, mixedPairsAVX2, mixedPairsAVX512)
	case mixed && saturates:
		run(l, x, mixedBytesSaturatedAVX2, mixedBytesSaturatedAVX512)
	case mixed:
		run(l, x, mixedBytesAVX2, mixedBytesAVX512)
	case sum == OnePair:
		run(l, x, integerPairAVX2, integerPairAVX512)
	case sum == TwoPairs:
		run(l, x, integerPairsAVX2, integerPairsAVX512)
	case sum == TwoWords && saturates:
		run(l, x, integerWordsSaturatedAVX2, integerWordsSaturatedAVX512)
	case sum == TwoWords:
		run(l, x, integerWordsAVX2, integerWordsAVX512)
	case saturates:
		run(l, x, integerBytesSaturatedAVX2, integerBytesSaturatedAVX512)
	default:
		run(l, x, integerBytesAVX2, integerBytesAVX512)
	}
}

// Run makes the words.
func (x *IntegerCodes) Run() { widenIntegersAVX2(x) }

// Run makes the sums, which wrap or saturate. With xor, a product of bits is their exclusive or,
// and sums wrap.
func (x *IntegerTiles) Run(saturates, xor bool) {
	switch {
	case xor:
		integerTilesXorAVX2(x)
	case saturates:
		integerTilesSaturatedAVX2(x)
	default:
		integerTilesAVX2(x)
	}
}
