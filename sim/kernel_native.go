package sim

import (
	"encoding/binary"
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// native is the kernel of chains of IEEE 754 operations of FP32 or FP64, to nearest even, on
// operands of any formats: multiply-adds, fused or with a rounded product, one element after
// the other. The operands are converted, then the kernel of the chain's own format computes
// if there is one, else Go's arithmetic does.
type native struct {
	m       *Model
	wide    fp.ID  // of the accumulators
	inner   *Model // the same chain with operands of that format; nil: Go's arithmetic
	rounded bool   // products are rounded
	c, d    *fp.Format
	nan     uint64
}

// nativeState is one worker's scratch space.
type nativeState struct {
	batch mma.Batch // of inner
	d     []byte
	inner any
	a, b  []float64
}

// isChain reports whether a program is a chain of FMAs, or of multiplications and additions,
// each rounded in the same way.
func isChain(p *mma.Params, k int) bool {
	q := mma.Params{
		In: mma.Input{Sub: p.In.Sub, C: p.In.C, Acc: p.In.Acc}, Order: p.Order, L: p.L, Acc: p.Acc,
		Special: mma.Special{NaN: p.Special.NaN, NegZero: true, TinySign: true},
	}
	if p.Prod.Round != (mma.Round{}) {
		q.Prod.Round = p.Acc
	}
	return q == *p && p.Step(k) == 1
}

// newNative returns the kernel, or nil if the program is not such a chain.
func newNative(m *Model, path Path) kernel {
	p, f := m.params, m.formats
	n := &native{m: m, wide: fp.FP32, rounded: p.Prod.Round != mma.Round{}, c: format(f.C), d: f.D.Get()}
	if p.Acc == mma.To(fp.FP64, fp.RNE) {
		n.wide = fp.FP64
	}
	out := p.Out
	p.Out = mma.Round{}
	if !isChain(&p, m.k) || p.In != (mma.Input{}) || p.Special.OperandNaN() || p.Acc != mma.To(n.wide, fp.RNE) {
		return nil
	}
	if f.D != n.wide && out != mma.To(f.D, fp.RNE) || f.D == n.wide && out != (mma.Round{}) || !n.d.HasInf() {
		return nil
	}
	if !n.holds(f, f.A, f.B) || f.C == fp.FP64 && n.wide != fp.FP64 {
		return nil
	}
	n.nan = newMachine(m).nanCode(term{kind: NaN})
	if g := (mma.Formats{A: n.wide, B: n.wide, C: n.wide, D: n.wide}); g != f && f.Scale == fp.None {
		if inner := newModel(g, m.k, p, path); inner.kernel != nil {
			n.inner = inner
		}
	}
	return n
}

// holds reports whether factors with their scales, and the products of those of an FP32
// chain, are exact in FP64.
func (n *native) holds(f mma.Formats, a, b fp.ID) bool {
	lowA, highA, bitsA := reach(f, a)
	lowB, highB, bitsB := reach(f, b)
	if n.wide == fp.FP64 {
		return (a != fp.FP64 && b != fp.FP64) || f.Scale == fp.None
	}
	return bitsA+bitsB <= 53 && lowA+lowB >= -1022 && highA+highB <= 1000
}

func (n *native) name() string {
	if n.inner != nil {
		return "widened " + n.inner.kernel.name()
	}
	return "native"
}

func (n *native) newState() any {
	st := &nativeState{}
	if n.inner != nil {
		st.inner = n.inner.kernel.newState()
	}
	return st
}

func (n *native) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*nativeState)
	once := n.m.k
	if n.m.formats.D == n.wide && n.inner != nil {
		once = in.K // between two instructions nothing is rounded
	}
	c, fc := in.C, n.c
	for at := 0; at < in.K; at += once {
		if n.inner != nil {
			n.widened(st, in, at, once, c, fc, out)
		} else {
			n.chains(st, in, at, c, fc, out)
		}
		c, fc = out, n.d
	}
}

// widened computes K products of each output with the kernel of the chain's own format.
func (n *native) widened(st *nativeState, in *mma.Batch, at, k int, c []byte, fc *fp.Format, out []byte) {
	b, s, w := &st.batch, in.Shape, n.wide.Width()
	s.K = k
	b.Reset(n.inner.formats, s)
	convert(b.A, n.wide, in.A, in.Formats.A.Get(), in.K, at, k)
	convert(b.B, n.wide, in.B, in.Formats.B.Get(), in.K, at, k)
	if fc == nil {
		clear(b.C)
	} else {
		convert(b.C, n.wide, c, fc, 1, 0, 1)
	}
	d := out
	if n.m.formats.D != n.wide {
		st.d = resize(st.d, in.Dots()*w)
		d = st.d
	}
	n.inner.kernel.run(b, d, st.inner)
	if n.m.formats.D == n.wide {
		return
	}
	for i := range in.Dots() {
		mma.Store(out, int(n.d.Width), i, n.code(load(d, n.wide, i)))
	}
}

// load reads number i of FP32 or FP64.
func load(buf []byte, id fp.ID, i int) float64 {
	if id == fp.FP64 {
		return math.Float64frombits(mma.Load(buf, 8, i))
	}
	return float64(math.Float32frombits(uint32(mma.Load(buf, 4, i))))
}

// convert converts the k codes that begin at number at of each row of stride codes to FP32
// or FP64, which holds them exactly.
func convert(dst []byte, to fp.ID, src []byte, f *fp.Format, stride, at, k int) {
	w, wide := int(f.Width), to.Width()
	for len(src) > 0 {
		row := src[w*at:][:w*k]
		switch {
		case w == 1 && to == fp.FP32:
			table := tableOf(f, to)
			for i, code := range row {
				binary.LittleEndian.PutUint32(dst[4*i:], uint32(table[code]))
			}
		case w == 1:
			table := tableOf(f, to)
			for i, code := range row {
				binary.LittleEndian.PutUint64(dst[8*i:], table[code])
			}
		default:
			for i := range k {
				mma.Store(dst, wide, i, codeIn(to, valueOf(f, mma.Load(row, w, i))))
			}
		}
		src, dst = src[w*stride:], dst[wide*k:]
	}
}

// tables holds the codes of formats of one byte as FP32 and FP64.
var tables = func() (all [2][64]*[256]uint64) {
	for _, id := range append(fp.All(), fp.One) {
		if f := id.Get(); f.Width == 1 {
			for i, to := range []fp.ID{fp.FP32, fp.FP64} {
				var t [256]uint64
				for code := range t {
					t[code] = codeIn(to, f.Float64(uint64(code)))
				}
				all[i][id] = &t
			}
		}
	}
	return all
}()

func tableOf(f *fp.Format, to fp.ID) *[256]uint64 {
	if to == fp.FP64 {
		return tables[1][f.ID]
	}
	return tables[0][f.ID]
}

// codeIn is the code of a number of FP32 or FP64.
func codeIn(to fp.ID, v float64) uint64 {
	if to == fp.FP64 {
		return math.Float64bits(v)
	}
	return uint64(math.Float32bits(float32(v)))
}

// valueOf is the value of a code.
func valueOf(f *fp.Format, code uint64) float64 {
	switch {
	case f.ID == fp.FP64:
		return math.Float64frombits(code)
	case f.ID == fp.FP16:
		return float64(half32(uint16(code)))
	case f.ID == fp.BF16:
		return float64(math.Float32frombits(uint32(code) << 16))
	case f.Width == 4 && f.ExpBits == 8: // FP32, or its upper bits
		return float64(math.Float32frombits(uint32(code >> f.Low << f.Low)))
	}
	return f.Float64(code)
}

// code rounds an accumulator to D's format.
func (n *native) code(v float64) uint64 {
	switch {
	case v != v:
		return n.nan
	case n.d.ID == n.wide:
		return codeIn(n.wide, v)
	case n.d.ID == fp.FP32:
		return codeIn(fp.FP32, v)
	case n.d.ID == fp.FP16 && n.wide == fp.FP32:
		return uint64(halfCode(math.Float32bits(float32(v))))
	}
	if math.IsInf(v, 0) {
		return n.d.InfCode(v < 0)
	}
	d := fp.FP64.Get()
	return n.d.Encode(d.Dyadic(d.Decode(math.Float64bits(v))), fp.RNE, fp.OverInf)
}

// chains computes the products of one instruction with Go's arithmetic.
func (n *native) chains(st *nativeState, in *mma.Batch, at int, c []byte, fc *fp.Format, out []byte) {
	f, k := in.Formats, n.m.k
	wd := f.D.Width()
	for t := range in.Tiles {
		st.a = n.factors(st.a, in.A, f.A, in.SA, in, t*in.M, in.M, at)
		st.b = n.factors(st.b, in.B, f.B, in.SB, in, t*in.N, in.N, at)
		for i := range in.M * in.N {
			acc, o := 0.0, t*in.M*in.N+i
			if fc != nil {
				acc = valueOf(fc, mma.Load(c, int(fc.Width), o))
			}
			acc = n.chain(st.a[i/in.N*k:][:k], st.b[i%in.N*k:][:k], acc)
			mma.Store(out, wd, o, n.code(acc))
		}
	}
}

// factors returns the values of k elements of some rows, in the program's order, with their
// scales.
func (n *native) factors(dst []float64, codes []byte, id fp.ID, scales []byte, in *mma.Batch, row, rows, at int) []float64 {
	f, s, k := id.Get(), n.m.formats.Scale, n.m.k
	dst = resize(dst, rows*k)
	blocks := in.Blocks(in.K)
	for r := range rows {
		for i, place := range n.m.order {
			j := at + place
			v := valueOf(f, mma.Load(codes, int(f.Width), (row+r)*in.K+j))
			if s != fp.None {
				v *= s.Get().Float64(mma.Load(scales, s.Width(), (row+r)*blocks+j/int(n.m.formats.Block)))
			}
			dst[r*k+i] = v
		}
	}
	return dst
}

// chain adds the products of some factors to an accumulator, in this order. Products are
// converted, which forbids Go to fuse them with the additions.
func (n *native) chain(a, b []float64, acc float64) float64 {
	b = b[:len(a)]
	switch {
	case n.wide == fp.FP64 && n.rounded:
		for i := range a {
			acc += float64(a[i] * b[i])
		}
		return acc
	case n.wide == fp.FP64:
		for i := range a {
			acc = math.FMA(a[i], b[i], acc)
		}
		return acc
	}
	x := float32(acc)
	if n.rounded {
		for i := range a {
			x += float32(float64(a[i] * b[i]))
		}
		return float64(x)
	}
	for i := range a {
		x = roundedOnce(float64(a[i]*b[i]), float64(x))
	}
	return float64(x)
}

// roundedOnce returns the FP32 number nearest to p + x. Rounding the sum to FP64 first may
// change that only where the rounded sum lies in the middle of two numbers of FP32.
func roundedOnce(p, x float64) float32 {
	s := float64(p + x)
	u := math.Float64bits(s)
	e := u >> 52 & 0x7ff
	if e >= 1023-126 && u&(1<<29-1) != 1<<28 || e == 0x7ff {
		return float32(s)
	}
	// The error of the sum (Knuth's TwoSum) says on which side of s the exact sum lies.
	t := s - p
	if err := (p - (s - t)) + (x - t); err != 0 && u&1 == 0 {
		if (err > 0) == (s > 0) {
			u++
		} else {
			u--
		}
		s = math.Float64frombits(u)
	}
	return float32(s)
}
