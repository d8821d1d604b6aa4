package infer

import (
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestTies checks that the ties of each place at which a program rounds to nearest reach the
// result, of both signs and in nearly all binades: no rule about some of them only can be missed.
func TestTies(t *testing.T) {
	const rne = fp.RNE
	single := mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	double := mma.Formats{A: fp.FP64, B: fp.FP64, C: fp.FP64, D: fp.FP64}
	half := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	rounded := func(p mma.Params) mma.Params {
		p.Prod.Round = p.Acc
		return p
	}
	inDouble := mma.Params{L: 1, Acc: mma.To(fp.FP64, rne), Out: mma.To(fp.FP32, rne)}
	cut := mma.Params{Join: mma.Join{Align: mma.Align{F: 14, Mode: rne}}, Acc: mma.To(fp.FP32, rne)}
	for _, tc := range []struct {
		name    string
		f       mma.Formats
		k       int
		p       mma.Params
		place   func(p *mma.Params) *fp.Mode
		binades int // in which results of each sign differ
	}{
		{"FMA", single, 1, mma.FMA(fp.FP32), func(p *mma.Params) *fp.Mode { return &p.Acc.Mode }, 270},
		{"products", single, 4, rounded(mma.FMA(fp.FP32)), func(p *mma.Params) *fp.Mode { return &p.Prod.Round.Mode }, 270},
		{"FP64 products", double, 2, rounded(mma.FMA(fp.FP64)), func(p *mma.Params) *fp.Mode { return &p.Prod.Round.Mode }, 1900},
		{"FP64 inside", single, 2, inDouble, func(p *mma.Params) *fp.Mode { return &p.Acc.Mode }, 200},
		{"rounded from FP64", single, 2, inDouble, func(p *mma.Params) *fp.Mode { return &p.Out.Mode }, 270},
		{"cut terms", half, 8, cut, func(p *mma.Params) *fp.Mode { return &p.Join.Align.Mode }, 40},
	} {
		q := tc.p
		*tc.place(&q) = fp.RNA
		x, err := sim.New(tc.f, tc.k, tc.p)
		if err != nil {
			t.Fatal(tc.name, err)
		}
		y, err := sim.New(tc.f, tc.k, q)
		if err != nil {
			t.Fatal(tc.name, err)
		}
		const n = 50_000
		binades := map[bool]map[int32]bool{false: {}, true: {}}
		df := tc.f.D.Get()
		sp := gen.Spec{Formats: tc.f, K: tc.k}
		for _, d := range design(sp, &family{make: exactTie}, rand.New(rand.NewPCG(1, 2)), n, &tc.p) {
			if code := x.Dot(d, nil); code != y.Dot(d, nil) {
				r := df.Decode(code)
				top := df.Dyadic(r).Exponent()
				binades[code&df.SignBit() != 0][top] = true
			}
		}
		for negative, seen := range binades {
			if len(seen) < tc.binades {
				t.Errorf("%s: results differ in %d binades, negative: %v; want %d", tc.name, len(seen), negative, tc.binades)
			}
		}
	}
}
