package study

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/madeup"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestErrorBound holds, on made-up units, which are drawn from everything that a program
// can say, and on the catalogue's, that no error exceeds its bound, on inputs that aim at
// the decisions of each; and that the exact values are those of the oracle.
func TestErrorBound(t *testing.T) {
	tier.SkipUnderRace(t)
	var units []mma.Instruction
	for seed := range uint64(tier.Of(20, 20, 120, 800)) {
		units = append(units, madeup.Unit(seed))
	}
	for seed, n := uint64(800), tier.Of(4, 4, 80, 600); n > 0; seed++ {
		if u := madeup.Unit(seed); u.Params.Refined() {
			units = append(units, u)
			n--
		}
	}
	all, err := catalogue(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range all[:tier.Of(20, 20, 60, len(all))] {
		units = append(units, *u.inst())
	}
	rounds := tier.Of(1, 1, 1, 2)
	bounds, attained := 0, 0
	for _, u := range units {
		m, err := sim.ForInstruction(&u)
		if err != nil {
			t.Fatal(err)
		}
		for round := range rounds {
			for n, d := range gen.Probe(gen.Spec{Formats: u.Formats, K: u.K}, 1, round, &u.Params) {
				b, ok := errorBound(&u.Params, u.Formats, d, true)
				if !ok {
					continue
				}
				if n%64 == 0 {
					x := oracle.ExactDot(u.Formats, d)
					want := new(big.Int).Lsh(x.Mant, uint(max(0, x.Exp-b.base)))
					if want.Cmp(b.exact) != 0 {
						t.Fatalf("%s, %s: exact value %s, not %s * 2^%d", u.FullName(), mma.FormatDot(u.Formats, d), x, b.exact, b.base)
					}
				}
				code := m.Dot(d, nil)
				err, ok := b.measured(u.D, code)
				if !ok {
					t.Fatalf("%s (%s), %s: %x, but there is a bound", u.FullName(), u.Params, mma.FormatDot(u.Formats, d), code)
				}
				bounds++
				r := b.ratio(err)
				if r > 1 {
					t.Fatalf("%s (%+v), %s: error %s, bound %s in units of 2^%d", u.FullName(), u.Params, mma.FormatDot(u.Formats, d), err, b.err, b.base)
				}
				if r == 1 {
					attained++
				}
				if b, ok := errorBound(&u.Params, u.Formats, d, false); ok {
					if err, _ := b.measured(u.D, code); b.ratio(err) > r && r < 1 || b.ratio(err) > 1 {
						t.Fatalf("%s (%+v), %s: error %s, bound by the parameters %s in units of 2^%d, ratio by the bits %g", u.FullName(), u.Params, mma.FormatDot(u.Formats, d), err, b.err, b.base, r)
					}
				}
			}
		}
	}
	t.Logf("%d bounds, %d attained", bounds, attained)
	if attained < bounds/100 {
		t.Errorf("only %d of %d bounds are attained", attained, bounds)
	}
}

// TestExceeded holds that a unit which is less precise than what is known of it is found
// out: Hopper's FP16 instruction with the 13 bits of its FP8 ones.
func TestExceeded(t *testing.T) {
	i, err := mma.Lookup("hopper", "mma.m16n8k16.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	p := i.Params
	p.Join.Align.F = 13
	m, err := sim.New(i.Formats, i.K, p)
	if err != nil {
		t.Fatal(err)
	}
	u := &unit{Unit: devices.Func(i, func(d *mma.Dot) uint64 { return m.Dot(d, nil) }), name: "hopper with 13 bits"}
	got, err := tightest(context.Background(), u, 1, 500)
	if err != nil {
		t.Fatal(err)
	}
	if got.Exceeded == 0 || got.Ratio < 1000 {
		t.Errorf("%+v", got)
	}
	u.Unit = devices.Func(i, func(d *mma.Dot) uint64 { return oracle.Eval(&i.Params, i.Formats, i.K, d) })
	if got, err = tightest(context.Background(), u, 1, 500); err != nil || got.Exceeded > 0 || got.Ratio < 0.5 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestFormula compares the bounds in words with Table 9.
func TestFormula(t *testing.T) {
	for _, c := range []struct{ arch, inst, want string }{
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", "17·2^(E-25) + 1 ulp(23 bits)"},
		{"hopper", "mma.m16n8k16.f16.f16.f16.f16", "17·2^(E-25) + 0.5 ulp(10 bits)"},
		{"hopper", "wgmma.m64n8k32.f32.e4m3.e4m3", "33·2^(E-13) + 1 ulp(13 bits)"},
		{"ampere", "mma.m16n8k16.f32.f16.f16.f32", "2 steps of (9·2^(E-24) + 1 ulp(23 bits))"},
		{"cdna1", "v_mfma_f32_16x16x16f16", "4 steps of (0.5 ulp(23 bits))"},
		{"cdna2", "v_mfma_f32_32x32x8f16", "|a*b| of subnormal a or b + 2 steps of (4·0.5 ulp(23 bits) + 4·2^-126 (flush) + 3·0.5 ulp(23 bits) + 3·2^-126 (flush) + 0.5 ulp(23 bits) + 2^-126 (flush))"},
		{"cdna3", "v_mfma_f32_32x32x8_f16", "8·2^(E-24) + 2^(E-32) + 2^(E-24) of c + 1 ulp(31 bits) + 0.5 ulp(23 bits)"},
		{"hopper", "mma.m16n8k16.f64.f64.f64.f64", "16 steps of (0.5 ulp(52 bits))"},
	} {
		i, err := mma.Lookup(c.arch, c.inst)
		if err != nil {
			t.Fatal(err)
		}
		if got := formula(i); got != c.want {
			t.Errorf("%s: %q, want %q", i.FullName(), got, c.want)
		}
	}
	i, err := mma.Lookup("hopper", "mma.m16n8k16.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	refined := *i
	refined.Params.Join.CGrid, refined.Params.Join.Apart = true, true
	refined.Params.ScaleRound = mma.To(fp.UE4M3, fp.RNE)
	const want = "|a*b|*0.5 ulp(3 bits) of the scales' product + 17·2^(E-25) (E of c) + 2·1 ulp(23 bits) (sums of either sign) + 1 ulp(23 bits)"
	if got := formula(&refined); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRefinedBound searches, for each refinement alone, for the largest error as a part of
// its bound: none is exceeded, and the bound without the refinement is, where it makes errors
// larger.
func TestRefinedBound(t *testing.T) {
	tier.SkipUnderRace(t)
	hopper, cdna2, cdna3 := "hopper/mma.m16n8k16.f32.f16.f16.f32", "cdna2/v_mfma_f32_32x32x8f16", "cdna3/v_mfma_f32_32x32x8_f16"
	fma, nvf4 := "x86/vfmadd231ps.rz", "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
	for _, c := range []struct {
		name, unit string
		change     func(p *mma.Params)
		more       bool // errors are larger than without it, as a search of any length finds
	}{
		{"narrow by mode", hopper, func(p *mma.Params) { p.In.A = mma.Narrow{Frac: 4, Mode: fp.RNE} }, true},
		{"narrow by reading", hopper, func(p *mma.Params) { p.In.B = mma.Narrow{Frac: 3} }, true},
		{"narrow to a range", hopper, func(p *mma.Params) { p.In.NarrowC = mma.Narrow{Frac: 7, Mode: fp.RU, To: fp.FP16} }, true},
		{"passes", hopper, func(p *mma.Params) {
			p.In.A = mma.Narrow{Frac: 4, Mode: fp.RZ}
			p.In.B, p.Passes = p.In.A, mma.PassesOf(mma.Pass{A: 0, B: 1}, mma.Pass{A: 1}, mma.Pass{})
		}, true},
		{"passes together", hopper, func(p *mma.Params) {
			p.In.A = mma.Narrow{Frac: 4, Mode: fp.RNE}
			p.Passes, p.Together = mma.PassesOf(mma.Pass{A: 1}, mma.Pass{}), true
		}, true},
		{"up", hopper, func(p *mma.Params) { p.Prod.Up = true }, true},
		{"zeros", hopper, func(p *mma.Params) { p.Prod.Zeros, p.Prod.Up = true, true }, true},
		{"gate", hopper, func(p *mma.Params) { p.Prod.Gate = mma.GateSkip }, false},
		{"cnorm", cdna3, func(p *mma.Params) { p.Join.CNorm = true }, false},
		{"cbeside", hopper, func(p *mma.Params) { p.Join.CBeside = true }, true},
		{"sticky for the rounding", "hopper/mma.m16n8k16.f16.f16.f16.f16", func(p *mma.Params) { p.Join.Align.Sticky = mma.StickyRound }, false},
		{"sticky below", hopper, func(p *mma.Params) { p.Join.Align.Sticky = mma.StickyBelow }, true},
		{"sticky last", cdna3, func(p *mma.Params) { p.Join.Align.Sticky = mma.StickyLast }, true},
		{"negate", hopper, func(p *mma.Params) { p.Join.Align.Negate = mma.NegateFlip }, true},
		{"negate numbers, RD", cdna3, func(p *mma.Params) { p.Join.Align.Negate = mma.NegateFlipNumbers }, true},
		{"negate, frame", hopper, func(p *mma.Params) { p.Join.Align.Negate = mma.NegateFrame }, true},
		{"bits", hopper, func(p *mma.Params) { p.Join.Align.Bits = 27 }, true},
		{"saturate", hopper, func(p *mma.Params) { p.Join.Align.Bits, p.Join.Align.Saturate = 27, true }, true},
		{"drop", hopper, func(p *mma.Params) { p.Join.Align.Drop = 12 }, true},
		{"plus", cdna2, func(p *mma.Params) { p.Stage0.Plus = true }, false},
		{"deep", cdna2, func(p *mma.Params) { p.Stage0.Deep, p.Stage0.Group = true, 2 }, false},
		{"sort", cdna2, func(p *mma.Params) { p.Stage0.Sum, p.Stage0.Sort = mma.Sequential, mma.Falling }, false},
		{"leaf", cdna2, func(p *mma.Params) { p.Leaf = mma.LeafFirst }, true},
		{"grid of c", hopper, func(p *mma.Params) { p.Join.CGrid = true }, true},
		{"apart", hopper, func(p *mma.Params) { p.Join.Apart = true }, true},
		{"scales rounded", nvf4, func(p *mma.Params) { p.ScaleRound = mma.To(fp.UE4M3, fp.RZ) }, true},
		{"scales rounded to fewer bits", nvf4, func(p *mma.Params) {
			p.ScaleRound = mma.Round{Frac: 2, Mode: fp.RNE, Emin: -126, Emax: 127, Flush: mma.FlushAfter}
		}, true},
		{"merge and tail", fma, func(p *mma.Params) {
			p.Lanes, p.Merge, p.Tail, p.Late = 5, mma.MergeHalves(5), true, p.Acc
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			arch, name, _ := strings.Cut(c.unit, "/")
			base, err := mma.Lookup(arch, name)
			if err != nil {
				t.Fatal(err)
			}
			i := *base
			if i.K < 8 {
				i.K = 8
			}
			c.change(&i.Params)
			if !i.Params.Refined() {
				t.Fatal("it is no refinement")
			}
			m, err := sim.ForInstruction(&i)
			if err != nil {
				t.Fatal(err)
			}
			u := &unit{Unit: devices.Func(&i, func(d *mma.Dot) uint64 { return m.Dot(d, nil) }), name: c.name}
			most := tier.Of(200, 200, 1_000, 10_000)
			got, err := tightest(context.Background(), u, 1, most)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: ratio %.3g, attained %d of %d of %d", got.Bound, float64(got.Ratio), got.Attained, got.Bounded, got.Tried)
			if got.Exceeded > 0 || got.Ratio < 0.15 || got.Bounded < got.Tried/10 {
				t.Errorf("%+v", got)
			}
			was := i
			was.Params = base.Params
			u.Unit = devices.Func(&was, func(d *mma.Dot) uint64 { return m.Dot(d, nil) })
			without, err := tightest(context.Background(), u, 1, most)
			if err != nil {
				t.Fatal(err)
			}
			if c.more && without.Exceeded == 0 {
				t.Error("without the refinement the bound is not exceeded either")
			}
		})
	}
}
