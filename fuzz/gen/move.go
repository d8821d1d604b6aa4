package gen

import (
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// mostMoved is the most by which MoveExponent moves an exponent.
const mostMoved = 6

// MoveExponent moves the exponent of an operand that is a number other than zero, by a few, if it stays
// normal: near an input that shows something others may show more.
func MoveExponent(r *rand.Rand, f mma.Formats, d *mma.Dot) {
	k := r.IntN(len(d.A))
	code, id := &d.A[k], f.A
	switch n := r.IntN(3); {
	case n == 1:
		code, id = &d.B[k], f.B
	case n == 2 && f.C != fp.None:
		code, id = &d.C, f.C
	}
	g := id.Get()
	if g.Integer() || id.RandomBits() != 0 {
		return
	}
	if x := g.Decode(*code); x.Class != fp.Finite || *code&^g.SignBit() == 0 {
		return
	}
	by := int64(1+r.IntN(mostMoved)) << g.FracBits
	if r.IntN(2) == 0 {
		by = -by
	}
	if m := int64(*code&^g.SignBit()) + by; m >= 1<<g.FracBits && uint64(m) <= g.MaxFinite() {
		*code = *code&g.SignBit() | uint64(m)
	}
}
