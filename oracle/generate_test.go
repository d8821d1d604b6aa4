package oracle

import (
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// generator draws operands, each dot product in one style.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 0))} }

// The styles.
const (
	rawBits = iota
	nearOne
	nearEmin
	nearEmax
	cancelling // nearOne, with most products paired with their negatives
	special    // nearOne, with zeros, subnormals, infinities and NaNs
	numStyles
)

func (g generator) dot(f mma.Formats, k, style int) *mma.Dot {
	d := mma.NewDot(f, k)
	for i := range k {
		d.A[i], d.B[i] = g.code(f.A, style), g.code(f.B, style)
		if style == cancelling && i > 0 && g.IntN(4) != 0 {
			j := g.IntN(i)
			d.A[i], d.B[i] = d.A[j]^f.A.Get().SignBit(), d.B[j]
		}
	}
	if f.C != fp.None {
		d.C = g.code(f.C, style)
	}
	for i := range d.SA {
		d.SA[i], d.SB[i] = g.code(f.Scale, style), g.code(f.Scale, style)
	}
	return d
}

func (g generator) code(id fp.ID, style int) uint64 {
	f := id.Get()
	code := g.Uint64() & f.CodeMask()
	if style == rawBits || style == special && g.IntN(4) != 0 {
		return code
	}
	fields := uint64(1) << f.ExpBits
	spread := min(fields, uint64(4)) // exponents that are used
	base := uint64(f.Bias) - spread/2
	switch style {
	case nearEmin:
		base = 0
	case nearEmax:
		base = fields - spread
	case special:
		base = []uint64{0, fields - 1}[g.IntN(2)]
		spread = 1
		if g.IntN(2) == 0 {
			code &= f.SignBit()
		}
	}
	field := base + g.Uint64N(spread)
	mask := (fields - 1) << (f.FracBits + f.Low)
	return code&^mask | field<<(f.FracBits+f.Low)&mask
}
