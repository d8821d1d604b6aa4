package encode

import (
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// Measured are the error of a result, code, and the sum of the magnitudes of all products and of
// c, in units of 2^unit: integers, where no operand is an infinity or a NaN.
func (in *Inputs) Measured(code *graph.Node) (err, magnitudes *graph.Node, unit int) {
	e := &encoder{Graph: in.Graph, Params: &mma.Params{}, in: in, d: in.Formats.D.Get()}
	var terms []number
	for i := range in.K {
		terms = append(terms, e.product(i, mma.Pass{}))
	}
	if c, none := e.c(); !none {
		terms = append(terms, c)
	}
	frac := int(e.d.FracBits)
	unit = int(e.d.Emin()) - frac
	for i := range terms {
		unit = min(unit, terms[i].low)
	}
	field := e.Shr(e.Low(code, e.Int(frac+int(e.d.ExpBits))), e.Int(frac))
	normal := e.Not(e.Eq(field, e.Int(0)))
	size := e.Shl(e.Add(e.Low(code, e.Int(frac)), e.Left(normal, frac)), e.Sub(e.Max(field, e.Int(1)), e.Int(1)))
	size = e.Left(size, int(e.d.Emin())-frac-unit)
	err, magnitudes = e.Ite(e.Shr(code, e.Int(frac+int(e.d.ExpBits))), e.Neg(size), size), e.Int(0)
	for _, t := range terms {
		size := e.Shl(t.mag, e.AddInt(t.q, -unit))
		magnitudes = e.Add(magnitudes, size)
		err = e.Sub(err, e.Ite(t.neg, e.Neg(size), size))
	}
	return e.Abs(err), magnitudes, unit
}

// Normal returns booleans that are 1 if no a, b or scale is subnormal.
func (in *Inputs) Normal() []*graph.Node {
	var all []*graph.Node
	for _, o := range in.operands() {
		if o != &in.c && !o.f.NoZero {
			all = append(all, in.Or(in.Not(in.Eq(o.field, in.Int(0))), in.Eq(o.frac, in.Int(0)), o.special))
		}
	}
	return all
}
