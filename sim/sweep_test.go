package sim_test

import (
	"bytes"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/madeup"
)

// TestSweep runs the programs of many made-up units and of the catalogue on batches
// of their formats, in turn and twice, and compares with a Model. Programs that differ
// only in how NaNs are read must not share decoded operands.
func TestSweep(t *testing.T) {
	type space struct {
		f mma.Formats
		k int
	}
	programs := map[space][]mma.Params{}
	add := func(i mma.Instruction) {
		s := space{i.Formats, i.K}
		programs[s] = append(programs[s], i.Params)
	}
	for seed := range uint64(400) {
		add(madeup.Unit(seed))
	}
	for _, i := range mma.Arithmetics() {
		add(i)
	}
	for s, ps := range programs {
		infinite := ps[0]
		infinite.In.NaNInf = !infinite.In.NaNInf
		numberless := ps[0]
		numberless.In.NaNInf, numberless.In.InfNaN, numberless.Acc.Over = false, true, mma.OverMax
		if ps = append(ps, infinite); numberless.Validate(s.f, s.k) == nil {
			ps = append(ps, numberless)
		}
		w := sim.NewSweep(s.f, s.k)
		i := &mma.Instruction{Formats: s.f, K: s.k}
		raw := measure.Batch(i, mma.Shape{M: 1, N: 1, K: s.k, Tiles: 20}, 1, measure.Raw)
		tiles := measure.Batch(i, mma.Shape{M: 2, N: 3, K: 2 * s.k, Tiles: 4}, 2, measure.Finite)
		for range 2 {
			for _, p := range ps {
				m, err := sim.New(s.f, s.k, p)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.Use(&p); err != nil {
					t.Fatal(err)
				}
				for _, b := range []*mma.Batch{raw, tiles} {
					got, want := make([]byte, b.Dots()*s.f.D.Width()), make([]byte, b.Dots()*s.f.D.Width())
					w.Run(b, got)
					m.RunFaulty(b, want, nil)
					if !bytes.Equal(got, want) {
						t.Errorf("%s, K = %d: %s differs", s.f, s.k, p)
					}
				}
			}
		}
	}
	if err := sim.NewSweep(mma.Catalog()[0].Formats, 4).Use(&mma.Params{}); err == nil {
		t.Error("a program that is not valid is taken")
	}
}
