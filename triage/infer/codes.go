package infer

import (
	"context"
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A unit may read one code of an operand as another number, as where a table has a wrong entry. Inputs
// that are drawn have that code in that lane once in many thousands, so all codes are asked.

const (
	codesName = "each code"
	codesDoc  = "each code of a and of b in each lane, and of c, of wide formats their upper 16 bits, times 1"
	codesMost = 16 // the bits of a code that are enumerated
)

// validateCodes is validate for all codes of the operands.
func (l *loop) validateCodes(ctx context.Context, p *mma.Params, r *rand.Rand) (c Class, wrong int, err error) {
	c = Class{Name: codesName, Doc: codesDoc}
	d := newDesigner(l.Formats, l.K, r)
	for operand, id := range []fp.ID{l.A, l.B, l.C} {
		if !hasCodes(id) {
			continue
		}
		n := 1 << min(id.Get().CodeBits(), codesMost+1) // of wide formats with two values of the lower bits
		for at := 0; at < n; at += maxBatch {
			dots := make([]*mma.Dot, min(maxBatch, n-at))
			for i := range dots {
				dots[i] = d.codes(operand, uint64(at+i))
			}
			kept, want, err := l.unit.ask(ctx, dots)
			if err != nil {
				return c, 0, err
			}
			if wrong, err := l.refuted(ctx, p, kept, want); err != nil || wrong > 0 {
				return c, wrong, err
			}
			c.Asked += len(kept)
			c.Failed += len(dots) - len(kept)
		}
	}
	return c, 0, nil
}

// hasCodes reports whether an operand has numbers.
func hasCodes(id fp.ID) bool { return id != fp.None && id.RandomBits() == 0 && !id.IsOne() }

// codes returns a dot product with the code j of an operand, 0 for a, 1 for b, 2 for c, in its first
// lane. The others have codes of the same sign and exponent, so that none hides the others.
func (d *designer) codes(operand int, j uint64) *mma.Dot {
	d.start()
	if operand == 2 {
		d.dot.C = d.codeInLane(d.fc, j, 0)
		return d.dot
	}
	f, x, one, other := d.fa, d.dot.A, d.f.B, d.dot.B
	if operand == 1 {
		f, x, one, other = d.fb, d.dot.B, d.f.A, d.dot.A
	}
	for k := range x {
		x[k] = d.codeInLane(f, j, k)
		if hasCodes(one) {
			other[k] = one.Get().FromFloat64(1)
		}
	}
	return d.dot
}

// codeInLane is the code that a lane has where the first one has j: of the same upper bits, so that
// each lane has each code once. Bits below those that are enumerated are all ones, and then drawn.
func (d *designer) codeInLane(f *fp.Format, j uint64, lane int) uint64 {
	const stride = 0x2b5 // odd, and far from powers of two
	below := max(0, int(f.CodeBits())-codesMost)
	fraction := uint64(1)<<max(0, int(f.FracBits)+int(f.Low)-below) - 1
	top, low := j&^fraction|(j+uint64(lane)*stride)&fraction, uint64(1)<<below-1
	if j >= 1<<codesMost {
		low &= d.Uint64()
	}
	return top<<below&f.CodeMask() | low
}
