package gen

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestAround checks that a tile of variations has the designed dot product as its
// first output, that its rows and columns are near it, and that nothing finite becomes infinite.
func TestAround(t *testing.T) {
	tier.SkipUnderRace(t)
	for _, name := range goldenUnits {
		i := lookup(t, name)
		sp := Spec{i.Formats, i.K}
		for _, g := range All() {
			src := g.Aimed(sp, &i.Params)
			for version := range arounds {
				around, ok := src.aroundBy(version + 1)
				if want := g.M == 1 && g.Size == nil; ok != want {
					t.Errorf("%s has variations: %v, want %v", src, ok, want)
				}
				if !ok {
					continue
				}
				if again, err := ParseSource(around.String()); err != nil || again.String() != around.String() {
					t.Errorf("%s is read as %s: %v", around, again, err)
				}
				checkAround(t, sp, src, around)
			}
		}
	}
}

// checkAround checks the variations of the first dot products of a source.
func checkAround(t *testing.T, sp Spec, src, around Source) {
	t.Helper()
	g := around.Generator
	b := mma.NewBatch(sp.Formats, mma.Shape{M: g.M, N: g.N, K: sp.K, Tiles: 1})
	d := mma.NewDot(sp.Formats, sp.K)
	changed := map[int]bool{}
	for n := range uint64(20) {
		around.Fill(b, 3, n*uint64(b.Dots()))
		first := src.Dot(sp, 3, n)
		if b.Get(0, d); !d.Equal(first) {
			t.Fatalf("%s: output 0 of base %d is not the designed one: %s", around, n, cmp.Diff(first, d))
		}
		for at := range b.Dots() {
			b.Get(at, d)
			if finite(sp.Formats, first) && !finite(sp.Formats, d) {
				t.Fatalf("%s: output %d of base %d is not finite: %+v", around, at, n, d)
			}
			if !d.Equal(first) {
				changed[at] = true
			}
		}
	}
	if len(changed) != b.Dots()-1 {
		t.Errorf("%s: only %d of %d outputs ever differ from the designed one", around, len(changed), b.Dots()-1)
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
		"around@1(cut@1", "around@0(cut@1)", "around@3(cut@1)", "around@2(around@1(cut@1))", "around@2(raw@2)", "around@1()", "around@1",
	} {
		if s, err := ParseSource(text); err == nil {
			t.Errorf("%s is read as %s", text, s)
		}
	}
}

// TestSchedule checks that every source has its turns, how many dot products these make, and
// which of them are variations.
func TestSchedule(t *testing.T) {
	const n = 8192
	for _, c := range []struct {
		speed   Speed
		opening uint64 // turns
		// After the opening. 0: no variations
		around, designed, sampled int // dot products of a turn
		raw                       int // turns, as a multiple of the weight
	}{
		{speed: Slow, opening: 160, designed: n, sampled: n, raw: 1},
		{speed: Fast, opening: 160, around: n, designed: n / 16, sampled: n, raw: 1},
		{speed: Device, opening: 96, around: n, designed: n / 64, sampled: n / 2, raw: 12},
	} {
		var sources []Source
		want, cycle := map[string]int{}, 0
		for _, g := range All() {
			sources = append(sources, Source{Generator: &g})
			want[g.Name] = g.Weight
			if g.bits {
				want[g.Name] *= c.raw
			}
			cycle += want[g.Name]
		}
		s := NewSchedule(sources, c.speed)
		const cycles = 40
		varied, next := map[string]int{}, map[string]uint64{}
		got := map[string]int{} // turns in the last cycles
		for turn := range uint64(2 * cycles * cycle) {
			src, name, dots, ok := s.Turn(turn, n, next)
			if !ok || name != src.String() {
				t.Fatalf("turn %d: %s, %s, %v", turn, src, name, ok)
			}
			g, expect := src.Generator, n
			switch {
			case src.isAround():
				g, expect = src.Base.Source.Generator, c.around
				varied[g.Name]++
			case turn < c.opening || next[name] < g.Once || g.bits:
			case g.M == 1:
				expect = c.designed
			default:
				expect = c.sampled
			}
			if dots != expect || src.isAround() && (turn < c.opening || g.rare) {
				t.Errorf("speed %d: turn %d has %d dot products of %s, want %d", c.speed, turn, dots, name, expect)
			}
			if turn >= uint64(cycles*cycle) {
				got[g.Name]++
			}
			next[name] += uint64(dots)
		}
		for name := range want {
			if got[name] != cycles*want[name] {
				t.Errorf("speed %d: %s has %d turns in %d cycles, want %d of each", c.speed, name, got[name], cycles, want[name])
			}
		}
		if c.around > 0 != (varied["cut"] > 0) {
			t.Errorf("speed %d: %v turns of variations", c.speed, varied)
		}
	}
	if _, _, _, ok := NewSchedule(nil, Device).Turn(0, 1024, nil); ok {
		t.Error("there is a turn without sources")
	}
}
