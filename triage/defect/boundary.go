package defect

import (
	"math/bits"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// beyond returns an input that differs in one thing from a case that meets a rule: in what one of
// its conditions is about, or where it has none in the distance by which a product is aligned. A
// condition that asks for too much is refuted by it, and an effect that covers too many distances.
func (s *search) beyond(r *Rule, c *sample) *mma.Dot {
	if len(r.When) == 0 && r.Effect.aligns() {
		return s.shifted(c)
	}
	met := s.meeting(r, c.view)
	if len(met) == 0 || len(r.When) == 0 {
		return nil
	}
	g := s.maker
	d := c.dot.Clone()
	when := &r.When[g.r.IntN(len(r.When))]
	of, what, _ := strings.Cut(when.Feature, ".")
	x, id := operand(s.f, d, r.Scope, met[g.r.IntN(len(met))], of)
	if x == nil || id == fp.One {
		return nil
	}
	f := id.Get()
	switch {
	case what == "exp":
		*x = g.scale(id, *x, g.r.IntN(7)-3)
	case what == "class":
		*x = g.corner(id)
	case what == "neg":
		*x ^= f.SignBit()
	case when.Is == HasBits && g.r.IntN(2) == 0:
		*x ^= oneOf(uint64(when.Mask), g.r.IntN)
	case what == "frac":
		*x ^= 1 << g.r.IntN(int(f.FracBits+f.Low))
	default:
		*x ^= 1 << g.r.IntN(int(f.CodeBits()))
	}
	return d
}

// shifted returns a case with a product a few places higher or lower.
func (s *search) shifted(c *sample) *mma.Dot {
	d, g := c.dot.Clone(), s.maker
	i := g.r.IntN(len(d.A))
	d.A[i] = g.scale(s.f.A, d.A[i], g.r.IntN(7)-3)
	return d
}

// oneOf is one of the bits of a mask.
func oneOf(mask uint64, random func(int) int) uint64 {
	for range random(bits.OnesCount64(mask)) {
		mask &= mask - 1
	}
	return mask & -mask
}

// operand returns the operand that a feature of an instance is about; nil if it is not about one.
func operand(f mma.Formats, d *mma.Dot, scope Scope, i int, of string) (*uint64, fp.ID) {
	side := 0
	switch {
	case of == "c" && f.C != fp.None:
		return &d.C, f.C
	case scope == OfOperand && (of == "x" || of == "y"):
		if side = i % 2; of == "y" {
			side = 1 - side
		}
		i /= 2
	case scope == OfProduct && (of == "a" || of == "b"):
		side = strings.Index("ab", of)
	default:
		return nil, fp.None
	}
	if side == 0 {
		return &d.A[i], f.A
	}
	return &d.B[i], f.B
}
