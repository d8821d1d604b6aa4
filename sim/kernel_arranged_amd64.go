//go:build !purego

package sim

import (
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// arrangedVectors is what arranged does in vector instructions: it puts operands of one
// byte into another order, widens them to FP16, and adds C.
type arrangedVectors struct {
	sequence *sequence // nil: arranged in Go
	a, b     simd.Byte
	late     simd.Late
}

// arrangedVectorState is one worker's scratch space.
type arrangedVectorState struct {
	shuffle simd.Shuffle
	halves  simd.Halves
	late    simd.Late
	codes   []byte
}

func (t *arranged) setVectors(path Path) {
	if path.level() < simd.AVX2 {
		return
	}
	f := t.m.formats
	t.vec = &arrangedVectors{}
	v := t.vec
	a, b := f.A.Get(), f.B.Get()
	// simd.Byte has no NaN in the code of -0, and reads E5M2FNUZ's largest exponent as Inf.
	if t.a != nil && a.Specials != fp.NegZeroNaN && b.Specials != fp.NegZeroNaN {
		v.sequence = newSequence(t.m.order)
		v.a, v.b = newByte(a), newByte(b)
	}
	for i := range v.late.Zero {
		v.late.QNaN[i] = math.Float32bits(nan32(f.D.Get(), t.nan))
		if !t.plus {
			v.late.Zero[i] = 1 << 31
		}
	}
}

// newSequence returns a sequence as a permutation of 32 bytes, which hold it once or
// several times; nil if simd.Shuffle cannot do it.
func newSequence(order []int) *sequence {
	for _, cross := range []bool{false, true} {
		s := &sequence{cross: cross}
		fits := 32%len(order) == 0
		for i := 0; fits && i < 32; i++ {
			from := i/len(order)*len(order) + order[i%len(order)]
			half, at := i/16, i%16
			if cross {
				half, at = i/8%2, i/16*8+i%8
			}
			s.pattern[16*half+at] = uint8(from % 16)
			fits = from/16 == half
		}
		if fits {
			return s
		}
	}
	return nil
}

// arrangeVectors arranges a batch of the instruction's K, and reports whether it can.
func (t *arranged) arrangeVectors(st *arrangedState, b, in *mma.Batch) bool {
	v := t.vec
	if v == nil || v.sequence == nil || len(in.A)%32 != 0 || len(in.B)%32 != 0 {
		return false
	}
	v.arrange(&st.vec, b.A, in.A, &v.a)
	v.arrange(&st.vec, b.B, in.B, &v.b)
	return true
}

func (v *arrangedVectors) arrange(st *arrangedVectorState, dst, src []byte, format *simd.Byte) {
	st.codes = resize(st.codes, len(src))
	x := &st.shuffle
	x.Src, x.Dst, x.N, x.Pattern = &src[0], &st.codes[0], int64(len(src)), v.sequence.pattern
	x.Run(v.sequence.cross)
	h := &st.halves
	h.Src, h.Dst, h.N, h.Byte = &st.codes[0], &dst[0], int64(len(src)), *format
	h.Run()
}

// addVectors adds C to as many sums as it can, and returns how many bytes these take.
func (t *arranged) addVectors(st *arrangedState, out, sums, c []byte) int {
	w := t.m.formats.D.Width()
	n := len(sums) / w &^ 7
	if t.vec == nil || n == 0 {
		return 0
	}
	x := &st.vec.late
	*x = t.vec.late
	x.Sum, x.C, x.D, x.N = &sums[0], &c[0], &out[0], int64(n)
	if t.m.formats.D == fp.FP16 {
		x.Half()
	} else {
		x.Single()
	}
	return n * w
}
