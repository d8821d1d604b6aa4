//go:build amd64 && !purego

package simd

// Run turns the columns of codes of some bytes: 2, 4 or 8.
func (x *Transpose) Run(width int) {
	switch width {
	case 2:
		transpose16AVX2(x)
	case 4:
		transpose32AVX2(x)
	case 8:
		transpose64AVX2(x)
	}
}

// Half widens FP16, Brain BF16.
func (x *Widen) Half()  { widenHalfAVX2(x) }
func (x *Widen) Brain() { widenBrainAVX2(x) }

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

// Run decodes and says whether some value is Inf or NaN.
func (x *Half) Run(l Level) bool {
	if l >= AVX512 {
		decodeHalfAVX512(x)
	} else {
		decodeHalfAVX2(x)
	}
	return x.Any != 0
}

// Run finds the codes.
func (x *Largest) Run(l Level) {
	if l >= AVX512 && x.L%8 == 0 {
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

// Run adds the products. special says that factors may be Inf or NaN.
func (x *Step) Run(l Level, kind Kind, special bool) {
	switch {
	case l >= AVX512 && special:
		x.special512(kind)
	case l >= AVX512:
		x.usual512(kind)
	case special:
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
