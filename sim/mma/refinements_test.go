package mma

import (
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// TestValidateRefinements does for refinements what TestValidate does for the rest.
func TestValidateRefinements(t *testing.T) {
	single := Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	mx := Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 8}
	bytes := Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32}
	for _, tc := range []struct {
		name   string
		f      Formats
		change func(p *Params)
		want   string
	}{
		{"narrow", single, func(p *Params) { p.In.A, p.In.B = Narrow{Frac: 10, Mode: fp.RNE}, Narrow{Frac: 7, Mode: fp.RZ} }, ""},
		{"narrow to all bits", half, func(p *Params) { p.In.B = Narrow{Frac: 10, Mode: fp.RNE} }, "in.b: frac = 10 is not below the 10 bits of fp16"},
		{"narrow after widening", bytes, func(p *Params) { p.In.Widen, p.In.A = fp.FP16, Narrow{Frac: 9, Mode: fp.RNE} }, ""},
		{"narrow codes", half, func(p *Params) { p.In.A.Frac = 5 }, ""},
		{"narrow codes that are widened", bytes, func(p *Params) { p.In.Widen, p.In.A.Frac = fp.FP16, 3 }, "in.a: frac = 3 is not below the 3 bits of e4m3"},
		{"narrow c", half, func(p *Params) { p.In.NarrowC = Narrow{Frac: 22, Mode: fp.RZ} }, ""},
		{"narrow c to all bits", half, func(p *Params) { p.In.NarrowC = Narrow{Frac: 23, Mode: fp.RZ} }, "in.narrowc: frac = 23 is not below the 23 bits of fp32"},
		{"narrow without bits", half, func(p *Params) { p.In.A.Mode = fp.RZ }, "in.a: mode is set but frac is not"},
		{"narrow by an unknown mode", half, func(p *Params) { p.In.A = Narrow{Frac: 5, Mode: 7} }, "in.a.mode: rs is not one of rne, rz, rd, ru, rna, rto"},
		{"gate", half, func(p *Params) { p.Prod.Gate = GateAll }, ""},
		{"to a smaller range", single, func(p *Params) { p.In.A = Narrow{Frac: 10, Mode: fp.RNE, To: fp.FP16, Over: OverMax} }, ""},
		{"to a larger range", half, func(p *Params) { p.In.A = Narrow{Mode: fp.RNE, To: fp.BF16} }, "in.a: to: the range of bf16 is not within that of fp16"},
		{"to a range without a mode", single, func(p *Params) { p.In.A = Narrow{Frac: 10, To: fp.FP16} }, "in.a: to is set but mode is not"},
		{"saturated operands", half, func(p *Params) { p.In.A.Over = OverSat }, ""},
		{"saturated narrowed codes", half, func(p *Params) { p.In.A = Narrow{Frac: 5, Over: OverSat} }, "in.a: over is set but mode is not"},
		{"operands that cannot overflow", bytes, func(p *Params) { p.In.A.Over = OverSat }, "in.a: over: e4m3 has no infinity"},
		{"unknown overflow", half, func(p *Params) { p.In.A = Narrow{Frac: 5, Mode: fp.RZ, Over: 5} }, "in.a.over: unknown value 5"},
		{"drop", half, func(p *Params) { p.Join.Align = Align{Drop: 31} }, ""},
		{"drop too far", half, func(p *Params) { p.Join.Align.Drop = 101 }, "join.align.drop = 101 is above 100"},
		{"unknown gate", half, func(p *Params) { p.Prod.Gate = 5 }, "prod.gate: unknown value 5"},
		{"sticky", half, func(p *Params) { p.Join.Align.Sticky = StickyRound }, ""},
		{"unknown sticky bit", half, func(p *Params) { p.Join.Align.Sticky = 4 }, "join.align.sticky: unknown value 4"},
		{"unknown negation", half, func(p *Params) { p.Join.Align.Negate = 5 }, "join.align.negate: unknown value 5"},
		{"sticky without a cut", half, func(p *Params) { p.Join.Align = Align{Sticky: StickyLast} }, "join: align: sticky, negate and bits need f"},
		{"sticky for no rounding", half, func(p *Params) { p.Stage0 = Stage{Sum: Fused, Align: Align{F: 9, Mode: fp.RZ, Sticky: StickyRound}} },
			"stage0: the sticky bit of a rounding needs round.frac"},
		{"negation without a grid", half, func(p *Params) { p.Join.Align = Align{Negate: NegateFlip} }, "join: align: sticky, negate and bits need f"},
		{"rounded scales", mx, func(p *Params) { p.ScaleRound = To(fp.E4M3, fp.RNE) }, ""},
		{"rounded scales without bits", mx, func(p *Params) { p.ScaleRound = Round{Emin: -3, Emax: 3} }, "scaleround: frac, emin and emax are required"},
		{"rounded scales of many ones", mx, func(p *Params) { p.ScaleRound = To(fp.FP32, fp.RNE); p.ScaleRound.Over = OverMax }, "scaleround: over needs a frac of at most 7"},
		{"rounded scales that are not there", half, func(p *Params) { p.ScaleRound = To(fp.FP32, fp.RNE) }, "scaleround: the instruction has no scales"},
		{"grid of c without a grid", half, func(p *Params) { p.Join.Align, p.Join.CGrid = Align{}, true }, "join: cgrid needs align.f, and neither cbeside nor align.bits"},
		{"grid of c beside", half, func(p *Params) { p.Join.CBeside, p.Join.CGrid = true, true }, "join: cgrid needs align.f, and neither cbeside nor align.bits"},
		{"-0 only of zeros", half, func(p *Params) { p.Special.NegZero, p.Special.ZerosOnly = true, true }, ""},
		{"-0 only of zeros, which is +0", half, func(p *Params) { p.Special.ZerosOnly = true }, "special: zerosonly needs negzero, and a join without apart"},
		{"apart", half, func(p *Params) { p.Join.Apart = true }, ""},
		{"apart with a sticky bit", half, func(p *Params) { p.Join.Apart, p.Join.Align.Sticky = true, StickyLast }, "join: sums that are apart have no sticky, negate or bits"},
		{"b first", half, func(p *Params) { p.Special.NaN, p.Special.BFirst = NaNSignal, true }, ""},
		{"b first in no order", half, func(p *Params) { p.Special.BFirst = true }, "special.bfirst: needs a NaN rule that is an order of operands"},
		{"ones", half, func(p *Params) { p.Special.NaN, p.Special.Ones = NaNQuiet, 23 }, ""},
		{"too many ones", half, func(p *Params) { p.Special.NaN, p.Special.Ones = NaNQuiet, 24 }, "special.ones = 24 is above the 23 bits of fp32"},
		{"ones of ones", half, func(p *Params) { p.Special.NaN, p.Special.Ones = NaNOnes, 2 }, "special.ones: needs a NaN rule other than ones and zero, and a format of D that has infinities"},
		{"nan of a narrow c", Formats{A: fp.FP16, B: fp.FP16, C: fp.FP16, D: fp.FP32}, func(p *Params) { p.Special.NaN = NaNOfC }, "special.nan: a NaN of c in fp16 is none of d in fp32"},
		{"first overflow", half, func(p *Params) { p.Prod.FirstOver, p.Prod.Round = true, To(fp.FP16, fp.RNE) }, ""},
		{"first overflow of none", half, func(p *Params) { p.Prod.FirstOver = true }, "prod.firstover: needs round.emax and round.over inf or ieee"},
		{"plus without additions", half, func(p *Params) { p.Join.Plus, p.Special.NegZero = true, true }, "join: plus needs special.negzero and additions after the last step"},
		{"bare without lanes", half, func(p *Params) { p.Bare = true }, "bare: it needs several lanes of several products, and c in the first"},
		{"bits", half, func(p *Params) { p.Join.Align.Bits, p.Join.Align.Saturate = 120, true }, ""},
		{"too many bits", half, func(p *Params) { p.Join.Align.Bits = 121 }, "join.align.bits = 121 is above 120"},
		{"bits without a grid", half, func(p *Params) { p.Join.Align = Align{Bits: 30} }, "join: align: sticky, negate and bits need f"},
		{"saturate without bits", half, func(p *Params) { p.Join.Align.Saturate = true }, "join: align.saturate needs bits"},
	} {
		p := sound()
		tc.change(&p)
		checkError(t, tc.name, p.Validate(tc.f, 8), tc.want)
	}
}

// TestRefined sets every field alone. One that is newer and set alone by a search may be refined.
func TestRefined(t *testing.T) {
	const want = "in.a.frac in.a.mode in.a.to in.a.over in.b.frac in.b.mode in.b.to in.b.over " +
		"in.narrowc.frac in.narrowc.mode in.narrowc.to in.narrowc.over in.naninf prod.shift prod.up prod.zeros prod.gate prod.firstover scaleround.frac scaleround.mode scaleround.emin scaleround.emax scaleround.flush scaleround.over passes merge tail leaf " +
		"stage0.deep stage0.sort stage0.align.sticky stage0.align.negate stage0.align.bits stage0.align.drop stage0.plus " +
		"stage1.deep stage1.sort stage1.align.sticky stage1.align.negate stage1.align.bits stage1.align.drop stage1.plus " +
		"join.align.sticky join.align.negate join.align.bits join.align.drop join.cnorm join.cbeside join.clost join.cgrid join.apart special.bfirst special.ones"
	var got []string
	for _, f := range Fields() {
		var p Params
		if f.SetInt(&p, 1); p.Refined() && (f.Alone == "" || slices.Contains(strings.Fields(want), f.Path)) {
			got = append(got, f.Path)
		}
	}
	if s := strings.Join(got, " "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
}
