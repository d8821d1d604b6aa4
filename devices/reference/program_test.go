package reference_test

import (
	"context"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
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

// TestPrograms compares every reference with the program that its unit says it
// computes, on inputs of all generators aimed at that program: many of each for one
// choice of formats, which is also run on longer dot products, and some for all others.
func TestPrograms(t *testing.T) {
	for _, ref := range oracle.References {
		t.Run(ref.Name, func(t *testing.T) {
			t.Parallel()
			target, err := devices.Open("ref:" + ref.Name)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range shapes() {
				n, chained := tier.Of(4, 4, 32, 128), 0
				if i.Formats == (mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}) {
					n, chained = tier.Of(32, 32, 4_000, 30_000), tier.Of(8, 8, 1024)
				}
				if i.K = min(i.K, 16); i.Scale != fp.None {
					i.K = int(i.Block)
				}
				u, err := target.Open(&i)
				if err != nil {
					continue // its formats are not the reference's
				}
				compareProgram(t, u, n)
				compareProgram(t, devices.WithK(u, 4*i.K), chained)
			}
		})
	}
}

// compareProgram compares a unit with its program on n inputs of each generator.
func compareProgram(t *testing.T, u devices.Unit, n int) {
	t.Helper()
	i := u.Instruction()
	m, err := sim.New(i.Formats, i.K, i.Params)
	if err != nil {
		t.Errorf("%s, K = %d: %v", i.Formats, i.K, err)
		return
	}
	policy := oracle.DefaultPolicy(i.Unknown, 0)
	for _, g := range gen.All() {
		sp := gen.Spec{Formats: i.Formats, K: i.K}
		b := mma.NewBatch(i.Formats, mma.Shape{M: g.M, N: g.N, K: i.K, Tiles: (n + g.M*g.N - 1) / (g.M * g.N)})
		g.Aimed(sp, &i.Params).Fill(b, 1, 0)
		want, got := make([]byte, b.Dots()*i.D.Width()), make([]byte, b.Dots()*i.D.Width())
		m.Run(b, got)
		if err := u.Run(context.Background(), b, want); err != nil {
			t.Fatal(err)
		}
		for k := range b.Dots() {
			x, y := mma.Load(want, i.D.Width(), k), mma.Load(got, i.D.Width(), k)
			if oracle.Compare(i.D, policy, x, y) == oracle.Same {
				continue
			}
			d := mma.NewDot(i.Formats, i.K)
			b.Get(k, d)
			t.Fatalf("%s, K = %d, generator %s: %s gives %s, its program %s", i.Formats, i.K, g.Name,
				mma.FormatDot(i.Formats, d), mma.FormatCode(i.D, x), mma.FormatCode(i.D, y))
		}
	}
}

// TestNoProgram has dot products that are too long for a program: the reference runs
// all the same, and is believed to be nothing.
func TestNoProgram(t *testing.T) {
	u := devices.WithK(open(t, "ref:exact", half), mma.MaxK+1)
	if i := u.Instruction(); i.Params != (mma.Params{}) || i.K != mma.MaxK+1 {
		t.Errorf("%+v", i)
	}
}
