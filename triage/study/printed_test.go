package study

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/prove"
)

// The tables of the papers that are not questions of package probe: what is printed, and
// how ours comes about.

// formatFacts makes entries of facts about formats. facts returns ours of a format, in the
// order of names; printed has the paper's; why has reasons by "FORMAT FACT".
func formatFacts(names []string, facts func(f *fp.Format) []int, printed []printedFormat, why map[string]string) ([]entry, error) {
	var all []entry
	for _, p := range printed {
		ours := facts(p.id.Get())
		for n, name := range names {
			all = append(all, same(p.id.String(), name, fmt.Sprint(ours[n]), fmt.Sprint(p.facts[n]), why[p.id.String()+" "+name]))
		}
	}
	return all, nil
}

// printedFormat is what a paper prints of a format.
type printedFormat struct {
	id    fp.ID
	facts []int
}

// fasi3 makes Table 3 of Fasi et al.; epsilon, fmin and smin are printed as powers of two.
func fasi3(context.Context, *Request) ([]entry, error) {
	return formatFacts([]string{"p", "emax", "emin", "log2 epsilon", "log2 fmin", "log2 smin"}, func(f *fp.Format) []int {
		frac, emin := int(f.FracBits), int(f.Emin())
		return []int{frac + 1, int(f.Emax()), emin, -frac, emin, emin - frac}
	}, []printedFormat{
		{fp.FP16, []int{11, 15, -14, -10, -14, -24}},
		{fp.BF16, []int{8, 127, -126, -7, -126, -133}},
		{fp.TF32, []int{11, 127, -126, -10, -126, -136}},
		{fp.FP32, []int{24, 127, -126, -23, -126, -149}},
		{fp.FP64, []int{53, 1023, -1022, -52, -1022, -1074}},
	}, nil)
}

// fttn1 makes Table I of FTTN.
func fttn1(context.Context, *Request) ([]entry, error) {
	wrong := "BF16 has the exponents of FP32: Fasi et al., Table 3, and the 8 exponent bits of this table"
	return formatFacts([]string{"sign bits", "exponent bits", "mantissa bits", "emin", "emax", "log2 ulp(1)"}, func(f *fp.Format) []int {
		return []int{1, int(f.ExpBits), int(f.FracBits), int(f.Emin()), int(f.Emax()), -int(f.FracBits)}
	}, []printedFormat{
		{fp.FP16, []int{1, 5, 10, -14, 15, -10}},
		{fp.FP32, []int{1, 8, 23, -126, 127, -23}},
		{fp.FP64, []int{1, 11, 52, -1022, 1023, -52}},
		{fp.BF16, []int{1, 8, 7, -63, 63, -7}},
		{fp.TF32, []int{1, 8, 10, -126, 127, -10}},
	}, map[string]string{"bf16 emin": wrong, "bf16 emax": wrong})
}

// sun11 makes Table 11 of Sun et al.
func sun11(context.Context, *Request) ([]entry, error) {
	return formatFacts([]string{"sign", "exponent", "mantissa", "bits of the register"}, func(f *fp.Format) []int {
		return []int{1, int(f.ExpBits), int(f.FracBits), 8 * int(f.Width)}
	}, []printedFormat{
		{fp.FP32, []int{1, 8, 23, 32}}, {fp.TF32, []int{1, 8, 10, 32}}, {fp.FP16, []int{1, 5, 10, 16}},
		{fp.BF16, []int{1, 8, 7, 16}}, {fp.E4M3, []int{1, 4, 3, 8}}, {fp.E5M2, []int{1, 5, 2, 8}},
	}, nil)
}

// fttn2 makes Table II of FTTN: what is added to a mantissa, even or odd, by its three extra bits,
// the sign and the mode. 0xy stands for all bits with x or y set, and so does 1xy.
func fttn2(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, p := range []struct {
		name    string
		extra   []uint64
		neg     bool
		printed [3]int // RU, RD, RNE
	}{
		{"0xy +", []uint64{1, 2, 3}, false, [3]int{1, 0, 0}},
		{"0xy -", []uint64{1, 2, 3}, true, [3]int{0, 1, 0}},
		{"100 +", []uint64{4}, false, [3]int{1, 0, 1}},
		{"100 -", []uint64{4}, true, [3]int{0, 1, 1}},
		{"1xy +", []uint64{5, 6, 7}, false, [3]int{1, 0, 1}},
		{"1xy -", []uint64{5, 6, 7}, true, [3]int{0, 1, 1}},
	} {
		for n, mode := range []fp.Mode{fp.RU, fp.RD, fp.RNE, fp.RZ} {
			var ours []string
			for _, mantissa := range []uint64{8, 9} {
				for _, extra := range p.extra {
					r := fp.Dyadic{Lo: mantissa<<3 | extra, Neg: p.neg}.Round(3, mode)
					word := fmt.Sprint(r.Lo<<r.Q>>3 - mantissa)
					if !slices.Contains(ours, word) {
						ours = append(ours, word)
					}
				}
			}
			theirs, why := "the last bit becomes 0", "truncation leaves the last bit as it is"
			if mode != fp.RZ {
				theirs, why = fmt.Sprint(p.printed[n]), "a tie goes to the even neighbour: an even mantissa stays"
			}
			e := same(p.name, mode.String(), strings.Join(ours, " or "), theirs, why)
			if e.Equal {
				e.Why = ""
			}
			all = append(all, e)
		}
	}
	return all, nil
}

// fttnExample makes the example of section II of FTTN: 1.1100 in binary is rounded to one digit
// behind the point.
func fttnExample(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, p := range []struct {
		mode        fp.Mode
		theirs, why string
	}{{fp.RNE, "2", ""}, {fp.RZ, "1", "the number of one digit below 1.75 is 1.5; with the last bit assigned 0, as the caption of Table II has it, 1.5 becomes 1"}} {
		r := fp.Dyadic{Lo: 7, Q: -2}.Round(-1, p.mode)
		all = append(all, same("1.75 with one mantissa bit", p.mode.String(), fmt.Sprint(math.Ldexp(float64(r.Lo), int(r.Q))), p.theirs, p.why))
	}
	return all, nil
}

// misrounded counts sums of a number of four digits and other ones of two signs and up to seven
// places behind it that are not rounded as the exact sum is. Each of these is cut to so many extra
// bits, of which the last one is set if any digit is lost (a sticky bit).
func misrounded(others, extra int, mode fp.Mode) (wrong, of int) {
	const places = 7
	round := func(sum int64, q int32) fp.Dyadic {
		d := fp.Dyadic{Lo: uint64(max(sum, -sum)), Q: q, Neg: sum < 0}
		if sum == 0 {
			return d
		}
		return d.Round(d.Exponent()-3, mode)
	}
	var add func(left int, exact, cut int64)
	add = func(left int, exact, cut int64) {
		if left == 0 {
			of++
			x, y := round(exact, -places), round(cut, int32(-extra))
			if math.Ldexp(float64(x.Lo), int(x.Q)) != math.Ldexp(float64(y.Lo), int(y.Q)) {
				wrong++
			}
			return
		}
		for shift := range places + 1 {
			for m := int64(8); m < 16; m++ {
				kept, full := m<<extra>>shift, m<<(places-shift)
				if kept<<shift != m<<extra {
					kept |= 1
				}
				add(left-1, exact+full, cut+kept)
				add(left-1, exact-full, cut-kept)
			}
		}
	}
	for m := int64(8); m < 16; m++ {
		add(others, m<<places, m<<extra)
	}
	return wrong, of
}

// fttnExtraBits makes entries of the extra bits that section II of FTTN asks of correct rounding.
func fttnExtraBits(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, extra := range []int{3, 2} {
		wrong, of := misrounded(1, extra, fp.RNE)
		theirs, holds := "three extra bits: none", wrong == 0
		if extra < 3 {
			theirs, holds = "three extra bits are required", wrong > 0
		}
		all = append(all, entry{"sums of two numbers of four digits", fmt.Sprintf("%d extra bits: not correctly rounded", extra), fmt.Sprintf("%d of %d", wrong, of), theirs, holds, "", statement})
	}
	return all, nil
}

// smtSticky makes entries of what section 4.2 of Valpey et al. says of a sticky bit.
func smtSticky(context.Context, *Request) ([]entry, error) {
	two, ofTwo := misrounded(1, 3, fp.RZ)
	three, ofThree := misrounded(2, 3, fp.RZ)
	return []entry{
		{"sums of two numbers of four digits", "with guard, round and sticky bit, not rounded towards zero", fmt.Sprintf("%d of %d", two, ofTwo), "none", two == 0, "", statement},
		{"sums of three", "the same", fmt.Sprintf("%d of %d", three, ofThree), "some: a sticky bit does not work with more than two terms", three > 0, "", statement},
	}, nil
}

// fttn3 makes Table III of FTTN: 1 + 2^-2 less a number of exponent -3 that is cut to so many extra
// bits of FP32 before it is subtracted. Results are printed as distances from 1 + 2^-3 in ulp.
func fttn3(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, p := range []struct {
		name   string
		mode   fp.Mode
		low    uint64 // of the subtrahend, in ulp of its own
		theirs [3]int
		why    string
	}{
		{"truncate", fp.RZ, 2, [3]int{0, -1, -1}, ""},
		{"RTN", fp.RNE, 5, [3]int{-1, -1, 0}, "one or two extra bits are a tie, which goes to the even 1 + 2^-3; three show that the sum is nearer to the number below"},
	} {
		for n, theirs := range p.theirs {
			bits := n + 1
			cut := (1<<23 + p.low) >> (3 - bits)
			r := fp.Dyadic{Lo: 5<<(21+bits) - cut}.Round(int32(bits), p.mode)
			e := same("test "+p.name, fmt.Sprintf("extra bits: %d", bits), fmt.Sprintf("%+d ulp", int64(r.Lo<<r.Q>>bits)-9<<20), fmt.Sprintf("%+d ulp", theirs), p.why)
			all = append(all, e)
		}
	}
	return all, nil
}

// fttnMethods makes entries of what section III of FTTN says that its other tests show.
func fttnMethods(context.Context, *Request) ([]entry, error) {
	const half = 0x1p-24
	one := []float64{1, 1, 1}
	var all []entry
	for _, p := range []struct {
		experiment
		why string
	}{
		{experiment{"T_pres_extra_acc: 1 and three halves of an ulp", [2]string{"ampere", "mma.m16n8k16.f32.f16.f16.f32"}, one, []float64{half, half, half}, 1, 1 + 0x1p-23}, ""},
		{experiment{"T_pres_extra_acc: 1 and three halves of an ulp", [2]string{"hopper", "mma.m16n8k16.f32.f16.f16.f32"}, one, []float64{half, half, half}, 1, 1 + 0x1p-23}, ""},
		{experiment{"T_pres_extra_acc: 1 and three halves of an ulp", [2]string{"cdna1", "v_mfma_f32_16x16x16f16"}, one, []float64{half, half, half}, 1, 1 + 0x1p-23},
			"1 + 3/2 ulp is a tie, which goes to the even 1 + 2 ulp"},
	} {
		e, err := p.entry()
		if err != nil {
			return nil, err
		}
		e.Why = p.why
		all = append(all, e)
	}
	x := experiment{"T_prod: no loss in FP32: 2^-126 * 2^-126", [2]string{"ampere", "mma.m16n8k16.f32.bf16.bf16.f32"}, []float64{0x1p-126}, []float64{0x1p-126}, 0, 0x1p-252}
	e, err := x.entry()
	if err != nil {
		return nil, err
	}
	e.Why = "the significand of a product fits, but not the exponents of BF16 and TF32"
	product := Number((1 + 3*0x1p-23) * 1.25)
	all = append(all, e, same("(1 + 3 ulp) * (1 + 2^-2)", "T_prod: exact product", product.exactly(), Number(1.25+3.75*0x1p-23).exactly(), ""))
	for _, p := range []struct {
		unit   [2]string
		theirs string
	}{
		{[2]string{"ampere", "mma.m16n8k16.f32.f16.f16.f32"}, "8"},
		{[2]string{"hopper", "mma.m16n8k16.f32.f16.f16.f32"}, ">= 16"},
		{[2]string{"cdna1", "v_mfma_f32_16x16x16f16"}, "4"},
	} {
		x := experiment{unit: p.unit, a: one[:1], b: []float64{half}, c: 1, theirs: 1}
		e, err := x.entry()
		if err != nil {
			return nil, err
		}
		ours := "more"
		if e.Equal {
			ours = "1"
		}
		all = append(all, same(e.Row, "Algorithm 1 as printed: width", ours, p.theirs, "from i = 1 on only one half of an ulp is left beside c = 1, which is lost or goes to the even 1; mmafuzz probe adds another at product 0"))
	}
	first, last := float32(1), float32(0)
	for range 16 {
		first, last = first+0x1p-27, last+0x1p-27
	}
	last++
	return append(all, same("FP32, each addition with guard, round and sticky bit", "T_acc_ord: 1 and 16 times ulp/16, 1 first and 1 last", fmt.Sprintf("%v and %v", first, last), "the same in every order",
		"beside 1 each small term is rounded off; only together they make an ulp")), nil
}

// printedModel is a line of Table 3 or 6 of Xie et al.: the model of the instructions of
// some architectures with some inputs.
type printedModel struct {
	archs  []string
	inputs []fp.ID
	scaled bool
	suffix string // of CDNA2's BF16 instructions: with _1k or without
	model  string // the elementary operation as mma.Params.String writes it
}

var (
	withTensorCores = []string{"ampere", "ada", "hopper", "blackwell", "rtx-blackwell"}
	fp8             = []fp.ID{fp.E4M3, fp.E5M2}
	fp64            = []fp.ID{fp.FP64}
	mixed           = []fp.ID{fp.TF32, fp.BF16, fp.FP16}
)

var printed3 = []printedModel{
	{withTensorCores, fp64, false, "", "fma"},
	{append([]string{"volta", "turing"}, withTensorCores...), mixed, false, "", "t-fdpa"},
	{[]string{"ada", "hopper", "blackwell", "rtx-blackwell"}, fp8, false, "", "t-fdpa"},
	{[]string{"blackwell", "rtx-blackwell"}, []fp.ID{fp.E3M2, fp.E2M3, fp.E2M1}, false, "", "t-fdpa"},
	{[]string{"blackwell", "rtx-blackwell"}, []fp.ID{fp.E4M3, fp.E5M2, fp.E3M2, fp.E2M3}, true, "", "st-fdpa"},
	{[]string{"blackwell", "rtx-blackwell"}, []fp.ID{fp.E2M1}, true, "", "gst-fdpa"},
}

var printed6 = []printedModel{
	{[]string{"cdna1"}, []fp.ID{fp.FP32}, false, "", "fma"},
	{[]string{"cdna1"}, []fp.ID{fp.BF16}, false, "", "e-fdpa(L=2"},
	{[]string{"cdna1"}, []fp.ID{fp.FP16}, false, "", "e-fdpa(L=4"},
	{[]string{"cdna2"}, []fp.ID{fp.FP64, fp.FP32}, false, "", "fma"},
	{[]string{"cdna2"}, []fp.ID{fp.BF16}, false, "bf16", "ftz-addmul(P=2"},
	{[]string{"cdna2"}, []fp.ID{fp.BF16}, false, "_1k", "ftz-addmul(P=4"},
	{[]string{"cdna2"}, []fp.ID{fp.FP16}, false, "", "ftz-addmul(P=4"},
	{[]string{"cdna3"}, []fp.ID{fp.FP64, fp.FP32}, false, "", "fma"},
	{[]string{"cdna3"}, []fp.ID{fp.XF32, fp.BF16, fp.FP16}, false, "", "tr-fdpa"},
	{[]string{"cdna3"}, []fp.ID{fp.E4M3FNUZ, fp.E5M2FNUZ}, false, "", "gtr-fdpa"},
}

// models makes Table 3 or 6 of Xie et al.: the operations of all instructions of the
// catalogue that a line speaks of.
func models(printed []printedModel) func(context.Context, *Request) ([]entry, error) {
	return func(context.Context, *Request) ([]entry, error) {
		var all []entry
		for _, p := range printed {
			for _, arch := range p.archs {
				for _, id := range p.inputs {
					if e, ok := p.entry(arch, id); ok {
						all = append(all, e)
					}
				}
			}
		}
		return all, nil
	}
}

// entry is the entry of an architecture and a format; ok is false if it has no
// instructions of it.
func (p *printedModel) entry(arch string, id fp.ID) (e entry, ok bool) {
	var ours []string
	_, param, _ := strings.Cut(p.model, "(")
	for _, i := range mma.Of(arch) {
		if i.Refuse != "" || i.A != id || i.B != id || (i.Scale != fp.None) != p.scaled || i.Params.In.Widen != fp.None || arch != "volta" && strings.Contains(i.Name, "m8n8k4") && id == fp.FP16 || p.suffix != "" && !strings.HasSuffix(i.Name, p.suffix) {
			continue // among them what the compiler makes of instructions that the unit does not have: see kindOf
		}
		op := i.Params.String()
		if p.scaled && i.Params.Scale == mma.ScaleProduct && strings.HasPrefix(op, "t-fdpa") {
			op = "s" + op // T-FDPA whose products have scales
		}
		op, params, _ := strings.Cut(op, "(")
		if param != "" {
			first, _, _ := strings.Cut(strings.TrimSuffix(params, ")"), ",")
			op += "(" + strings.TrimSuffix(first, ")")
		}
		if i.Params.Join.Post.Frac != 0 {
			op += secondCut
		}
		if p.scaled && id == fp.E2M1 && i.K < 64 {
			continue // of kind mxf8f6f4, which Table 3 counts as MXFP8/6/4
		}
		if !slices.Contains(ours, op) {
			ours = append(ours, op)
		}
	}
	if len(ours) == 0 {
		return e, false
	}
	what := id.String()
	if p.scaled {
		what += " with scales"
	}
	if p.suffix != "" {
		what += " *" + p.suffix
	}
	why := ""
	if len(ours) == 1 && ours[0] == p.model+secondCut {
		why = laterRule
	}
	return same(arch, what, strings.Join(ours, " or "), p.model, why), true
}

// secondCut is what CDNA3's models have besides those of Xie et al., and laterRule why.
const secondCut = ", total cut at F2"

const laterRule = "ours follows a later rule of MMA-Sim: the sum of the products is cut at F2+1, the normalized total at F2; Algorithms 10 and 11 cut only the former, at F2"

// table9 makes Table 9 of Xie et al.: their bounds with the parameters of their Tables 4,
// 5 and 7 put in, and ours from the program of a unit.
func table9(context.Context, *Request) ([]entry, error) {
	var all []entry
	twice := laterRule + ". Of these two algorithms the printed bound holds: see Algorithms 10 and 11"
	factor := "2^-14 and 2^-126 bound what is lost of an operand; the other operand multiplies it"
	for _, p := range []struct{ arch, inst, theirs, why string }{
		{"cdna2", "v_mfma_f32_32x32x4f16", "2^-14 + 4·0.5 ulp(23 bits) + 4·2^-126 (flush) + 3·0.5 ulp(23 bits) + 3·2^-126 (flush) + 0.5 ulp(23 bits) + 2^-126 (flush)", factor},
		{"cdna2", "v_mfma_f32_32x32x4bf16_1k", "2^-126 + 4·0.5 ulp(23 bits) + 4·2^-126 (flush) + 3·0.5 ulp(23 bits) + 3·2^-126 (flush) + 0.5 ulp(23 bits) + 2^-126 (flush)", factor},
		{"cdna1", "v_mfma_f32_32x32x4f16", "0.5 ulp(23 bits)", ""},
		{"ampere", "mma.m8n8k4.f64.f64.f64.f64", "4 steps of (0.5 ulp(52 bits))", ""},
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", "5·2^(E-23) + 1 ulp(23 bits)", ""},
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", "17·2^(E-25) + 1 ulp(23 bits)", ""},
		{"hopper", "mma.m16n8k16.f16.f16.f16.f16", "17·2^(E-25) + 0.5 ulp(10 bits)", ""},
		{"hopper", "wgmma.m64n8k32.f32.e4m3.e4m3", "33·2^(E-13) + 1 ulp(13 bits)", ""},
		{"blackwell", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0", "33·2^(E-25) + 1 ulp(23 bits)", ""},
		{"blackwell", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", "65·2^(E-35) + 1 ulp(23 bits)", "the products of a group are added exactly: only the 4 sums and c are cut"},
		{"cdna3", "v_mfma_f32_32x32x8_f16", "9·2^(E-24) + 0.5 ulp(23 bits)", twice},
		{"cdna3", "v_mfma_f32_16x16x32_fp8_fp8", "2 steps of (17·2^(E-24) + 0.5 ulp(23 bits))", twice},
	} {
		i, err := mma.Lookup(p.arch, p.inst)
		if err != nil {
			return nil, err
		}
		all = append(all, same(p.arch+"/"+p.inst, "bound", formula(i), p.theirs, p.why))
	}
	lost := experiment{"", [2]string{"cdna2", "v_mfma_f32_32x32x4f16"}, []float64{0x1p-14 - 0x1p-24}, []float64{65504}, 0, 0}
	_, v, err := lost.run(nil)
	if err != nil {
		return nil, err
	}
	return append(all, same("cdna2/v_mfma_f32_32x32x4f16", "(2^-14 - 2^-24) * 65504 as a sum: the error", Number(lost.a[0]*lost.b[0]-v).exactly(), "at most 2^-14", factor)), nil
}

// table10 makes Table 10 of Xie et al.: on which architectures and inputs a risky design
// is found among the instructions of GPUs that the paper has.
func table10(ctx context.Context, r *Request) ([]entry, error) {
	var gpus []mma.Instruction
	for _, p := range printed8 {
		for _, i := range mma.Of(p.arch) {
			if i.Refuse == "" && i.B != fp.One && i.Params.In.Widen == fp.None {
				gpus = append(gpus, i)
			}
		}
	}
	where := func(has func(i *mma.Instruction) (bool, error), label func(i *mma.Instruction) string) (string, error) {
		var found []string
		for n := range gpus {
			i := &gpus[n]
			l := label(i)
			if slices.Contains(found, l) {
				continue
			}
			yes, err := has(i)
			if err != nil {
				return "", err
			}
			if yes {
				found = append(found, l)
			}
		}
		return strings.Join(found, ", "), nil
	}
	byInput := func(i *mma.Instruction) string { return i.Arch + " " + kindOfInput(i.A) }
	designs := []struct {
		name, theirs, why string
		has               func(i *mma.Instruction) (bool, error)
		label             func(i *mma.Instruction) string
	}{
		{"input FTZ of FP16", "cdna2 fp16", "", func(i *mma.Instruction) (bool, error) {
			return i.A == fp.FP16 && i.Params.In.Sub != mma.KeepSub, nil
		}, byInput},
		{"small F", "ada fp8, hopper fp8", "", func(i *mma.Instruction) (bool, error) {
			f := i.Params.Join.Align.F
			return f != 0 && f < 23, nil
		}, byInput},
		{"rho = RZ-E8M13", "ada fp8, hopper fp8", "", func(i *mma.Instruction) (bool, error) {
			return i.Params.Acc.Frac == 13 && i.Params.Acc.Mode == fp.RZ, nil
		}, byInput},
		{"rho = RNE-FP16", "volta, turing, ampere, ada, hopper, blackwell, rtx-blackwell", "", func(i *mma.Instruction) (bool, error) {
			return i.D == fp.FP16 && i.Params.Acc == mma.To(fp.FP16, fp.RNE), nil
		}, func(i *mma.Instruction) string { return i.Arch }},
		{"asymmetry: some -a, b, -c do not give -d", "cdna3 bf16, cdna3 fp16, cdna3 fp8", "section 6.2.4 has TF32 among the inputs, and the modes RM and RP of FP64 are asymmetric by their definition",
			func(i *mma.Instruction) (bool, error) { return asymmetric(ctx, i, r.Seed, false) }, byInput},
	}
	var all []entry
	for _, d := range designs {
		ours, err := where(d.has, d.label)
		if err != nil {
			return nil, err
		}
		all = append(all, same(d.name, "where", ordered(ours), ordered(d.theirs), d.why))
	}
	return all, nil
}

// ordered sorts a list.
func ordered(list string) string {
	words := strings.Split(list, ", ")
	slices.Sort(words)
	return strings.Join(words, ", ")
}

// kindOfInput names FP8 formats alike, as the paper does.
func kindOfInput(id fp.ID) string {
	switch id {
	case fp.E4M3, fp.E5M2, fp.E4M3FNUZ, fp.E5M2FNUZ:
		return "fp8"
	}
	return id.String()
}

// asymmetric reports whether an input is found on which the opposites of a and c do not
// give the opposite of d, which is neither a zero nor a NaN; with zero, c is 0.
// The table is about floating-point numbers: integers saturate and wrap as they do.
func asymmetric(ctx context.Context, i *mma.Instruction, seed uint64, zero bool) (bool, error) {
	if i.D.Get().Integer() {
		return false, nil
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		return false, err
	}
	f := i.D.Get()
	for _, d := range gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, seed, 0, &i.Params) {
		if zero {
			d.C = 0
		}
		o := d.Clone()
		for k := range o.A {
			if v := i.A.Get().Decode(o.A[k]); v.Class != fp.Zero || i.A.Get().HasNegZero() {
				o.A[k] ^= i.A.Get().SignBit()
			}
		}
		if i.C != fp.None && !zero {
			o.C ^= i.C.Get().SignBit()
		}
		x, y := f.Float64(m.Dot(d, nil)), f.Float64(m.Dot(o, nil))
		if x != -y && !math.IsNaN(x) && !math.IsNaN(y) {
			return true, nil
		}
	}
	return false, ctx.Err()
}

// fttnProduct makes the matrix product of FTTN, section V: D = C - A*B with 2^13 terms. The
// text gives the small elements without their sign; the formula above it subtracts them,
// A*B = 2^20 - 2^7 - 2^6 + 2^-6, and only so do the printed results come out.
func fttnProduct(context.Context, *Request) ([]entry, error) {
	from := func(c float32) float32 { // a CPU's loop, A*B from 0 or subtracted from c
		sum := c - 0x1p20
		for k := 1; k < 1<<13; k++ {
			sum += 0x1p-6 * float32(1+k%2)
		}
		return sum
	}
	exact, cpu := Number(0x1p7+0x1p6-0x1p-6), Number(0x1p20+float64(from(0)))
	all := []entry{
		same("the sum", "exact", exact.exactly(), "191.99218", "2^7 + 2^6 - 2^-6, as the text has it; the printed digits are those of 2^7 + 2^6 - 2^-7"),
		same("CPU, FP32 in order", "D, A*B from 0", cpu.exactly(), "0", ""),
		same("introduction", "log10 of 191.875 and 255.875 over the 3 digits of FP16", fmt.Sprintf("%.1f and %.1f", math.Log10(191.875e3), math.Log10(255.875e3)), "six orders of magnitude", "the text does not say what is expected of FP16; beside the three fractional digits that it speaks of, these are five orders"),
		same("CPU, FP32 in order", "D, from C on", Number(from(0x1p20)).exactly(), "0", "C is cancelled first, so that the small terms are added to 0"),
	}
	const c = 1 << 20
	for _, p := range []struct {
		arch, inst string
		theirs     float64
		why        string
	}{
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", 0, ""},
		{"ampere", "mma.m16n8k16.f32.f16.f16.f32", 0, ""},
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", 191.875, ""},
		{"cdna1", "v_mfma_f32_16x16x16f16", 255.875, ""},
		{"cdna2", "v_mfma_f32_16x16x16f16", 0, "CDNA2's FP16 unit adds pairs of small products before c, so that they survive; the paper does not say which unit it used, and that of FP32 is a chain like the CPU's"},
	} {
		i, err := mma.Lookup(p.arch, p.inst)
		if err != nil {
			return nil, err
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			return nil, err
		}
		d := mma.NewDot(i.Formats, 1<<13)
		a, b := i.A.Get().FromFloat64, i.B.Get().FromFloat64
		for k := range d.A {
			d.A[k], d.B[k] = a(-0x1p-3), b(0x1p-3)
			if k%2 == 1 {
				d.A[k] = a(-0x1p-2)
			}
		}
		d.A[0], d.B[0] = a(0x1p10), b(0x1p10)
		all = append(all, same(p.arch+"/"+p.inst, "D", Number(c-i.D.Get().Float64(m.Dot(d, nil))).exactly(), Number(p.theirs).exactly(), p.why))
	}
	return all, nil
}

// smtUnits are the units of Valpey et al.
//
// That of Turing is HMMA.884: the paper's sections 3.1 and 4.2.
var smtUnits = [][2]string{{"volta", "mma.m8n8k4.f32.f16.f16.f32"}, {"turing", "mma.m8n8k4.f32.f16.f16.f32"}, {"ampere", "mma.m16n8k16.f32.f16.f16.f32"}}

// simulatedUnit is an instruction of the catalogue as a unit of a study.
func simulatedUnit(arch, inst string) (unit, error) {
	u, err := devices.OpenUnit("sim:"+arch, inst, "")
	return unit{Unit: u, name: arch + "/" + inst}, err
}

// smtDot computes n times a*b, and c, on the units of Valpey et al.
func smtDot(what string, n int, a, b, c, theirs float64) ([]entry, error) {
	var all []entry
	for _, u := range smtUnits {
		e, err := (&experiment{what, u, slices.Repeat([]float64{a}, n), slices.Repeat([]float64{b}, n), c, theirs}).entry()
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// experiment is a dot product of few products, of which a paper prints the result.
type experiment struct {
	what   string
	unit   [2]string
	a, b   []float64
	c      float64
	theirs float64
}

func (x *experiment) entry() (entry, error) {
	i, v, err := x.run(nil)
	if err != nil {
		return entry{}, err
	}
	return same(i.FullName(), x.what, Number(v).exactly(), Number(x.theirs).exactly(), ""), nil
}

// run returns the result, and its trace in t unless that is nil.
func (x *experiment) run(t *sim.Trace) (*mma.Instruction, float64, error) {
	i, err := mma.Lookup(x.unit[0], x.unit[1])
	if err != nil {
		return nil, 0, err
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		return nil, 0, err
	}
	return i, i.D.Get().Float64(m.Dot(x.dot(i), t)), nil
}

// dot is the input.
func (x *experiment) dot(i *mma.Instruction) *mma.Dot {
	d := mma.NewDot(i.Formats, i.K)
	for k := range x.a {
		d.A[k], d.B[k] = i.A.Get().FromFloat64(x.a[k]), i.B.Get().FromFloat64(x.b[k])
	}
	d.C = i.C.Get().FromFloat64(x.c)
	return d
}

// fasiT4 and fasiA100 are instructions of section 3.2 and 3.3 of Fasi et al.
var fasiT4, fasiA100 = [2]string{"turing", "mma.m16n8k8.f32.f16.f16.f32"}, smtUnits[2]

// fasiExperiments makes the experiments in the text of section 3 of Fasi et al.
func fasiExperiments(context.Context, *Request) ([]entry, error) {
	volta, half, bf16 := smtUnits[0], [2]string{"volta", "mma.m8n8k4.f16.f16.f16.f16"}, [2]string{"ampere", "mma.m16n8k16.f32.bf16.bf16.f32"}
	const tiny, p = 0x1p-24, 1 - 0x1p-11
	ones := []float64{1, 1, 1, 1}
	at := func(all, x float64, place int) []float64 {
		v := []float64{all, all, all, all}
		v[place] = x
		return v
	}
	experiments := []experiment{
		{"3.1.1: 2^-24 * 2^2", volta, []float64{tiny}, []float64{4}, 0, 0x1p-22},
		{"3.1.1: 2^-24 * 2^2", half, []float64{tiny}, []float64{4}, 0, 0x1p-22},
		{"3.1.1: c = 2^-149", volta, nil, nil, 0x1p-149, 0x1p-149},
		{"3.1.1: 2^-14 * 2^-1", half, []float64{0x1p-14}, []float64{0.5}, 0, 0x1p-15},
		{"3.1.1: 2^-14 * 2^-1", volta, []float64{0x1p-14}, []float64{0.5}, 0, 0x1p-15},
		{"3.1.1: 2^-14 - 2^-15", half, []float64{0x1p-14}, []float64{1}, -0x1p-15, 0x1p-15},
		{"3.1.1: 2^-23 + 2^-24 + 2", volta, []float64{1, 1}, []float64{3 * tiny, 2}, 0, 2},
		{"3.1.2: 4 * (1 - 2^-11)^2", volta, []float64{p, p, p, p}, []float64{p, p, p, p}, 0, 4 * p * p},
		{"3.1.2: (1 - 2^-11)^2 + (1 - 2^-11) * 2^-11", half, []float64{p, p}, []float64{p, 0x1p-11}, 0, 1 - 0x1p-10 + 0x1p-11},
		{"3.1.2: 1 and four times 2^-24, 1 is c", volta, ones, []float64{tiny, tiny, tiny, tiny}, 1, 1},
		{"3.1.3: 2 + 2^-23 + 2^-24", volta, ones[:2], []float64{2, 3 * tiny}, 0, 2},
		{"3.1.3: -2 - 2^-23 - 2^-24", volta, ones[:2], []float64{-2, -3 * tiny}, 0, -2},
		{"3.1.3: 2^-25 + 2^-26", half, []float64{tiny, tiny}, []float64{0.5, 0.25}, 0, tiny},
		{"3.1.4: 1 + (-1 + 2^-24)", volta, ones[:1], ones[:1], tiny - 1, 0x1p-23},
		{"3.1.4: 1 - 2^-24 + (-1 + 2^-24)", volta, ones[:2], []float64{1, -tiny}, tiny - 1, 0x1p-23},
		{"3.1.4: 15/8 + 1 + 3/2 + 7/4 + 15/8", volta, ones, []float64{1, 1.5, 1.75, 1.875}, 1.875, 8},
		{"3.1.4: c = 1 - 2^-24 and four times 2^-24", volta, ones, []float64{tiny, tiny, tiny, tiny}, 1 - tiny, 1 + 0x1p-23},
		{"3.1.4: c = 1 and four times 2^-24", volta, ones, []float64{tiny, tiny, tiny, tiny}, 1, 1},
		{"3.1.4: c = -1 + 2^-24 and four times -2^-24", volta, ones, []float64{-tiny, -tiny, -tiny, -tiny}, tiny - 1, -1 - 0x1p-23},
		{"3.1.4: c = -1 and four times -2^-24", volta, ones, []float64{-tiny, -tiny, -tiny, -tiny}, -1, -1},
		{"3.1.4: c = 1 + 2^-22 + 2^-23 and four times 1", volta, ones, ones, 1 + 0x1p-22 + 0x1p-23, 5},
		{"3.2: 1 + 2^-24 + 2^-24", fasiT4, ones[:2], []float64{tiny, tiny}, 1, 1 + 0x1p-23},
		{"3.2: 1 and four times 2^-25, 1 is c", fasiT4, at(0.5, 0.5, 0), at(tiny, tiny, 0), 1, 1},
		{"3.3: 1 and four times 2^-25, 1 is c", fasiA100, at(0.5, 0.5, 0), at(tiny, tiny, 0), 1, 1},
		{"3.3: 2^-126 * 2^-1", bf16, []float64{0x1p-126}, []float64{0.5}, 0, 0x1p-127},
	}
	for place := range ones {
		where := fmt.Sprintf(" in place %d", place+1)
		experiments = append(experiments,
			experiment{"3.1.2: 1 and four times 2^-24, 1" + where, volta, ones, at(tiny, 1, place), tiny, 1},
			experiment{"3.1.4: 1 + 2^-22 + 2^-23, three times 1, and 2^-23" + where, volta, ones, at(1, 2*tiny, place), 1 + 0x1p-22 + 0x1p-23, 4 + 0x1p-21},
			experiment{"3.2: 1 and four times 2^-25, 1" + where, fasiT4, at(0.5, 1, place), at(tiny, 1, place), tiny / 2, 1},
			experiment{"3.3: 1 and four times 2^-25, 1" + where, fasiA100, at(0.5, 1, place), at(tiny, 1, place), tiny / 2, 1})
	}
	var all []entry
	for _, x := range experiments {
		e, err := x.entry()
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	more, err := fasiTF32()
	return append(all, more...), err
}

// fasiTF32 makes entries of section 3.3 of Fasi et al., whose TF32 has the features of V100. Those
// of section 3.1.4 that need more small terms than a step has products are shown by others here:
// a 1 in any place is added to c = 1 + 2^-23 before or after three terms of 2^-24, of which a
// normalized sum would lose the last ones; and a term of 9/4 loses them if its operands are 2
// and 9/8 instead of 3/2 and 3/2.
func fasiTF32() ([]entry, error) {
	unit := [2]string{"ampere", "mma.m16n8k8.f32.tf32.tf32.f32"}
	const tiny = 0x1p-12 // its square counts beside 1, and not beside 2
	sum := func(place int, a, b, c float64) (float64, error) {
		x := experiment{unit: unit, a: []float64{tiny, tiny, tiny, tiny}, b: []float64{tiny, tiny, tiny, tiny}, c: c}
		x.a[place], x.b[place] = a, b
		_, v, err := x.run(nil)
		return v, err
	}
	normalized := false
	for place := range 4 {
		v, err := sum(place, 1, 1, 1+0x1p-23)
		if err != nil {
			return nil, err
		}
		normalized = normalized || v != 2+0x1p-22
	}
	less, err := sum(0, 1.5, 1.5, 0x1p-24)
	if err != nil {
		return nil, err
	}
	more, err := sum(0, 2, 1.125, 0x1p-24)
	if err != nil {
		return nil, err
	}
	return []entry{
		same(strings.Join(unit[:], "/"), "3.1.4: partial sums are normalized, with 1 + 2^-23, 1 and three times 2^-24", agrees(normalized).String(), agrees(false).String(), ""),
		same(strings.Join(unit[:], "/"), "3.1.4: monotone, with 9/4 as 3/2 * 3/2 or 2 * 9/8 and four times 2^-24", agrees(less <= more).String(), agrees(false).String(), ""),
	}, nil
}

// fasiFacts makes entries of what section 3 of Fasi et al. says of formats and of arithmetic without
// a tensor core, and of two experiments that are only described.
func fasiFacts(context.Context, *Request) ([]entry, error) {
	half := fp.FP16.Get()
	small := 0 // binary16 numbers that are subnormal in binary32
	for code := range uint64(1) << 16 {
		if v := math.Abs(half.Float64(code)); v != 0 && v < 0x1p-126 {
			small++
		}
	}
	least := half.Float64(1) * half.Float64(1)
	above := func(x, y float64) bool { return float32(x)+float32(y) > float32(x) }
	next := func(x float64) float64 { return float64(math.Nextafter32(float32(x), 1)) }
	carries, sum := 0, 1.875
	for _, x := range []float64{1, 1.5, 1.75, 1.875} {
		_, before := math.Frexp(sum)
		sum += x
		if _, after := math.Frexp(sum); after > before {
			carries++
		}
	}
	const tiny = 0x1p-25
	eight := func(c float64, n int) (float64, error) {
		x := experiment{"", fasiT4, slices.Repeat([]float64{0.5}, n), slices.Repeat([]float64{2 * tiny}, n), c, 0}
		_, v, err := x.run(nil)
		return v, err
	}
	four, err := eight(1-0x1p-24, 4)
	if err != nil {
		return nil, err
	}
	lower, err := eight(1-0x1p-24, 8)
	if err != nil {
		return nil, err
	}
	upper, err := eight(1, 8)
	if err != nil {
		return nil, err
	}
	fused := experiment{"", [2]string{"ampere", "mma.m8n8k4.f64.f64.f64.f64"}, []float64{1 + 0x1p-52}, []float64{1 + 0x1p-52}, -1 - 0x1p-51, 0}
	i, v, err := fused.run(nil)
	if err != nil {
		return nil, err
	}
	t4 := strings.Join(fasiT4[:], "/")
	return []entry{
		same("binary16", "3.1.1: bits of a product's significand", fmt.Sprint(bits.Len(2047*2047)), "22", ""),
		same("binary16", "3.1.1: numbers that are subnormal in binary32", fmt.Sprint(small), "0", ""),
		same("binary16", "3.1.1: the smallest nonzero product", Number(least).exactly(), Number(0x1p-48).exactly(), ""),
		same("binary32", "3.1.1: 2^-48 + x > 2^-48 for x = 2^-72, and for the next number", fmt.Sprint(above(0x1p-48, 0x1p-72), above(0x1p-48, next(0x1p-72))), "false true", ""),
		same("binary32", "3.1.3: 2 + x > 2 for x = 2^-23, and for the next number", fmt.Sprint(above(2, 0x1p-23), above(2, next(0x1p-23))), "false true", ""),
		same("15/8 + 1 + 3/2 + 7/4 + 15/8", "3.1.4: additions that carry", fmt.Sprintf("%d of 4", carries), "4 of 4", "35/8 + 7/4 stays below 8"),
		same(t4, "3.2: not monotone with 2^-25 instead of 2^-24, with four products", agrees(four > 1).String(), "yes", "1 - 2^-25 is no binary32 number, and four products of 2^-25 beside 1 - 2^-24 end at 1 + 2^-24, which is cut to 1"),
		same(t4, "3.2: the same with eight products", agrees(lower > upper).String(), "yes", ""),
		{i.FullName(), "3.3: (1 + 2^-52)^2 - (1 + 2^-51)", Number(v).exactly(), "as IEEE 754 operations: 2^-104 if fused, else 0", v == 0x1p-104 || v == 0, "", statement},
	}, nil
}

// fasiRoundings makes entries of section 3.1.2 of Fasi et al., and of an experiment of section
// 3.1.3: how many roundings a sum has, and which modes of binary16 give what its experiments give.
func fasiRoundings(context.Context, *Request) ([]entry, error) {
	const p = 1 - 0x1p-11
	five := experiment{"", smtUnits[0], []float64{p, p, p, p}, []float64{p / 4, p / 4, p / 4, p / 4}, 1.5 + 0x1p-23, 0}
	var t sim.Trace
	i, _, err := five.run(&t)
	if err != nil {
		return nil, err
	}
	value := func(d fp.Dyadic) float64 { return fp.FP64.Get().Float64(fp.FP64.Get().Encode(d, fp.RNE, fp.OverInf)) }
	last, rounded := t.Last(), 0
	for _, x := range last.Terms {
		if x.IsCut && value(x.Cut) != value(x.Value) {
			rounded++
		}
	}
	if value(last.Sum.Value) != i.D.Get().Float64(t.Result) {
		rounded++
	}
	var exact, nearest []string
	for _, mode := range []fp.Mode{fp.RNE, fp.RZ, fp.RD, fp.RU} {
		half := func(v float64) float64 {
			return fp.FP16.Get().Float64(fp.FP16.Get().Encode(fp.FP64.Get().Dyadic(fp.FP64.Get().Decode(math.Float64bits(v))), mode, fp.OverInf))
		}
		if half(half(p*p)+half(p*0x1p-11)) == 1-0x1p-10+0x1p-11 {
			exact = append(exact, mode.String())
		}
		if half(0x1p-25+0x1p-26) == 0x1p-24 {
			nearest = append(nearest, mode.String())
		}
	}
	return []entry{
		same(i.FullName(), "inexact roundings of 3/2 + 2^-23 and four times (1 - 2^-11)^2 / 4", fmt.Sprint(rounded), "up to 4", "four terms are cut, and the sum is rounded, too, which section 3.1.4 finds"),
		same("binary16 accumulator", "(1 - 2^-11)^2 + (1 - 2^-11) * 2^-11: modes that give the exact sum", strings.Join(exact, ", "), "none", "the first product rounds to 1 - 2^-10, and 1 - 2^-11 - 2^-22 to the exact sum: the experiment does not exclude this mode"),
		same("binary16 result", "2^-25 + 2^-26 = 2^-24: modes that give it", strings.Join(nearest, ", "), "rne", "the sum is positive and between 0 and 2^-24: the experiment excludes RZ and RD only"),
	}, nil
}

// smt1 makes Table 1 of Valpey et al. Its a is printed as 1.2587890625 * 2^-15; it is the
// subnormal number 0.2587890625 * 2^-14, and the product in FP16 is another.
func smt1(context.Context, *Request) ([]entry, error) {
	const a, b = 0.2587890625 * 0x1p-14, 1.3681640625 * 0x1p-1
	all, err := smtDot("result", 1, a, b, 0, 1.4162635803222656*0x1p-17)
	half := fp.FP16.Get()
	var other []string
	for _, mode := range []fp.Mode{fp.RNE, fp.RZ, fp.RD, fp.RU} {
		if half.Float64(half.Encode(fp.FP64.Get().Dyadic(fp.FP64.Get().Decode(math.Float64bits(a*b))), mode, fp.OverInf)) != a*b {
			other = append(other, mode.String())
		}
	}
	all = append(all, same("Listing 1.1", "modes in which the FP16 product is another", strings.Join(other, ", "), "rne, rz, rd, ru", ""))
	return append(all, same("a multiplication in FP16", "result (half)", Number(half.Float64(half.FromFloat64(a*b))).exactly(), Number(0.1767578125*0x1p-14).exactly(), "")), err
}

// smtFFT makes the saving that section 1 of Valpey et al. computes from two errors of its footnote.
func smtFFT(context.Context, *Request) ([]entry, error) {
	const volta, ampere = 1.5e-2, 9.92e-3
	return []entry{same("1.5e-2 and 9.92e-3", "decrease", fmt.Sprintf("%.0f %%", 100*(1-ampere/volta)), "34 %", "")}, nil
}

// smt3 makes Table 3 of Valpey et al.
func smt3(context.Context, *Request) ([]entry, error) {
	return smtDot("result", 1, 2, 1, -0x1p-40, 2)
}

// smt5 makes Table 5 of Valpey et al.
func smt5(ctx context.Context, _ *Request) ([]entry, error) {
	exact := smtCounterexample.c
	for n, a := range smtCounterexample.a {
		exact += a * smtCounterexample.b[n]
	}
	all := []entry{same("the sum", "True", Number(exact).exactly(), "1 + 2^-23", "printed is the sum in FP32; the paper says that it is in double precision")}
	for _, name := range smtUnits {
		u, err := simulatedUnit(name[0], name[1])
		if err != nil {
			return nil, err
		}
		var res Result
		if err := table5(ctx, []unit{u}, false, &res); err != nil {
			return nil, err
		}
		row := res.Tables[0].Rows[0]
		for _, x := range []experiment{
			{"step 3: two products", name, smtCounterexample.a[:2], smtCounterexample.b[:2], 0, 1 - 0x1p-24},
			{"step 4: three", name, smtCounterexample.a[:3], smtCounterexample.b[:3], 0, 1},
			{"step 6: four, normalized", name, smtCounterexample.a, smtCounterexample.b, 0, 1},
			{"step 7: four and c", name, smtCounterexample.a, smtCounterexample.b, smtCounterexample.c, 1 + 0x1p-23},
		} {
			e, err := x.entry()
			if err != nil {
				return nil, err
			}
			all = append(all, e)
		}
		all = append(all, same(u.name, "Markidis et al.", fmt.Sprint(row[1]), fmt.Sprint(row[2]), ""), same(u.name, "Ootomo and Yokota", fmt.Sprint(row[3]), fmt.Sprint(row[4]), ""))
	}
	return all, nil
}

// smtQuery is a query of Valpey et al. about the function of one program, and the answer of the
// text.
type smtQuery struct {
	name, property string
	half           bool // of the units with FP16 results
	holds          string
}

var smtQueries = []smtQuery{
	{"Exact Multiplication", "exact-products", false, "products are exact"},
	{"Exact Addition in FP16", "exact-products", true, "products are not rounded to FP16 before they are added"},
	{"Rounding of Final Result", "rounding", true, "the last rounding is rne"},
	{"Accumulation Order", "order", false, "it does not matter"},
	{"Normalization", "no-normalization", false, "partial sums are not normalized"},
	{"Subnormal FP16 Inputs", "subnormal-operands", false, "supported"},
	{"Subnormal FP16 Outputs", "subnormal-results", true, "supported"},
}

// smtSection44 are what section 4.4 says of subnormals and special values.
var smtSection44 = []smtQuery{
	{"subnormal C", "subnormal-c", false, "supported"},
	{"subnormal FP16 C", "subnormal-c", true, "supported"},
	{"subnormal FP32 results", "subnormal-results", false, "supported"},
}

// smtAsked asks queries of the units of Valpey et al.; more is asked of each.
func smtAsked(queries []smtQuery, more func(ctx context.Context, u *unit, ask func(property string) (*prove.Answer, error)) ([]entry, error)) func(context.Context, *Request) ([]entry, error) {
	return func(ctx context.Context, _ *Request) ([]entry, error) {
		var all []entry
		for _, name := range smtUnits {
			u, err := simulatedUnit(name[0], name[1])
			if err != nil {
				return nil, err
			}
			half, err := simulatedUnit(name[0], strings.ReplaceAll(name[1], "f32", "f16"))
			if err != nil {
				return nil, err
			}
			of := func(u *unit) func(property string) (*prove.Answer, error) {
				return func(property string) (*prove.Answer, error) {
					some, err := prove.PropertiesNamed(property)
					if err != nil {
						return nil, err
					}
					return prove.Ask(ctx, "sim:"+name[0], u.Unit, some[0], prove.Options{})
				}
			}
			for _, q := range queries {
				asked := &u
				if q.half {
					asked = &half
				}
				a, err := of(asked)(q.property)
				if err != nil {
					return nil, err
				}
				all = append(all, q.entry(asked.inst(), a))
			}
			entries, err := more(ctx, &u, of(&u))
			if err != nil {
				return nil, err
			}
			all = append(all, entries...)
		}
		return all, nil
	}
}

func (q *smtQuery) entry(i *mma.Instruction, a *prove.Answer) entry {
	ours, why := string(a.Verdict), ""
	switch {
	case q.property == "rounding":
		ours, _, _ = strings.Cut(a.Statement, ",")
	case a.Verdict == prove.Holds:
		ours = q.holds
	case q.property == "order":
		why = fmt.Sprintf("within a step of %d it does not; the instruction makes %d steps", i.Params.L, i.K/int(i.Params.L))
	}
	return same(i.FullName(), q.name, ours, q.holds, why)
}

// smt4 makes Table 4 of Valpey et al.: the answers, since its times are those of solvers.
var smt4 = smtAsked(smtQueries, func(ctx context.Context, u *unit, ask func(string) (*prove.Answer, error)) ([]entry, error) {
	a, err := ask("adder")
	if err != nil {
		return nil, err
	}
	truncates, err := smtTruncates(ctx, u.inst())
	return append(truncates, carries(u.inst(), a)...), err
})

// smtTruncates makes the entry of the accumulator's rounding: no rounding of the exact sum gives
// the results.
func smtTruncates(ctx context.Context, i *mma.Instruction) ([]entry, error) {
	var none []string
	for _, mode := range []fp.Mode{fp.RNE, fp.RZ, fp.RD, fp.RU} {
		exact := i.Params
		exact.Join.Align, exact.Acc.Mode = mma.Align{}, mode
		res, err := prove.Programs(ctx, i.Formats, i.K, i.Params, exact, prove.Options{})
		if err != nil {
			return nil, err
		}
		if res.Verdict == prove.Refuted {
			none = append(none, mode.String())
		}
	}
	return []entry{same(i.FullName(), "Rounding of Accumulator: modes of IEEE 754 that it is none of", strings.Join(none, ", "), "rne, rz, rd, ru", "")}, nil
}

// smtKept are the bits that an addition keeps of those that its alignment shifts out: of section 4.3 and
// Algorithm 1, and of section 5.
var smtKept = map[string][2]int{"volta": {0, 0}, "turing": {1, 0}, "ampere": {1, 1}}

// smtAlgorithm makes entries of Algorithm 1 of Valpey et al. and of the bits that are kept.
func smtAlgorithm(ctx context.Context, _ *Request) ([]entry, error) {
	const disputed = "disputed, and no results of a Turing GPU are at hand: section 5 contradicts section 4.3 and Algorithm 1; MMA-Sim 2.1.1 has no extra bit for this instruction, and one for mma.m16n8k8"
	var all []entry
	for _, name := range append(smtUnits, [2]string{"turing", "mma.m16n8k8.f32.f16.f16.f32"}) {
		i, err := mma.Lookup(name[0], name[1])
		if err != nil {
			return nil, err
		}
		kept := fmt.Sprint(int(i.Params.Join.Align.F) - int(i.Params.Acc.Frac))
		for n, section := range []string{"section 4.3, Algorithm 1", "section 5"} {
			all = append(all, same(i.FullName(), section+": bits kept of those that are shifted out", kept, fmt.Sprint(smtKept[i.Arch][n]), ""))
			if e := &all[len(all)-1]; !e.Equal {
				e.Why = disputed
			}
		}
		// One step, whose products are FP32 numbers, which are normalized.
		printed := i.Params
		printed.Prod.Exp = mma.Normalised
		w, err := triage.FindWitness(ctx, i.Formats, int(i.Params.L), i.Params, printed, 1)
		if err != nil {
			return nil, err
		}
		ours, theirs := "the same on all inputs that were tried", "Algorithm 1"
		if w != nil {
			ours = mma.FormatDot(i.Formats, w.Dot) + ": " + mma.FormatCode(i.D, w.Before)
			theirs = mma.FormatCode(i.D, w.After)
		}
		all = append(all, same(i.FullName(), "the step of Algorithm 1 with as many bits kept, on the smallest input where it is another", ours, theirs,
			"its products are FP32 numbers, thus in [1, 2), before the largest exponent is found; Xie et al., section 4.1.3, align them as they are, in [1, 4)"))
	}
	return all, nil
}

// errorsOf makes entries of bounds of the error, in units of 2^-23 of the sum of all magnitudes: of
// units, and how large the paper says that it is at most.
func errorsOf(theirs string, most float64, why string, units ...[2]string) func(context.Context, *Request) ([]entry, error) {
	return func(ctx context.Context, _ *Request) ([]entry, error) {
		some, err := prove.PropertiesNamed("error")
		if err != nil {
			return nil, err
		}
		var all []entry
		for _, name := range units {
			u, err := simulatedUnit(name[0], name[1])
			if err != nil {
				return nil, err
			}
			a, err := prove.Ask(ctx, "sim:"+name[0], u.Unit, some[0], prove.Options{})
			if err != nil {
				return nil, err
			}
			e := entry{u.name, "error in 2^-23 of the sum of all magnitudes", fmt.Sprintf("at most %v for all inputs, %v on one", a.Proved, a.Refuted), theirs, a.Proved != 0 && a.Proved <= most, "", statement}
			if !e.Equal {
				e.Why = why
			}
			all = append(all, e)
		}
		return all, nil
	}
}

// section5 makes entries of section 5 of Xie et al.: how many results of the FP64 and FP32
// instructions of an architecture differ from those of the first one, on inputs of all generators
// with four products, whatever k the instruction has.
func section5(context.Context, *Request) ([]entry, error) {
	const k = 4
	var all []entry
	for _, id := range []fp.ID{fp.FP64, fp.FP32} {
		formats := mma.Formats{A: id, B: id, C: id, D: id}
		dots := gen.Probe(gen.Spec{Formats: formats, K: k}, 1, 0)
		var first []uint64
		for _, p := range printed8 {
			count, differ := 0, 0
			for _, i := range mma.Of(p.arch) {
				if i.Refuse != "" || i.Formats != formats || i.Params.Acc.Mode != fp.RNE {
					continue // the modes of FP64 other than RNE are asked for by name
				}
				m, err := sim.New(formats, k, i.Params)
				if err != nil {
					return nil, err
				}
				count++
				for at, d := range dots {
					code := m.Dot(d, nil)
					if len(first) < len(dots) {
						first = append(first, code)
					} else if oracle.Compare(id, oracle.Policy{NaN: oracle.ByClass}, first[at], code) != oracle.Same {
						differ++
					}
				}
			}
			if count > 0 {
				all = append(all, same(p.arch, fmt.Sprintf("%s: results of %d instructions that differ, %d of each; all NaNs are alike", id, count, len(dots)), fmt.Sprint(differ), "0", ""))
			}
		}
	}
	return all, nil
}

// smtSpecial makes entries of section 4.4 of Valpey et al. about NaNs and zeros, on inputs of all
// generators, every NaN times 1, and infinities of different signs.
func smtSpecial(_ context.Context, u *unit, _ func(string) (*prove.Answer, error)) ([]entry, error) {
	var all []entry
	for _, p := range []struct{ d, quiet string }{{"f32", "7fc00000"}, {"f16", "7e00"}} {
		i, err := mma.Lookup(u.inst().Arch, strings.ReplaceAll(u.inst().Name, "f32", p.d))
		if err != nil {
			return nil, err
		}
		entries, err := smtSpecials(i, p.quiet)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	return all, nil
}

// smtSpecials makes those of an instruction. quiet is the code whose first fraction bit alone is set.
func smtSpecials(i *mma.Instruction, quiet string) ([]entry, error) {
	m, err := sim.ForInstruction(i)
	if err != nil {
		return nil, err
	}
	d, nans, minus := i.D.Get(), []string{}, 0
	dots := gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, 1, 0, &i.Params)
	half := i.A.Get()
	for code := range uint64(1 << 16) {
		if class := half.Decode(code).Class; class == fp.NaN || class == fp.Inf {
			dot := mma.NewDot(i.Formats, i.K)
			dot.A[0], dot.B[0] = code, half.FromFloat64(1)
			dot.A[1], dot.B[1] = half.InfCode(true), half.FromFloat64(1)
			dots = append(dots, dot)
		}
	}
	for _, dot := range dots {
		code := m.Dot(dot, nil)
		if name := mma.FormatCode(i.D, code); d.Decode(code).Class == fp.NaN && !slices.Contains(nans, name) {
			nans = append(nans, name)
		}
		if code == d.SignBit() {
			minus++
		}
	}
	return []entry{
		same(i.FullName(), "codes of NaNs", strings.Join(nans, ", "), quiet+": sign 0, all exponent bits and the most significant bit of the mantissa set", "the paper does not say that the other bits are 0; Xie et al. have 0x7FFFFFFF"),
		same(i.FullName(), "results of -0", fmt.Sprint(minus), "0", ""),
	}, nil
}

// smt6 makes entries of section 6 of Valpey et al.: Fasi et al.'s experiment, and what is said of
// the two methods, with the smallest inputs on which either is worse.
func smt6(ctx context.Context, r *Request) ([]entry, error) {
	all, err := smtDot("1 - 2^-24 and four times 2^-24: the exact sum less 2^-24", 4, 1, 0x1p-24, 1-0x1p-24, 1+0x1p-23)
	if err != nil {
		return nil, err
	}
	for _, name := range smtUnits {
		u, err := simulatedUnit(name[0], name[1])
		if err != nil {
			return nil, err
		}
		m, err := refinementOf(ctx, &u, r)
		if err != nil {
			return nil, err
		}
		at := func(w worst) string {
			return fmt.Sprintf("%s: %s, the other %s, exactly %s", w.Smallest, w.Results[1], w.Results[0], w.Results[2])
		}
		other := m.MarkidisWorst
		other.Results[0], other.Results[1] = other.Results[1], other.Results[0]
		all = append(all,
			entry{u.name, "Ootomo and Yokota are not better for every input", at(m.OotomoWorst), "Table 5", m.OotomoWorst.Gap > 0, "", statement},
			entry{u.name, "nor are Markidis et al.", at(other), "more accurate in general", m.MarkidisWorst.Gap > 0, "", statement},
			entry{u.name, "Ootomo and Yokota are more accurate in general", fmt.Sprintf("mean errors %s and %s", m.Ootomo, m.Markidis), "more accurate in general", m.Ootomo < m.Markidis, "", statement})
	}
	return all, nil
}

// smtOthers makes entries of what Valpey et al. say in passing of other instructions: section 3.1
// and section 7.
func smtOthers(context.Context, *Request) ([]entry, error) {
	fma, err := mma.Lookup("ampere", "mma.m8n8k4.f32.f16.f16.f32")
	if err != nil {
		return nil, err
	}
	hopper, err := mma.Lookup("hopper", "mma.m16n8k16.f32.f16.f16.f32")
	if err != nil {
		return nil, err
	}
	extra := int(hopper.Params.Join.Align.F) - int(hopper.Params.Acc.Frac)
	return []entry{
		{fma.FullName(), "what is rounded", fmt.Sprintf("each sum of %d product and the accumulator, %s", fma.Params.L, fma.Params.Acc.Mode), "a sequence of fused multiply-adds",
			fma.Params.L == 1 && fma.Params.Prod.Round == (mma.Round{}) && fma.Params.Join.Align.F == 0 && fma.Params.Acc.Mode == fp.RNE, "", statement},
		{hopper.FullName(), "bits kept of those that are shifted out", fmt.Sprint(extra), "more than Ampere's 1", extra > 1, "", statement},
	}, nil
}

// carries are the entries about carry bits. The paper's sums have the bits of FP32's significand,
// one more on Turing and Ampere, and the carries.
func carries(i *mma.Instruction, a *prove.Answer) []entry {
	theirs, most := "3 are needed, and enough", 3
	why := fmt.Sprintf("products are not normalized: %s takes a sum of %d bits; the paper's products lie in [1, 2) and take one bit less", a.Witness, a.Bits)
	if i.Arch == "ampere" {
		theirs, most = "4: no answer in six hours", 4
		why += "; ranges decide both halves of the question in a second: mmafuzz prove --property adder"
	} else if i.Params.L > 4 {
		why += "; its step has eight products, the paper looked at four"
	}
	significand := 1 + int(i.Params.Join.Align.F)
	return []entry{same(i.FullName(), fmt.Sprintf("%d Carry Bits", most), fmt.Sprintf("%d are needed, and enough", a.Bits-significand), theirs, why)}
}
