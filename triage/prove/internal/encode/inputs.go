package encode

import (
	"fmt"
	"math/big"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// Inputs are the variables of the operands of a dot product.
type Inputs struct {
	*graph.Graph
	Formats mma.Formats
	K       int
	NoNaN   bool // no operand is a NaN

	a, b, sa, sb []operand
	c            operand

	products map[productKey]number // those that programs have asked for
}

// operand is the parts of a code. A code of a format with infinities has a part that
// makes it one of these or a NaN, so that the range of the exponent field is that of
// numbers.
type operand struct {
	f                          *fp.Format
	sign, field, frac, special *graph.Node
}

// NewInputs returns the operands of k products, of which none is a NaN if noNaN is set.
func NewInputs(g *graph.Graph, f mma.Formats, k int, noNaN bool) *Inputs {
	in := &Inputs{Graph: g, Formats: f, K: k, NoNaN: noNaN, products: map[productKey]number{}}
	row := func(name string, id fp.ID, n int) []operand {
		all := make([]operand, n)
		for i := range all {
			all[i] = in.operand(fmt.Sprint(name, i), id)
		}
		return all
	}
	in.a, in.b = row("a", f.A, k), row("b", f.B, k)
	if f.Scale != fp.None {
		in.sa, in.sb = row("sa", f.Scale, f.Blocks(k)), row("sb", f.Scale, f.Blocks(k))
	}
	if f.C != fp.None {
		in.c = in.operand("c", f.C)
	}
	return in
}

func (in *Inputs) operand(name string, id fp.ID) operand {
	f := id.Get()
	o := operand{f: f, sign: in.Int(0), frac: in.Int(0), special: in.Int(0)}
	bits := func(n int) *big.Int { return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(n)), big.NewInt(1)) }
	if f.Signed {
		o.sign = in.Var(name+".sign", bits(1))
	}
	if f.FracBits > 0 {
		o.frac = in.Var(name+".frac", bits(int(f.FracBits)))
	}
	top := bits(int(f.ExpBits))
	if f.Specials == fp.IEEE {
		top.Sub(top, big.NewInt(1))
		o.special = in.Var(name+".special", bits(1))
	}
	o.field = in.Var(name+".field", top)
	return o
}

// Assumed returns what the inputs are assumed to be beyond the ranges of the variables:
// booleans that are 1.
func (in *Inputs) Assumed() []*graph.Node {
	var all []*graph.Node
	for _, o := range in.operands() {
		if in.NoNaN {
			if _, nan := in.specials(o); !nan.Is(0) {
				all = append(all, in.Not(nan))
			}
		}
	}
	return all
}

func (in *Inputs) operands() []*operand {
	var all []*operand
	for _, row := range [][]operand{in.a, in.b, in.sa, in.sb} {
		for i := range row {
			all = append(all, &row[i])
		}
	}
	if in.c.f != nil {
		all = append(all, &in.c)
	}
	return all
}

// Few returns ways to ask about inputs of few variables, on which most differences show:
// with one product and with two products that are not zero, and with all products equal. Each
// has what takes the places of the other variables.
func (in *Inputs) Few() []map[*graph.Node]*graph.Node {
	zero := func(int) *operand { return nil }
	rows := [][]operand{in.a, in.b}
	few := []map[*graph.Node]*graph.Node{in.with(rows, 1, zero), in.with(rows, 2, zero)}
	first := func(row int) *operand { return &[][]operand{in.a, in.b, in.sa, in.sb}[row][0] }
	return append(few, in.with([][]operand{in.a, in.b, in.sa, in.sb}, 1, first))
}

// with puts an operand, nil is zero, in the places of all operands of rows from number from on.
func (in *Inputs) with(rows [][]operand, from int, by func(row int) *operand) map[*graph.Node]*graph.Node {
	all := map[*graph.Node]*graph.Node{}
	for row := range rows {
		for n := from; n < len(rows[row]); n++ {
			o, x := &rows[row][n], by(row)
			for i, v := range o.parts() {
				switch {
				case v.Op != graph.Var:
				case x == nil:
					all[v] = in.Int(0)
				default:
					all[v] = x.parts()[i]
				}
			}
		}
	}
	return all
}

func (o *operand) parts() []*graph.Node { return []*graph.Node{o.sign, o.field, o.frac, o.special} }

// specials reports whether an operand is an infinity or a NaN.
func (in *Inputs) specials(o *operand) (inf, nan *graph.Node) {
	field := func(v int) *graph.Node { return in.Eq(o.field, in.Int(v)) }
	frac := func(v int) *graph.Node { return in.Eq(o.frac, in.Int(v)) }
	switch o.f.Specials {
	case fp.IEEE:
		return in.And(o.special, frac(0)), in.And(o.special, in.Not(frac(0)))
	case fp.OnesNaN:
		return in.Int(0), in.And(field(1<<o.f.ExpBits-1), frac(1<<o.f.FracBits-1))
	case fp.NegZeroNaN:
		return in.Int(0), in.And(o.sign, field(0), frac(0))
	}
	return in.Int(0), in.Int(0)
}

// Set gives the variables the values of a dot product on input i of a simulation. It
// reports whether it can: not if an operand is a NaN and none may be.
func (in *Inputs) Set(s *graph.Simulation, i int, d *mma.Dot) bool {
	ok := true
	set := func(os []operand, codes []uint64) {
		for n := range os {
			ok = in.setOperand(s, i, &os[n], codes[n]) && ok
		}
	}
	set(in.a, d.A)
	set(in.b, d.B)
	set(in.sa, d.SA)
	set(in.sb, d.SB)
	if in.c.f != nil {
		ok = in.setOperand(s, i, &in.c, d.C) && ok
	}
	return ok
}

func (in *Inputs) setOperand(s *graph.Simulation, i int, o *operand, code uint64) bool {
	set := func(n *graph.Node, v uint64) {
		if n.Op == graph.Var {
			s.Set(n, i, v)
		}
	}
	f := o.f
	code >>= f.Low
	frac := code & (1<<f.FracBits - 1)
	field := code >> f.FracBits & (1<<f.ExpBits - 1)
	special := f.Specials == fp.IEEE && field == 1<<f.ExpBits-1
	if special {
		field = 0
	}
	set(o.frac, frac)
	set(o.field, field)
	set(o.sign, code>>(f.FracBits+f.ExpBits)&1)
	set(o.special, map[bool]uint64{true: 1}[special])
	return !in.NoNaN || f.Decode(code<<f.Low).Class != fp.NaN
}

// Dot is the inverse of Set: the dot product of the values that a solver gives the
// variables. Those that play no part are 0.
func (in *Inputs) Dot(model map[*graph.Node]*big.Int) *mma.Dot {
	code := func(o *operand) uint64 {
		get := func(n *graph.Node) uint64 {
			if v := model[n]; v != nil {
				return v.Uint64()
			}
			return 0
		}
		field := get(o.field)
		if get(o.special) != 0 {
			field = 1<<o.f.ExpBits - 1
		}
		return (get(o.sign)<<(o.f.FracBits+o.f.ExpBits) | field<<o.f.FracBits | get(o.frac)) << o.f.Low
	}
	codes := func(os []operand) []uint64 {
		all := make([]uint64, len(os))
		for i := range os {
			all[i] = code(&os[i])
		}
		return all
	}
	d := &mma.Dot{A: codes(in.a), B: codes(in.b), SA: codes(in.sa), SB: codes(in.sb)}
	if in.c.f != nil {
		d.C = code(&in.c)
	}
	return d
}

// number reads an operand as a term.
func (e *encoder) number(o operand, f *fp.Format) number {
	inf, nan := e.in.specials(&o)
	frac, emin := int(f.FracBits), int(f.Emin())
	x := number{neg: o.sign, inf: inf, nan: nan, over: e.Int(0), low: emin - frac, high: int(f.Emax()) + 1, frac: frac, emin: emin}
	if f.NoZero {
		x.mag = e.AddInt(o.frac, 1<<frac)
		if x.e = e.AddInt(o.field, -int(f.Bias)); f.Inverse {
			x.e = e.Neg(x.e)
		}
	} else {
		normal := e.Not(e.Eq(o.field, e.Int(0)))
		x.mag = e.Add(o.frac, e.Left(normal, frac))
		x.e = e.AddInt(e.Max(o.field, e.Int(1)), -int(f.Bias))
	}
	x.q = e.AddInt(x.e, -frac)
	x.null = e.And(e.Eq(x.mag, e.Int(0)), e.Not(o.special))
	return x
}
