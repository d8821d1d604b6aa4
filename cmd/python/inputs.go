package main

import (
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// inputs fills a batch of single dot products with inputs of all generators in turn, aimed at the
// decisions of the unit's model if it has one. Input number n is the same in any batch.
func inputs(u devices.Unit, seed, skip uint64, b *mma.Batch) {
	i := u.Instruction()
	spec := gen.Spec{Formats: i.Formats, K: i.K}
	var aims []*mma.Params
	if p := u.Model(); p != nil {
		aims = append(aims, p)
	}
	all := gen.All()
	dots := make([]*mma.Dot, b.Tiles)
	for n := range dots {
		at := skip + uint64(n)
		g := all[at%uint64(len(all))]
		dots[n] = g.Aimed(spec, aims...).Dot(spec, seed, at/uint64(len(all)))
	}
	from := mma.BatchOf(i.Formats, i.K, dots)
	copy(b.A, from.A)
	copy(b.B, from.B)
	copy(b.C, from.C)
	copy(b.SA, from.SA)
	copy(b.SB, from.SB)
}
