package defect

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Operands whose codes are read in a wrong way: an infinity or a NaN as if the largest exponent were
// one of numbers, a signed integer as an unsigned one. What is read is mostly no number of the
// operand's format, so that it is the product that is another one.

// misreads are the names of these operations.
var misreads = []string{"number", "unsigned", asOther}

// asOther is that a code is read as one of another format of as many bits, whose ID is n.
const asOther = "as"

// misread is the result where some operands, numbered as in the scope of the effect, are misread. It
// reports whether any is.
func (r *runner) misread(v *view, places []int) (uint64, bool) {
	if r.effect.Do == asOther {
		return r.asOther(v, places)
	}
	d, twice, unsigned := v.dot.Clone(), map[int]int32{}, map[place]fp.Dyadic{}
	for _, n := range places {
		k, f, own, other, otherCode := n, r.f.A, d.A, r.f.B, d.B
		if r.effect.On == OnOperand {
			k = n / 2
		}
		if r.effect.On == OnB || r.effect.On == OnOperand && n%2 == 1 {
			f, own, other, otherCode = other, otherCode, f, own
		}
		switch {
		case r.effect.Do == "number":
			if half, ok := halfOfSpecial(f.Get(), own[k]); ok {
				own[k] = half
				twice[k]++
			}
		case own[k]&f.Get().SignBit() != 0:
			for _, at := range r.places(v, []int{k}) {
				unsigned[at] = multiplied(fp.Dyadic{Lo: own[k] & f.Get().CodeMask()}, other.Get().Dyadic(other.Get().Decode(otherCode[k])))
			}
		}
	}
	if len(twice)+len(unsigned) == 0 {
		return v.right, false
	}
	return r.m.DotChanged(d, sim.Change{
		Product: func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
			p.Q += twice[k]
			return p, e + twice[k]
		},
		Term: func(sum, term int, x fp.Dyadic, _ int32) fp.Dyadic {
			if p, ok := unsigned[place{sum, term}]; ok {
				return p
			}
			return x
		},
	}), true
}

// halfOfSpecial is the code of half of the number that a special code would be if its exponent were one
// of numbers.
func halfOfSpecial(f *fp.Format, x uint64) (uint64, bool) {
	y := x - 1<<(f.FracBits+f.Low)
	return y, classOf(f, x) >= isInf && classOf(f, y) == isNormal && (x^y)&f.SignBit() == 0
}

// canMisread reports whether operands of a format can be misread so.
func canMisread(do string, id fp.ID) bool {
	f := id.Get()
	if do == asOther { // see othersOf
		return false
	}
	if do == "unsigned" {
		return f.Integer() && f.SignBit() != 0
	}
	if f.Integer() || !f.HasNaN() {
		return false
	}
	_, ok := halfOfSpecial(f, f.QuietNaN(false))
	return ok
}

// misreadEffects are those of an operand.
func misreadEffects(on Place, id fp.ID) (all []Effect) {
	for _, other := range othersOf(id) {
		all = append(all, Effect{On: on, Do: asOther, N: int64(other)})
	}
	for _, do := range misreads {
		if canMisread(do, id) {
			all = append(all, Effect{On: on, Do: do})
		}
	}
	return all
}

// misreads reports whether an effect is one of these.
func (e *Effect) misreads(f mma.Formats) bool {
	id := map[Place]fp.ID{OnA: f.A, OnB: f.B, OnOperand: f.A}[e.On]
	if e.Do == asOther {
		return id != fp.None && f.Scale == fp.None && slices.Contains(othersOf(id), fp.ID(e.N)) && e.N == int64(fp.ID(e.N))
	}
	return slices.Contains(misreads, e.Do) && id != fp.None && id != fp.One && canMisread(e.Do, id)
}

// othersOf are the formats of numbers of as many bits as another one.
func othersOf(id fp.ID) (all []fp.ID) {
	if id == fp.One || id.RandomBits() != 0 || id.Get().Integer() {
		return nil
	}
	for _, x := range fp.All() {
		if f := x.Get(); x != id && !f.Integer() && x.RandomBits() == 0 && f.CodeBits() == id.Get().CodeBits() && f.Low == 0 && f.SignBit() == id.Get().SignBit() && f.FromFloat64(1) != id.Get().FromFloat64(1) {
			all = append(all, x)
		}
	}
	return all
}

// asOther is the result where some operands are read as of another format.
func (r *runner) asOther(v *view, places []int) (uint64, bool) {
	d, g := v.dot.Clone(), fp.ID(r.effect.N).Get()
	read := map[int][2]fp.Num{} // of products: what is read of a and b
	infinite := false           // some are read as an infinity that their format does not have
	for _, n := range places {
		k, onB := n, r.effect.On == OnB
		if r.effect.On == OnOperand {
			k, onB = n/2, n%2 == 1
		}
		own, f := &d.A[k], r.f.A.Get()
		if onB {
			own, f = &d.B[k], r.f.B.Get()
		}
		x := g.Decode(*own)
		minus := *own & f.SignBit()
		switch {
		case x.Class == fp.Zero:
			*own = minus
		case x.Class == fp.Inf && f.HasInf():
			*own = f.InfCode(minus != 0)
		case x.Class == fp.NaN && !f.HasNaN():
			return v.right, false
		case x.Class == fp.NaN:
			*own = f.QuietNaN(minus != 0)
		default:
			infinite = infinite || x.Class == fp.Inf
			*own = f.FromFloat64(1) | minus
			both := read[k]
			both[truth(onB)] = x
			read[k] = both
		}
	}
	a, b := r.f.A.Get(), r.f.B.Get()
	if infinite {
		return r.ofInfinities(d, read)
	}
	return r.m.DotChanged(d, sim.Change{Product: func(k int, p fp.Dyadic, e int32) (fp.Dyadic, int32) {
		both, ok := read[k]
		if !ok {
			return p, e
		}
		x, y, fx, fy := a.Decode(d.A[k]), b.Decode(d.B[k]), a, b
		if both[0].Class == fp.Finite {
			x, fx = both[0], g
		}
		if both[1].Class == fp.Finite {
			y, fy = both[1], g
		}
		return multiplied(fx.Dyadic(x), fy.Dyadic(y)), int32(x.Exp) + int32(y.Exp)
	}}), len(places) > 0
}

// ofInfinities is the result where some operands are read as infinities, which their formats do not have.
func (r *runner) ofInfinities(d *mma.Dot, read map[int][2]fp.Num) (uint64, bool) {
	x, f := r.infinities(&mma.Dot{C: d.C, A: nil, B: nil}), r.f.D.Get()
	for k := range d.A {
		both := read[k]
		p := classOf(r.f.A.Get(), d.A[k])
		q := classOf(r.f.B.Get(), d.B[k])
		infinite := both[0].Class == fp.Inf || both[1].Class == fp.Inf
		x.nan = x.nan || max(p, q) == isNaN || infinite && min(p, q) == isZero
		if infinite || max(p, q) == isInf {
			x.negative = append(x.negative, d.A[k]&r.f.A.Get().SignBit() != 0 != (d.B[k]&r.f.B.Get().SignBit() != 0))
		}
	}
	switch {
	case !f.HasInf():
		return 0, false
	case x.nan || x.opposed():
		d.A[0], d.B[0] = r.f.A.Get().QuietNaN(false), r.f.B.Get().FromFloat64(1)
		return r.m.Dot(d, nil), r.f.A.Get().HasNaN()
	}
	return f.InfCode(x.negative[0]), true
}
