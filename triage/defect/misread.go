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
var misreads = []string{"number", "unsigned"}

// misread is the result where some operands, numbered as in the scope of the effect, are misread. It
// reports whether any is.
func (r *runner) misread(v *view, places []int) (uint64, bool) {
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
	return slices.Contains(misreads, e.Do) && id != fp.None && id != fp.One && canMisread(e.Do, id)
}
