package oracle

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestRefinements evaluates small dot products by hand: FP16 operands, an FP32
// accumulator, and one fused sum with F = 23, cut toward zero and rounded to nearest.
func TestRefinements(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	for _, tc := range []struct {
		name   string
		change func(p *mma.Params)
		a, b   []uint64
		c      uint64
		want   uint64
	}{
		// The example of RDNA3: -1 + 8*4 + 3*8, F = 24: 55 and two units of 2^-19.
		{"frame", func(p *mma.Params) { p.Join.Align.F, p.Join.Align.Negate = 24, mma.NegateFrame },
			[]uint64{0x4800, 0x4200}, []uint64{0x4400, 0x4800}, 0xbf800000, 0x425c0001},
		// 2 - 1 with a unit of 2^-22.
		{"flip", func(p *mma.Params) { p.Join.Align.Negate = mma.NegateFlip }, []uint64{0x3c00}, []uint64{0xbc00}, 0x40000000, 0x3f7ffffc},
		// The same, beside a zero product, which is of the other sign too.
		{"frame of zeros", func(p *mma.Params) { p.Join.Align.F, p.Join.Align.Negate = 24, mma.NegateFrame },
			[]uint64{0x4800, 0x4200, 0}, []uint64{0x4400, 0x4800, 0}, 0xbf800000, 0x425c0002},
		{"frame of numbers", func(p *mma.Params) { p.Join.Align.F, p.Join.Align.Negate = 24, mma.NegateFrameNumbers },
			[]uint64{0x4800, 0x4200, 0}, []uint64{0x4400, 0x4800, 0}, 0xbf800000, 0x425c0001},
		{"flip of -0", func(p *mma.Params) { p.Join.Align.Negate = mma.NegateFlip }, []uint64{0x8000}, []uint64{0x3c00}, 0x40000000, 0x3ffffffe},
		// The frame is c's sign, which is that of both terms.
		{"no flip in a negative frame", func(p *mma.Params) { p.Join.Align.Negate = mma.NegateFrame }, []uint64{0x3c00}, []uint64{0xbc00}, 0xc0000000, 0xc0400000},
		// 1 + 2^-24: the half bit is lost, and comes back as the last bit or below it.
		{"sticky last", func(p *mma.Params) { p.Join.Align.Sticky = mma.StickyLast }, []uint64{0x3c00}, []uint64{0x3c00}, 0x33800000, 0x3f800001},
		{"sticky below: a tie to even", func(p *mma.Params) { p.Join.Align.Sticky = mma.StickyBelow }, []uint64{0x3c00}, []uint64{0x3c00}, 0x33800000, 0x3f800000},
		{"sticky below: a tie to odd", func(p *mma.Params) { p.Join.Align.Sticky = mma.StickyBelow }, []uint64{0x3c00, 0x1400}, []uint64{0x3c00, 0x0800}, 0x33800000, 0x3f800002},
		{"sticky alone is less than half", func(p *mma.Params) { p.Join.Align.Sticky = mma.StickyRound }, []uint64{0x3c00}, []uint64{0x3c00}, 0x33800000, 0x3f800000},
		// F = 24: 1 + 2^-24 is a tie, and the sticky bit of 2^-30 breaks it.
		{"sticky breaks a tie", func(p *mma.Params) { p.Join.Align.F, p.Join.Align.Sticky = 24, mma.StickyRound },
			[]uint64{0x3c00, 0x1000}, []uint64{0x3c00, 0x0800}, 0x30800000, 0x3f800001},
		// 3 + 2 = 5 where sums are below 2^24 units of 2^-22, which is 4: 5 - 8 = -3.
		{"wrap", func(p *mma.Params) { p.Join.Align.Bits = 24 }, []uint64{0x4200}, []uint64{0x3c00}, 0x40000000, 0xc0400000},
		{"saturate", func(p *mma.Params) { p.Join.Align.Bits, p.Join.Align.Saturate = 24, true }, []uint64{0x4200}, []uint64{0x3c00}, 0x40000000, 0x407fffff},
		{"saturate below", func(p *mma.Params) { p.Join.Align.Bits, p.Join.Align.Saturate = 24, true }, []uint64{0xc200}, []uint64{0x3c00}, 0xc0000000, 0xc0800000},
		// The product counts as 2^1, so that c = 2^-23 is cut off.
		{"up", func(p *mma.Params) { p.Prod.Up = true }, []uint64{0x3c00}, []uint64{0x3c00}, 0x34000000, 0x3f800000},
		// 0 * 2^15 has the exponent -14+15, so that 2^-23 is cut off.
		{"zeros", func(p *mma.Params) { p.Prod.Zeros = true }, []uint64{0}, []uint64{0x7800}, 0x34000000, 0},
		{"zeros without", func(p *mma.Params) {}, []uint64{0}, []uint64{0x7800}, 0x34000000, 0x34000000},
		{"gate", func(p *mma.Params) { p.Prod.Gate = mma.GateInf }, []uint64{0x7c00}, []uint64{0}, 0x3f800000, 0x3f800000},
		{"gate of a NaN", func(p *mma.Params) { p.Prod.Gate = mma.GateInf }, []uint64{0x7e00}, []uint64{0}, 0x3f800000, 0x7fffffff},
		{"skip", func(p *mma.Params) { p.Prod.Gate, p.Special.NegZero = mma.GateSkip, true }, []uint64{0}, []uint64{0x7e00}, 0x80000000, 0x80000000},
		{"skip of numbers", func(p *mma.Params) { p.Prod.Gate, p.Special.NegZero = mma.GateSkipNumbers, true }, []uint64{0}, []uint64{0x3c00}, 0x80000000, 0x80000000},
		{"no skip of a NaN", func(p *mma.Params) { p.Prod.Gate, p.Special.NegZero = mma.GateSkipNumbers, true }, []uint64{0}, []uint64{0x7e00}, 0x80000000, 0x7fffffff},
		// 1 + 2^-23, where terms more than 22 places below the largest are dropped.
		{"dropped", func(p *mma.Params) { p.Join.Align.Drop = 22 }, []uint64{0x3c00}, []uint64{0x3c00}, 0x34000000, 0x3f800000},
		{"not dropped", func(p *mma.Params) { p.Join.Align.Drop = 23 }, []uint64{0x3c00}, []uint64{0x3c00}, 0x34000000, 0x3f800001},
		{"c alone is not dropped", func(p *mma.Params) { p.Join.Align.Drop, p.Join.CDrop = 22, 23 }, []uint64{0x3c00}, []uint64{0x3c00}, 0x34000000, 0x3f800001},
		{"a dropped product", func(p *mma.Params) { p.Join.Align = mma.Align{Drop: 22} }, []uint64{0x0c00}, []uint64{0x1000}, 0x3f800000, 0x3f800000},
		{"sum of integers", func(p *mma.Params) { p.Stage0, p.Special.NegZero = mma.Stage{Sum: mma.Fused, Plus: true}, true },
			[]uint64{0x8000}, []uint64{0x3c00}, 0x80000000, 0},
		{"sum that is no integer", func(p *mma.Params) { p.Stage0, p.Special.NegZero = mma.Stage{Sum: mma.Fused}, true },
			[]uint64{0x8000}, []uint64{0x3c00}, 0x80000000, 0x80000000},
		// An infinite operand is 65504.
		{"saturated operand", func(p *mma.Params) { p.In.A.Over = mma.OverSat }, []uint64{0xfc00}, []uint64{0x3c00}, 0, 0xc77fe000},
		{"rounded to the largest number", func(p *mma.Params) { p.In.A = mma.Narrow{Frac: 4, Mode: fp.RNE, Over: mma.OverMax} },
			[]uint64{0x7bff}, []uint64{0x3c00}, 0, 0x47780000},
		{"c to a smaller range", func(p *mma.Params) { p.In.NarrowC = mma.Narrow{Frac: 10, Mode: fp.RNE, To: fp.FP16} }, []uint64{0}, []uint64{0}, 0x47800000, 0x7f800000},
		// 2^-24 + 2^-34, of which FP16 has the first.
		{"c to subnormals", func(p *mma.Params) { p.In.NarrowC = mma.Narrow{Frac: 10, Mode: fp.RNE, To: fp.FP16} }, []uint64{0}, []uint64{0}, 0x33802000, 0x33800000},
		// a = 1 + 2^-4 + 2^-8 is 1 + 2^-4 and 2^-8.
		{"first part", func(p *mma.Params) { p.In.A, p.Passes = mma.Narrow{Frac: 4, Mode: fp.RNE}, mma.PassesOf(mma.Pass{}) },
			[]uint64{0x3c44}, []uint64{0x3c00}, 0, 0x3f880000},
		{"second part", func(p *mma.Params) {
			p.In.A, p.Passes = mma.Narrow{Frac: 4, Mode: fp.RNE}, mma.PassesOf(mma.Pass{A: 1})
		},
			[]uint64{0x3c44}, []uint64{0x3c00}, 0, 0x3b800000},
		{"both parts", func(p *mma.Params) {
			p.In.A, p.Passes = mma.Narrow{Frac: 4, Mode: fp.RNE}, mma.PassesOf(mma.Pass{A: 1}, mma.Pass{})
		},
			[]uint64{0x3c44}, []uint64{0x3c00}, 0, 0x3f888000},
		{"pass after pass", func(p *mma.Params) {
			p.In.A, p.Passes = mma.Narrow{Frac: 4, Mode: fp.RNE}, mma.PassesOf(mma.Pass{}, mma.Pass{A: 1})
		},
			[]uint64{0x3c04}, []uint64{0x3c00}, 0x33800000, 0x3f808000},
		{"rest of an infinity", func(p *mma.Params) {
			p.In.A, p.Passes = mma.Narrow{Frac: 4, Mode: fp.RNE}, mma.PassesOf(mma.Pass{A: 1}, mma.Pass{})
		}, []uint64{0x7c00}, []uint64{0x3c00}, 0, 0x7f800000},
		{"rest of an infinity in software", func(p *mma.Params) {
			p.In.A, p.Passes, p.In.Rest = mma.Narrow{Frac: 4, Mode: fp.RNE}, mma.PassesOf(mma.Pass{A: 1}, mma.Pass{}), true
		}, []uint64{0x7c00}, []uint64{0x3c00}, 0, 0x7fffffff},
		{"gate of all", func(p *mma.Params) { p.Prod.Gate = mma.GateAll }, []uint64{0}, []uint64{0x7e00}, 0x3f800000, 0x3f800000},
		// c = 2^-130 beside 2^-48: E is -48 either way; alone E is -126 or -130.
		{"normalised c", func(p *mma.Params) { p.Join.CNorm, p.Join.Align.F = true, 2 }, []uint64{0}, []uint64{0}, 0x00090000, 0x00080000},
		// -2^-127 is cut to nothing.
		{"vanished c", func(p *mma.Params) { p.Join.Align.F, p.Special.NegZero = 2, true }, []uint64{0x0c00}, []uint64{0x8000}, 0x80000001, 0x80000000},
		{"vanished c and +0", func(p *mma.Params) { p.Join.Align.F, p.Special.NegZero, p.Special.ZerosOnly = 2, true, true },
			[]uint64{0x0c00}, []uint64{0x8000}, 0x80000001, 0},
		{"vanished c, rounding down", func(p *mma.Params) {
			p.Join.Align.F, p.Special.NegZero, p.Special.ZerosOnly, p.Acc.Mode = 2, true, true, fp.RD
		}, []uint64{0x0c00}, []uint64{0x0000}, 0x00000001, 0x80000000},
		{"zeros only", func(p *mma.Params) { p.Join.Align.F, p.Special.NegZero, p.Special.ZerosOnly = 2, true, true },
			[]uint64{0x0c00}, []uint64{0x8000}, 0x80000000, 0x80000000},
		{"c as it is", func(p *mma.Params) { p.Join.Align.F = 2 }, []uint64{0}, []uint64{0}, 0x00090000, 0},
		// c = 2^30 + 2^7 keeps its bits, since E is 0; what is below 2^-23 is lost.
		{"infinite NaN", func(p *mma.Params) { p.In.NaNInf = true }, []uint64{0xfe00}, []uint64{0x3c00}, 0, 0xff800000},
		{"infinite NaN of c", func(p *mma.Params) { p.In.NaNInf = true }, []uint64{0}, []uint64{0}, 0x7fc00001, 0x7f800000},
		{"infinity that is a NaN", func(p *mma.Params) { p.In.InfNaN, p.Acc.Over, p.Special.NaN = true, mma.OverMax, mma.NaNFirst }, []uint64{0xfc00}, []uint64{0x3c00}, 0, 0xffc00000},
		{"infinity of c that is a NaN", func(p *mma.Params) { p.In.InfNaN, p.Acc.Over, p.Special.NaN = true, mma.OverMax, mma.NaNQuiet }, []uint64{0}, []uint64{0}, 0xff800000, 0x7fc00000},
		{"NaN of c", func(p *mma.Params) { p.Special.NaN = mma.NaNOfC }, []uint64{0x7e00}, []uint64{0}, 0xff812345, 0xff812345},
		{"NaN of a", func(p *mma.Params) { p.Special.NaN = mma.NaNOfC }, []uint64{0x7e01}, []uint64{0}, 0, 0x7fc00000},
		{"NaN that is zero", func(p *mma.Params) { p.Special.NaN = mma.NaNZero }, []uint64{0x7c00}, []uint64{0}, 0x3f800000, 0},
		{"ones of a NaN", func(p *mma.Params) { p.Special.NaN, p.Special.Ones = mma.NaNQuietNeg, 7 }, []uint64{0x7e01}, []uint64{0}, 0, 0xffff0000},
		{"ones of a NaN that is no operand", func(p *mma.Params) { p.Special.NaN, p.Special.Ones = mma.NaNFirst, 2 }, []uint64{0x7c00}, []uint64{0}, 0, 0xffe00000},
		{"a first", func(p *mma.Params) { p.Special.NaN = mma.NaNFirst }, []uint64{0x7e01}, []uint64{0xfe02}, 0, 0x7fc02000},
		{"b first", func(p *mma.Params) { p.Special.NaN, p.Special.BFirst = mma.NaNFirst, true }, []uint64{0x7e01}, []uint64{0xfe02}, 0, 0xffc04000},
		// 1 + 2^-24 is 1, from which 1 is taken.
		{"apart", func(p *mma.Params) { p.Join.Align.F, p.Join.Apart = 30, true }, []uint64{0x3c00, 0x0c00}, []uint64{0x3c00, 0x0c00}, 0xbf800000, 0},
		{"not apart", func(p *mma.Params) { p.Join.Align.F = 30 }, []uint64{0x3c00, 0x0c00}, []uint64{0x3c00, 0x0c00}, 0xbf800000, 0x33800000},
		// 2^10 - 2^10 + 2^-13*(1+2^-23), of which the last bit is 2^-36.
		{"grid of c", func(p *mma.Params) { p.Join.CGrid = true }, []uint64{0x6400, 0xe400}, []uint64{0x3c00, 0x3c00}, 0x39000001, 0x39000001},
		{"grid of products", func(p *mma.Params) {}, []uint64{0x6400, 0xe400}, []uint64{0x3c00, 0x3c00}, 0x39000001, 0x39000000},
		// 16 and -16 are beyond 2^3*2.
		{"first overflow", func(p *mma.Params) { p.Prod.Round.Emax, p.Prod.FirstOver = 3, true }, []uint64{0xcc00, 0x4c00}, []uint64{0x3c00, 0x3c00}, 0, 0xff800000},
		{"overflows", func(p *mma.Params) { p.Prod.Round.Emax = 3 }, []uint64{0xcc00, 0x4c00}, []uint64{0x3c00, 0x3c00}, 0, 0x7fffffff},
		{"overflow beside an infinity", func(p *mma.Params) { p.Prod.Round.Emax, p.Prod.FirstOver = 3, true }, []uint64{0xcc00}, []uint64{0x3c00}, 0x7f800000, 0x7f800000},
		// -0 and c in one lane, -0 in the other.
		{"bare lanes", func(p *mma.Params) {
			p.Lanes, p.Late, p.Bare, p.Special.NegZero = 2, mma.To(fp.FP32, fp.RNE), true, true
		}, []uint64{0, 0, 0, 0}, []uint64{0x8000, 0x8000, 0x8000, 0x8000}, 0x80000000, 0x80000000},
		{"lanes that begin with +0", func(p *mma.Params) {
			p.Lanes, p.Late, p.Special.NegZero = 2, mma.To(fp.FP32, fp.RNE), true
		}, []uint64{0, 0, 0, 0}, []uint64{0x8000, 0x8000, 0x8000, 0x8000}, 0x80000000, 0},
		{"zero sums of steps", func(p *mma.Params) {
			p.Lanes, p.Late, p.Bare, p.Join.Plus, p.Special.NegZero = 2, mma.To(fp.FP32, fp.RNE), true, true, true
		}, []uint64{0, 0, 0, 0}, []uint64{0x8000, 0x8000, 0x8000, 0x8000}, 0x80000000, 0},
		// -2^-30 in each of two lanes, where 2^-11 is the last place of the least numbers.
		{"sums of steps that become zeros", func(p *mma.Params) {
			p.Lanes, p.Late, p.Bare, p.Join.Plus, p.Special.NegZero, p.Special.TinySign = 2, mma.To(fp.FP32, fp.RNE), true, true, true, true
			p.Acc.Emin, p.Acc.Frac = -1, 10
		}, []uint64{0x0200, 0x0200, 0, 0}, []uint64{0x8200, 0x8200, 0x8000, 0x8000}, 0x80000000, 0x80000000},
		{"beside", func(p *mma.Params) { p.Join.CBeside, p.Join.Align.F = true, 4 }, []uint64{0x3c00}, []uint64{0x3e00}, 0x4e800001, 0x4e800001},
		{"c cut to the products", func(p *mma.Params) { p.Join.CBeside = true }, []uint64{0x7800}, []uint64{0x7800}, 0x41000000, 0x4e800000},
		// An infinite c beside products of exponent 1 and 2; beside an infinity and nothing it stays.
		{"lost infinity", func(p *mma.Params) { p.Join.CLost = 2 }, []uint64{0x4000, 0x3c00}, []uint64{0x4000, 0x3c00}, 0xff800000, 0x40a00000},
		{"lost NaN", func(p *mma.Params) { p.Join.CLost = 2 }, []uint64{0x4000}, []uint64{0x4000}, 0x7fc00000, 0x40800000},
		{"infinity that is not lost", func(p *mma.Params) { p.Join.CLost = 2 }, []uint64{0x4000}, []uint64{0x3c00}, 0xff800000, 0xff800000},
		{"infinity beside another", func(p *mma.Params) { p.Join.CLost = 2 }, []uint64{0x7c00, 0x4000}, []uint64{0x4000, 0x4000}, 0xff800000, 0x7fffffff},
		{"infinity beside nothing", func(p *mma.Params) { p.Join.CLost = -28 }, []uint64{0}, []uint64{0x4000}, 0x7f800000, 0x7f800000},
		{"saturated infinity", func(p *mma.Params) { p.Acc.Over = mma.OverSat }, []uint64{0x3c00}, []uint64{0x3c00}, 0xff800000, 0xff7fffff},
		{"top bits", func(p *mma.Params) { p.In.A = mma.Narrow{Frac: 4, Mode: fp.RZ} }, []uint64{0x3fff}, []uint64{0x3c01}, 0, 0x3ff83e00},
		{"bits of a NaN that are not there", func(p *mma.Params) { p.In.A = mma.Narrow{Frac: 4} }, []uint64{0x7c01}, []uint64{0x3c00}, 0, 0x7f800000},
		{"c narrowed", func(p *mma.Params) { p.In.NarrowC = mma.Narrow{Frac: 7, Mode: fp.RNE} }, []uint64{0}, []uint64{0}, 0x3f80ffff, 0x3f810000},
		{"sticky bit of a zero", func(p *mma.Params) { p.Join.Align.Sticky, p.Join.Align.Mode = mma.StickyLast, fp.RD },
			[]uint64{0x3c00, 0xbc00}, []uint64{0x3c00, 0x3c00}, 0x30800000, 0x34000000},
		{"rounded to infinity", func(p *mma.Params) { p.In.A = mma.Narrow{Frac: 4, Mode: fp.RNE} }, []uint64{0x7bff}, []uint64{0x3c00}, 0, 0x7f800000},
		// 2^-24, which the format's least bit is, rounds to a multiple of 2^-18: zero.
		{"rounded to zero", func(p *mma.Params) { p.In.B = mma.Narrow{Frac: 4, Mode: fp.RNE} }, []uint64{0x3c00}, []uint64{0x0001}, 0, 0},
		// 2^40 + 2^-40 - 2^40 in a window of 100 bits.
		{"wide window", func(p *mma.Params) { p.Join.Align.F = 100 }, []uint64{0x7800, 0x0001, 0xf800}, []uint64{0x7800, 0x0001, 0x7800}, 0, 0x27800000},
	} {
		p := mma.TFDPA(0, 23, mma.To(fp.FP32, fp.RNE), 0)
		tc.change(&p)
		k := len(tc.a)
		if err := p.Validate(f, k); err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		d := mma.NewDot(f, k)
		copy(d.A, tc.a)
		copy(d.B, tc.b)
		d.C = tc.c
		if got := Eval(&p, f, k, d); got != tc.want {
			t.Errorf("%s: %08x, want %08x", tc.name, got, tc.want)
		}
	}
}

// TestScaleRound multiplies 1 by the rounded product of two scales.
func TestScaleRound(t *testing.T) {
	f := mma.Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32, Scale: fp.UE4M3, Block: 1}
	sat := mma.To(fp.UE4M3, fp.RNE)
	sat.Over = mma.OverMax
	for _, tc := range []struct {
		name   string
		round  mma.Round
		sa, sb uint64
		want   uint64
	}{
		{"1.125 * 1.125", mma.Round{}, 0x39, 0x39, 0x3fa20000},
		{"1.125 * 1.125 is 1.25", sat, 0x39, 0x39, 0x3fa00000},
		{"448 * 1.125 is 448", sat, 0x7e, 0x39, 0x43e00000},
		{"448 * 1.125 is infinite", mma.To(fp.UE4M3, fp.RNE), 0x7e, 0x39, 0x7f800000},
		{"2^-9 * 2^-9 is 0", sat, 0x01, 0x01, 0},
	} {
		for scale := mma.ScaleProduct; scale <= mma.ScaleGroup; scale++ {
			p := mma.Params{Scale: scale, ScaleRound: tc.round, Acc: mma.To(fp.FP32, fp.RNE)}
			if scale == mma.ScaleGroup {
				p.Stage0 = mma.Stage{Sum: mma.Fused, Group: 1}
			}
			if err := p.Validate(f, 1); err != nil {
				t.Fatal(err)
			}
			d := &mma.Dot{A: []uint64{0x38}, B: []uint64{0x38}, SA: []uint64{tc.sa}, SB: []uint64{tc.sb}}
			if got := Eval(&p, f, 1, d); got != tc.want {
				t.Errorf("%s by %s: %08x, want %08x", tc.name, scale, got, tc.want)
			}
		}
	}
}
