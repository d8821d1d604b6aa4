package oracle

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func TestOutputFlush(t *testing.T) {
	with := func(f mma.OutFlush, m fp.Mode) mma.Params {
		return fma(func(p *mma.Params) { p.Acc.Mode, p.Acc.Flush = m, f })
	}
	const (
		least = "00800000" // 2^-126
		a     = "33400000" // 3*2^-26, times -2^-126 is -3*2^-152
		b     = "80800000"
		a8    = "33000000" // 2^-25: -2^-151
		aRise = "32800000" // 2^-26: -2^-152
	)
	runEval(t, fp32, []evalTest{
		// 2^-126 - 3*2^-152 in units of 2^-149 is a quarter and a bit below
		// 2^23 and rounds to it; with no lower exponent bound the unit is
		// 2^-150 and it rounds to one unit less.
		{"keep", with(mma.NoFlush, fp.RNE), a, b, least, 0x00800000},
		{"before", with(mma.FlushBefore, fp.RNE), a, b, least, 0},
		{"after", with(mma.FlushAfter, fp.RNE), a, b, least, 0},
		{"result", with(mma.FlushResult, fp.RNE), a, b, least, 0x00800000},
		// 2^-126 - 2^-151 is a tie that goes to 2^-126 either way.
		{"tie, before", with(mma.FlushBefore, fp.RNE), a8, b, least, 0},
		{"tie, after", with(mma.FlushAfter, fp.RNE), a8, b, least, 0x00800000},
		{"tie, result", with(mma.FlushResult, fp.RNE), a8, b, least, 0x00800000},
		// Toward zero it is below in every sense; up it is not.
		{"after, rz", with(mma.FlushAfter, fp.RZ), a8, b, least, 0},
		{"result, rz", with(mma.FlushResult, fp.RZ), a8, b, least, 0},
		{"keep, rz", with(mma.NoFlush, fp.RZ), a8, b, least, 0x007FFFFF},
		{"after, ru", with(mma.FlushAfter, fp.RU), aRise, b, least, 0x00800000},
		{"before, ru", with(mma.FlushBefore, fp.RU), aRise, b, least, 0},
		// To odd: 2^-126 less a bit is 007FFFFF, whatever the unit.
		{"keep, rto", with(mma.NoFlush, fp.RTO), aRise, b, least, 0x007FFFFF},
		{"after, rto", with(mma.FlushAfter, fp.RTO), aRise, b, least, 0},
		// The least normal number is not tiny.
		{"normal, before", with(mma.FlushBefore, fp.RNE), "0", "0", least, 0x00800000},
		{"normal, result", with(mma.FlushResult, fp.RNE), "0", "0", least, 0x00800000},
		{"sign", with(mma.FlushAfter, fp.RNE), "0", "0", "807FFFFF", 0x80000000},
		// Seen in QEMU's x86 emulation, which flushed it.
		{"rounds up to normal", with(mma.FlushAfter, fp.RNE), "00800000", "15A6B52F", "80800000", 0x80800000},
		{"rounds up to normal, before", with(mma.FlushBefore, fp.RNE), "00800000", "15A6B52F", "80800000", 0x80000000},
	})
}

func TestInputFlush(t *testing.T) {
	with := func(in mma.Input) mma.Params { return fma(func(p *mma.Params) { p.In = in }) }
	keep := with(mma.Input{})
	const one, sub, neg = "3F800000", "00400000", "80400000" // 1, 2^-127, -2^-127
	runEval(t, fp32, []evalTest{
		{"keep", keep, sub, one, "", 0x00400000},
		{"a", with(mma.Input{Sub: mma.FlushSign}), sub, one, "", 0},
		{"b", with(mma.Input{Sub: mma.FlushSign}), one, sub, "", 0},
		{"sign", with(mma.Input{Sub: mma.FlushSign}), neg, one, "80000000", 0x80000000},
		{"plus", with(mma.Input{Sub: mma.FlushPlus}), neg, one, "80000000", 0},
		{"plus, -0", with(mma.Input{Sub: mma.FlushPlus}), "80000000", one, "80000000", 0},
		{"plus, normal", with(mma.Input{Sub: mma.FlushPlus}), "80800000", one, "", 0x80800000},
		{"inf times flushed", with(mma.Input{Sub: mma.FlushSign}), "7F800000", sub, "", 0x7FC00000},
		{"inf times kept", keep, "7F800000", sub, "", 0x7F800000},
		{"sub leaves c", with(mma.Input{Sub: mma.FlushSign, Acc: mma.FlushSign}), "0", one, sub, 0x00400000},
		{"c", with(mma.Input{C: mma.FlushSign}), "80000000", one, neg, 0x80000000},
		{"c plus", with(mma.Input{C: mma.FlushPlus}), "80000000", one, neg, 0},
		{"c plus, -0", with(mma.Input{C: mma.FlushPlus}), "80000000", one, "80000000", 0},
		{"c leaves a", with(mma.Input{C: mma.FlushSign}), sub, one, "", 0x00400000},
		// The accumulator between steps, but neither the first nor the last.
		{"acc", with(mma.Input{Acc: mma.FlushSign}), sub + " 0", one + " 0", "", 0},
		{"acc, last", with(mma.Input{Acc: mma.FlushSign}), "0 " + sub, "0 " + one, "", 0x00400000},
		{"c leaves acc", with(mma.Input{C: mma.FlushSign}), sub + " 0", one + " 0", "", 0x00400000},
		{"acc sign", with(mma.Input{Acc: mma.FlushSign}), neg + " 80000000", one + " " + one, "80000000", 0x80000000},
		{"acc plus", with(mma.Input{Acc: mma.FlushPlus}), neg + " 80000000", one + " " + one, "80000000", 0},
	})
	c := with(mma.Input{C: mma.FlushSign})
	d := testDot(t, fp32, evalTest{a: sub + " 0", b: one + " 0"})
	evalEqual(t, "c of the second execution", &c, fp32, 1, d, 0)
	late := fma(func(p *mma.Params) { p.Start, p.Late, p.In.C = mma.StartZero, rne32, mma.FlushSign })
	runEval(t, fp32, []evalTest{
		{"late c", late, "0", "0", sub, 0},
		{"late c leaves the sum", late, sub, one, "", 0x00400000},
	})
}

func TestWiden(t *testing.T) {
	f := mma.Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32}
	p := mma.Params{Join: mma.Join{Align: mma.Align{F: 2, Mode: fp.RZ}}, Acc: rne32, Special: ieee}
	wide := p
	wide.In = mma.Input{Widen: fp.FP16, Sub: mma.FlushSign}
	narrow := p
	narrow.In.Sub = mma.FlushSign
	const least = "01" // 2^-9, subnormal in E4M3, normal in FP16
	runEval(t, f, []evalTest{
		{"exponent -6", p, least, "", "", 0}, // cut at 2^-8
		{"exponent -9", wide, least, "", "", 0x3B000000},
		{"flushed", narrow, least, "", "", 0},
		{"zero", wide, "80", "", "3B000000", 0x3B000000},
		{"nan", wide, "7F", "", "", 0x7FC00000},
	})
	f.A, f.B = fp.E5M2, fp.E5M2
	keep := wide
	keep.In.Sub = mma.KeepSub
	coarse := keep
	coarse.Join.Align.F = 1
	runEval(t, f, []evalTest{
		// 2^-16 is subnormal in FP16, too, and counts as -14.
		{"still subnormal", keep, "01", "", "", 0x37800000},
		{"still subnormal, cut", coarse, "01", "", "", 0}, // at 2^-15
		{"still subnormal, flushed", wide, "01", "", "", 0},
		{"inf", wide, "FC", "", "", 0xFF800000},
	})
}

func TestOverflowRules(t *testing.T) {
	const inf, most = 0x7C00, 0x7BFF
	for _, c := range []struct {
		over     mma.Over
		mode     fp.Mode
		pos, neg uint64
	}{
		{mma.OverInf, fp.RNE, inf, inf},
		{mma.OverInf, fp.RZ, inf, inf},
		{mma.OverInf, fp.RD, inf, inf},
		{mma.OverInf, fp.RU, inf, inf},
		{mma.OverInf, fp.RTO, inf, inf},
		{mma.OverIEEE, fp.RNE, inf, inf},
		{mma.OverIEEE, fp.RNA, inf, inf},
		{mma.OverIEEE, fp.RZ, most, most},
		{mma.OverIEEE, fp.RD, most, inf},
		{mma.OverIEEE, fp.RU, inf, most},
		{mma.OverIEEE, fp.RTO, most, most},
		{mma.OverMax, fp.RNE, most, most},
		{mma.OverMax, fp.RU, most, most},
	} {
		p := mma.Params{Acc: mma.To(fp.FP16, c.mode), Special: ieee}
		p.Acc.Over = c.over
		name := c.over.String() + " " + c.mode.String()
		runEval(t, half, []evalTest{
			{name, p, "7BFF", "", "7BFF", c.pos},
			{name + " -", p, "FBFF", "", "FBFF", c.neg | 0x8000},
			// An infinity does not overflow.
			{name + " inf", p, "7C00", "", "", inf},
			{name + " -inf", p, "FC00", "", "", inf | 0x8000},
		})
	}
	// The largest number has Frac+1 bits: 13 fraction bits here.
	p := mma.Params{Acc: mma.To(fp.FP32, fp.RZ), Special: ieee}
	p.Acc.Frac = 13
	p.Acc.Over = mma.OverMax
	runEval(t, fp32, []evalTest{
		{"13 bits", p, "7F7FFFFF", "", "7F7FFFFF", 0x7F7FFC00},
		{"13 bits, not beyond", p, "7F7FFFFF", "", "", 0x7F7FFC00},
	})
	// Its exponent is Emax: 16 becomes 15, which is cut at 2^(3-2).
	p = mma.Params{Join: mma.Join{Align: mma.Align{F: 2, Mode: fp.RZ}}, Acc: rne32, Special: ieee}
	p.Prod.Round = mma.Round{Frac: 3, Mode: fp.RZ, Emin: -14, Emax: 3, Over: mma.OverMax}
	runEval(t, fp16, []evalTest{{"exponent", p, "4C00", "", "", 0x41600000}})
	// Rounding up to 2^16 overflows, rounding down to 65504 does not.
	rne := mma.Params{Acc: mma.To(fp.FP16, fp.RNE), Special: ieee}
	runEval(t, half, []evalTest{
		{"65520", rne, "7BFF", "", "4C00", 0x7C00},
		{"65519.97", rne, "7BFF", "", "4BFF", 0x7BFF},
	})
}

// TestOverflowOnly: a Round without Frac rounds nothing and normalises nothing.
func TestOverflowOnly(t *testing.T) {
	p := mma.Params{
		Prod: mma.Product{Round: mma.Round{Emax: 3}},
		Join: mma.Join{Align: mma.Align{F: 1, Mode: fp.RZ}},
		Acc:  rne32, Special: ieee,
	}
	runEval(t, fp16, []evalTest{
		{"not beyond", p, "4BFF", "", "", 0x41400000}, // 15.99 is cut at 4: 12
		{"beyond", p, "4C00", "", "", 0x7F800000},
		{"both signs", p, "4C00 CC00", "", "", 0x7FC00000},
		{"inf - overflow", p, "4C00", "", "FF800000", 0x7FC00000},
		{"field-sum exponent", p, "3E00 0000", "3E00 0000", "3F000000", 0x40200000}, // 2.25+0.5
	})
	flush := p
	flush.Prod.Round = mma.Round{Emin: -3, Flush: mma.FlushBefore}
	runEval(t, fp16, []evalTest{
		{"flush keeps 2^-3", flush, "3000", "", "", 0x3E000000},
		{"flush", flush, "2FFF", "", "", 0},
		{"flushed is null", flush, "0001", "7000", "34800000", 0x34800000}, // would cut at 2^-2
	})
}

func TestRoundToOdd(t *testing.T) {
	rto := fma(func(p *mma.Params) { p.Acc.Mode = fp.RTO })
	align := mma.Params{Join: mma.Join{Align: mma.Align{F: 4, Mode: fp.RTO}}, Acc: rne32, Special: ieee}
	runEval(t, bf16, []evalTest{
		{"even, inexact", rto, "3F80", "", "4B800000", 0x4B800001},
		{"odd, inexact", rto, "3F80", "", "4B800001", 0x4B800001},
		{"exact", rto, "4000", "", "4B800000", 0x4B800001},
		{"exact stays even", rto, "4000", "", "4B800001", 0x4B800002},
		{"negative", rto, "BF80", "", "CB800000", 0xCB800001},
		{"far below", rto, "0080", "", "4B800000", 0x4B800001},
		{"below the least", rto, "0080", "0080", "", 0x00000001}, // 2^-252
		{"below the least, negative", rto, "8080", "0080", "", 0x80000001},
		// In an alignment every inexact term leaves a bit.
		{"align", align, "3F80 0080 0080", "", "", 0x3F900000}, // 1 + 2^-4 + 2^-4
	})
}

func TestZeroSigns(t *testing.T) {
	with := func(change func(*mma.Params)) mma.Params { return fma(change) }
	plain := with(nil)
	rd := with(func(p *mma.Params) { p.Acc.Mode = fp.RD })
	noNeg := with(func(p *mma.Params) { p.Acc.Mode, p.Special.NegZero = fp.RD, false })
	noTiny := with(func(p *mma.Params) { p.Special.TinySign = false })
	post := with(func(p *mma.Params) { p.Join.Post = mma.Round{Frac: 30, Mode: fp.RD} })
	postOnly := with(func(p *mma.Params) { p.Join.Post, p.Acc.Mode = mma.Round{Frac: 30, Mode: fp.RZ}, fp.RD })
	late := with(func(p *mma.Params) { p.Start, p.Late = mma.StartZero, mma.To(fp.FP32, fp.RD) })
	const one, zero, minus = "3F80", "0000", "BF800000"
	runEval(t, bf16, []evalTest{
		{"-0 + -0", plain, "8000", "", "80000000", 0x80000000},
		{"-0 + +0", plain, "8000", "", "", 0},
		{"x - x", plain, one, "", minus, 0},
		{"x - x down", rd, one, "", minus, 0x80000000},
		{"-0 + +0 down", rd, "8000", "", "", 0x80000000},
		{"+0 + +0 down", rd, zero, "", "", 0},
		{"down without NegZero", noNeg, one, "", minus, 0},
		{"-0 + -0 without NegZero", noNeg, "8000", "", "80000000", 0},
		{"post down", post, one, "", minus, 0x80000000},
		{"post, not acc", postOnly, one, "", minus, 0},
		{"late down", late, one, "", minus, 0x80000000},
		{"late -0 + +0 down", late, "8000", "", "80000000", 0x80000000},
		{"tiny", plain, "8080", "0080", "", 0x80000000},
		{"tiny without sign", noTiny, "8080", "0080", "", 0},
		{"tiny without NegZero", noNeg, "0080", "0080", "", 0},
	})
	// What vanishes in an alignment is a zero of its sign.
	align := with(func(p *mma.Params) { p.Join.Align = mma.Align{F: 1, Mode: fp.RZ, Floor: 9} })
	runEval(t, bf16, []evalTest{
		{"vanished", align, "BF80", "", "80000000", 0x80000000},
		{"vanished, +0", align, "BF80", "", "", 0},
		{"vanished, both", align, "BF80", "", minus, 0x80000000},
	})
	// The sign of a stage's zero is decided by the stage's own rounding.
	stage := func(m fp.Mode) mma.Params {
		return mma.Params{Stage0: mma.Stage{Sum: mma.Pairwise, Round: mma.To(fp.FP32, m)}, Acc: rne32, Special: ieee}
	}
	runEval(t, bf16, []evalTest{
		{"stage", stage(fp.RNE), "3F80 BF80", "", "80000000", 0},
		{"stage down", stage(fp.RD), "3F80 BF80", "", "80000000", 0x80000000},
	})
}

func TestJoin(t *testing.T) {
	with := func(j mma.Join) mma.Params {
		return mma.Params{Join: j, Acc: rne32, Special: ieee}
	}
	rz4 := mma.Align{F: 4, Mode: fp.RZ}
	runEval(t, bf16, []evalTest{
		// 1 and c, with E = 0.
		{"all alike", with(mma.Join{Align: rz4}), "3F80", "", "BE040000", 0x3F600000}, // -(2^-3+2^-8): 1-2^-3
		{"cf", with(mma.Join{Align: rz4, CF: 2}), "3F80", "", "BE400000", 0x3F800000}, // -3/16 at 1/4 toward 0
		{"cf, cmode", with(mma.Join{Align: rz4, CF: 2, CMode: fp.RD}), "3F80", "", "BE000000", 0x3F400000},
		{"cf, cmode, positive", with(mma.Join{Align: rz4, CF: 2, CMode: fp.RD}), "3F80", "", "3E000000", 0x3F800000},
		{"cmode", with(mma.Join{Align: rz4, CMode: fp.RU}), "3F80", "", "3D000000", 0x3F880000}, // 2^-5 up to 2^-4
		{"cmode is not for terms", with(mma.Join{Align: rz4, CMode: fp.RU}), "3F80 3D00", "", "", 0x3F800000},
		{"cf alone", with(mma.Join{CF: 2, CMode: fp.RZ}), "3F80 3D00", "", "3D000000", 0x3F840000},
		{"ties to even, down", with(mma.Join{Align: mma.Align{F: 4, Mode: fp.RNE}}), "3F80", "", "3D000000", 0x3F800000},
		{"ties to even, up", with(mma.Join{Align: mma.Align{F: 4, Mode: fp.RNE}}), "3F80", "", "3DC00000", 0x3F900000},
		{"ties away", with(mma.Join{Align: mma.Align{F: 4, Mode: fp.RNA}}), "3F80", "", "BD000000", 0x3F700000},
		// c is dropped below E-2, that is below 2^-2.
		{"kept", with(mma.Join{CDrop: 2}), "3F80", "", "3E800000", 0x3FA00000},
		{"dropped", with(mma.Join{CDrop: 2}), "3F80", "", "3E7FFFFF", 0x3F800000},
		{"alone", with(mma.Join{CDrop: 2}), "0000", "", "00000001", 1},
		{"dropped by the floor", with(mma.Join{Align: mma.Align{Floor: -3}, CDrop: 2}), "0000", "", "3C000000", 0},
		{"dropped is +0", with(mma.Join{Align: mma.Align{Floor: -3}, CDrop: 2}), "8000", "", "BC000000", 0},
		{"inf is not dropped", with(mma.Join{CDrop: 2}), "7F00", "", "FF800000", 0xFF800000},
		// Post before Acc: 1.9375 to two bits, toward zero.
		{"post", with(mma.Join{Post: mma.Round{Frac: 2, Mode: fp.RZ}}), "3FF8", "", "", 0x3FE00000},
		{"post overflow", with(mma.Join{Post: mma.Round{Emax: 5}}), "4280", "", "", 0x7F800000},
		// A lone term is aligned: this is how FP8 units cut c.
		{"floor", with(mma.Join{Align: mma.Align{F: 4, Mode: fp.RZ, Floor: 3}}), "0000", "", "3FC00000", 0x3FC00000},
		{"floor, cut", with(mma.Join{Align: mma.Align{F: 4, Mode: fp.RZ, Floor: 4}}), "0000", "", "3FC00000", 0x3F800000},
	})
}

func TestOut(t *testing.T) {
	p := mma.Params{Acc: mma.To(fp.FP32, fp.RZ), Out: mma.To(fp.FP16, fp.RNE), Special: ieee}
	runEval(t, half, []evalTest{
		// 1 + 2^-11 + 2^-39: a tie once FP32 has cut the last bit.
		{"double rounding", p, "2800 0C00", "2400 0800", "3C00", 0x3C00},
		{"overflow", p, "7BFF", "", "7BFF", 0x7C00},
		{"tiny", p, "8001", "3400", "", 0x8000},
		{"subnormal", p, "0001", "", "", 0x0001},
	})
}
