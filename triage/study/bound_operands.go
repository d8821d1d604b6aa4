package study

import (
	"math/big"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// read reads the operands, finds the base, and returns the products in sequence and c,
// which is nil if there is none.
func (e *bounder) read(d *mma.Dot) (products []known, c *known, ok bool) {
	k := len(d.A)
	for i := range d.SA {
		var v [2]operand
		for n, code := range []uint64{d.SA[i], d.SB[i]} {
			if v[n], ok = e.decoded(e.f.Scale, code, fp.None, mma.KeepSub); !ok {
				return nil, nil, false
			}
		}
		e.scales = append(e.scales, v)
	}
	factors := make([][2]operand, k)
	e.base = int(e.f.D.Get().Emin()) - int(e.f.D.Get().FracBits)
	for i := range k {
		v := &factors[i]
		if v[0], ok = e.decoded(e.f.A, d.A[i], e.p.In.Widen, e.p.In.Sub); !ok {
			return nil, nil, false
		}
		if v[1], ok = e.decoded(e.f.B, d.B[i], e.p.In.Widen, e.p.In.Sub); !ok {
			return nil, nil, false
		}
		lowest := v[0].q + v[1].q - int(e.f.Down)
		if e.scales != nil {
			v := e.scales[i/int(e.f.Block)]
			lowest += min(0, v[0].q, v[1].q, v[0].q+v[1].q)
		}
		e.base = min(e.base, lowest)
	}
	var v operand
	if e.f.C != fp.None {
		if v, ok = e.decoded(e.f.C, d.C, fp.None, e.p.In.C); !ok {
			return nil, nil, false
		}
		e.base = min(e.base, v.q)
	}
	if !e.byBits {
		e.base -= mma.MaxFrac + 2 // units of cuts below all terms
	}
	if e.f.C != fp.None {
		t := e.term(v)
		c = &t
	}
	for _, i := range mma.Sequence(e.p.Order, k) {
		products = append(products, e.product(factors[i], int(i)))
	}
	return products, c, true
}

// decoded reads a code; ok is false if it is an infinity or a NaN.
func (e *bounder) decoded(id fp.ID, code uint64, widen fp.ID, sub mma.InFlush) (o operand, ok bool) {
	f := id.Get()
	n := f.Decode(code)
	if n.Class == fp.Inf || n.Class == fp.NaN {
		return o, false
	}
	o.mant, o.loss = new(big.Int), new(big.Int)
	if n.Class == fp.Zero {
		return o, true
	}
	o.mant.SetUint64(n.Sig)
	o.q, o.e = int(n.Exp)-int(f.FracBits), int(n.Exp)
	zeros := int(o.mant.TrailingZeroBits())
	o.mant.Rsh(o.mant, uint(zeros))
	o.q += zeros
	if widen != fp.None {
		f = widen.Get()
		o.e = max(o.log2(), int(f.Emin()))
	}
	o.loss, o.lossQ = new(big.Int).Set(o.mant), o.q
	if o.flushed = sub != mma.KeepSub && o.log2() < int(f.Emin()); o.flushed && !e.byBits {
		o.loss.SetInt64(1)
		o.lossQ = int(f.Emin())
	}
	if n.Neg {
		o.mant.Neg(o.mant)
	}
	return o, true
}

func (o *operand) log2() int { return o.q + o.mant.BitLen() - 1 }

// units returns mant * 2^q in units of 2^base.
func (e *bounder) units(mant *big.Int, q int) *big.Int {
	if mant.Sign() == 0 {
		return new(big.Int)
	}
	return new(big.Int).Lsh(mant, uint(q-e.base))
}

// power returns 2^n in units of 2^base, at least one.
func (e *bounder) power(n int) *big.Int {
	return new(big.Int).Lsh(big.NewInt(1), uint(max(0, n-e.base)))
}

// term makes a term of an operand.
func (e *bounder) term(o operand) known {
	t := known{x: e.units(o.mant, o.q), err: new(big.Int), grid: o.q, lo: o.e, hi: o.e, sure: true}
	if o.flushed || o.mant.Sign() == 0 {
		t.err = e.units(o.loss, o.lossQ)
		t.null, t.sure = true, false
	}
	return t
}

// product forms a product, with its scales where they belong to products.
func (e *bounder) product(v [2]operand, element int) known {
	a, b := v[0], v[1]
	o := operand{mant: new(big.Int).Mul(a.mant, b.mant), q: a.q + b.q, e: a.e + b.e, flushed: a.flushed || b.flushed}
	o.loss, o.lossQ = new(big.Int).Mul(a.loss, b.loss), a.lossQ+b.lossQ
	if o.mant.Sign() != 0 {
		switch e.p.Prod.Exp {
		case mma.OperandSum:
			o.e = a.log2() + b.log2()
		case mma.Normalised:
			o.e = o.log2()
		}
	}
	down := int(e.f.Down)
	o.q, o.e, o.lossQ = o.q-down, o.e-down, o.lossQ-down
	if e.scales != nil && e.p.Scale == mma.ScaleProduct {
		for _, s := range e.scales[element/int(e.f.Block)] {
			o.mant.Mul(o.mant, s.mant)
			o.loss.Mul(o.loss, s.mant)
			o.q, o.e, o.lossQ = o.q+s.q, o.e+s.e, o.lossQ+s.q
		}
	}
	t := e.round(e.term(o), e.p.Prod.Round)
	t.element = element
	return t
}
