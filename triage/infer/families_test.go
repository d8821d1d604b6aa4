package infer

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestExtremes asks for codes that only extremes has: NaNs in bits below the value (TF32), scales
// that are all NaN, infinities in all lanes. All formats have questions of this family.
func TestExtremes(t *testing.T) {
	ask := func(f mma.Formats, k, n int) []*mma.Dot {
		i := slices.IndexFunc(furtherFamilies, func(fam family) bool { return fam.name == "extremes" })
		return design(gen.Spec{Formats: f, K: k}, &furtherFamilies[i], rand.New(rand.NewPCG(1, 2)), n, nil)
	}
	missing := map[uint64]bool{0x7f800001: true, 0x7f801fff: true, 0xff801fff: true, 0x00000001: true, 0x80001fff: true, 0x3f801fff: true}
	for _, d := range ask(mma.Formats{A: fp.TF32, B: fp.TF32, C: fp.FP32, D: fp.FP32}, 4, 4_000) {
		for k := range d.A {
			delete(missing, d.A[k])
			delete(missing, d.B[k])
		}
	}
	if len(missing) > 0 {
		t.Errorf("never asked: %#x", slices.Sorted(maps.Keys(missing)))
	}
	mx := mma.Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 32}
	if !slices.ContainsFunc(ask(mx, 64, 1_000), func(d *mma.Dot) bool { return d.SA[1] == 0xff && d.SB[1] == 0xff && d.SA[0] == 0x7f }) {
		t.Error("no two scales of a block are both NaN")
	}
	if !slices.ContainsFunc(ask(half, 16, 1_000), func(d *mma.Dot) bool {
		return !slices.ContainsFunc(d.A, func(a uint64) bool { return a != 0x7c00 })
	}) {
		t.Error("no infinity in all lanes")
	}
	random, err := fp.Parse("rbits20")
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range slices.Concat(fp.All(), fp.Integers(), []fp.ID{random}) {
		for _, f := range []mma.Formats{{A: fp.TF32, B: other, C: fp.FP32, D: fp.FP32}, {A: other, B: fp.TF32, C: fp.FP32, D: fp.FP32}} {
			if n := len(ask(f, 4, 20)); n != 20 {
				t.Errorf("%v: %d dot products, want 20", f, n)
			}
		}
	}
}
