package probe_test

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// function is a unit that computes a dot product of numbers in float64.
type function struct {
	k          int
	a, b, c, d fp.ID
	dot        func(a, b []float64, c float64) float64
}

func (f function) Instruction() *mma.Instruction {
	return &mma.Instruction{Name: "function", K: f.k, Formats: mma.Formats{A: f.a, B: f.b, C: f.c, D: f.d}}
}

func (f function) Run(_ context.Context, in *mma.Batch, out []byte) error {
	dot := mma.NewDot(in.Formats, in.K)
	a, b := make([]float64, f.k), make([]float64, f.k)
	for o := range in.Dots() {
		in.Get(o, dot)
		for k := range a {
			a[k], b[k] = f.a.Get().Float64(dot.A[k]), f.b.Get().Float64(dot.B[k])
		}
		c := 0.0
		if f.c != fp.None {
			c = f.c.Get().Float64(dot.C)
		}
		mma.Store(out, f.d.Width(), o, encode(f.d, f.dot(a, b, c), fp.RNE))
	}
	return nil
}

// encode returns the code of a number, an infinity or a NaN.
func encode(id fp.ID, x float64, m fp.Mode) uint64 {
	f := id.Get()
	switch {
	case math.IsNaN(x):
		return f.QuietNaN(false)
	case math.IsInf(x, 0):
		return f.InfCode(x < 0)
	}
	d := fp.FP64.Get()
	return f.Encode(d.Dyadic(d.Decode(math.Float64bits(x))), m, fp.OverIEEE)
}

// round rounds to a format.
func round(id fp.ID, x float64, m fp.Mode) float64 { return id.Get().Float64(encode(id, x, m)) }

// fused adds products that are cut to f bits below the largest one, downwards.
func fused(p []float64, f int) float64 {
	e, all := math.MinInt, 0.0
	for _, x := range p {
		if all += x; x != 0 && !math.IsInf(x, 0) && !math.IsNaN(x) {
			e = max(e, math.Ilogb(x))
		}
	}
	if e == math.MinInt || math.IsInf(all, 0) || math.IsNaN(all) {
		return all
	}
	sum := 0.0
	for _, x := range p {
		sum += math.Floor(math.Ldexp(x, f-e))
	}
	return math.Ldexp(sum, e-f)
}

// lanes adds products with even and with odd numbers in fused sums that keep f bits, rounds
// these toward zero, adds them and then c, if there is one. Results are flushed.
func lanes(f int, withC bool) function {
	c := fp.FP32
	if !withC {
		c = fp.None
	}
	return function{8, fp.BF16, fp.BF16, c, fp.FP32, func(a, b []float64, c float64) float64 {
		var p [2][]float64
		for k := range a {
			p[k%2] = append(p[k%2], a[k]*b[k])
		}
		s := round(fp.FP32, round(fp.FP32, fused(p[0], f), fp.RZ)+round(fp.FP32, fused(p[1], f), fp.RZ), fp.RNE)
		d := round(fp.FP32, s+c, fp.RNE)
		if math.Abs(d) < 0x1p-126 {
			return math.Copysign(0, d)
		}
		return d
	}}
}

// largestFirst adds terms in the order of their size, and rounds to FP16 at every step.
func largestFirst() function {
	return function{4, fp.E5M2, fp.E5M2, fp.FP16, fp.FP16, func(a, b []float64, c float64) float64 {
		v := []float64{c}
		for k := range a {
			v = append(v, a[k]*b[k])
		}
		slices.SortStableFunc(v, func(x, y float64) int { return cmp.Compare(math.Abs(y), math.Abs(x)) })
		s := round(fp.FP16, v[0], fp.RNE)
		for _, x := range v[1:] {
			s = round(fp.FP16, s+x, fp.RNE)
		}
		return s
	}}
}

// halves multiplies in FP16, adds halves in FP16, and c in FP32.
func halves(m fp.Mode) function {
	return function{8, fp.FP16, fp.FP16, fp.FP32, fp.FP32, func(a, b []float64, c float64) float64 {
		p := make([]float64, len(a))
		for k := range a {
			p[k] = round(fp.FP16, a[k]*b[k], m)
		}
		for n := len(p) / 2; n > 0; n /= 2 {
			for k := range n {
				p[k] = round(fp.FP16, p[k]+p[k+n], fp.RNE)
			}
		}
		return round(fp.FP32, p[0]+c, fp.RNE)
	}}
}

// digits rounds to a number of fraction bits.
func digits(x float64, bits int, to func(float64) float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	e := math.Ilogb(x)
	return math.Ldexp(to(math.Ldexp(x, bits-e)), e-bits)
}

// pairs rounds sums of two products to some bits, to nearest even, and adds as many of them as a step
// has, and what there is, cut toward zero to f bits below the largest; that is rounded to the bits of
// results, ties away from zero. c is a term of the first step, or added at the end, with one rounding
// more.
func pairs(in fp.ID, bits, step, f, results int, last bool) function {
	return function{8, in, in, fp.FP32, fp.FP32, func(a, b []float64, c float64) float64 {
		var acc float64
		if !last {
			acc = c
		}
		for k := 0; k < len(a); k += 2 * step {
			terms, e, sum := []float64{acc}, -133, 0.0
			for i := k; i < k+2*step; i += 2 {
				terms = append(terms, digits(a[i]*b[i]+a[i+1]*b[i+1], bits, math.RoundToEven))
			}
			for _, t := range terms {
				if t != 0 && !math.IsInf(t, 0) && !math.IsNaN(t) {
					e = max(e, math.Ilogb(t))
				}
			}
			for _, t := range terms {
				sum += math.Ldexp(math.Trunc(math.Ldexp(t, f-e)), e-f)
			}
			acc = digits(sum, results, math.Round)
		}
		if last {
			acc = digits(acc+c, results, math.Round)
		}
		return acc
	}}
}

// quirks treats numbers of both signs differently, has products in FP16, and reads only normal
// numbers of a and the smallest of the others.
func quirks() function {
	return function{4, fp.E5M2, fp.E5M2, fp.FP32, fp.FP32, func(a, b []float64, c float64) float64 {
		if c < 0 && c > -0x1p-126 {
			c = 0
		}
		sum := c
		for k := range a {
			if x := math.Abs(a[k]); x < 0x1p-14 && x != 0x1p-16 {
				a[k] = 0
			}
			sum += round(fp.FP16, a[k]*b[k], fp.RNE)
		}
		if sum == 0 {
			return math.Copysign(0, c)
		}
		return sum
	}}
}

// cheap rounds products to FP16, without its subnormal numbers, and adds in FP32 what becomes FP16.
func cheap() function {
	return function{8, fp.FP16, fp.FP16, fp.FP16, fp.FP16, func(a, b []float64, c float64) float64 {
		sum := float32(0)
		for k := range a {
			if p := round(fp.FP16, a[k]*b[k], fp.RNE); math.Abs(p) >= 0x1p-14 {
				sum += float32(p)
			}
		}
		return float64(sum + float32(c))
	}}
}

// unevenLanes is lanes, in which the odd ones keep fewer bits.
func unevenLanes() function {
	return function{8, fp.BF16, fp.BF16, fp.FP32, fp.FP32, func(a, b []float64, c float64) float64 {
		var p [2][]float64
		for k := range a {
			p[k%2] = append(p[k%2], a[k]*b[k])
		}
		s := round(fp.FP32, round(fp.FP32, fused(p[0], 22), fp.RZ)+round(fp.FP32, fused(p[1], 20), fp.RZ), fp.RNE)
		return round(fp.FP32, s+c, fp.RNE)
	}}
}

// TestFunctions asks units that compute in ways of their own: what cannot be told is not said.
func TestFunctions(t *testing.T) {
	all := func(value string, ids ...string) map[string]string {
		want := map[string]string{}
		for _, id := range ids {
			want[id] = value
		}
		return want
	}
	and := func(all ...map[string]string) map[string]string {
		for _, m := range all[1:] {
			maps.Copy(all[0], m)
		}
		return all[0]
	}
	directions := []string{"3.1.3 sum", "3.1.3 result", "T_rnd_dir", "Step 8", "3 add", "3 output"}
	aligned := []string{"3.1.4 extra bits", "3 F", "3 F of c", "3 align", "3 align c", "zero exponent", "product exponent", "subnormal exponent"}
	const tree = "the order depends on the data"
	for _, c := range []struct {
		name string
		unit function
		want map[string]string // the answer, or a part of the reason for none
	}{
		{"two lanes whose sums keep fewer bits than results", lanes(22, true), and(all("RNE", directions...), map[string]string{
			"3 bits": "23", "rho": "RNE-fp32", "3 F": "22", "3 align": "RD", "3.1.1 c": "yes", "T_sa": "no", "3.1.1 results": "no", "zero: tiny": "-0",
			"T_blk_fma_width": "4", "T_acc_order": "yes", "2 order": "(([p0 p2 p4 p6] + [p1 p3 p5 p7]) + c)"})},
		{"and far fewer", lanes(15, true), and(all("RNE", directions...), map[string]string{"3 bits": "23", "rho": "RNE-fp32", "3 F": "15"})},
		{"one of which keeps fewer", unevenLanes(), map[string]string{
			"3 F": "22 of p0 p2 .., 20 of p1 p3 ..", "3.1.4 extra bits": "-1 of p0 p2 .., -3 of p1 p3 ..", "Step 2c": "-1 of p0 p2 .., -3 of p1 p3 .."}},
		{"without c", lanes(15, false), and(all("RNE", directions...), map[string]string{"3 bits": "23", "3 F": "15"})},
		{"the largest first", largestFirst(), and(all("known", aligned...), map[string]string{
			"3 bits": "10", "3 add": "RNE", "2 order": tree, "2 L": "1", "T_blk_fma_width": "1"})},
		{"products that are rounded to nearest", halves(fp.RNE), and(all("RNE", directions...), map[string]string{
			"3 bits": "23", "T_prod": "RNE", "3.1.2 products": "no", "Step 3": "no product as small",
			"2 order": "((((p0 + p4) + (p2 + p6)) + ((p1 + p5) + (p3 + p7))) + c)", "T_blk_fma_width": "never lost"})},
		{"products that are rounded toward zero", halves(fp.RZ), and(all("RNE", directions...), map[string]string{
			"3 bits": "23", "T_prod": "RZ", "T_3_bits_fin_rnd": ">= 3"})},
		{"products that are rounded as results are", cheap(), map[string]string{
			"3.1.2 products": "no", "Step 1": "no", "T_prod": "RNE", "3.1.1 results": "of sums only", "T_ni_so": "no", "3.1.1 c": "yes"}},
		{"pairs that are rounded before a step of two", pairs(fp.E4M3, 10, 2, 16, 12, false), map[string]string{
			"2 order": "[[(p0 + p1) (p2 + p3) c] (p4 + p5) (p6 + p7)]", "3.1.2 order": "yes", "Step 5": "yes", "T_3_bits_fin_rnd": "4",
			"3.1.4 extra bits": "4", "3.1.4 carry": ">= 2", "Step 4": ">= 2", "3 F": "16", "3 F of c": "16", "3 align": "RZ", "3 bits": "12",
			"3.1.4 monotonicity": "none of 2000 sums", "T_acc_order": "never lost", "3.1.4 addition": "no products of these formats"}},
		{"and in one step", pairs(fp.FP16, 10, 4, 20, 18, false), map[string]string{
			"2 order": "[(p0 + p1) (p2 + p3) (p4 + p5) (p6 + p7) c]", "3.1.2 order": "yes", "T_3_bits_fin_rnd": "2",
			"3.1.4 extra bits": "2", "3.1.4 carry": ">= 3", "3 F": "20", "3 F of c": "20", "3.1.4 monotonicity": "no"}},
		{"and c last", pairs(fp.FP16, 12, 4, 20, 18, true), map[string]string{
			"2 order": "([(p0 + p1) (p2 + p3) (p4 + p5) (p6 + p7)] + c)", "3.1.2 order": "yes", "3 F": "20", "3 F of c": "no sum of three",
			"3.1.4 carry": ">= 2", "T_3_bits_fin_rnd": "the test is for sums"}},
		{"one that treats signs and sizes differently", quirks(), map[string]string{
			"3.1.1 inputs": "other", "T_sa": "other", "3.1.2 products": "no", "zero: x-x": "depends", "NaN Inf*0": "7FC00000"}},
		{"saturation of positive sums", function{2, fp.BF16, fp.BF16, fp.FP32, fp.FP32, func(a, b []float64, c float64) float64 {
			return min(a[0]*b[0]+a[1]*b[1]+c, math.MaxFloat32)
		}}, map[string]string{"overflow": "depends"}},
		{"pairs with few bits in steps of one", pairs(fp.BF16, 8, 1, 23, 23, false), map[string]string{
			"3.1.2 order": "yes", "3 F": "no sum of three", "3.1.4 carry": "no sum of three"}},
		{"an uneven split of a chain", function{12, fp.FP16, fp.FP16, fp.None, fp.FP32, func(a, b []float64, _ float64) float64 {
			var s [2]float32
			for k := range a {
				s[k/8] += float32(a[k] * b[k])
			}
			return float64(s[0] + s[1])
		}}, map[string]string{"T_blk_fma_width": "1", "T_acc_order": "every sum has two terms"}},
		{"a chain in FP32 with results of FP16", function{6, fp.FP16, fp.FP16, fp.FP32, fp.FP16, func(a, b []float64, c float64) float64 {
			sum := float32(a[0] * b[0])
			for k := 1; k < 6; k++ {
				sum += float32(a[k] * b[k])
			}
			return float64(sum + float32(c))
		}}, map[string]string{
			"2 order": "((((((p0 + p1) + p2) + p3) + p4) + p5) + c)", "3.1.2 order": "yes", "Step 5": "yes", "3 F": "no sum of three",
			"T_blk_fma_width": "half an ulp", "3.1.1 c": "fp16 has no number so small"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := probe.New(t.Context(), c.unit)
			got := map[string]probe.Answered{}
			for _, paper := range probe.Papers {
				answers, err := p.Ask(paper.Key)
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range p.WithEvidence(answers) {
					got[a.ID] = a
				}
			}
			for id, want := range c.want {
				if a := got[id]; a.Value != want && (a.Value != "-" || !strings.Contains(a.Why, want)) {
					t.Errorf("%s: %s (%s), want %s: %s", id, a.Value, a.Why, want, strings.Join(a.Evidence, "; "))
				}
			}
		})
	}
}
