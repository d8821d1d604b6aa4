package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestWord compares the kernel of programs that no other kernel computes with the general
// interpreter: on programs with some of the differences of one arithmetic from another, as
// attribution makes them, and on inputs aimed at their decisions.
func TestWord(t *testing.T) {
	all := mma.Arithmetics()
	r := rand.New(rand.NewPCG(1, 1))
	compared := 0
	for n := range tier.Of(1_500, 20_000, 80_000, 2_000_000) {
		i, other := all[r.IntN(len(all))], all[r.IntN(len(all))]
		p := i.Params
		for _, c := range mma.Diff(&i.Params, &other.Params) {
			if r.IntN(2) == 0 {
				if q := p; q.Apply([]mma.Change{c}) == nil {
					p = q
				}
			}
		}
		m, err := sim.New(i.Formats, i.K, p)
		if err != nil || m.Kernel() != "word" {
			continue
		}
		compared++
		shape := mma.Shape{M: 3, N: 4, K: i.K, Tiles: 2}
		if i.C == i.D && n%2 == 0 {
			shape.K *= 2
		}
		sameAsGeneral(t, fmt.Sprintf("%v with %v", i.Params, mma.Diff(&i.Params, &p)), measure.Batch(&i, shape, uint64(n), []measure.Inputs{measure.Finite, measure.Raw}[n/2%2]), onPaths(m)...)
		if n%4 == 0 {
			sameAsGeneral(t, fmt.Sprintf("%v with %v", i.Params, mma.Diff(&i.Params, &p)), mma.BatchOf(i.Formats, i.K, gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, uint64(n), 0, &p)), onPaths(m)...)
		}
	}
	if compared < 50 { // with vectors and without: which programs have no other kernel depends on the processor
		t.Errorf("compared only %d programs", compared)
	}
}

// TestWordSteps compares the sums of that kernel which add one product after the other, many of
// them zeros, with those of the general interpreter.
func TestWordSteps(t *testing.T) {
	i, err := mma.Lookup("hopper", "mma.m16n8k16.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(2, 2))
	words := 0
	for _, align := range []mma.Align{{}, {F: 8, Mode: fp.RZ}, {F: 25, Mode: fp.RZ}, {F: 25, Mode: fp.RZ, Floor: -10}} {
		for _, mode := range fp.Modes() {
			p := i.Params
			p.L, p.Join.Align, p.Acc.Mode, p.Special.NegZero = 1, align, mode, true
			m, err := sim.New(i.Formats, i.K, p)
			if err != nil {
				t.Fatal(err)
			}
			if m.Kernel() == "word" {
				words++
			}
			for n := range 20 {
				b := measure.Batch(i, mma.Shape{M: 4, N: 4, K: i.K << (n & 1), Tiles: 4}, uint64(n>>1), []measure.Inputs{measure.Finite, measure.Raw}[n>>1%2])
				for at := 0; at < len(b.A); at += 2 {
					if r.IntN(2) == 0 {
						b.A[at], b.A[at+1] = 0, b.A[at+1]&0x80
					}
				}
				sameAsGeneral(t, fmt.Sprintf("%+v %v", align, mode), b, onPaths(m)...)
			}
		}
	}
	if words < 12 {
		t.Errorf("only %d programs have that kernel", words)
	}
}

// TestFlushedSums compares the kernel of CDNA2's arithmetic with the general interpreter on what lies
// between it and a loop of multiplications and additions, as attribution makes it: sums of 1, 2 or 4
// products, with some of the flushes. What is flushed inside of a sum does not matter to FP16 alone.
func TestFlushedSums(t *testing.T) {
	for _, name := range []string{"v_mfma_f32_16x16x16f16", "v_mfma_f32_16x16x16bf16_1k"} {
		i, err := mma.Lookup("cdna2", name)
		if err != nil {
			t.Fatal(err)
		}
		kernels := map[string]int{}
		for n := range 3 << 5 {
			p := i.Params
			p.L = 1 << (n >> 5)
			for bit, flush := range []*mma.OutFlush{&p.Acc.Flush, &p.Prod.Round.Flush, &p.Stage0.Round.Flush} {
				if n>>bit&1 != 0 {
					*flush = mma.NoFlush
				}
			}
			for bit, flush := range []*mma.InFlush{&p.In.Sub, &p.In.C} {
				if n>>(3+bit)&1 != 0 {
					*flush = mma.KeepSub
				}
			}
			m, err := sim.New(i.Formats, i.K, p)
			if err != nil {
				t.Fatal(err)
			}
			kernels[m.Kernel()]++
			what := fmt.Sprintf("%v with %v", i.Params, mma.Diff(&i.Params, &p))
			for _, of := range []measure.Inputs{measure.Finite, measure.Raw} {
				sameAsGeneral(t, what, measure.Batch(i, mma.Shape{M: 3, N: 4, K: 2 * i.K, Tiles: 2}, uint64(n), of), m)
			}
			sameAsGeneral(t, what, mma.BatchOf(i.Formats, i.K, gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, uint64(n), 0, &p)), m)
		}
		if i.A == fp.FP16 && len(kernels) != 1 {
			t.Errorf("kernels %v of FP16", kernels)
		}
	}
}
