package mma

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// half is formats and program of a sound unit that tests break.
var half = Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}

func sound() Params { return TFDPA(8, 24, To(fp.FP32, fp.RZ), -132) }

// TestValidateFormats has every reason for which formats are none of an
// instruction.
func TestValidateFormats(t *testing.T) {
	for _, tc := range []struct {
		f    Formats
		want string
	}{
		{half, ""},
		{Formats{A: fp.TF32, B: fp.XF32, D: fp.FP32}, ""},
		{Formats{A: fp.E2M1, B: fp.E3M2, C: fp.FP16, D: fp.BF16, Scale: fp.UE4M3, Block: 16}, ""},
		{Formats{}, "format of a is not given"},
		{Formats{A: fp.FP16, D: fp.FP32}, "format of b is not given"},
		{Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32}, "format of d is not given"},
		{Formats{A: fp.E8M0, B: fp.FP16, D: fp.FP32}, "ue8m0 is a scale format, not an operand format"},
		{Formats{A: fp.FP16, B: fp.UE4M3, D: fp.FP32}, "ue4m3 is a scale format, not an operand format"},
		{Formats{A: fp.FP16, B: fp.FP16, D: fp.TF32}, "results in tf32 are not supported"},
		{Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.E2M1}, "results in e2m1 are not supported"},
		{Formats{A: fp.FP16, B: fp.One, D: fp.E2M1}, ""},
		{Formats{A: fp.E8M0, B: fp.One, D: fp.BF16}, ""},
		{Formats{A: fp.One, B: fp.One, D: fp.BF16}, "one is a scale format, not an operand format"},
		{Formats{A: fp.E4M3, B: fp.E4M3, C: fp.E4M3FNUZ, D: fp.E4M3}, ""},
		{Formats{A: fp.FP16, B: fp.FP16, D: fp.E8M0}, "results in ue8m0 are not supported"},
		{Formats{A: fp.FP16, B: fp.FP16, C: fp.XF32, D: fp.FP32}, "accumulators in xf32 are not supported"},
		{Formats{A: fp.FP16, B: fp.FP16, C: fp.E2M1, D: fp.FP32}, "accumulators in e2m1 are not supported"},
		{Formats{A: fp.FP16, B: fp.FP16, D: fp.FP32, Scale: fp.E8M0}, "scale format and block size must be given together"},
		{Formats{A: fp.FP16, B: fp.FP16, D: fp.FP32, Block: 32}, "scale format and block size must be given together"},
		{Formats{A: fp.FP16, B: fp.FP16, D: fp.FP32, Scale: fp.E4M3, Block: 32}, "e4m3 is not a scale format"},
		{Formats{A: fp.E4M3, B: fp.E4M3, D: fp.FP32, Down: 127}, ""},
		{Formats{A: fp.E4M3, B: fp.E4M3, D: fp.FP32, Down: 128}, "products multiplied by 2^-128: at most 2^-127 is supported"},
	} {
		checkError(t, tc.f.String(), tc.f.Validate(), tc.want)
		p := sound()
		if tc.want != "" {
			checkError(t, "a program for "+tc.f.String(), p.Validate(tc.f, 8), tc.want)
		}
	}
}

// checkError compares an error with its text, "" for none.
func checkError(t *testing.T, what string, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// TestValidate breaks a sound program in every way that is noticed.
func TestValidate(t *testing.T) {
	fp64 := Formats{A: fp.FP64, B: fp.FP64, C: fp.FP64, D: fp.FP64}
	fp32 := Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	e4m3 := Formats{A: fp.E4M3, B: fp.E5M2, C: fp.FP32, D: fp.FP32}
	nvf4 := Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: fp.UE4M3, Block: 16}
	bits := Formats{A: fp.B1, B: fp.B1, C: fp.S32, D: fp.S32}
	bytes := Formats{A: fp.S8, B: fp.U8, C: fp.S32, D: fp.S32}
	noC := Formats{A: fp.FP16, B: fp.FP16, D: fp.FP32}
	grouped := func(p *Params) { *p = gstFDPA(32, 16, 35, To(fp.FP32, fp.RZ), -139) }
	rounded := Round{Frac: 23, Mode: fp.RNE, Emin: -126, Emax: 127}
	for _, tc := range []struct {
		name   string
		f      Formats
		k      int
		change func(p *Params)
		want   string
	}{
		{"sound", half, 16, func(p *Params) {}, ""},
		{"k 0", half, 0, func(p *Params) {}, "k = 0 is not in 1..255"},
		{"k -1", half, -1, func(p *Params) {}, "k = -1 is not in 1..255"},
		{"k 255", half, 255, func(p *Params) {}, ""},
		{"k 256", half, 256, func(p *Params) {}, "k = 256 is not in 1..255"},
		{"bits", bits, 256, func(p *Params) { *p = integers(0, OverWrap); p.Prod.Xor = true }, ""},
		{"more bits", bits, 257, func(p *Params) { *p = integers(0, OverWrap) }, "k = 257 is not in 1..256"},
		{"sign of bits", bits, 8, func(p *Params) { *p = integers(0, OverWrap); p.In.OtherSignB = true }, "in.othersignb: there is no other way to read b1"},
		{"bits of bytes", bytes, 8, func(p *Params) { *p = integers(0, OverWrap); p.Prod.Xor = true }, "prod.xor is for bits"},
		{"sign of bytes", bytes, 8, func(p *Params) { *p = integers(0, OverSat); p.In.OtherSignA, p.In.OtherSignB = true, true }, ""},
		{"order of bytes", bytes, 8, func(p *Params) { *p = integers(4, OverSat); p.Order = 6 }, "order: unknown value 6"},
		{"merge of bytes", bytes, 8, func(p *Params) { *p = integers(4, OverSat); p.Merge = 1 }, "integers have no parameters besides l, lanes, start, order, stage0, acc, late, prod.xor, in.othersigna, in.othersignb, in.zeroa and in.zerob"},
		{"lanes without a range of their sum", bytes, 8, func(p *Params) { *p = integers(4, OverSat); p.Lanes = 2 }, "the range of integers in s32 has frac and emin 31, or less but at least 7, emax one less, mode rz, and over sat or wrap"},
		{"lanes of 16 bits", bytes, 8, func(p *Params) {
			*p = Params{Lanes: 2, Start: StartZero, Acc: integerRange(15, OverSat), Late: integerRange(31, OverWrap)}
		}, ""},
		{"bytes that begin with nothing", bytes, 8, func(p *Params) {
			*p = Params{Start: StartEmpty, Acc: integerRange(15, OverSat), Late: integerRange(31, OverSat)}
		}, "start: sums of integers begin with c or with zero"},
		{"late addition of bytes that begin with c", bytes, 8, func(p *Params) { *p = integers(4, OverSat); p.Late = p.Acc }, "late: there is no addition after the last step"},
		{"tree of bytes", bytes, 8, func(p *Params) {
			*p = integers(4, OverSat)
			p.L = 0
			p.Stage0 = Stage{Sum: Pairwise, Group: 4, Round: integerRange(15, OverSat)}
		}, ""},
		{"groups of bytes that are not added", bytes, 8, func(p *Params) { *p = integers(4, OverSat); p.Stage0.Group = 2 }, "stage0: integers have sum, split, group and round, and nothing else"},
		{"range without a sign", bytes, 8, func(p *Params) { *p = Params{Acc: integerRange(32, OverSat)} }, "the range of integers in s32 has frac and emin 31, or less but at least 7, emax one less, mode rz, and over sat or wrap"},
		{"range with a sign", Formats{A: fp.U8, B: fp.U8, C: fp.U32, D: fp.U32}, 8, func(p *Params) { *p = Params{Acc: integerRange(33, OverSat)} }, "the range of integers in u32 has frac and emin 32, or less but at least 7, emax one less, mode rz, and over sat or wrap"},
		{"range of 24 bits", bytes, 8, func(p *Params) { *p = Params{Acc: integerRange(23, OverSat)} }, ""},
		{"zero points", bytes, 8, func(p *Params) { *p = integers(0, OverWrap); p.In.ZeroA, p.In.ZeroB = 128, -255 }, ""},
		{"zero point of more bits", bytes, 8, func(p *Params) { *p = integers(0, OverWrap); p.In.ZeroB = 256 }, "in.zerob = 256 has more bits than u8"},
		{"zero point of bits", bits, 8, func(p *Params) { *p = integers(0, OverWrap); p.In.ZeroA = 1 }, "in.zeroa and in.zerob: bits have no zero point"},
		{"zero point of numbers", half, 8, func(p *Params) { p.In.ZeroA = 1 }, "in.othersigna, in.othersignb, in.zeroa, in.zerob and prod.xor are for integers"},
		{"NaNs and infinities exchanged", half, 8, func(p *Params) { p.In.NaNInf, p.In.InfNaN, p.Acc.Over = true, true, OverMax }, "in.infnan needs acc.over max or sat and a format of D that has infinities, and excludes in.naninf"},
		{"infinite operands that are NaNs", half, 8, func(p *Params) { p.In.InfNaN, p.Acc.Over = true, OverMax }, ""},
		{"infinite operands that are NaNs, infinite results", half, 8, func(p *Params) { p.In.InfNaN = true }, "in.infnan needs acc.over max or sat and a format of D that has infinities, and excludes in.naninf"},
		{"numbers of integers", half, 8, func(p *Params) { p.In.OtherSignA = true }, "in.othersigna, in.othersignb, in.zeroa, in.zerob and prod.xor are for integers"},

		{"widen", e4m3, 8, func(p *Params) { p.In.Widen = fp.FP16 }, ""},
		{"widen to itself", half, 8, func(p *Params) { p.In.Widen = fp.FP16 }, ""},
		{"widen to a narrow format", e4m3, 8, func(p *Params) { p.In.Widen = fp.E4M3 }, "in.widen: cannot widen to e4m3"},
		{"widen to TF32", half, 8, func(p *Params) { p.In.Widen = fp.TF32 }, "in.widen: cannot widen to tf32"},
		{"widen to fewer bits", half, 8, func(p *Params) { p.In.Widen = fp.BF16 }, "in.widen: not every fp16 number is a bf16 number"},
		{"widen to a smaller range", fp32, 8, func(p *Params) { p.In.Widen = fp.FP16 }, "in.widen: not every fp32 number is a fp16 number"},

		{"unknown input flush", half, 8, func(p *Params) { p.In.Sub = 3 }, "in.sub: unknown value 3"},
		{"unknown flush of c", half, 8, func(p *Params) { p.In.C = 3 }, "in.c: unknown value 3"},
		{"unknown flush of the accumulator", half, 8, func(p *Params) { p.In.Acc = 3 }, "in.acc: unknown value 3"},
		{"unknown product exponent", half, 8, func(p *Params) { p.Prod.Exp = 3 }, "prod.exp: unknown value 3"},
		{"unknown place of scales", half, 8, func(p *Params) { p.Scale = 2 }, "scale: unknown value 2"},
		{"unknown order", half, 8, func(p *Params) { p.Order = 6 }, "order: unknown value 6"},
		{"unknown start", half, 8, func(p *Params) { p.Start = 3 }, "start: unknown value 3"},
		{"unknown NaN rule", half, 8, func(p *Params) { p.Special.NaN = NaNZero + 1 }, "special.nan: unknown value 9"},
		{"c left of the accumulator", half, 8, func(p *Params) { p.Special.CLeft, p.Special.NaN = true, NaNFirst },
			"special.cleft: needs a start other than c and a NaN rule that is an order of operands"},
		{"c left of no NaN operand", half, 8, func(p *Params) { p.Special.CLeft, p.Start, p.Late = true, StartZero, To(fp.FP32, fp.RNE) },
			"special.cleft: needs a start other than c and a NaN rule that is an order of operands"},
		{"c left", half, 8, func(p *Params) {
			p.Special.CLeft, p.Special.NaN, p.Start, p.Late = true, NaNFirst, StartZero, To(fp.FP32, fp.RNE)
		}, ""},
		{"unknown mode", half, 8, func(p *Params) { p.Acc.Mode = 8 }, "acc.mode: unknown value 8"},
		{"random bits", half, 8, func(p *Params) { p.Acc.Mode = fp.RS }, "acc: mode rs needs random bits: b in rbits1 to rbits32, and k = 1"},
		{"unknown flush of results", half, 8, func(p *Params) { p.Acc.Flush = 4 }, "acc.flush: unknown value 4"},
		{"unknown overflow", half, 8, func(p *Params) { p.Acc.Over = 5 }, "acc.over: unknown value 5"},
		{"unknown sum", half, 8, func(p *Params) { p.Stage0.Sum = 5 }, "stage0.sum: unknown value 5"},
		{"unknown split", half, 8, func(p *Params) { p.Stage1 = Stage{Sum: Fused, Split: 2} }, "stage1.split: unknown value 2"},
		{"unknown alignment of a stage", half, 8, func(p *Params) { p.Stage1 = Stage{Sum: Fused, Align: Align{F: 9, Mode: 7}} }, "stage1.align.mode: rs is not one of rne, rz, rd, ru, rna, rto"},
		{"unknown alignment", half, 8, func(p *Params) { p.Join.Align.Mode = 7 }, "join.align.mode: rs is not one of rne, rz, rd, ru, rna, rto"},

		{"too many bits", half, 8, func(p *Params) { p.Prod.Round = Round{Frac: 65, Mode: fp.RZ, Emin: -126} }, "prod.round.frac = 65 is above 64"},
		{"bits without a mode", half, 8, func(p *Params) { p.Join.Post = Round{Frac: 30} }, "join.post: frac is set but mode is not"},
		{"flush without a bound", half, 8, func(p *Params) { p.Stage0 = Stage{Sum: Fused, Round: Round{Flush: FlushAfter}} }, "stage0.round: flush needs emin"},
		{"overflow rule without a bound", half, 8, func(p *Params) { p.Join.Post = Round{Frac: 30, Mode: fp.RZ, Over: OverMax} }, "join.post: over needs frac and emax"},
		{"overflow rule without bits", half, 8, func(p *Params) { p.Prod.Round = Round{Emax: 127, Over: OverMax} }, "prod.round: over needs frac and emax"},
		{"empty range", half, 8, func(p *Params) { p.Acc.Emin, p.Acc.Emax = 3, 2 }, "acc: emax is below emin"},
		{"error of late", half, 8, func(p *Params) { p.Late = Round{Frac: 70} }, "late.frac = 70 is above 64"},
		{"error of out", half, 8, func(p *Params) { p.Out = Round{Frac: 70} }, "out.frac = 70 is above 64"},
		{"error of stage1.round", half, 8, func(p *Params) { p.Stage1 = Stage{Sum: Fused, Round: Round{Frac: 70}} }, "stage1.round.frac = 70 is above 64"},

		{"fields of a stage that is off", half, 8, func(p *Params) { p.Stage0.Group = 2 }, "stage0: sum is off but other fields are set"},
		{"interleaved without number", half, 8, func(p *Params) { p.Stage0 = Stage{Sum: Pairwise, Split: Interleaved, Round: rounded} }, "stage0: interleaved groups need their number in group"},
		{"wide fixed point", Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}, 8, func(p *Params) { p.Stage0 = Stage{Sum: Fused, Fixed: true, Align: Align{F: 20, Mode: fp.RZ}} },
			"stage0: sums of products below 2^260 are too large for fixed point"},
		{"rounded fixed point", half, 8, func(p *Params) { p.Stage0 = Stage{Sum: Fused, Fixed: true, Round: rounded} }, "stage0: a fixed-point sum is not rounded"},
		{"alignment too wide", half, 8, func(p *Params) { p.Stage0 = Stage{Sum: Fused, Align: Align{F: 101, Mode: fp.RZ}} }, "stage0.align.f = 101 is above 100"},
		{"alignment without a mode", half, 8, func(p *Params) { p.Join.Align.Mode = 0 }, "join: align.f is set but align.mode is not"},
		{"100 bits", half, 8, func(p *Params) { p.Join.Align.F = 100 }, ""},
		{"cf too wide", half, 8, func(p *Params) { p.Join.CF = 101 }, "join.cf = 101 is above 100"},
		{"cdrop too wide", half, 8, func(p *Params) { p.Join.CDrop = 101 }, "join.cdrop = 101 is above 100"},
		{"cf without a mode", half, 8, func(p *Params) { p.Join = Join{CF: 20} }, "join: cf is set but neither cmode nor align.mode is"},
		{"cf with its own mode", half, 8, func(p *Params) { p.Join = Join{CF: 20, CMode: fp.RD} }, ""},
		{"cmode without bits", half, 8, func(p *Params) { p.Join = Join{CMode: fp.RD} }, "join: cmode is set but neither cf nor align.f is"},

		{"group scales without scales", half, 8, func(p *Params) { p.Scale = ScaleGroup }, "scale: the instruction has no scales"},
		{"group scales", nvf4, 64, grouped, ""},
		{"group scales without groups", nvf4, 64, func(p *Params) { p.Scale = ScaleGroup }, "scale: group scales need stage0"},
		{"group scales, descending", nvf4, 64, func(p *Params) { grouped(p); p.Order = Descending },
			"scale: group scales need adjacent groups of a given size in ascending order and one lane"},
		{"group scales, two lanes", nvf4, 64, func(p *Params) { grouped(p); p.Lanes = 2 },
			"scale: group scales need adjacent groups of a given size in ascending order and one lane"},
		{"group scales, interleaved", nvf4, 64, func(p *Params) { grouped(p); p.Stage0.Split = Interleaved },
			"scale: group scales need adjacent groups of a given size in ascending order and one lane"},
		{"group scales, one group", nvf4, 64, func(p *Params) { grouped(p); p.Stage0.Group = 0 },
			"scale: group scales need adjacent groups of a given size in ascending order and one lane"},
		{"groups across blocks", nvf4, 64, func(p *Params) { grouped(p); p.Stage0.Group = 32 },
			"scale: groups of 32 products do not divide blocks of 16 and steps of 32"},
		{"groups across steps", nvf4, 64, func(p *Params) { grouped(p); p.L = 24 },
			"scale: groups of 16 products do not divide blocks of 16 and steps of 24"},
		{"groups in one step", nvf4, 24, func(p *Params) { grouped(p); p.L = 24 }, ""},
		{"groups in the step of all", nvf4, 24, func(p *Params) { grouped(p); p.L = 0 }, ""},

		{"no rounding", half, 8, func(p *Params) { p.Acc = Round{} }, "acc: frac must be 1..63, every step ends in a rounding"},
		{"64 bits of result", half, 8, func(p *Params) { p.Acc.Frac = 64 }, "acc: frac must be 1..63, every step ends in a rounding"},
		{"a bit too many", half, 8, func(p *Params) { p.Acc.Frac = 24 }, "acc: frac 24, emin -126, emax 127 do not make a fp32 number"},
		{"no overflow", half, 8, func(p *Params) { p.Acc.Emax = 0 }, "acc: frac 23, emin -126, emax 0 do not make a fp32 number"},
		{"overflow too late", half, 8, func(p *Params) { p.Acc.Emax = 128 }, "acc: frac 23, emin -126, emax 128 do not make a fp32 number"},
		{"no underflow", half, 8, func(p *Params) { p.Acc.Emin = 0 }, "acc: frac 23, emin 0, emax 127 do not make a fp32 number"},
		{"underflow too late", half, 8, func(p *Params) { p.Acc.Emin = -127 }, "acc: frac 23, emin -127, emax 127 do not make a fp32 number"},
		{"narrower result", half, 8, func(p *Params) { p.Acc = Round{Frac: 5, Mode: fp.RTO, Emin: -14, Emax: 15} }, ""},
		{"out corrects acc", half, 8, func(p *Params) { p.Acc.Frac, p.Out = 40, rounded }, ""},
		{"out that is no number", half, 8, func(p *Params) { p.Out = Round{Frac: 30, Mode: fp.RZ, Emin: -126, Emax: 127} },
			"out: frac 30, emin -126, emax 127 do not make a fp32 number"},
		{"late without additions", half, 8, func(p *Params) { p.Late = rounded }, "late: there is no addition after the last step"},
		{"late for c", half, 8, func(p *Params) { p.Start, p.Late = StartZero, rounded }, ""},
		{"late for lanes", half, 8, func(p *Params) { p.Lanes, p.Late = 2, rounded }, ""},
		{"c without late", half, 8, func(p *Params) { p.Start = StartEmpty }, "late: frac must be 1..63, there are additions after the last step"},
		{"no c, no late", noC, 8, func(p *Params) { p.Start = StartEmpty }, ""},
		{"late without a c", noC, 8, func(p *Params) { p.Start, p.Late = StartEmpty, rounded }, "late: there is no addition after the last step"},
		{"lanes without late", half, 8, func(p *Params) { p.Lanes = 2 }, "late: frac must be 1..63, there are additions after the last step"},
		{"late of 64 bits", half, 8, func(p *Params) { p.Lanes, p.Late = 2, Round{Frac: 64, Mode: fp.RZ} }, "late: frac must be 1..63, there are additions after the last step"},
		{"late that is no number", half, 8, func(p *Params) { p.Lanes, p.Late = 2, Round{Frac: 24, Mode: fp.RZ, Emin: -126, Emax: 127} },
			"late: frac 24, emin -126, emax 127 do not make a fp32 number"},

		{"exact sum of FP16", half, 8, func(p *Params) { p.Stage0 = Stage{Sum: Fused} }, ""},
		{"exact sum of FP32", fp32, 8, func(p *Params) { p.Stage0 = Stage{Sum: Fused} }, "stage0: an exact sum of 558 bits is neither aligned nor rounded"},
		{"rounded sum of FP32", fp32, 8, func(p *Params) { p.Stage0 = Stage{Sum: Pairwise, Round: rounded} }, ""},
		{"exact sum of rounded sums", half, 8, func(p *Params) {
			p.Stage0 = Stage{Sum: Fused, Group: 2, Round: rounded}
			p.Stage1 = Stage{Sum: Fused}
		}, "stage1: an exact sum of 300 bits is neither aligned nor rounded"},
		{"exact sum of cut sums", half, 8, func(p *Params) {
			p.Stage0 = Stage{Sum: Fused, Group: 2, Align: Align{F: 9, Mode: fp.RZ}}
			p.Stage1 = Stage{Sum: Fused}
		}, "stage1: an exact sum of 300 bits is neither aligned nor rounded"},
		{"exact sum of rounded products", half, 8, func(p *Params) {
			p.Prod.Round = rounded
			p.Stage0 = Stage{Sum: Fused}
		}, "stage0: an exact sum of 300 bits is neither aligned nor rounded"},
		{"products without a lower bound", half, 8, func(p *Params) { p.Prod.Round = Round{Frac: 10, Mode: fp.RZ} }, "prod.round: a rounded product needs emin"},
		{"exact sum of scaled products", nvf4, 64, func(p *Params) { p.Stage0 = Stage{Sum: Fused} }, ""},
		{"FMA of FP64", fp64, 4, func(p *Params) { *p = FMA(fp.FP64) }, ""},
	} {
		p := sound()
		tc.change(&p)
		checkError(t, tc.name, p.Validate(tc.f, tc.k), tc.want)
	}
}

// TestSpan checks the limit on exact sums at its edge: E5M2 products with E8M0
// scales on a step are too wide, the same without scales are not.
func TestSpan(t *testing.T) {
	exact := func(f Formats) error {
		p := TFDPA(0, 25, To(fp.FP32, fp.RZ), 0)
		p.Stage0 = Stage{Sum: Fused}
		return p.Validate(f, 32)
	}
	f := Formats{A: fp.E5M2, B: fp.E5M2, C: fp.FP32, D: fp.FP32}
	checkError(t, "E5M2", exact(f), "")
	f.Scale, f.Block = fp.E8M0, 32
	// 32 bits above and 32 below 1 of products, 256 and 254 of scales, 6 of carries.
	checkError(t, "scaled E5M2", exact(f), "stage0: an exact sum of 580 bits is neither aligned nor rounded")
}
