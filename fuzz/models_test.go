package fuzz

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
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

// TestNeighbours compares every kernel with the general interpreter on the programs
// that differ from an arithmetic of the catalogue in one decision: a kernel must not
// take a program of which it computes only what the catalogue has.
func TestNeighbours(t *testing.T) {
	skipUnderRace(t)
	const each = 16 // dot products of a generator
	kernels := 0
	for _, i := range mma.Arithmetics() {
		sp := Spec{i.Formats, i.K}
		for _, s := range triage.Singles(i.Params, i.Formats, i.K) {
			m, err := sim.New(i.Formats, i.K, s.Params)
			if err != nil {
				t.Fatal(err)
			}
			var fast []*sim.Model
			for _, path := range sim.Paths() {
				if on := m.On(path); on.Kernel() != "" && !slices.ContainsFunc(fast, func(x *sim.Model) bool { return x.Kernel() == on.Kernel() }) {
					fast = append(fast, on)
				}
			}
			kernels += len(fast)
			if !sameAsGeneral(t, sp, &i.Params, &s.Params, each, fast) {
				t.Errorf("%s %s", i.FullName(), mma.Brief(mma.Diff(&i.Params, &s.Params)))
			}
		}
	}
	t.Logf("%d kernels for neighbours", kernels)
}

// sameAsGeneral compares models of one program on n dot products of every generator,
// aimed at two programs, with the general interpreter.
func sameAsGeneral(t *testing.T, sp Spec, p, q *mma.Params, n int, models []*sim.Model) bool {
	t.Helper()
	w := sp.D.Width()
	for g := range generators {
		gen := &generators[g]
		if len(models) == 0 {
			return true
		}
		b := mma.NewBatch(sp.Formats, mma.Shape{M: gen.M, N: gen.N, K: sp.K, Tiles: max(1, n/(gen.M*gen.N))})
		gen.Aimed(sp, p, q).Fill(b, 1, 0)
		want, got := make([]byte, b.Dots()*w), make([]byte, b.Dots()*w)
		models[0].RunGeneral(b, want)
		for _, m := range models {
			if m.Run(b, got); !bytes.Equal(got, want) {
				t.Errorf("kernel %s is not the general interpreter on %s", m.Kernel(), gen.Name)
				return false
			}
		}
	}
	return true
}

// skipUnderRace skips a test that has but one goroutine and computes much: with
// the race detector it takes twenty times as long and finds nothing more.
func skipUnderRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("one goroutine: nothing for the race detector")
	}
}
