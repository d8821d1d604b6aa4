package study

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestSum compares errors of results that are wrong by random amounts with the oracle's,
// for formats of all kinds and terms that cancel.
func TestSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range [][2]string{{"hopper", "mma.m16n8k16.f32.f16.f16.f32"}, {"ampere", "mma.m8n8k4.f64.f64.f64.f64"}, {"cdna1", "v_mfma_f32_16x16x4f32"},
		{"blackwell", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"}, {"arm", "fdot.e4m3.e4m3"}, {"ada", "mma.m16n8k32.f16.e5m2.e5m2.f16"}} {
		i, err := mma.Lookup(name[0], name[1])
		if err != nil {
			t.Fatal(err)
		}
		r := newReader(i.Formats)
		g, err := gen.Find("cancel")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for index := range uint64(400) {
			d := gen.Source{Generator: g}.Dot(gen.Spec{Formats: i.Formats, K: i.K}, 1, index)
			x := oracle.ExactDot(i.Formats, d)
			code := x.Code() + uint64(rng.IntN(5)) - 2
			f := i.D.Get()
			if class := f.Decode(code & f.CodeMask()).Class; x.Kind != oracle.Finite || class == fp.Inf || class == fp.NaN {
				continue
			}
			s, magnitude := r.sum(d, i.K)
			if math.IsInf(magnitude, 0) || magnitude < 1e-250 {
				continue // products of FP64 numbers beyond the range of float64
			}
			e := int(f.Emin())
			if x.Mant.Sign() != 0 {
				e = max(e, x.Exp+x.Mant.BitLen()-1)
			}
			ulp := math.Ldexp(1, e-int(f.FracBits))
			want := x.Ulps(code&f.CodeMask()) * ulp
			got := s.minus(r.d.value(code & f.CodeMask()))
			if math.Abs(got-want) > 1e-15*math.Abs(want)+1e-30*magnitude {
				t.Fatalf("%s: %s: error %g, want %g", i.FullName(), mma.FormatDot(i.Formats, d), got, want)
			}
			n++
		}
		if n < 100 {
			t.Errorf("%s: %d sums", i.FullName(), n)
		}
	}
}
