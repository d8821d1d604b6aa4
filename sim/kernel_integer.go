package sim

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// intSums is the kernel of programs that add products of integers.
type intSums struct {
	m     *Model
	a, b  fp.ID    // as which codes are read
	step  int      // products between two steps of the accumulator
	acc   intRange // of the accumulator
	group int      // products that are added up before they are added to it
	sums  intRange // of such a sum
}

// intSumsState is one worker's scratch space.
type intSumsState struct{ a, b []int64 }

// newIntegers returns the fastest kernel of a program that adds products of integers, or nil if it
// takes them in another order, or has additions after the last step.
func newIntegers(m *Model, level simd.Level) kernel {
	p := &m.params
	if p.Order != mma.Ascending || p.Stage0.Split != mma.Adjacent || p.Stage0.Sum > mma.Fused || p.Lanes > 1 || p.Start != mma.StartC {
		return nil
	}
	signed := m.formats.D.Get().Signed
	k := &intSums{m: m, step: p.Step(m.k), acc: newIntRange(&p.Acc, signed), sums: newIntRange(&p.Stage0.Round, signed)}
	k.a, k.b = operandFormats(p, m.formats)
	if k.group = k.step; p.Stage0.Sum != mma.Off && p.Stage0.Group != 0 {
		k.group = int(p.Stage0.Group)
	}
	if v := newIntVectors(k, level); v != nil {
		return v
	}
	return k
}

func (k *intSums) name() string { return "integer" }

func (k *intSums) newState() any { return new(intSumsState) }

func (k *intSums) run(in *mma.Batch, out []byte, scratch any) {
	st, f := scratch.(*intSumsState), k.m.formats
	width, n := f.D.Width(), in.M*in.N
	for t := range in.Tiles {
		st.a = readIntegers(st.a, k.a, in.A, t*in.M*in.K, in.M*in.K, int64(k.m.params.In.ZeroA))
		st.b = readIntegers(st.b, k.b, in.B, t*in.N*in.K, in.N*in.K, int64(k.m.params.In.ZeroB))
		for i := range n {
			row, col, acc := i/in.N*in.K, i%in.N*in.K, int64(0)
			if f.C != fp.None {
				acc = readInteger(f.C.Get(), mma.Load(in.C, f.C.Width(), t*n+i))
			}
			mma.Store(out, width, t*n+i, uint64(k.dot(st.a[row:][:in.K], st.b[col:][:in.K], acc)))
		}
	}
}

// dot executes the instruction on vectors of one or more times its K.
func (k *intSums) dot(a, b []int64, acc int64) int64 {
	for from := 0; from < len(a); from += k.m.k {
		end := from + k.m.k
		for at := from; at < end; at += k.step {
			last := min(at+k.step, end)
			for g := at; g < last; g += k.group {
				to := min(g+k.group, last)
				acc += k.sums.of(k.products(a[g:to], b[g:to]))
			}
			acc = k.acc.of(acc)
		}
	}
	return acc
}

// products returns the sum of the products of two vectors.
func (k *intSums) products(a, b []int64) (sum int64) {
	if !k.m.params.Prod.Xor {
		return intDot(a, b)
	}
	for i, x := range a {
		sum += x ^ b[i]
	}
	return sum
}

// intRange is what a mma.Round makes of an integer. The zero Round leaves it as it is.
type intRange struct {
	least, most int64
	wrap        uint8 // not 0: bits above the range, which are dropped
	unsigned    bool  // and those that are left have no sign
}

// newIntRange returns the range of a Round of results that have a sign, or none.
func newIntRange(r *mma.Round, signed bool) intRange {
	switch {
	case r.Frac == 0:
		return anyInteger
	case r.Over == mma.OverWrap && signed:
		return intRange{wrap: 63 - uint8(r.Frac)}
	case r.Over == mma.OverWrap:
		return intRange{wrap: 64 - uint8(r.Frac), unsigned: true}
	case signed:
		return rangeOf(r.Frac)
	}
	return intRange{most: 1<<r.Frac - 1}
}

var anyInteger = rangeOf(63)

// rangeOf is the range of integers of so many bits besides the sign, in which sums saturate.
func rangeOf(bits mma.Frac) intRange { return intRange{least: -1 << bits, most: 1<<bits - 1} }

func (r intRange) of(v int64) int64 {
	switch {
	case r.unsigned:
		return int64(uint64(v) << r.wrap >> r.wrap)
	case r.wrap != 0:
		return v << r.wrap >> r.wrap
	}
	return min(max(v, r.least), r.most)
}

// readIntegers reads n codes of a buffer, from one on, and subtracts a zero point.
func readIntegers(to []int64, id fp.ID, buf []byte, from, n int, zero int64) []int64 {
	to = resize(to, n)
	f := id.Get()
	for i := range to {
		to[i] = readInteger(f, mma.Load(buf, int(f.Width), from+i)) - zero
	}
	return to
}

// readInteger returns the integer of a code.
func readInteger(f *fp.Format, code uint64) int64 {
	spare := 64 - f.CodeBits()
	if f.Signed {
		return int64(code) << spare >> spare
	}
	return int64(code << spare >> spare)
}
