package gen

import "github.com/mmafuzz/mmafuzz/sim/mma"

// probeRounds is the number of rounds of Probe that have inputs. Round r has
// 16*2^r of each generator.
const probeRounds = 9

// probeBytes is the largest size of a round of Probe in memory, with 16 bytes for the factors
// of each product. Programs have up to 255
// products, with which all rounds are smaller; longer dot products get fewer rounds.
const probeBytes = 512 << 20

// Probe returns a round of inputs of every generator, aimed at the decisions of
// the given programs: what triage asks when it has to tell programs apart. Each
// round has new inputs, twice as many as the one before; after the last it
// returns none, and so it does for rounds that would take more than half a gigabyte.
func Probe(sp Spec, seed uint64, round int, ps ...*mma.Params) []*mma.Dot {
	if round >= probeRounds {
		return nil
	}
	n := uint64(16) << round
	if dots := n * uint64(len(generators)); dots*16*uint64(sp.K) > probeBytes {
		return nil
	}
	first := n - 16
	var dots []*mma.Dot
	for i := range generators {
		dots = append(dots, Independent(sp, generators[i].Aimed(sp, ps...), seed, first, int(n))...)
	}
	return dots
}

// The widths of Far: generators aim at these only if a program has them.
const (
	farFirst = 41
	farLast  = 80
)

// Far returns n inputs with terms on both sides of a cut that lies further below the largest
// term than generators aim at by themselves. They show that a unit cuts there although the
// program that was found for it does not.
func Far(sp Spec, seed uint64, n int) []*mma.Dot {
	src := Source{Generator: named("cut")}
	for width := farFirst; width <= farLast; width++ {
		src.Args = append(src.Args, width)
	}
	return Independent(sp, src, seed, 0, n)
}

// CornerCases returns the first n extremes by construction.
func CornerCases(sp Spec, n int) []*mma.Dot {
	return Independent(sp, Source{Generator: named("corner")}, 0, 0, n)
}

// named returns a generator of the table.
func named(name string) *Generator {
	g, err := Find(name)
	if err != nil {
		panic(err)
	}
	return g
}

// Independent returns n dot products of a source that share no operands, those on the diagonals
// of tiles, from number first on: a multiple of 8, so that a tile's diagonal is whole.
func Independent(sp Spec, src Source, seed, first uint64, n int) []*mma.Dot {
	g := src.Generator
	per, diagonal := g.M*g.N, min(g.M, g.N)
	b := mma.NewBatch(sp.Formats, mma.Shape{M: g.M, N: g.N, K: sp.K, Tiles: (n + diagonal - 1) / diagonal})
	src.Fill(b, seed, first/uint64(diagonal)*uint64(per))
	dots := make([]*mma.Dot, n)
	for i := range dots {
		dots[i] = mma.NewDot(sp.Formats, sp.K)
		b.Get(i/diagonal*per+i%diagonal*(g.N+1), dots[i])
	}
	return dots
}
