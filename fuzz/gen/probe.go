package gen

import "github.com/mmafuzz/mmafuzz/sim/mma"

// probeRounds is the number of rounds of Probe that have inputs. Round r has
// 16*2^r of each generator.
const probeRounds = 9

// Probe returns a round of inputs of every generator, aimed at the decisions of
// the given programs: what triage asks when it has to tell programs apart. Each
// round has new inputs, twice as many as the one before; after the last it
// returns none.
func Probe(sp Spec, seed uint64, round int, ps ...*mma.Params) []*mma.Dot {
	if round >= probeRounds {
		return nil
	}
	n := uint64(16) << round
	first := n - 16
	var dots []*mma.Dot
	for i := range generators {
		g := &generators[i]
		src := g.Aimed(sp, ps...)
		// Take only the outputs of a tile that share no operands: those on its diagonal.
		per, diagonal := uint64(g.M*g.N), uint64(min(g.M, g.N))
		b := mma.NewBatch(sp.Formats, mma.Shape{M: g.M, N: g.N, K: sp.K, Tiles: int(n / diagonal)})
		src.Fill(b, seed, first/diagonal*per)
		for i := range n {
			d := mma.NewDot(sp.Formats, sp.K)
			b.Get(int(i/diagonal*per+i%diagonal*uint64(g.N+1)), d)
			dots = append(dots, d)
		}
	}
	return dots
}
