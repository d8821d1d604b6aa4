package infer

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestMovesReach checks that for every field of a program there is a move that sets
// it, if it is an enumeration to every value but the one that means absent: what no
// move sets is never found.
func TestMovesReach(t *testing.T) {
	reached := map[string]map[int]bool{}
	for _, f := range mma.Fields() {
		reached[f.Path] = map[int]bool{}
	}
	const units = 40
	for seed := range uint64(units) {
		i := mma.MadeUp(seed)
		sp := &space{Formats: i.Formats, k: i.K}
		moves, _ := sp.neighbours(&i.Params, topics)
		for _, q := range moves {
			for _, f := range mma.Fields() {
				if v := f.Int(&q); v != f.Int(&i.Params) {
					reached[f.Path][v] = true
				}
			}
		}
	}
	for _, f := range mma.Fields() {
		if len(reached[f.Path]) == 0 {
			t.Errorf("no move sets %s", f.Path)
		}
		for _, v := range f.Values() {
			if !reached[f.Path][v] && v != 0 {
				var p mma.Params
				f.SetInt(&p, v)
				t.Errorf("no move makes %s %q", f.Path, f.Text(&p))
			}
		}
	}
}
