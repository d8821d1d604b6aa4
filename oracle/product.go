package oracle

import (
	"math/big"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// sequence returns the products of the k elements from lo in the order in
// which the program takes them.
func (e *evaluator) sequence(lo, k int) []term {
	products := make([]term, k)
	for i, at := range permutation(e.Order, k) {
		products[i] = e.product(lo + at)
	}
	return products
}

// product is a[i]*b[i], with its scales where they belong to products.
func (e *evaluator) product(i int) term {
	a, b := e.operand(e.f.A, e.dot.A[i]), e.operand(e.f.B, e.dot.B[i])
	t := e.times(a, b)
	if t.kind == Finite && !t.null {
		switch e.Prod.Exp {
		case mma.OperandSum:
			t.e = a.log2() + b.log2()
		case mma.Normalised:
			t.e = t.log2()
		}
	}
	if e.f.Down != 0 && t.kind == Finite {
		t.q, t.e = t.q-int(e.f.Down), t.e-int(e.f.Down)
	}
	if e.Scale == mma.ScaleProduct {
		t = e.scaled(t, i)
	}
	if t.kind == NotANumber {
		t.direct, t.second = true, a.kind != NotANumber
	}
	t = e.round(t, e.Prod.Round)
	t.element = i
	return t
}

// operand reads an a or b: widening first, then the treatment of subnormals.
func (e *evaluator) operand(id fp.ID, code uint64) term {
	t := decode(id, code)
	if e.In.Widen != fp.None {
		id = e.In.Widen
		if t.kind == Finite && !t.null {
			t.e = max(t.log2(), int(id.Get().Emin()))
		}
	}
	return flushInput(t, e.In.Sub, id)
}

// flushInput treats the subnormals of a format.
func flushInput(t term, rule mma.InFlush, id fp.ID) term {
	switch tiny := t.below(int(id.Get().Emin())); {
	case rule == mma.FlushSign && tiny:
		return term{null: true, neg: t.neg}
	case rule == mma.FlushPlus && (tiny || t.isZero()):
		return term{null: true}
	}
	return t
}

// scaled multiplies t by the scales of an element's block, if the instruction
// has any.
func (e *evaluator) scaled(t term, element int) term {
	if e.f.Scale == fp.None {
		return t
	}
	block := element / int(e.f.Block)
	t = e.times(t, decode(e.f.Scale, e.dot.SA[block]))
	return e.times(t, decode(e.f.Scale, e.dot.SB[block]))
}

// times is the exact product of two terms. Its nominal exponent is the sum of
// theirs.
func (e *evaluator) times(a, b term) term {
	neg := a.neg != b.neg
	switch {
	case b.signals && !a.signals && e.Special.NaN == mma.NaNSignal:
		return b
	case a.kind == NotANumber && b.kind == NotANumber && e.Special.NaN == mma.NaNLarger && e.compareNaN(b, a) < 0:
		return b
	case a.kind == NotANumber:
		return a
	case b.kind == NotANumber:
		return b
	case a.kind == Infinite && b.isZero(), a.isZero() && b.kind == Infinite:
		return e.invalidOperation()
	case a.kind == Infinite, b.kind == Infinite:
		return term{kind: Infinite, neg: neg}
	case a.null, b.null:
		return term{null: true, neg: neg}
	}
	return term{neg: neg, m: new(big.Int).Mul(a.mant(), b.mant()), q: a.q + b.q, e: a.e + b.e}
}
