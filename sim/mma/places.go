package mma

import "github.com/mmafuzz/mmafuzz/sim/fp"

// Place is where a structure stands in a program.
type Place[T any] struct {
	Path string
	At   func(p *Params) *T
}

// Roundings are the places of roundings, in the order of the computation.
var Roundings = []Place[Round]{
	{"scaleround", func(p *Params) *Round { return &p.ScaleRound }},
	{"prod.round", func(p *Params) *Round { return &p.Prod.Round }},
	{"stage0.round", func(p *Params) *Round { return &p.Stage0.Round }},
	{"stage1.round", func(p *Params) *Round { return &p.Stage1.Round }},
	{"join.post", func(p *Params) *Round { return &p.Join.Post }},
	{"acc", func(p *Params) *Round { return &p.Acc }},
	{"late", func(p *Params) *Round { return &p.Late }},
	{"out", func(p *Params) *Round { return &p.Out }},
}

// The rest of this file has the ranges of numeric parameters that more than one row has: see
// Field.Range.

// maxLanes is the number of lanes up to which a search looks.
const maxLanes = 8

func fracSpan(*use) (lo, hi int) { return 1, MaxFrac }

// lastRounding reports whether the use is in the rounding that makes numbers of D's format.
func (u *use) lastRounding() bool {
	switch placeOf(u.path).prefix {
	case "out.":
		return true
	case "acc.", "late.":
		return u.p.Out == Round{}
	}
	return false
}

// roundingSpan is the range of the fraction bits of a rounding.
func (u *use) roundingSpan() (lo, hi int) {
	switch prefix := placeOf(u.path).prefix; {
	case u.lastRounding():
		return 1, int(u.f.D.Get().FracBits)
	case prefix == "acc." || prefix == "late.":
		return 1, MaxFrac - 1
	}
	return 1, MaxFrac
}

// rangeSpan is that of the bounds of a rounding: the exponents of D if it makes numbers of
// D's format, else those of FP64.
func (u *use) rangeSpan() (lo, hi int) {
	f := fp.FP64.Get()
	if u.lastRounding() {
		f = u.f.D.Get()
	}
	return int(f.Emin()), int(f.Emax())
}

// operandSpan is that of the bits to which an operand is narrowed.
func operandSpan(u *use) (lo, hi int) {
	id := u.f.A
	switch placeOf(u.path).prefix {
	case "in.b.":
		id = u.f.B
	case "in.narrowc.":
		return 1, int(u.f.C.Get().FracBits) - 1
	}
	return 1, int(id.As(u.p.In.Widen).Get().FracBits) - 1
}

// zeroSpan is that of zero points: as many bits as the operand has, with either sign.
func zeroSpan(u *use) (lo, hi int) {
	id := u.f.A
	if u.path == "in.zerob" {
		id = u.f.B
	}
	hi = 1<<id.Get().CodeBits() - 1
	return -hi, hi
}

// hasZeroPoint reports whether operands are integers of more than one bit.
func hasZeroPoint(_ *Params, f Formats) bool { return f.D.Integer() && f.A != fp.B1 && f.B != fp.B1 }

// floorSpan is that of the lower bounds of an alignment: all exponents that could make a
// difference.
func floorSpan(u *use) (lo, hi int) {
	products, results := u.exponents()
	hi = int(u.f.A.Get().Emax() + u.f.B.Get().Emax())
	return min(products, results) - 30, min(max(hi, 0)+10, 40)
}

// exponents returns the smallest exponent of products, and that of results.
func (u *use) exponents() (products, results int) {
	return int(u.f.A.Get().Emin()+u.f.B.Get().Emin()) + u.p.Weight(u.f), int(u.f.D.Get().Emin())
}
