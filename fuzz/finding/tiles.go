package finding

import (
	"context"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/defect"
)

// Rules are found by dot products that are asked alone, with zeros in the rest of their tile. Where a unit
// takes operands of another row, these are zeros then: "a is +0" would be right there and wrong in every
// tile that somebody multiplies.

// mostTiles are the tiles in which a rule is tried.
const mostTiles = 4

// unlessTilesRefute returns a verdict, or if its defect is another one in the tiles of cases, that nothing is
// known.
func (x *pairTriage) unlessTilesRefute(ctx context.Context, cases []*Case, v *triage.Verdict) (*triage.Verdict, error) {
	if v.Defect == nil {
		return v, nil
	}
	holds, err := x.holdsInTiles(ctx, cases, v.K, v.Program, &v.Defect.Rule)
	if holds || err != nil {
		return v, err
	}
	return &triage.Verdict{Program: x.p.base, K: v.K, Differ: v.Differ, Agree: v.Agree, Kept: v.Agree, Sought: v.Sought, Ended: v.Ended, Labels: []triage.Label{triage.Unexplained}, Refuted: v.Defect.String()}, nil
}

// holdsInTiles reports whether a rule is right in the tiles of cases, too: mostly, since there may be
// another defect that depends on the place.
func (x *pairTriage) holdsInTiles(ctx context.Context, cases []*Case, k int, program mma.Params, r *defect.Rule) (bool, error) {
	p, err := defect.NewPredictor(x.p.Spec.Formats, k, program, *r)
	if err != nil {
		return false, err
	}
	comparer := oracle.NewComparer(x.p.Spec.D, x.p.Policy)
	side, visible, right, tiles := 0, 0, 0, 0
	if x.p.unknownIsB {
		side = 1
	}
	for _, f := range cases {
		if tiles == mostTiles {
			break
		}
		if !f.Origin.drawn() {
			continue
		}
		tile, _ := SourceOf(f.Origin.Source).Tile(x.p.Spec, f.Seed, f.Origin.Index)
		if tile.M*tile.N == 1 {
			continue
		}
		tiles++
		got, err := x.bothOf(ctx, tile)
		if err != nil {
			return true, harmlessFault(err)
		}
		for i := range tile.Dots() {
			d := mma.NewDot(tile.Formats, tile.K)
			tile.Get(i, d)
			unit, other, known := p.Predict(d)
			if !known || x.p.Equal(unit, other) {
				continue
			}
			visible++
			if r := got(i); comparer.Explains(unit, r[side], r[1-side]) {
				right++
			}
		}
	}
	return 2*right >= visible, nil
}
