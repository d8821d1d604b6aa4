package reference_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// shapes returns an instruction for each different choice of formats in the
// catalogue, with the largest K.
func shapes() []mma.Instruction {
	var all []mma.Instruction
	index := map[mma.Formats]int{}
	for _, i := range mma.Catalog() {
		n, seen := index[i.Formats]
		switch {
		case !seen:
			index[i.Formats] = len(all)
			all = append(all, i)
		case i.K > all[n].K:
			all[n] = i
		}
	}
	return all
}

// TestPrograms compares every reference, which a program computes, bit for bit, but for the
// sign of an exact zero, with package oracle's own code for it. The inputs are those of all
// generators aimed at that program: many of each for one choice of formats, and some for all
// others. Some choices are also run on longer dot products. At night they are 100 million.
func TestPrograms(t *testing.T) {
	var compared atomic.Int64
	t.Cleanup(func() {
		n := compared.Load()
		if t.Logf("%d dot products", n); tier.Nightly() && n < 100_000_000 {
			t.Error("fewer than 100 million")
		}
	})
	for _, ref := range oracle.References {
		t.Run(ref.Name, func(t *testing.T) {
			t.Parallel()
			target, err := devices.Open("ref:" + ref.Name)
			if err != nil {
				t.Fatal(err)
			}
			for n, i := range shapes() {
				count := tier.Of(1, 4, 64, 1_000)
				if i.K = min(i.K, 16); i.Scale != fp.None {
					i.K = int(i.Block)
				}
				u, err := target.Open(&i)
				if err != nil {
					continue // its formats are not the reference's
				}
				compare := func(u devices.Unit, n int) { compared.Add(int64(compareJudge(t, ref, u, n))) }
				compare(u, count)
				if i.Formats == (mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}) {
					compare(u, tier.Of(16, 128, 4_000, 700_000))
				}
				if n%tier.Of(24, 8, 1) == 0 {
					compare(devices.WithK(u, 4*i.K), tier.Of(1, 2, 16, 64))
					compare(devices.WithK(u, 20*i.K+mma.MaxK/32*32), tier.Of(1, 1, 4, 16))
				}
			}
		})
	}
}

// compareJudge compares a unit with package oracle's code on n inputs of each generator, and
// returns how many that were.
func compareJudge(t *testing.T, ref oracle.Reference, u devices.Unit, n int) (compared int) {
	t.Helper()
	i := u.Instruction()
	program := ref.Program(i.Formats)
	policy := oracle.DefaultPolicy(i.Unknown&mma.FacetZero, 0)
	for _, g := range gen.All() {
		sp := gen.Spec{Formats: i.Formats, K: i.K}
		src := gen.Source{Generator: &g}
		if i.K <= mma.MaxK {
			src = g.Aimed(sp, &program)
		}
		var b *mma.Batch
		if tile := g.M * g.N; n < tile {
			b = mma.BatchOf(i.Formats, i.K, gen.Independent(sp, src, 1, 0, n))
		} else {
			b = mma.NewBatch(i.Formats, mma.Shape{M: g.M, N: g.N, K: i.K, Tiles: (n + tile - 1) / tile})
			src.Fill(b, 1, 0)
		}
		got := make([]byte, b.Dots()*i.D.Width())
		if err := u.Run(context.Background(), b, got); err != nil {
			t.Fatal(err)
		}
		d := mma.NewDot(i.Formats, i.K)
		for k := range b.Dots() {
			b.Get(k, d)
			if x, y := mma.Load(got, i.D.Width(), k), ref.Eval(i.Formats, d); oracle.Compare(i.D, policy, x, y) != oracle.Same {
				t.Fatalf("%s, K = %d, generator %s: %s gives %s, oracle %s", i.Formats, i.K, g.Name,
					mma.FormatDot(i.Formats, d), mma.FormatCode(i.D, x), mma.FormatCode(i.D, y))
			}
		}
		compared += b.Dots()
	}
	return compared
}

// TestNoProgram has dot products that are too long for a program: the reference runs
// all the same, and is believed to be nothing.
func TestNoProgram(t *testing.T) {
	u := devices.WithK(open(t, "ref:exact", half), mma.MaxK+1)
	if i := u.Instruction(); i.Params != (mma.Params{}) || i.K != mma.MaxK+1 {
		t.Errorf("%+v", i)
	}
}
