package fuzz

import (
	"fmt"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// compareModels runs n dot products of every generator through the fast kernels,
// the general interpreter and the oracle.
func compareModels(t *testing.T, i *mma.Instruction, times, n int) {
	t.Helper()
	m, err := sim.New(i.Formats, i.K, i.Params)
	if err != nil {
		t.Fatalf("%s: %v", i.FullName(), err)
	}
	sp := Spec{i.Formats, i.K * times}
	width := i.D.Width()
	for g := range generators {
		src := generators[g].Aimed(sp, &i.Params)
		gen := src.Generator
		tiles := max(1, n/(gen.M*gen.N))
		b := mma.NewBatch(i.Formats, mma.Shape{M: gen.M, N: gen.N, K: sp.K, Tiles: tiles})
		src.Fill(b, 1, 0)
		fast, general := make([]byte, b.Dots()*width), make([]byte, b.Dots()*width)
		m.Run(b, fast)
		m.RunGeneral(b, general)
		d := mma.NewDot(i.Formats, sp.K)
		for o := range min(b.Dots(), n) {
			b.Get(o, d)
			want := oracle.Eval(&i.Params, i.Formats, i.K, d)
			x, y := mma.Load(fast, width, o), mma.Load(general, width, o)
			if x != want || y != want {
				t.Errorf("%s %s:%d: kernel %x, general %x, oracle %x\n%+v\n%x %x c=%x sa=%x sb=%x", i.FullName(), src, o, x, y, want,
					i.Params, d.A, d.B, d.C, d.SA, d.SB)
				return
			}
		}
	}
}

// TestModels compares the simulators of the catalogue with the oracle on every
// generator, alone and chained.
func TestModels(t *testing.T) {
	skipUnderRace(t)
	n := 24
	if testing.Short() {
		n = 4
	}
	for _, i := range mma.Catalog() {
		if i.Refuse != "" {
			continue
		}
		t.Run(i.FullName(), func(t *testing.T) {
			compareModels(t, &i, 1, n)
			if i.C == i.D {
				compareModels(t, &i, 2, n/4)
			}
		})
	}
}

// TestMadeUp does the same for made-up units.
func TestMadeUp(t *testing.T) {
	skipUnderRace(t)
	units := 600
	if testing.Short() {
		units = 60
	}
	for seed := range units {
		i := mma.MadeUp(uint64(seed))
		i.Name = fmt.Sprint(seed)
		compareModels(t, &i, 1, 6)
		compareModels(t, &i, 2, 2)
		if t.Failed() {
			return
		}
	}
}

// skipUnderRace skips a test that has but one goroutine and computes much: with
// the race detector it takes twenty times as long and finds nothing more.
func skipUnderRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("one goroutine: nothing for the race detector")
	}
}
