package sim

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Fault is a defect of one wire of the data path that a program describes: in the multipliers,
// the adder to which the accumulator goes, the shifter and the rounding behind it, and the
// result register. Everything else works. Special values and zeros, of which the data path
// gets no number, are not affected before the result register.
type Fault struct {
	Place FaultPlace
	Unit  int // number of the multiplier or addend in a step
	Bit   int // 0 is the lowest
	Kind  FaultKind
	// Coupled: the wire is inverted while bit i of the same word is the bit i of Match, for all
	// bits i of Mask.
	Mask, Match uint64
}

// FaultPlace is a part of the data path.
type FaultPlace uint8

// The parts of the data path. What is in brackets is the word whose bits the wires are.
const (
	Multiplier FaultPlace = iota // [product of two significands]
	Aligner                      // [magnitude of a term, aligned and cut]
	Adder                        // [sum in two's complement]
	Carry                        // [carries of the last addition]
	Shifter                      // [distance by which the sum is normalized]
	Increment                    // [the increment of a rounding], one wire
	Result                       // [code of D]
)

var faultPlaces = []string{"multiplier", "aligned addend", "adder", "carry chain", "normalization shifter", "rounding increment", "result register"}

// String returns the part's name.
func (p FaultPlace) String() string { return faultPlaces[p] }

// FaultKind says how a wire deviates.
type FaultKind uint8

// The kinds of faults. The first two are the stuck-at faults of circuit tests; the next two
// are bridges, short circuits with the next higher wire.
const (
	Stuck0 FaultKind = iota
	Stuck1
	WiredAnd
	WiredOr
	Coupled // with other wires: see Fault.Mask
)

// Wires is how many wires a part of the data path has.
type Wires struct {
	Place       FaultPlace
	Units, Bits int
}

// Wires lists the parts of the model's data path.
func (m *Model) Wires() []Wires {
	f := &m.formats
	step := min(m.params.Step(m.k), m.k)
	width := func(id fp.ID) int { return int(id.Get().FracBits) + 1 }
	terms := m.fraction() + 2
	sum := m.sumBits()
	all := []Wires{
		{Multiplier, step, width(f.A) + width(f.B)}, {Aligner, m.joined(), terms}, {Adder, 1, sum}, {Carry, 1, sum},
		{Shifter, 1, bits.Len(uint(sum))}, {Result, 1, int(f.D.Get().Width)},
	}
	if p := &m.params; increments(&p.Join.Post) || increments(&p.Acc) || increments(&p.Late) || increments(&p.Out) {
		all = append(all, Wires{Increment, 1, 1})
	}
	return all
}

// fraction returns how many bits the adder has below the largest exponent. That of an exact
// sum, which has no limit, is taken to be as wide as a fused multiply-adder's.
func (m *Model) fraction() int {
	j := &m.params.Join
	if w := int(max(j.Align.F, j.CF)); w != 0 {
		return w
	}
	return 2*int(m.formats.D.Get().FracBits) + 4
}

// sumBits returns the width of the adder: a term is below 2^(E+2), block scales aside.
func (m *Model) sumBits() int {
	return m.fraction() + 2 + bits.Len(uint(min(m.params.Step(m.k), m.k)+1))
}

// joined returns the number of terms of the sum that the accumulator goes to, at most.
func (m *Model) joined() (most int) {
	var tr Trace
	m.Dot(mma.NewDot(m.formats, m.k), &tr)
	for i := range tr.Sums {
		if tr.Sums[i].Place == Join {
			most = max(most, len(tr.Sums[i].Terms))
		}
	}
	return most
}

// increments reports whether a rounding can be away from zero.
func increments(r *mma.Round) bool { return r.Frac != 0 && r.Mode != fp.RZ && r.Mode != fp.RTO }

// RunFaulty is Run on a unit with a fault, by the general interpreter, which is the
// reference for the kernels; a nil fault is none.
func (m *Model) RunFaulty(in *mma.Batch, out []byte, f *Fault) {
	x := m.machines.Get().(*machine)
	defer m.machines.Put(x)
	x.trace, x.fault = nil, f
	x.runAll(in, out)
	x.fault = nil
}

// wrong reports whether the faulty wire of a word is not what it should be.
func (f *Fault) wrong(bit func(i int) bool) bool {
	switch f.Kind {
	case Stuck0:
		return bit(f.Bit)
	case Stuck1:
		return !bit(f.Bit)
	case WiredAnd:
		return bit(f.Bit) && !bit(f.Bit+1)
	case WiredOr:
		return !bit(f.Bit) && bit(f.Bit+1)
	}
	for rest := f.Mask; rest != 0; rest &= rest - 1 {
		if i := bits.TrailingZeros64(rest); bit(i) != (f.Match>>i&1 != 0) {
			return false
		}
	}
	return true
}

// has reports whether a part is faulty.
func (x *machine) has(p FaultPlace) bool { return x.fault != nil && x.fault.Place == p }

// faultyProduct is what a multiplier gives.
func (x *machine) faultyProduct(t term) term {
	if len(x.terms) == x.fault.Unit && t.kind == Finite {
		t.Dyadic = x.fault.magnitude(t.Dyadic, t.Q)
	}
	return t
}

// faultyAddends cuts the terms and changes that of the fault.
func (x *machine) faultyAddends(c *cut) {
	n := x.fault.Unit
	if e, some := x.largest(x.terms, c); some && n < len(x.terms) && x.terms[n].kind == Finite {
		t := &x.terms[n]
		t.Dyadic = x.fault.magnitude(c.cutTerm(t, n, e), e-int32(x.m.fraction()))
	}
}

// faultySum is what the adder and the shifter make of the sum s of the terms.
func (x *machine) faultySum(s term, c *cut) term {
	e, some := x.largest(x.terms, c)
	if f := x.fault; some && s.kind == Finite {
		grid := e - int32(x.m.fraction())
		switch f.Place {
		case Adder:
			d := s.Dyadic
			s.Dyadic = f.change(d, grid, func(i int) bool { return twosBit(&d, grid+int32(i)) })
		case Carry:
			d, last := s.Dyadic, len(x.terms)-1
			b := c.cutTerm(&x.terms[last], last, e)
			minus := b
			minus.Neg = !b.Neg
			a := sum(d, minus)
			s.Dyadic = f.change(d, grid, func(i int) bool {
				w := grid + int32(i)
				return twosBit(&a, w) != twosBit(&b, w) != twosBit(&d, w)
			})
		case Shifter:
			s.Dyadic = f.shift(s.Dyadic, grid+int32(x.m.sumBits())-1)
		}
	}
	return s
}

// magnitude changes the wire of a magnitude whose lowest bit has the weight 2^grid.
func (f *Fault) magnitude(d fp.Dyadic, grid int32) fp.Dyadic {
	m := d
	m.Neg = false
	m = f.change(m, grid, func(i int) bool { return magnitudeBit(&d, grid+int32(i)) })
	m.Neg = d.Neg
	return m
}

// change adds the weight of the faulty wire to d, or takes it away, if the wire is wrong.
func (f *Fault) change(d fp.Dyadic, grid int32, bit func(i int) bool) fp.Dyadic {
	if !f.wrong(bit) {
		return d
	}
	return sum(d, fp.Dyadic{Lo: 1, Q: grid + int32(f.Bit), Neg: bit(f.Bit)})
}

// shift normalizes a sum whose highest wire has the weight 2^top by a wrong distance. The
// exponent is computed from the right one.
func (f *Fault) shift(d fp.Dyadic, top int32) fp.Dyadic {
	if d.IsZero() || d.Exponent() > top {
		return d
	}
	right := int(top - d.Exponent())
	if !f.wrong(func(i int) bool { return right>>i&1 != 0 }) {
		return d
	}
	more := int32(right^1<<f.Bit) - int32(right)
	for w, last := d.Exponent(), d.Exponent()-more; w > last; w-- { // bits that leave the shifter
		if magnitudeBit(&d, w) {
			d = sum(d, fp.Dyadic{Lo: 1, Q: w, Neg: !d.Neg})
		}
	}
	d.Q += more
	return d
}

// faultyRound returns what the rounding r of t gives, before exponents are checked.
func (x *machine) faultyRound(t term, r *mma.Round) term {
	if t.kind >= Inf || t.IsZero() || !increments(r) {
		return t
	}
	at := t.Exponent()
	if r.HasEmin() {
		at = max(at, int32(r.Emin))
	}
	at -= int32(r.Frac)
	down := t.Round(at, fp.RZ)
	up := x.roundAt(t.Dyadic, at, r.Mode) != down
	if !x.fault.wrong(func(int) bool { return up }) {
		return t
	}
	if t.Dyadic = down; !up {
		t.Dyadic = sum(down, fp.Dyadic{Lo: 1, Q: at, Neg: t.Neg})
	}
	return t
}

// sum returns a+b. The wires of an adder are near the sum: b far from a is not there.
func sum(a, b fp.Dyadic) fp.Dyadic {
	if b.IsZero() {
		return a
	}
	low, high := min(a.Q, b.Q), b.Exponent()
	if !a.IsZero() {
		high = max(high, a.Exponent())
	}
	if high-low > 124 {
		return a
	}
	var s acc128
	s.add(a, low)
	s.add(b, low)
	return s.term(low).Dyadic
}

// magnitudeBit returns the bit of weight 2^w of the magnitude of d.
func magnitudeBit(d *fp.Dyadic, w int32) bool {
	switch i := w - d.Q; {
	case i < 0 || i >= 128:
		return false
	case i >= 64:
		return d.Hi>>(i-64)&1 != 0
	default:
		return d.Lo>>i&1 != 0
	}
}

// twosBit returns the bit of weight 2^w of d in two's complement.
func twosBit(d *fp.Dyadic, w int32) bool {
	if !d.Neg || d.IsZero() || w <= d.Low() {
		return magnitudeBit(d, w)
	}
	return !magnitudeBit(d, w)
}
