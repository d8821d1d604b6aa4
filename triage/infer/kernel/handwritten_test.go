package kernel

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// element is what a hand-written kernel computes an element of D of.
type element struct {
	a, b              []float32 // its row of A and column of B
	row, column, call int
}

// handwritten computes products of matrices by a function.
type handwritten struct {
	inst  *mma.Instruction
	f     func(e element) float32
	calls int // products so far
}

func newHandwritten(f func(element) float32, s schedule.Shape) *handwritten {
	return &handwritten{inst: matmul(mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}, s, nil).inst, f: f}
}

func (h *handwritten) Instruction() *mma.Instruction { return h.inst }
func (h *handwritten) Model() *mma.Params            { return nil }
func (h *handwritten) Run(_ context.Context, in *mma.Batch, out []byte) error {
	for t := range in.Tiles {
		p := in.Part(t, 1)
		a, b := numbers(p.A), numbers(p.B)
		h.calls++
		for i := range in.M * in.N {
			row, column := i/in.N, i%in.N
			d := h.f(element{a[row*in.K:][:in.K], b[column*in.K:][:in.K], row, column, h.calls})
			mma.Store(out, 4, t*in.M*in.N+i, uint64(math.Float32bits(d)))
		}
	}
	return nil
}

func numbers(codes []byte) []float32 {
	all := make([]float32, len(codes)/4)
	for i := range all {
		all[i] = math.Float32frombits(uint32(mma.Load(codes, 4, i)))
	}
	return all
}

// fma returns x*y + z, rounded once: the sum of the exact product and z is rounded to odd in
// FP64 first (Boldo and Melquiond 2008).
func fma(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	if math.IsInf(s, 0) || math.IsNaN(s) {
		return float32(s)
	}
	v := s - p
	if lost := (p - (s - v)) + (c - v); lost != 0 && math.Float64bits(s)&1 == 0 {
		s = math.Nextafter(s, math.Copysign(math.Inf(1), lost))
	}
	return float32(s)
}

// mulAdd returns x*y + z, rounded twice.
func mulAdd(x, y, z float32) float32 { return float32(x*y) + z }

// adder adds a product to a sum.
type adder func(x, y, z float32) float32

// ordered adds the products of some k in order.
func (e element) ordered(add adder, s float32, ks ...int) float32 {
	for _, k := range ks {
		s = add(e.a[k], e.b[k], s)
	}
	return s
}

// stride returns from, from+by, ... below to.
func stride(from, to, by int) (ks []int) {
	for k := from; k < to; k += by {
		ks = append(ks, k)
	}
	return ks
}

func (e element) chain(add adder) float32 { return e.ordered(add, 0, stride(0, len(e.a), 1)...) }

// lanes returns the sums of n lanes of the first m products.
func (e element) lanes(add adder, n, m int) []float32 {
	sums := make([]float32, n)
	for i := range sums {
		sums[i] = e.ordered(add, 0, stride(i, m, n)...)
	}
	return sums
}

// butterfly adds the upper half to the lower until one is left.
func butterfly(s []float32) float32 {
	for n := len(s) / 2; n > 0; n /= 2 {
		for i := range n {
			s[i] += s[i+n]
		}
	}
	return s[0]
}

func inOrder(s []float32) float32 {
	for _, x := range s[1:] {
		s[0] += x
	}
	return s[0]
}

// pairwise adds by halves down to eight products.
func (e element) pairwise(from, to int) float32 {
	if to-from <= 8 {
		return e.ordered(fma, 0, stride(from, to, 1)...)
	}
	middle := (from + to) / 2
	return e.pairwise(from, middle) + e.pairwise(middle, to)
}

// blocks returns the sums of blocks of n products.
func (e element) blocks(add adder, n int) (sums []float32) {
	for from := 0; from < len(e.a); from += n {
		sums = append(sums, e.ordered(add, 0, stride(from, min(from+n, len(e.a)), 1)...))
	}
	return sums
}

// double adds in FP64.
func (e element) double(rounded bool, ks ...int) (s float64) {
	for _, k := range ks {
		if p := float64(e.a[k]) * float64(e.b[k]); rounded {
			s += float64(float32(p))
		} else {
			s += p
		}
	}
	return s
}

func subnormal(x float32) bool { return x != 0 && math.Abs(float64(x)) < 0x1p-126 }

// flushed makes a zero of a subnormal number.
func flushed(x float32) float32 {
	if subnormal(x) {
		return float32(math.Copysign(0, float64(x)))
	}
	return x
}

func flushedAll(xs []float32) []float32 {
	all := slices.Clone(xs)
	for i, x := range all {
		all[i] = flushed(x)
	}
	return all
}

func every(xs []float32, is func(x float32) bool) bool {
	return !slices.ContainsFunc(xs, func(x float32) bool { return !is(x) })
}

func negZero() float32 { return float32(math.Copysign(0, -1)) }

// reversed is a chain from the last product to the first.
func (e element) reversed() float32 {
	ks := stride(0, len(e.a), 1)
	slices.Reverse(ks)
	return e.ordered(fma, 0, ks...)
}

// bf16 rounds to BF16.
func bf16(x float32) float32 {
	u := math.Float32bits(x)
	if x != x || math.IsInf(float64(x), 0) {
		return x
	}
	u += 0x7fff + u>>16&1
	return math.Float32frombits(u &^ 0xffff)
}

// wide adds finite products in so many bits, and others in FP32.
func (e element) wide(bits uint) float32 {
	s := new(big.Float).SetPrec(bits)
	other := float32(0)
	for k := range e.a {
		if p := float64(e.a[k]) * float64(e.b[k]); p-p != 0 {
			other += float32(p)
		} else {
			s.Add(s, big.NewFloat(p))
		}
	}
	if other != 0 {
		return other
	}
	d, _ := s.Float32()
	return d
}

// handwrittens are kernels as people write them, with defects as people make them, and what
// an inference has to say. They were written before the search that is to find them.
var handwrittens = []struct {
	name string
	want Verdict
	f    func(e element) float32
}{
	{"chain", Found, func(e element) float32 { return e.chain(fma) }},
	{"unfused chain", Found, func(e element) float32 { return e.chain(mulAdd) }},
	{"chain from the first product", Found, func(e element) float32 {
		return e.ordered(fma, e.a[0]*e.b[0], stride(1, len(e.a), 1)...)
	}},
	{"two lanes", Found, func(e element) float32 { return inOrder(e.lanes(fma, 2, len(e.a))) }},
	{"eight lanes, butterfly", Found, func(e element) float32 { return butterfly(e.lanes(fma, 8, len(e.a))) }},
	{"sixteen lanes unfused, butterfly", Found, func(e element) float32 { return butterfly(e.lanes(mulAdd, 16, len(e.a))) }},
	{"four lanes in order, tail after", Found, func(e element) float32 {
		m := len(e.a) &^ 3
		return e.ordered(fma, inOrder(e.lanes(fma, 4, m)), stride(m, len(e.a), 1)...)
	}},
	{"four lanes, tail in the first", Found, func(e element) float32 {
		m := len(e.a) &^ 7
		s := e.lanes(fma, 4, m)
		s[0] = e.ordered(fma, s[0], stride(m, len(e.a), 1)...)
		return butterfly(s)
	}},
	{"four lanes fused, tail apart unfused", Found, func(e element) float32 {
		m := len(e.a) &^ 3
		return butterfly(e.lanes(fma, 4, m)) + e.ordered(mulAdd, 0, stride(m, len(e.a), 1)...)
	}},
	{"eight lanes, tail in double", Found, func(e element) float32 {
		m := len(e.a) &^ 15
		return float32(float64(butterfly(e.lanes(fma, 8, m))) + e.double(true, stride(m, len(e.a), 1)...))
	}},
	{"pairwise", Found, func(e element) float32 { return e.pairwise(0, len(e.a)) }},
	{"blocks of 16", Found, func(e element) float32 { return inOrder(e.blocks(fma, 16)) }},
	{"blocks of 10, last first", Found, func(e element) float32 {
		s := e.blocks(fma, 10)
		slices.Reverse(s)
		return inOrder(s)
	}},
	{"cleared C", Found, func(e element) float32 { return 0 + e.chain(fma) }},
	{"cleared C, unfused", Found, func(e element) float32 { return 0 + e.chain(mulAdd) }},
	{"cleared C, two lanes", Found, func(e element) float32 { return 0 + inOrder(e.lanes(fma, 2, len(e.a))) }},
	{"cleared C, eight lanes", Found, func(e element) float32 { return 0 + butterfly(e.lanes(fma, 8, len(e.a))) }},
	{"cleared C, blocks of 12", Found, func(e element) float32 { return inOrder(append([]float32{0}, e.blocks(fma, 12)...)) }},
	{"blocks of 20, two lanes each, cleared C", Found, func(e element) (s float32) {
		for from := 0; from < len(e.a); from += 20 {
			to := min(from+20, len(e.a))
			s += e.ordered(fma, 0, stride(from, to, 2)...) + e.ordered(fma, 0, stride(from+1, to, 2)...)
		}
		return s
	}},
	{"double", Found, func(e element) float32 { return float32(e.double(false, stride(0, len(e.a), 1)...)) }},
	{"double, rounded products", Found, func(e element) float32 { return float32(e.double(true, stride(0, len(e.a), 1)...)) }},
	{"blocks of 8 promoted to double", Found, func(e element) float32 {
		s := 0.0
		for _, x := range e.blocks(fma, 8) {
			s += float64(x)
		}
		return float32(s)
	}},
	{"by row", Found, func(e element) float32 {
		if e.row == 1 {
			return inOrder(e.lanes(fma, 2, len(e.a)))
		}
		return e.chain(fma)
	}},
	{"last column unfused", Found, func(e element) float32 {
		if e.column == 4 {
			return e.chain(mulAdd)
		}
		return e.chain(fma)
	}},
	{"without subnormal numbers", Found, func(e element) (s float32) {
		for k := range e.a {
			s = flushed(fma(flushed(e.a[k]), flushed(e.b[k]), s))
		}
		return s
	}},
	{"dropped tail", Found, func(e element) float32 { return e.ordered(fma, 0, stride(0, len(e.a)&^7, 1)...) }},
	{"last product dropped", Found, func(e element) float32 { return e.ordered(fma, 0, stride(0, len(e.a)-1, 1)...) }},
	{"from the last to the first", Found, element.reversed},
	{"three lanes", Found, func(e element) float32 { return inOrder(e.lanes(fma, 3, len(e.a))) }},
	{"five lanes unfused, last first", Found, func(e element) float32 {
		s := e.lanes(mulAdd, 5, len(e.a))
		slices.Reverse(s)
		return inOrder(s)
	}},
	{"two vectors of four lanes", Found, func(e element) float32 {
		m := len(e.a) &^ 7
		s := e.lanes(fma, 8, m)
		for i := range 4 {
			s[i] += s[i+4]
		}
		return e.ordered(fma, (s[0]+s[1])+(s[2]+s[3]), stride(m, len(e.a), 1)...)
	}},
	{"even, then odd", Found, func(e element) float32 {
		return e.ordered(fma, 0, append(stride(0, len(e.a), 2), stride(1, len(e.a), 2)...)...)
	}},
	{"the short block first", Found, func(e element) float32 {
		r := len(e.a) % 8
		sums := []float32{e.ordered(fma, 0, stride(0, r, 1)...)}
		for from := r; from < len(e.a); from += 8 {
			sums = append(sums, e.ordered(fma, 0, stride(from, from+8, 1)...))
		}
		return inOrder(sums)
	}},
	{"two halves", Found, func(e element) float32 {
		m := (len(e.a) + 1) / 2
		return e.ordered(fma, 0, stride(0, m, 1)...) + e.ordered(fma, 0, stride(m, len(e.a), 1)...)
	}},
	{"three slices, each two lanes", Found, func(e element) (s float32) {
		n := (len(e.a) + 2) / 3
		for from := 0; from < len(e.a); from += n {
			to := min(from+n, len(e.a))
			x := e.ordered(fma, 0, stride(from, to, 2)...) + e.ordered(fma, 0, stride(from+1, to, 2)...)
			if s += x; from == 0 {
				s = x
			}
		}
		return s
	}},
	{"four lanes without subnormal numbers", Found, func(e element) float32 {
		a, b := flushedAll(e.a), flushedAll(e.b)
		var s [4]float32
		for k := range a {
			s[k%4] = flushed(fma(a[k], b[k], s[k%4]))
		}
		return flushed(flushed(s[0]+s[2]) + flushed(s[1]+s[3]))
	}},
	{"blocks added last first, tail dropped", Found, func(e element) float32 {
		e.a = e.a[:len(e.a)&^3]
		s := e.blocks(fma, 12)
		slices.Reverse(s)
		return inOrder(s)
	}},
	{"by corner", Found, func(e element) float32 {
		switch {
		case e.row == 0 && e.column == 0:
			return e.chain(mulAdd)
		case e.row == 0:
			return 0 + e.chain(fma)
		}
		return e.pairwise(0, len(e.a))
	}},
	{"fused and unfused in turn", Unexplained, func(e element) (s float32) {
		for k := range e.a {
			s = [2]adder{fma, mulAdd}[k%2](e.a[k], e.b[k], s)
		}
		return s
	}},
	{"doubled element", Unexplained, func(e element) float32 { return e.ordered(fma, e.chain(fma), 5) }},
	{"swapped elements", Unexplained, func(e element) float32 {
		e.b = slices.Clone(e.b)
		e.b[3], e.b[4] = e.b[4], e.b[3]
		return e.chain(fma)
	}},
	{"two elements in the other order", Unexplained, func(e element) float32 {
		ks := stride(0, len(e.a), 1)
		ks[7], ks[8] = ks[8], ks[7]
		return e.ordered(fma, 0, ks...)
	}},
	{"compensated", Unexplained, func(e element) float32 {
		s, c := float32(0), float32(0)
		for k := range e.a {
			y := e.a[k]*e.b[k] - c
			t := s + y
			c, s = (t-s)-y, t
		}
		return s
	}},
	{"sorted products", Unexplained, func(e element) float32 {
		p := make([]float32, len(e.a))
		for k := range p {
			p[k] = e.a[k] * e.b[k]
		}
		slices.Sort(p)
		return inOrder(p)
	}},
	{"subnormal numbers of A are zeros", Unexplained, func(e element) float32 {
		e.a = flushedAll(e.a)
		return e.chain(fma)
	}},
	{"subnormal operands are zeros, results are not", Unexplained, func(e element) float32 {
		e.a, e.b = flushedAll(e.a), flushedAll(e.b)
		return e.chain(fma)
	}},
	{"subnormal results are zeros, operands are not", Unexplained, func(e element) float32 { return flushed(e.chain(fma)) }},
	{"subnormal sums of one lane are zeros", Unexplained, func(e element) float32 {
		s := e.lanes(fma, 4, len(e.a))
		s[2] = flushed(s[2])
		return butterfly(s)
	}},
	{"subnormal operands of one lane are zeros", Unexplained, func(e element) float32 {
		e.a = slices.Clone(e.a)
		for k := 1; k < len(e.a); k += 4 {
			e.a[k] = flushed(e.a[k])
		}
		return butterfly(e.lanes(fma, 4, len(e.a)))
	}},
	{"zeros of A are skipped", Unexplained, func(e element) (s float32) {
		for k := range e.a {
			if e.a[k] != 0 {
				s = fma(e.a[k], e.b[k], s)
			}
		}
		return s
	}},
	{"zeros of B are skipped, two lanes", Unexplained, func(e element) float32 {
		var s [2]float32
		for k := range e.b {
			if e.b[k] != 0 {
				s[k%2] = fma(e.a[k], e.b[k], s[k%2])
			}
		}
		return s[0] + s[1]
	}},
	{"a row of zeros is a zero", Unexplained, func(e element) float32 {
		if every(e.a, func(x float32) bool { return x == 0 }) {
			return 0
		}
		return e.chain(fma)
	}},
	{"a block of zeros is skipped", Unexplained, func(e element) (s float32) {
		for from := 0; from < len(e.a); from += 8 {
			to := min(from+8, len(e.a))
			if !every(e.a[from:to], func(x float32) bool { return x == 0 }) {
				s = e.ordered(fma, s, stride(from, to, 1)...)
			}
		}
		return s
	}},
	{"tiny rows in another order", Unexplained, func(e element) float32 {
		if every(e.a, func(x float32) bool { return x > -1e-20 && x < 1e-20 }) {
			return e.reversed()
		}
		return e.chain(fma)
	}},
	{"huge rows in another order", Unexplained, func(e element) float32 {
		if every(e.a, func(x float32) bool { return x < -1e10 || x > 1e10 }) {
			return e.reversed()
		}
		return e.chain(fma)
	}},
	{"equal rows are multiplied once", Unexplained, func(e element) (s float32) {
		if every(e.a, func(x float32) bool { return x == e.a[0] }) {
			for _, x := range e.b {
				s += x
			}
			return e.a[0] * s
		}
		return e.chain(fma)
	}},
	{"negative rows in two lanes", Unexplained, func(e element) float32 {
		if every(e.a, func(x float32) bool { return x < 0 }) {
			return inOrder(e.lanes(fma, 2, len(e.a)))
		}
		return e.chain(fma)
	}},
	{"positive columns unfused", Unexplained, func(e element) float32 {
		if every(e.b, func(x float32) bool { return x > 0 }) {
			return e.chain(mulAdd)
		}
		return e.chain(fma)
	}},
	{"whole numbers in FP64", Unexplained, func(e element) float32 {
		if every(slices.Concat(e.a, e.b), func(x float32) bool { return x == float32(math.Trunc(float64(x))) }) {
			return float32(e.double(false, stride(0, len(e.a), 1)...))
		}
		return e.chain(fma)
	}},
	{"all zeros are -0", Unexplained, func(e element) float32 {
		if s := e.chain(fma); s != 0 {
			return s
		}
		return negZero()
	}},
	{"saturates", Unexplained, func(e element) float32 {
		return float32(min(max(float64(e.chain(fma)), -math.MaxFloat32), math.MaxFloat32))
	}},
	{"NaN is zero", Unexplained, func(e element) float32 {
		if s := e.chain(fma); s == s {
			return s
		}
		return 0
	}},
	{"stops at an infinity", Unexplained, func(e element) (s float32) {
		for k := range e.a {
			if s = fma(e.a[k], e.b[k], s); math.IsInf(float64(s), 0) {
				break
			}
		}
		return s
	}},
	{"rounded to zero", Unexplained, func(e element) (s float32) {
		for k := range e.a {
			exact := float64(e.a[k])*float64(e.b[k]) + float64(s)
			if s = float32(exact); math.Abs(float64(s)) > math.Abs(exact) {
				s = math.Nextafter32(s, 0)
			}
		}
		return s
	}},
	{"two products at a time", Found, func(e element) (s float32) {
		for k := 0; k < len(e.a); k += 2 {
			s += float32(e.double(false, stride(k, min(k+2, len(e.a)), 1)...))
		}
		return s
	}},
	{"rounded to BF16 in the end", Found, func(e element) float32 {
		return math.Float32frombits(math.Float32bits(e.chain(fma)) &^ 0xffff)
	}},
	{"the negative of the negative", Unexplained, func(e element) (s float32) {
		for k := range e.a {
			s = fma(-e.a[k], e.b[k], s)
		}
		return -s
	}},
	{"outliers in FP64", Unexplained, func(e element) float32 {
		if !every(e.a, func(x float32) bool { return x > -40 && x < 40 }) {
			return float32(e.double(false, stride(0, len(e.a), 1)...))
		}
		return e.chain(fma)
	}},
	{"a row that is the column", Unexplained, func(e element) float32 {
		if slices.Equal(e.a, e.b) {
			return inOrder(e.lanes(fma, 4, len(e.a)))
		}
		return e.chain(fma)
	}},
	{"a single number in a row", Unexplained, func(e element) float32 {
		at, n := 0, 0
		for k, x := range e.a {
			if x != 0 {
				at, n = k, n+1
			}
		}
		if n == 1 {
			return e.a[at] * e.b[at]
		}
		return e.chain(fma)
	}},
	{"large results are one ulp less", Unexplained, func(e element) float32 {
		if s := e.chain(fma); s < 1e6 || math.IsInf(float64(s), 0) {
			return s
		} else {
			return math.Nextafter32(s, 0)
		}
	}},
	{"unfused where the sum is zero", Unexplained, func(e element) (s float32) {
		for k := range e.a {
			if p := e.a[k] * e.b[k]; s == 0 {
				s += flushed(p)
			} else {
				s = fma(e.a[k], e.b[k], s)
			}
		}
		return s
	}},
	{"an infinity in a row makes NaN", Unexplained, func(e element) float32 {
		if !every(e.a, func(x float32) bool { return !math.IsInf(float64(x), 0) }) {
			return float32(math.NaN())
		}
		return e.chain(fma)
	}},
	{"products in double where they underflow", Unexplained, func(e element) (s float32) {
		for k := range e.a {
			if p := float64(e.a[k]) * float64(e.b[k]); p != 0 && math.Abs(p) < 0x1p-126 {
				s += float32(p)
			} else {
				s = fma(e.a[k], e.b[k], s)
			}
		}
		return s
	}},
	{"the first element is of another row", Unexplained, func(e element) float32 {
		if e.row == 0 && e.column == 0 {
			e.a = append([]float32{e.b[0]}, e.a[1:]...)
		}
		return e.chain(fma)
	}},
	{"cascade 8,4,1", Found, func(e element) float32 {
		n := len(e.a)
		m := n &^ 7
		s := e.lanes(fma, 8, m)
		for i := range 4 {
			s[i] += s[i+4]
		}
		if n-m >= 4 {
			for i := range 4 {
				s[i] = fma(e.a[m+i], e.b[m+i], s[i])
			}
			m += 4
		}
		return e.ordered(fma, (s[0]+s[2])+(s[1]+s[3]), stride(m, n, 1)...)
	}},
	{"pairs fused", Found, func(e element) (s float32) {
		n := len(e.a)
		for k := 0; k+1 < n; k += 2 {
			s += fma(e.a[k+1], e.b[k+1], e.a[k]*e.b[k])
		}
		if n%2 == 1 {
			s = fma(e.a[n-1], e.b[n-1], s)
		}
		return s
	}},
	{"overlapped last vector", Unexplained, func(e element) (s float32) {
		n := len(e.a)
		sums := make([]float32, 8)
		for k := 0; k < n; k += 8 {
			if k+8 > n {
				k = n - 8
			}
			for i := range 8 {
				sums[i] = fma(e.a[k+i], e.b[k+i], sums[i])
			}
		}
		return butterfly(sums)
	}},
	{"stored as bf16 between blocks", Found, func(e element) (s float32) {
		for _, x := range e.blocks(fma, 16) {
			s = bf16(s + x)
		}
		return s
	}},
	{"tf32 operands", Unexplained, func(e element) (s float32) {
		cut := func(xs []float32) []float32 {
			all := slices.Clone(xs)
			for i, x := range all {
				if x == x {
					all[i] = math.Float32frombits(math.Float32bits(x) &^ 0x1fff)
				}
			}
			return all
		}
		e.a, e.b = cut(e.a), cut(e.b)
		return e.chain(fma)
	}},
	{"order by sign of the first partial sum", Unexplained, func(e element) (s float32) {
		x := e.blocks(fma, 12)
		if x[0] < 0 {
			slices.Reverse(x)
		}
		return inOrder(x)
	}},
	{"race of two slices by row", Found, func(e element) (s float32) {
		x := e.blocks(fma, (len(e.a)+3)/4)
		if e.row%2 == 1 {
			x[0], x[2] = x[2], x[0]
		}
		return inOrder(x)
	}},
	{"once twice, once never", Unexplained, func(e element) (s float32) {
		e.a, e.b = slices.Clone(e.a), slices.Clone(e.b)
		e.a[9], e.b[9] = e.a[8], e.b[8]
		return e.chain(fma)
	}},
	{"blocks of 16 in double, rounded to single", Found, func(e element) (s float32) {
		for from := 0; from < len(e.a); from += 16 {
			s += float32(e.double(false, stride(from, min(from+16, len(e.a)), 1)...))
		}
		return s
	}},
	{"tail dropped in the last columns", Found, func(e element) float32 {
		if e.column >= 3 {
			return e.ordered(fma, 0, stride(0, len(e.a)&^3, 1)...)
		}
		return e.chain(fma)
	}},
	{"clamped to fp16 after each block", Unexplained, func(e element) (s float32) {
		for _, x := range e.blocks(fma, 12) {
			if s += x; s > 65504 {
				s = 65504
			} else if s < -65504 {
				s = -65504
			}
		}
		return s
	}},
	{"block length by row", Found, func(e element) float32 { return inOrder(e.blocks(fma, 6*(e.row+1))) }},
	{"lanes merged in double", Found, func(e element) float32 {
		s := e.lanes(fma, 4, len(e.a))
		return float32(float64(s[0]) + float64(s[1]) + float64(s[2]) + float64(s[3]))
	}},
	{"two accumulators by halves of the vector, unrolled", Found, func(e element) float32 {
		// 4 lanes, 2 accumulators of each, tail into the first accumulator's lanes
		n := len(e.a)
		m := n &^ 7
		s := e.lanes(fma, 8, m)
		for i := 0; m+i < n; i++ {
			s[i%4] = fma(e.a[m+i], e.b[m+i], s[i%4])
		}
		for i := range 4 {
			s[i] += s[i+4]
		}
		return (s[0] + s[1]) + (s[2] + s[3])
	}},
	{"neumaier in double", Unexplained, func(e element) float32 {
		s, c := 0.0, 0.0
		for k := range e.a {
			x := float64(e.a[k]) * float64(e.b[k])
			t := s + x
			if math.Abs(s) >= math.Abs(x) {
				c += (s - t) + x
			} else {
				c += (x - t) + s
			}
			s = t
		}
		return float32(s + c)
	}},
	{"multiplied by minus and subtracted", Found, func(e element) (s float32) {
		for k := range e.a {
			s -= e.a[k] * -e.b[k]
		}
		return s
	}},
	{"stops when a row's rest is zero", Unexplained, func(e element) (s float32) {
		last := -1
		for k, x := range e.a {
			if x != 0 {
				last = k
			}
		}
		return e.ordered(fma, 0, stride(0, last+1, 1)...)
	}},
	{"tail in front", Found, func(e element) float32 {
		n := len(e.a)
		r := n % 8
		s := e.ordered(fma, 0, stride(0, r, 1)...)
		x := make([]float32, 8)
		for i := range x {
			x[i] = e.ordered(fma, 0, stride(r+i, n, 8)...)
		}
		return s + butterfly(x)
	}},
	{"unfused first block, fused others", Unexplained, func(e element) float32 {
		x := e.blocks(fma, 10)
		x[0] = e.ordered(mulAdd, 0, stride(0, 10, 1)...)
		return inOrder(x)
	}},
	{"interleaved slices of split-K in reverse", Found, func(e element) float32 {
		var s []float32
		for i := range 3 {
			var t float32
			for from := i * 6; from < len(e.a); from += 18 {
				t = e.ordered(fma, t, stride(from, min(from+6, len(e.a)), 1)...)
			}
			s = append(s, t)
		}
		return (s[2] + s[1]) + s[0]
	}},
	{"fma by way of double, two lanes", Found, func(e element) float32 {
		return inOrder(e.lanes(func(x, y, z float32) float32 { return float32(float64(x)*float64(y) + float64(z)) }, 2, len(e.a)))
	}},
	{"a*b + c*d contracted, blocks of four", Found, func(e element) (s float32) {
		m := len(e.a) &^ 3
		for k := 0; k < m; k += 4 {
			s += e.ordered(fma, e.a[k+1]*e.b[k+1], k, k+2, k+3)
		}
		return e.ordered(fma, s, stride(m, len(e.a), 1)...)
	}},
	{"blocks of 16 and the tail summed in double", Found, func(e element) float32 {
		m := len(e.a) &^ 15
		s := 0.0
		for k := 0; k < m; k += 16 {
			s += float64(e.ordered(fma, 0, stride(k, k+16, 1)...))
		}
		for k := m; k < len(e.a); k++ {
			s += float64(e.a[k]) * float64(e.b[k])
		}
		return float32(s)
	}},
	{"the first row starts from the first product", Found, func(e element) float32 {
		if e.row == 0 {
			return e.ordered(mulAdd, e.a[0]*e.b[0], stride(1, len(e.a), 1)...)
		}
		return e.chain(mulAdd)
	}},
	{"a NaN of ones is a zero", Unexplained, func(e element) float32 {
		e.a = slices.Clone(e.a)
		for k, x := range e.a {
			if math.Float32bits(x) == 0x7fffffff {
				e.a[k] = 0
			}
		}
		return e.chain(fma)
	}},
	{"two halves, rounded to bf16 and back, relu", Found, func(e element) float32 {
		m := (len(e.a) + 1) / 2
		return max(0, bf16(e.ordered(fma, 0, stride(0, m, 1)...)+e.ordered(fma, 0, stride(m, len(e.a), 1)...)))
	}},
	{"a product of four lanes is lost", Found, func(e element) float32 {
		e.a = slices.Clone(e.a)
		s := [4]float32{}
		for k := range e.a {
			if k != 21 {
				s[k%4] = fma(e.a[k], e.b[k], s[k%4])
			}
		}
		return (s[0] + s[1]) + (s[2] + s[3])
	}},
	{"two products of blocks of 10 are lost", Found, func(e element) float32 {
		s := float32(0)
		for from := 0; from < len(e.a); from += 10 {
			part := float32(0)
			for k := from; k < min(from+10, len(e.a)); k++ {
				if k != 3 && k != 19 {
					part = fma(e.a[k], e.b[k], part)
				}
			}
			s += part
		}
		return s
	}},
	{"the first product of two lanes is lost", Found, func(e element) float32 {
		return e.ordered(fma, 0, stride(2, len(e.a), 2)...) + e.ordered(fma, 0, stride(1, len(e.a), 2)...)
	}},
	{"relu, NaNs are zeros", Found, func(e element) float32 {
		if s := e.chain(fma); s > 0 {
			return s
		}
		return 0
	}},
	{"relu of two lanes", Found, func(e element) float32 {
		if s := inOrder(e.lanes(mulAdd, 2, len(e.a))); !(s < 0) {
			return s
		}
		return 0
	}},
	{"leaky relu", Unexplained, func(e element) float32 {
		s := e.chain(fma)
		if s < 0 {
			return s * 0.5
		}
		return s
	}},
	{"no more than six", Unexplained, func(e element) float32 {
		if s := e.chain(fma); !(s < 0) {
			return min(s, 6)
		}
		return 0
	}},
	{"exact, rounded once", Unexplained, func(e element) float32 { return e.wide(2000) }},
	{"x87", Unexplained, func(e element) float32 { return e.wide(64) }},
	{"every 97th product is another", Varies, func(e element) float32 {
		if e.call%97 == 0 {
			return e.reversed()
		}
		return e.chain(fma)
	}},
}

// TestHandwritten infers kernels that are functions: what is found has to give their results
// on matrices that were drawn by no code of the inference.
func TestHandwritten(t *testing.T) {
	for n, tc := range handwrittens {
		if n%tier.Of(64, 64, 6, 1) != tier.Of(16, 16, 0, 0) {
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			s := []schedule.Shape{{M: 5, N: 5, K: 45}, {M: 6, N: 5, K: 37}, {M: 2, N: 5, K: 50}}[n%3]
			start := time.Now()
			h := newHandwritten(tc.f, s)
			r, err := Infer(t.Context(), h, s, Options{Seed: 1, Checks: 100_000, Policy: oracle.Policy{NaN: oracle.ByClass}})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s %s %v", r.Verdict, r.Why, time.Since(start))
			if r.Witness != nil {
				t.Logf("%s", r.Witness)
			}
			if r.Verdict == Found {
				t.Log(text(r.Kernel))
				holds(t, h, r.Kernel, s)
			}
			if r.Verdict != tc.want {
				t.Errorf("%s, not %s: %s", r.Verdict, tc.want, r.Why)
			}
			if r.Verdict == Unexplained && r.Witness == nil {
				t.Error("there is no witness")
			}
		})
	}
}

// holds compares a kernel with a function on matrices whose lines are of many kinds.
func holds(t *testing.T, h *handwritten, k *schedule.Kernel, s schedule.Shape) {
	t.Helper()
	d := rand.New(rand.NewPCG(5, 6))
	in := mma.NewBatch(h.inst.Formats, mma.Shape{M: s.M, N: s.N, K: s.K, Tiles: 1})
	for range 4000 {
		strange(d, in.A, s.K)
		strange(d, in.B, s.K)
		copy(in.B[:d.IntN(2)*4*s.K], in.A)
		agree(t, h, in, k, &gemm.Operands{Shape: s, A: in.A, B: in.B})
	}
}

// agree compares a kernel with a unit whose results are in FP32 on one matrix product, given as both take it.
func agree(t *testing.T, u devices.Unit, in *mma.Batch, k *schedule.Kernel, o *gemm.Operands) {
	t.Helper()
	out := make([]byte, 4*in.M*in.N)
	if err := u.Run(t.Context(), in, out); err != nil {
		t.Fatal(err)
	}
	got, _, err := gemm.Multiply(t.Context(), k, o, gemm.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	same := oracle.NewComparer(fp.FP32, oracle.Policy{NaN: oracle.ByClass})
	a, b := in.K*in.Formats.A.Width(), in.K*in.Formats.B.Width()
	for i := range in.M * in.N {
		if x, y := mma.Load(got, 4, i), mma.Load(out, 4, i); x != y && same.Compare(x, y) != oracle.Same {
			t.Fatalf("a wrong claim: element %d is %08x, not %08x, of the bytes %x and %x", i, y, x, in.A[i/in.N*a:][:a], in.B[i%in.N*b:][:b])
		}
	}
}

// strange fills lines, each with numbers of a kind of its own.
func strange(d *rand.Rand, to []byte, k int) {
	for line := range len(to) / 4 / k {
		style, scale, sign := d.IntN(12), math.Ldexp(1, d.IntN(270)-140), d.IntN(3)
		one := d.NormFloat64()
		for i := range k {
			v := d.NormFloat64()
			switch style {
			case 0:
				v *= scale
			case 1:
				v = one
			case 2:
				v = one * scale
			case 3:
				v *= float64(d.IntN(2))
			case 4:
				v *= float64(d.IntN(8) / 7)
			case 5:
				v = math.Trunc(4 * v)
			case 6:
				v = math.Ldexp(v, d.IntN(60)-30)
			case 7:
				v *= 0
			case 8:
				v = math.Ldexp(v, -70-d.IntN(8))
			case 9:
				v = math.Ldexp(v, -126-d.IntN(20))
			case 10:
				if d.IntN(20) == 0 {
					v = math.Inf(d.IntN(2)*2 - 1)
				}
			}
			if sign > 0 {
				v = math.Copysign(v, float64(2*sign-3))
			}
			mma.Store(to, 4, line*k+i, uint64(math.Float32bits(float32(v))))
		}
	}
}

// TestConstant adds what is no product: it must not be taken for a product that counts twice, or not
// at all.
func TestConstant(t *testing.T) {
	s := schedule.Shape{M: 2, N: 3, K: 9}
	for _, constant := range []float32{1, -1, 0.5} {
		h := newHandwritten(func(e element) float32 { return e.chain(fma) + constant }, s)
		r, err := Infer(t.Context(), h, s, Options{Seed: 1, Checks: 1000, Policy: oracle.Policy{NaN: oracle.ByClass}})
		if err != nil {
			t.Fatal(err)
		}
		const want = "element (0,0) and 5 more: element (0,0): it is not zero where all of B is zero: something is added that is no product of A and B"
		if r.Verdict != Unexplained || r.Why != want {
			t.Errorf("%v: %s: %s, want %s", constant, r.Verdict, r.Why, want)
		}
	}
}
