package triage_test

import (
	"math"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestNarrowChains explains kernels that add in a narrow format, at once: without a long search.
func TestNarrowChains(t *testing.T) {
	tier.SkipUnderRace(t)
	round := func(id fp.ID, x float64) float64 {
		f := id.Get()
		if math.Abs(x) >= math.Ldexp(2-math.Ldexp(1, -int(f.FracBits)-1), int(f.Emax())) {
			return math.Copysign(math.Inf(1), x)
		}
		return f.Float64(f.FromFloat64(x))
	}
	half := func(x float64) float64 { return round(fp.FP16, x) }
	single := func(x float64) float64 { return float64(float32(x)) }
	for _, tc := range []struct {
		name    string
		c       fp.ID
		unit    func(product func(k int) float64, n int, c float64) float64
		changes string
	}{
		{"products and sums in FP16", fp.FP32, func(product func(int) float64, n int, c float64) float64 {
			c = half(c)
			for k := range n {
				c = half(c + half(product(k)))
			}
			return c
		}, "in.narrowc.frac exact→10, in.narrowc.mode →rne, in.narrowc.to none→fp16, prod.round.frac exact→10, prod.round.mode →rne, prod.round.emin none→-14, " +
			"prod.round.emax none→15, l 16→1, acc.frac 23→10, acc.mode rz→rne, acc.emax 127→15, special.negzero false→true, special.tinysign false→true"},
		{"exact products, sums in FP32 rounded to BF16, c last", fp.FP32, func(product func(int) float64, n int, c float64) float64 {
			s := 0.0
			for k := range n {
				s = round(fp.BF16, single(s+product(k)))
			}
			return single(s + c)
		}, "l 16→1, start c→zero, join.post.frac exact→23, join.post.mode →rne, join.post.emin none→-126, join.post.emax none→127, acc.frac 23→7, acc.mode rz→rne, " +
			"late.frac exact→23, late.mode →rne, late.emin none→-126, late.emax none→127"},
		{"products and sums in FP16, without c", fp.None, func(product func(int) float64, n int, s float64) float64 {
			for k := range n {
				s = half(s + half(product(k)))
			}
			return s
		}, "prod.round.frac exact→10, prod.round.mode →rne, prod.round.emin none→-14, prod.round.emax none→15, l 16→1, acc.frac 23→10, acc.mode rz→rne, acc.emax 127→15"},
	} {
		i := *find(t, hopper16)
		if i.Formats.C = tc.c; tc.c == fp.None {
			i.Params.Start = mma.StartEmpty
		}
		pr := computing(t, &i, 16, func(d *mma.Dot) uint64 {
			product := func(k int) float64 { return i.A.Get().Float64(d.A[k]) * i.B.Get().Float64(d.B[k]) }
			c := 0.0
			if tc.c != fp.None {
				c = tc.c.Get().Float64(d.C)
			}
			return uint64(math.Float32bits(float32(tc.unit(product, i.K, c))))
		})
		pr.Effort = -1
		v := explain(t, pr)
		if got := changeText(v.Changes); !v.Complete() || got != tc.changes {
			t.Errorf("%s: %s", tc.name, got)
		}
	}
}

// TestWithoutFlushes explains at once a unit that computes as CDNA2 does, but keeps all subnormal numbers.
func TestWithoutFlushes(t *testing.T) {
	i := find(t, "cdna2/v_mfma_f32_16x16x16f16")
	pr := computing(t, i, 16, func(d *mma.Dot) uint64 {
		product := func(k int) float32 { return float32(i.A.Get().Float64(d.A[k])) * float32(i.B.Get().Float64(d.B[k])) }
		c := float32(i.C.Get().Float64(d.C))
		for k := 0; k < i.K; k += 4 {
			c += product(k) + product(k+1) + (product(k+2) + product(k+3))
		}
		return uint64(math.Float32bits(c))
	})
	pr.Effort = -1
	v := explain(t, pr)
	if got := changeText(v.Changes); !v.Complete() || got != "in.sub plus-zero→keep, in.c plus-zero→keep, acc.flush result→keep" {
		t.Errorf("%s", got)
	}
}
