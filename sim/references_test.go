package sim_test

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestKernelsOnReferences compares the kernels with the general interpreter on the programs
// of the references, with every choice of formats in the catalogue, every rounding mode, and
// with subnormals flushed on the way in and out.
func TestKernelsOnReferences(t *testing.T) {
	kernels := map[string]bool{}
	for n, i := range formats() {
		for r, ref := range oracle.References {
			for v, p := range variants(ref.Program(i.Formats), i.D) {
				if (n+r+v)%tier.Of(8, 4, 2, 1) != 0 {
					continue
				}
				m, err := sim.New(i.Formats, i.K, p)
				if err != nil {
					continue
				}
				shapes := []mma.Shape{{M: 16, N: 8, K: i.K, Tiles: 1}, {M: 1, N: 1, K: 8 * i.K, Tiles: 9}, {M: 3, N: 5, K: i.K, Tiles: 1}}
				s := shapes[(n+r)%len(shapes)]
				if s.K != i.K && i.C != i.D {
					s.K = i.K
				}
				b := measure.Batch(&i, s, uint64(n), []measure.Inputs{measure.Finite, measure.Raw}[(n+v)%2])
				on := onPaths(m)
				for _, m := range on {
					kernels[m.Kernel()] = true
				}
				sameAsGeneral(t, i.Formats.String()+" "+ref.Name, b, on...)
			}
		}
	}
	if !kernels["exact"] {
		t.Errorf("compared: %v", kernels)
	}
}

// formats returns an instruction for each choice of formats in the catalogue.
func formats() []mma.Instruction {
	seen := map[mma.Formats]bool{}
	return slices.DeleteFunc(slices.Clone(mma.Catalog()), func(i mma.Instruction) bool {
		old := seen[i.Formats]
		seen[i.Formats] = true
		return old
	})
}

// variants returns a program with other roundings and flushes.
func variants(p mma.Params, d fp.ID) []mma.Params {
	all := []mma.Params{p}
	for _, mode := range fp.Modes() {
		q := p
		if q.Out != (mma.Round{}) {
			q.Out.Mode = mode
		} else {
			q.Acc = mma.To(d, mode)
		}
		all = append(all, q)
	}
	q := p
	q.Special.NegZero, q.In.Sub, q.In.C = false, mma.FlushSign, mma.FlushPlus
	all = append(all, q)
	q = p
	q.In = mma.Input{Sub: mma.FlushSign, C: mma.FlushSign, Acc: mma.FlushSign}
	all = append(all, q)
	q = p
	q.Acc.Flush, q.Special.TinySign = mma.FlushAfter, false
	return append(all, q)
}

// TestOverflowWithoutInfinities overflows to a NaN, whose code the NaN rule gives.
func TestOverflowWithoutInfinities(t *testing.T) {
	f := mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.E4M3, D: fp.E4M3}
	m, err := sim.New(f, 1, mma.FMA(f.D))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []uint64{0x4400, 0xc400, 0x7f00, 0xff00} {
		sameAsGeneral(t, f.String(), mma.BatchOf(f, 1, []*mma.Dot{{A: []uint64{a}, B: []uint64{0x3f80}, C: 0x80}}), m)
	}
}
