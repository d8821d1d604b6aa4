package gen

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestAround checks that a tile of variations has the designed dot product as its first
// output, that its rows and columns are near it, and that nothing finite becomes infinite.
func TestAround(t *testing.T) {
	for _, name := range goldenUnits {
		i := lookup(t, name)
		sp := Spec{i.Formats, i.K}
		for _, g := range All() {
			src := g.Aimed(sp, &i.Params)
			around, ok := src.Around()
			if want := g.M == 1 && g.Size == nil; ok != want {
				t.Errorf("%s has variations: %v, want %v", src, ok, want)
			}
			if !ok {
				continue
			}
			if again, err := ParseSource(around.String()); err != nil || again.String() != around.String() {
				t.Errorf("%s is read as %s: %v", around, again, err)
			}
			changed := map[uint64]bool{}
			for tile := range uint64(20) {
				first := around.Dot(sp, 3, 64*tile)
				if diff := cmp.Diff(src.Dot(sp, 3, tile), first); diff != "" {
					t.Fatalf("%s: output 0 of tile %d is not the designed one: %s", around, tile, diff)
				}
				for n := range uint64(64) {
					d := around.Dot(sp, 3, 64*tile+n)
					if finite(sp.Formats, first) && !finite(sp.Formats, d) {
						t.Fatalf("%s#%d is not finite: %+v", around, 64*tile+n, d)
					}
					if !d.Equal(first) {
						changed[n] = true
					}
				}
			}
			if len(changed) != 63 {
				t.Errorf("%s: only %d of 63 outputs ever differ from the designed one", around, len(changed))
			}
		}
	}
}

// finite reports whether no operand is an infinity or a NaN.
func finite(f mma.Formats, d *mma.Dot) bool {
	is := func(id fp.ID, codes ...uint64) bool {
		for _, c := range codes {
			if id != fp.None && id.Get().Decode(c).Class > fp.Finite {
				return false
			}
		}
		return true
	}
	return is(f.A, d.A...) && is(f.B, d.B...) && is(f.C, d.C) && is(f.Scale, d.SA...) && is(f.Scale, d.SB...)
}

// TestAroundRefused checks sources that cannot be varied.
func TestAroundRefused(t *testing.T) {
	for _, text := range []string{
		"around@1(raw@2)", "around@1(pattern@1)", "around@1(around@1(cut@1))", "around@1(mutate@1(cut@1#5))",
		"around@1(cut@1", "around@2(cut@1)", "around@1()", "around@1",
	} {
		if s, err := ParseSource(text); err == nil {
			t.Errorf("%s is read as %s", text, s)
		}
	}
}

// TestSchedule checks that every source has its turns, and when a fast pair takes
// variations.
func TestSchedule(t *testing.T) {
	var sources []Source
	weights := map[string]int{}
	cycle := 0
	for _, g := range All() {
		sources = append(sources, Source{Generator: &g})
		weights[g.Name] = g.Weight
		cycle += g.Weight
	}
	for _, fast := range []bool{false, true} {
		s := NewSchedule(sources, fast)
		const cycles = 40
		got := map[string]int{}
		varied := 0
		next := map[string]uint64{}
		for turn := range uint64(cycles * cycle) {
			src, name, n, ok := s.Turn(turn, 1024, next)
			if !ok || name != src.String() {
				t.Fatalf("turn %d: %s, %s, %v", turn, src, name, ok)
			}
			g := src.Generator
			if src.isAround() {
				varied++
				if turn < openingTurns || !fast || n != 1024 {
					t.Errorf("turn %d is one of %d variations", turn, n)
				}
				g = src.Base.Source.Generator
			} else if g.M == 1 && fast && turn >= openingTurns && next[name] >= g.Once && n != 1024/designedCost {
				t.Errorf("turn %d has %d dot products of %s", turn, n, src)
			}
			got[g.Name]++
			next[name] += uint64(n)
		}
		for name, w := range weights {
			if got[name] != cycles*w {
				t.Errorf("%s has %d turns in %d cycles, want %d", name, got[name], cycles, cycles*w)
			}
		}
		if fast != (varied > 0) {
			t.Errorf("fast %v: %d turns of variations", fast, varied)
		}
	}
	if _, _, _, ok := NewSchedule(nil, true).Turn(0, 1024, nil); ok {
		t.Error("there is a turn without sources")
	}
}
