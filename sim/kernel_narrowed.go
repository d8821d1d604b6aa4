package sim

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// narrowed is the kernel of chains whose operands are narrowed: every operand is, once, and the
// kernel of the chain that narrows none computes with what it has become.
type narrowed struct {
	inner *Model
	a, b  operandNarrower
}

type narrowedState struct {
	a, b  []byte
	inner any
}

// newNarrowed returns the kernel, or nil if the program is not such a chain or there is no kernel for the
// other one.
func newNarrowed(m *Model, path Path) kernel {
	p, f := m.params, m.formats
	a, b := p.In.A, p.In.B
	if p.In.A, p.In.B = (mma.Narrow{}), (mma.Narrow{}); a == p.In.A && b == p.In.B {
		return nil
	}
	for _, id := range []fp.ID{f.A, f.B} {
		if x := id.Get(); x.Specials != fp.IEEE || x.Low != 0 || !x.Signed {
			return nil
		}
	}
	if !isChain(&p, m.k) || p.Special.OperandNaN() || f.Scale != fp.None || p.In.Sub == mma.FlushPlus {
		return nil
	}
	inner := newModel(f, m.k, p, path)
	if inner.kernel == nil {
		return nil
	}
	return &narrowed{inner, newOperandNarrower(f.A.Get(), a, &m.params), newOperandNarrower(f.B.Get(), b, &m.params)}
}

func (n *narrowed) name() string  { return "narrowed " + n.inner.kernel.name() }
func (n *narrowed) newState() any { return &narrowedState{inner: n.inner.kernel.newState()} }

func (n *narrowed) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*narrowedState)
	b := *in
	b.A, b.B = n.a.all(&st.a, in.A), n.b.all(&st.b, in.B)
	n.inner.kernel.run(&b, out, st.inner)
}

// operandNarrower makes codes of narrowed operands of those of operands.
type operandNarrower struct {
	f       *fp.Format
	narrow  mma.Narrow
	decoder decoder
	// Normal numbers whose exponent fields are from first to before last lose so many bits in a
	// shift, after half a unit was added, or with even almost half a unit and the last bit that is kept.
	first, last uint64
	less        uint8
	half        uint64
	even        bool
}

func newOperandNarrower(f *fp.Format, n mma.Narrow, p *mma.Params) operandNarrower {
	o := operandNarrower{f: f, narrow: n, decoder: newDecoder(f, p, n)}
	r, emin := n.Rounding(f)
	switch r.Mode {
	case fp.RNE, fp.RNA, fp.RZ:
		o.less = f.FracBits - uint8(r.Frac)
		o.first, o.last = max(f.Field(emin), 1), f.Field(int32(r.Emax))
		if o.even = r.Mode == fp.RNE && o.less > 0; r.Mode != fp.RZ && o.less > 0 {
			o.half = 1 << (o.less - 1)
		}
	}
	return o
}

// all returns the narrowed operands of a matrix, in a buffer if they are not as they were.
func (o *operandNarrower) all(buf *[]byte, codes []byte) []byte {
	if o.narrow == (mma.Narrow{}) {
		return codes
	}
	*buf = resize(*buf, len(codes))
	w := int(o.f.Width)
	for i := range len(codes) / w {
		mma.Store(*buf, w, i, o.of(mma.Load(codes, w, i)))
	}
	return *buf
}

func (o *operandNarrower) of(code uint64) uint64 {
	if unread := o.narrow.Unread(o.f); unread != 0 {
		return code &^ unread
	}
	if field := code >> o.f.FracBits & (1<<o.f.ExpBits - 1); o.first <= field && field < o.last {
		add := o.half
		if o.even {
			add += code>>o.less&1 - 1
		}
		return (code + add) >> o.less << o.less
	}
	var x operand
	o.decoder.decode(code, &x)
	switch x.class {
	case fp.NaN:
		return o.f.QuietNaN(x.neg)
	case fp.Inf:
		return o.f.InfCode(x.neg)
	}
	return o.f.Encode(fp.Dyadic{Lo: x.sig, Q: x.q, Neg: x.neg}, fp.RNE, fp.OverInf)
}
