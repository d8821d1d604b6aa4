// Package climb looks for dot products with a large score by hill climbing.
package climb

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Climber looks for dot products with a large score by hill climbing: it starts from
// the best of the inputs of gen.Probe, changes each in a few places, and goes on with
// what is at least as good.
type Climber struct {
	Formats mma.Formats
	K       int
	Seed    uint64
	Most    int        // dot products to score
	First   []*mma.Dot // inputs to start from besides others
	// Scores returns the score of each dot product; what cannot be scored is below 0.
	Scores func(ctx context.Context, dots []*mma.Dot) ([]float64, error)
}

// Peak is a dot product with its score.
type Peak struct {
	Dot   *mma.Dot
	Score float64
}

const (
	climbers = 12 // hills that are climbed side by side
	children = 24 // changed copies of each that are tried at a time
)

// Climb returns the best dot products that were found, the best one first: none if none
// could be scored. programs are what the first inputs aim at.
func (c *Climber) Climb(ctx context.Context, programs ...*mma.Params) ([]Peak, error) {
	var best []Peak
	asked := 0
	for round := 0; asked < c.Most/3; round++ {
		dots := gen.Probe(gen.Spec{Formats: c.Formats, K: c.K}, c.Seed, round, programs...)
		if round == 0 {
			dots = append(c.First, dots...)
		}
		if len(dots) == 0 {
			break
		}
		dots = dots[:min(len(dots), c.Most-asked)]
		scores, err := c.Scores(ctx, dots)
		if err != nil {
			return nil, err
		}
		for n, d := range dots {
			if scores[n] >= 0 {
				best = append(best, Peak{d, scores[n]})
			}
		}
		asked += len(dots)
		slices.SortStableFunc(best, func(x, y Peak) int { return cmp.Compare(y.Score, x.Score) })
		best = best[:min(len(best), climbers)]
	}
	rng := rand.New(rand.NewPCG(c.Seed, 1))
	for len(best) > 0 && asked < c.Most {
		var dots []*mma.Dot
		for _, p := range best {
			for range children {
				dots = append(dots, c.changed(p.Dot, rng))
			}
		}
		dots = dots[:min(len(dots), c.Most-asked)]
		scores, err := c.Scores(ctx, dots)
		if err != nil {
			return nil, err
		}
		asked += len(dots)
		for n, d := range dots {
			if p := &best[n/children]; scores[n] >= p.Score {
				*p = Peak{d, scores[n]}
			}
		}
		slices.SortStableFunc(best, func(x, y Peak) int { return cmp.Compare(y.Score, x.Score) })
		c.restart(best, rng)
	}
	return best, nil
}

// restart makes the worst hill, now and then, a copy of the best one.
func (c *Climber) restart(best []Peak, rng *rand.Rand) {
	if rng.IntN(4) == 0 {
		best[len(best)-1] = best[0]
	}
}

// changed returns a copy with a few changes.
func (c *Climber) changed(d *mma.Dot, rng *rand.Rand) *mma.Dot {
	d = d.Clone()
	for range 1 + rng.IntN(3) {
		c.change(d, rng)
	}
	return d
}

// change changes one code, copies a pair of factors, or zeroes one.
func (c *Climber) change(d *mma.Dot, rng *rand.Rand) {
	i, j := rng.IntN(c.K), rng.IntN(c.K)
	switch n := rng.IntN(20); {
	case n == 0:
		d.A[i], d.B[i] = d.A[j], d.B[j]
	case n == 1:
		d.A[i], d.B[i] = 0, 0
	case n == 2 && len(d.SA) > 0:
		x := rng.IntN(len(d.SA))
		d.SA[x] = changedCode(c.Formats.Scale.Get(), d.SA[x], rng)
	case n == 3 && len(d.SB) > 0:
		x := rng.IntN(len(d.SB))
		d.SB[x] = changedCode(c.Formats.Scale.Get(), d.SB[x], rng)
	case n < 7 && c.Formats.C != fp.None:
		d.C = changedCode(c.Formats.C.Get(), d.C, rng)
	case n%2 == 0:
		d.A[i] = changedCode(c.Formats.A.Get(), d.A[i], rng)
	default:
		d.B[i] = changedCode(c.Formats.B.Get(), d.B[i], rng)
	}
}

// changedCode returns a code of the format that is like another one.
func changedCode(f *fp.Format, code uint64, rng *rand.Rand) uint64 {
	frac := uint64(1)<<f.FracBits - 1
	exponent := uint64(1) << f.FracBits
	value := code >> f.Low
	switch rng.IntN(8) {
	case 0:
		value ^= 1 << rng.IntN(int(f.Bits()))
	case 1:
		value |= frac
	case 2:
		value &^= frac
	case 3:
		value += exponent
	case 4:
		value -= exponent
	case 5:
		value ^= f.SignBit() >> f.Low
	case 6:
		value = value&^frac | rng.Uint64()&frac
	case 7:
		if rng.IntN(2) == 0 {
			value++
		} else {
			value--
		}
	}
	return value << f.Low & f.CodeMask()
}
