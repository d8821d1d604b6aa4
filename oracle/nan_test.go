package oracle

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func withNaN(r mma.NaNRule) mma.Params {
	return fma(func(p *mma.Params) { p.Special.NaN = r })
}

func TestNaNCodes(t *testing.T) {
	for rule, want := range map[mma.NaNRule][2]uint64{
		mma.NaNOnes:     {0x7FFFFFFF, 0x7FFF},
		mma.NaNQuiet:    {0x7FC00000, 0x7E00},
		mma.NaNQuietNeg: {0xFFC00000, 0xFE00},
		mma.NaNFirst:    {0xFFC00000, 0xFE00},
		mma.NaNSignal:   {0x7FC00000, 0x7E00},
		mma.NaNMulAdd:   {0x7FC00000, 0x7E00},
		mma.NaNLarger:   {0xFFC00000, 0xFE00},
	} {
		p, h := withNaN(rule), withNaN(rule)
		h.Acc = mma.To(fp.FP16, fp.RNE)
		runEval(t, fp16, []evalTest{
			{rule.String() + " inf*0", p, "7C00", "0000", "", want[0]},
			{rule.String() + " 0*inf", p, "8000", "FC00", "", want[0]},
			{rule.String() + " inf-inf", p, "7C00", "", "FF800000", want[0]},
			{rule.String() + " inf-inf between products", p, "7C00 FC00", "", "", want[0]},
		})
		runEval(t, half, []evalTest{{rule.String() + " inf*0", h, "7C00", "0000", "", want[1]}})
		if !p.Special.OperandNaN() {
			runEval(t, fp16, []evalTest{{rule.String() + " of operand", p, "FD55", "", "", want[0]}})
		}
	}
}

// TestNaNPayload: the first NaN, quiet, its payload left-aligned in D.
func TestNaNPayload(t *testing.T) {
	p := withNaN(mma.NaNFirst)
	runEval(t, fp16, []evalTest{
		{"signalling", p, "7D01", "", "", 0x7FE02000},
		{"sign", p, "FC01", "", "", 0xFFC02000},
		{"quiet", p, "7E03", "", "", 0x7FC06000},
		{"b", p, "3C00", "7E03", "", 0x7FC06000},
		{"a before b", p, "7E01", "7E03", "", 0x7FC02000},
		{"c", p, "3C00", "", "FF800001", 0xFFC00001},
		{"a before c", p, "7E01", "", "FF800001", 0x7FC02000},
		{"infinities give way", p, "7C00 FE01", "", "FF800000", 0xFFC02000},
	})
	runEval(t, mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}, []evalTest{
		{"bf16", p, "7F81", "", "", 0x7FC10000},
	})
	runEval(t, mma.Formats{A: fp.E4M3, B: fp.E4M3FNUZ, C: fp.FP32, D: fp.FP32}, []evalTest{
		{"e4m3: fraction 7", p, "FF", "40", "", 0xFFF00000},
		{"e4m3fnuz: fraction 0", p, "38", "80", "", 0xFFC00000},
	})
	runEval(t, mma.Formats{A: fp.TF32, B: fp.TF32, C: fp.FP32, D: fp.FP32}, []evalTest{
		{"tf32: low bits dropped", p, "7F803FFF", "3F800000", "", 0x7FC02000},
	})
	narrow := p
	narrow.Acc = mma.To(fp.FP16, fp.RNE)
	wide := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP16}
	runEval(t, wide, []evalTest{
		{"fp32 to fp16", narrow, "3C00", "", "7F812345", 0x7E09},
		{"fp32 to fp16, nothing left", narrow, "3C00", "", "7F800001", 0x7E00},
	})
}

// TestNaNOrder: NaN operands win over invalid operations of the same sum, but a
// NaN that an operation returned is an operand of the next.
func TestNaNOrder(t *testing.T) {
	chain := withNaN(mma.NaNFirst)
	fused := chain
	fused.L = 0
	swapped := chain
	swapped.Order = mma.SwapPairs
	runEval(t, fp16, []evalTest{
		{"inf*0 + nan c", chain, "7C00", "0000", "7F800001", 0x7FC00001},
		{"inf*0, then nan a", chain, "7C00 7E01", "0000 3C00", "", 0x7FC02000},
		{"nan a, then inf*0", chain, "7E01 7C00", "3C00 0000", "", 0x7FC02000},
		{"inf*0, then number", chain, "7C00 3C00", "0000 3C00", "", 0xFFC00000},
		// In one step c comes after the products; in a chain c is in the first.
		{"nan c, then nan a", chain, "3C00 7E01", "3C00 3C00", "7F800001", 0x7FC02000},
		{"fused: products first", fused, "3C00 7E01", "3C00 3C00", "7F800001", 0x7FC02000},
		{"fused: first product", fused, "7E03 7E01", "3C00 3C00", "", 0x7FC06000},
		// The last step's product is taken before the accumulator.
		{"chain: last product", chain, "7E03 7E01", "3C00 3C00", "", 0x7FC02000},
		{"swapped", swapped, "7E03 7E01", "3C00 3C00", "", 0x7FC06000},
	})
	// Late additions: the sum is on the left, c on the right.
	late := withNaN(mma.NaNFirst)
	late.Start, late.Late = mma.StartZero, rne32
	runEval(t, fp16, []evalTest{
		{"late: sum before c", late, "7E01", "", "7F800001", 0x7FC02000},
		{"late: inf*0 is an operand", late, "7C00", "0000", "7F800001", 0xFFC00000},
	})
}

// TestNaNSignal: signalling NaNs before quiet ones, c before products, Inf*0 before
// a quiet c.
func TestNaNSignal(t *testing.T) {
	p := withNaN(mma.NaNSignal)
	runEval(t, fp16, []evalTest{
		{"c before a", p, "7E01", "3C00", "7FC00005", 0x7FC00005},
		{"a before b", p, "7E01", "7E03", "", 0x7FC02000},
		{"signalling b before a", p, "7E01", "FC03", "", 0xFFC06000},
		{"signalling a before signalling b", p, "7C01", "7C03", "", 0x7FC02000},
		{"signalling a before c", p, "7C01", "3C00", "7FC00005", 0x7FC02000},
		{"signalling b before c", p, "7E03", "7C01", "7FC00005", 0x7FC02000},
		{"signalling c before signalling a", p, "7C01", "3C00", "FF800005", 0xFFC00005},
		{"inf*0 before c", p, "7C00", "0000", "FFC00005", 0x7FC00000},
		{"signalling c before inf*0", p, "7C00", "0000", "7F800005", 0x7FC00005},
		{"c before inf", p, "7C00", "3C00", "FFC00005", 0xFFC00005},
		// What a step hands to the next is quiet.
		{"signalling c, then quiet a", p, "3C00 7E01", "3C00 3C00", "7F800005", 0x7FC00005},
		{"signalling c, then signalling a", p, "3C00 7C01", "3C00 3C00", "7F800005", 0x7FC02000},
		{"signalling a, then inf*0", p, "7C01 7C00", "3C00 0000", "", 0x7FC00000},
	})
	fused := p
	fused.L = 0
	runEval(t, fp16, []evalTest{
		{"fused: c before products", fused, "7E01 7E03", "3C00 3C00", "7FC00005", 0x7FC00005},
		{"fused: first product", fused, "7E01 7E03", "3C00 3C00", "", 0x7FC02000},
		{"fused: signalling product", fused, "7E01 7C03", "3C00 3C00", "7FC00005", 0x7FC06000},
		{"fused: inf*0 before quiet", fused, "7E01 7C00", "3C00 0000", "7FC00005", 0x7FC00000},
	})
	runEval(t, mma.Formats{A: fp.E4M3, B: fp.E5M2, C: fp.FP32, D: fp.FP32}, []evalTest{
		{"e4m3 has no signalling nan, e5m2 has", p, "7F", "FD", "", 0xFFE00000},
		{"e4m3 before quiet e5m2", p, "7F", "FE", "", 0x7FF00000},
	})
}

// TestNaNMulAdd: the last product's a, the other terms, its b.
func TestNaNMulAdd(t *testing.T) {
	p := withNaN(mma.NaNMulAdd)
	runEval(t, fp16, []evalTest{
		{"a before c", p, "7E01", "3C00", "7FC00005", 0x7FC02000},
		{"a before b", p, "7E01", "7E03", "", 0x7FC02000},
		{"c before b", p, "3C00", "7E03", "7FC00005", 0x7FC00005},
		{"c before inf*0", p, "7C00", "0000", "FFC00005", 0xFFC00005},
		{"signalling or not", p, "3C00", "7C03", "7FC00005", 0x7FC00005},
		{"b alone", p, "3C00", "7C03", "", 0x7FC06000},
	})
	// Two products in one sum, as POWER10's rank-2 updates make it: the last one is
	// the multiply-add's.
	two := p
	two.L, two.Stage0 = 2, mma.Stage{Sum: mma.Fused, Round: rne32}
	runEval(t, fp16, []evalTest{
		{"last a before all", two, "7E05 7E01", "7E07 7E03", "", 0x7FC02000},
		{"first a before last b", two, "7E05 3C00", "7E07 7E03", "", 0x7FC0A000},
		{"first b before last b", two, "3C00 3C00", "7E07 7E03", "", 0x7FC0E000},
		{"first inf*0 before last b", two, "7C00 3C00", "0000 7E03", "", 0x7FC00000},
		{"last a before first inf*0", two, "7C00 7E01", "0000 3C00", "", 0x7FC02000},
		{"first b before last inf*0", two, "3C00 7C00", "7E07 0000", "", 0x7FC0E000},
		{"sum before c", two, "3C00 3C00", "3C00 7E03", "7FC00005", 0x7FC06000},
		{"inf*0 in the sum before c", two, "7C00 3C00", "0000 3C00", "7FC00005", 0x7FC00000},
		{"inf-inf in the sum before c", two, "7C00 FC00", "3C00 3C00", "7FC00005", 0x7FC00000},
	})
}

// TestNaNLarger: quiet NaNs before signalling ones, then the larger fraction, then
// the positive one.
func TestNaNLarger(t *testing.T) {
	p := withNaN(mma.NaNLarger)
	runEval(t, fp16, []evalTest{
		{"larger b", p, "7E01", "7E03", "", 0x7FC06000},
		{"larger a", p, "7E03", "7E01", "", 0x7FC06000},
		{"larger c", p, "7E03", "7E01", "7FC06001", 0x7FC06001},
		{"positive b", p, "FE01", "7E01", "", 0x7FC02000},
		{"quiet a of smaller fraction", p, "7E01", "7C03", "", 0x7FC02000},
		{"quiet b of smaller fraction", p, "7C03", "7E01", "", 0x7FC02000},
		{"larger of two signalling", p, "7C03", "FC05", "", 0xFFC0A000},
		{"quiet c before signalling a", p, "7C03", "3C00", "FFC00000", 0xFFC00000},
		{"operand before inf*0", p, "7C00", "0000", "7FC00000", 0x7FC00000},
		// What a step hands to the next is a quiet operand.
		{"signalling c, then quiet a", p, "3C00 7E01", "3C00 3C00", "7F806000", 0x7FC06000},
		{"inf*0, then a", p, "7C00 7E00", "0000 3C00", "", 0x7FC00000},
		{"inf*0, then signalling a", p, "7C00 7C01", "0000 3C00", "", 0xFFC00000},
	})
	// Fraction bits that do not fit D do not count.
	p.Acc = mma.To(fp.FP16, fp.RNE)
	runEval(t, mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP16, D: fp.FP16}, []evalTest{
		{"equal in FP16", p, "FFC02001", "7FC02000", "", 0x7E01},
	})
}

// TestNaNCLeft: c before the sum of the products, but not before what is within it.
func TestNaNCLeft(t *testing.T) {
	p := withNaN(mma.NaNFirst)
	p.Start, p.Late = mma.StartZero, rne32
	left := p
	left.Special.CLeft = true
	runEval(t, fp16, []evalTest{
		{"a before c", p, "7E01", "3C00", "FFC00005", 0x7FC02000},
		{"c before a", left, "7E01", "3C00", "FFC00005", 0xFFC00005},
		{"signalling c", left, "7E01", "3C00", "FF800005", 0xFFC00005},
		{"c before inf*0", left, "7C00", "0000", "7FC00005", 0x7FC00005},
		{"inf-inf with c", left, "7C00", "3C00", "FF800000", 0xFFC00000},
		{"the last product first", left, "7E01 7E03", "3C00 3C00", "", 0x7FC06000},
	})
	lanes := left
	lanes.Lanes = 2
	runEval(t, fp16, []evalTest{
		{"the first lane before the second", lanes, "7E01 7E03", "3C00 3C00", "", 0x7FC02000},
		{"c before both", lanes, "7E01 7E03", "3C00 3C00", "7FC00005", 0x7FC00005},
	})
}

func TestNaNScales(t *testing.T) {
	f := mma.Formats{A: fp.E5M2, B: fp.E5M2, C: fp.FP32, D: fp.FP32, Scale: fp.UE4M3, Block: 1}
	p := withNaN(mma.NaNFirst)
	for _, c := range []struct {
		name      string
		a, sa, sb uint64
		want      uint64
	}{
		{"a before its scale", 0xFD, 0x7F, 0x38, 0xFFE00000},
		{"scale", 0x3C, 0x7F, 0x38, 0x7FF00000},
		{"scale of b", 0x3C, 0x38, 0x7F, 0x7FF00000},
		{"inf times zero scale", 0x7C, 0x00, 0x38, 0xFFC00000},
	} {
		d := &mma.Dot{A: []uint64{c.a}, B: []uint64{0x3C}, SA: []uint64{c.sa}, SB: []uint64{c.sb}}
		evalEqual(t, c.name, &p, f, 1, d, c.want)
	}
}
