package study

import (
	"context"
	"fmt"
	"math"
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

// sun11 makes Table 11 of Sun et al.
func sun11(context.Context, *Request) ([]entry, error) {
	return formatFacts([]string{"sign", "exponent", "mantissa", "bits of the register"}, func(f *fp.Format) []int {
		return []int{1, int(f.ExpBits), int(f.FracBits), 8 * int(f.Width)}
	}, []printedFormat{
		{fp.FP32, []int{1, 8, 23, 32}}, {fp.TF32, []int{1, 8, 10, 32}}, {fp.FP16, []int{1, 5, 10, 16}},
		{fp.BF16, []int{1, 8, 7, 16}}, {fp.E4M3, []int{1, 4, 3, 8}}, {fp.E5M2, []int{1, 5, 2, 8}},
	}, nil)
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

// smtSticky makes entries of what section 4.2 of Valpey et al. says of a sticky bit.
func smtSticky(context.Context, *Request) ([]entry, error) {
	two, ofTwo := misrounded(1, 3, fp.RZ)
	three, ofThree := misrounded(2, 3, fp.RZ)
	return []entry{
		{"sums of two numbers of four digits", "with guard, round and sticky bit, not rounded towards zero", fmt.Sprintf("%d of %d", two, ofTwo), "none", two == 0, "", statement},
		{"sums of three", "the same", fmt.Sprintf("%d of %d", three, ofThree), "some: a sticky bit does not work with more than two terms", three > 0, "", statement},
	}, nil
}

// printedModel is a line of Table 3 or 6 of Xie et al.: the model of the instructions of
// some architectures with some inputs.
type printedModel struct {
	archs  []string
	inputs []fp.ID
	scaled bool
	suffix string // of CDNA2's BF16 instructions: with _1k or without
	model  string // the elementary operation as mma.Params.String writes it
	k      int    // of FP4 with scales, which two rows of Table 3 have
}

var (
	withTensorCores = []string{"ampere", "ada", "hopper", "blackwell", "rtx-blackwell"}
	fp8             = []fp.ID{fp.E4M3, fp.E5M2}
	fp64            = []fp.ID{fp.FP64}
	mixed           = []fp.ID{fp.TF32, fp.BF16, fp.FP16}
)

var printed3 = []printedModel{
	{withTensorCores, fp64, false, "", "fma", 0},
	{append([]string{"volta", "turing"}, withTensorCores...), mixed, false, "", "t-fdpa", 0},
	{[]string{"ada", "hopper", "blackwell", "rtx-blackwell"}, fp8, false, "", "t-fdpa", 0},
	{[]string{"blackwell", "rtx-blackwell"}, []fp.ID{fp.E3M2, fp.E2M3, fp.E2M1}, false, "", "t-fdpa", 0},
	{[]string{"blackwell", "rtx-blackwell"}, []fp.ID{fp.E4M3, fp.E5M2, fp.E3M2, fp.E2M3}, true, "", "st-fdpa", 0},
	{[]string{"blackwell", "rtx-blackwell"}, []fp.ID{fp.E2M1}, true, "", "st-fdpa", 32},
	{[]string{"blackwell", "rtx-blackwell"}, []fp.ID{fp.E2M1}, true, "", "gst-fdpa", 64},
}

var printed6 = []printedModel{
	{[]string{"cdna1"}, []fp.ID{fp.FP32}, false, "", "fma", 0},
	{[]string{"cdna1"}, []fp.ID{fp.BF16}, false, "", "e-fdpa(L=2", 0},
	{[]string{"cdna1"}, []fp.ID{fp.FP16}, false, "", "e-fdpa(L=4", 0},
	{[]string{"cdna2"}, []fp.ID{fp.FP64, fp.FP32}, false, "", "fma", 0},
	{[]string{"cdna2"}, []fp.ID{fp.BF16}, false, "bf16", "ftz-addmul(P=2", 0},
	{[]string{"cdna2"}, []fp.ID{fp.BF16}, false, "_1k", "ftz-addmul(P=4", 0},
	{[]string{"cdna2"}, []fp.ID{fp.FP16}, false, "", "ftz-addmul(P=4", 0},
	{[]string{"cdna3"}, []fp.ID{fp.FP64, fp.FP32}, false, "", "fma", 0},
	{[]string{"cdna3"}, []fp.ID{fp.XF32, fp.BF16, fp.FP16}, false, "", "tr-fdpa", 0},
	{[]string{"cdna3"}, []fp.ID{fp.E4M3FNUZ, fp.E5M2FNUZ}, false, "", "gtr-fdpa", 0},
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
		if i.Refuse != "" || i.A != id || i.B != id || (i.Scale != fp.None) != p.scaled || i.Params.In.Widen != fp.None || arch != "volta" && strings.Contains(i.Name, "m8n8k4") && id == fp.FP16 || p.suffix != "" && !strings.HasSuffix(i.Name, p.suffix) || p.k != 0 && i.K != p.k {
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
		if mode := i.Params.Acc.Mode; op == "fma" && mode != fp.RNE {
			op += " " + mode.String()
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
	if p.k != 0 {
		what += fmt.Sprintf(", K = %d", p.k)
	}
	if p.suffix != "" {
		what += " *" + p.suffix
	}
	why := ""
	switch {
	case len(ours) == 1 && ours[0] == p.model+secondCut:
		why = laterRule
	case id == fp.FP64:
		why = otherModes
	}
	return same(arch, what, strings.Join(ours, " or "), p.model, why), true
}

// otherModes is why not all FP64 instructions are Algorithm 3.
const otherModes = "PTX also has FP64 instructions with .rz, .rm and .rp, which the paper does not name: Algorithm 3 rounds to nearest only"

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
			if i.Refuse == "" && !i.Conversion() && i.Params.In.Widen == fp.None {
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

// smt1 makes Table 1 of Valpey et al. Its a is printed as 1.2587890625 * 2^-15, which is no FP16
// number; the product is that of the subnormal number 0.2587890625 * 2^-14.
func smt1(context.Context, *Request) ([]entry, error) {
	const printed, a, b = 1.2587890625 * 0x1p-15, 0.2587890625 * 0x1p-14, 1.3681640625 * 0x1p-1
	const exact, misprint = 1.4162635803222656 * 0x1p-17, "a misprint: the fraction of a subnormal number beside a leading 1, for 0.2587890625*2^-14"
	all, err := smtDot("hardware result, a = 0.2587890625*2^-14", 1, a, b, 0, exact)
	half := fp.FP16.Get()
	var other []string
	for _, mode := range []fp.Mode{fp.RNE, fp.RZ, fp.RD, fp.RU} {
		if half.Float64(half.Encode(fp.FP64.Get().Dyadic(fp.FP64.Get().Decode(math.Float64bits(a*b))), mode, fp.OverInf)) != a*b {
			other = append(other, mode.String())
		}
	}
	nearest := func(v float64) float64 { return half.Float64(half.FromFloat64(v)) }
	return append(all,
		same("a as printed", "the nearest FP16 number", Number(nearest(printed)).exactly(), Number(printed).exactly(), misprint),
		same("a and b as printed", "exact result", Number(printed*b).exactly(), Number(exact).exactly(), misprint),
		same("a = 0.2587890625*2^-14", "exact result", Number(a*b).exactly(), Number(exact).exactly(), ""),
		same("a = 0.2587890625*2^-14", "Listing 1.1: modes in which the FP16 product is another", strings.Join(other, ", "), "rne, rz, rd, ru", ""),
		same("a = 0.2587890625*2^-14", "result (half)", Number(nearest(a*b)).exactly(), Number(1.1767578125*0x1p-15).exactly(), "a misprint of the same kind: it is 0.1767578125*2^-14")), err
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

// smtRepaired marks entries of Table 5 that are not of the b_1 that is printed.
const smtRepaired = ", b_1 = 1.998046875*2^7"

// smt5 makes Table 5 of Valpey et al.
func smt5(ctx context.Context, _ *Request) ([]entry, error) {
	exact := smtCounterexample.c
	for n, a := range smtCounterexample.a {
		exact += a * smtCounterexample.b[n]
	}
	const misprint = "a misprint: b_1 is 1.998046875*2^7, which the walk-through and the other rows have"
	printed := slices.Clone(smtCounterexample.b)
	printed[0] *= 0x1p-14
	two := smtCounterexample.a[0]*smtCounterexample.b[0] + smtCounterexample.a[1]*smtCounterexample.b[1]
	all := []entry{
		same("exact, b_1 as printed", "True", Number(exact-smtCounterexample.a[0]*(smtCounterexample.b[0]-printed[0])).exactly(), "1 + 2^-23", misprint),
		same("exact"+smtRepaired, "True", Number(exact).exactly(), "1 + 2^-23", "printed is the sum in FP32; the paper says that it is in double precision"),
		same("exact"+smtRepaired, "step 3: two products, \"exactly\"", Number(two).exactly(), Number(1-0x1p-24).exactly(), "only after the second product is cut"),
	}
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
		x := experiment{a: smtCounterexample.a, b: printed, c: smtCounterexample.c}
		got, err := newRefiner(&u).run(ctx, []*mma.Dot{x.dot(&mma.Instruction{Formats: single, K: u.inst().K})})
		if err != nil {
			return nil, err
		}
		all = append(all, same(u.name+", b_1 as printed", "Markidis et al.", Number(got[0].markidis).exactly(), "1 + 2^-23", misprint),
			same(u.name+", b_1 as printed", "Ootomo and Yokota", Number(got[0].ootomo).exactly(), "1", misprint))
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
			e.Row += smtRepaired
			all = append(all, e)
		}
		all = append(all, same(u.name+smtRepaired, "Markidis et al.", fmt.Sprint(row[1]), fmt.Sprint(row[2]), ""), same(u.name+smtRepaired, "Ootomo and Yokota", fmt.Sprint(row[3]), fmt.Sprint(row[4]), ""))
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
	{"Rounding of Final Result", "rounding", true, "round-to-nearest"},
	{"Accumulation Order", "order", false, "it does not matter"},
	{"Normalization, operands of any sign", "no-normalization", false, "partial sums are not normalized"},
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
		return says(i.FullName(), q.name, ours, q.holds, ours == "the last rounding is rne", "")
	case a.Verdict == prove.Holds:
		ours = q.holds
	case q.property == "order":
		why = fmt.Sprintf("the paper's accumulator of 9 terms is one step of %d products, in which it does not: see mma.m16n8k8; this instruction makes %d steps", i.Params.L, i.K/int(i.Params.L))
	}
	return same(i.FullName(), q.name, ours, q.holds, why)
}

// smt4 makes Table 4 of Valpey et al.: the answers, since its times are those of solvers.
var smt4 = smtAsked(smtQueries, func(ctx context.Context, u *unit, ask func(string) (*prove.Answer, error)) ([]entry, error) {
	a, err := ask("adder")
	if err != nil {
		return nil, err
	}
	all, err := smtTruncates(ctx, u.inst())
	if err != nil {
		return nil, err
	}
	if step := "mma.m16n8k8.f32.f16.f16.f32"; u.inst().Arch == "ampere" {
		one, err := simulatedUnit("ampere", step)
		if err != nil {
			return nil, err
		}
		some, err := prove.PropertiesNamed("order")
		if err != nil {
			return nil, err
		}
		a, err := prove.Ask(ctx, "sim:ampere", one.Unit, some[0], prove.Options{})
		if err != nil {
			return nil, err
		}
		q := smtQuery{"Accumulation Order of one step", "order", false, "it does not matter"}
		all = append(all, q.entry(one.inst(), a))
	}
	normalized, err := smtProperty4(u.inst())
	if err != nil {
		return nil, err
	}
	all = append(append(all, normalized), carries(u.inst(), a)...)
	if u.inst().Arch == "turing" { // the instruction of Turing's wmma
		one, err := simulatedUnit(fasiT4[0], fasiT4[1])
		if err != nil {
			return nil, err
		}
		some, err := prove.PropertiesNamed("adder")
		if err != nil {
			return nil, err
		}
		if a, err = prove.Ask(ctx, "sim:turing", one.Unit, some[0], prove.Options{}); err != nil {
			return nil, err
		}
		all = append(all, carries(one.inst(), a)...)
	}
	return all, nil
})

// smtTruncates makes the entry of the accumulator's rounding: no rounding of the exact sum gives
// the results.
func smtTruncates(ctx context.Context, i *mma.Instruction) ([]entry, error) {
	var none []string
	for _, mode := range []fp.Mode{fp.RNE, fp.RZ, fp.RD, fp.RU, fp.RNA} {
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
	return []entry{same(i.FullName(), "Rounding of Accumulator: modes of IEEE 754 that it is none of", strings.Join(none, ", "), "rne, rz, rd, ru, rna", "")}, nil
}

// smtKept are the bits that an addition keeps of those that its alignment shifts out: of section 4.3 and
// Algorithm 1, and of section 5: that "Turing uses an extra lower bit", and two sentences later that
// "Volta and Turing discard all shifted bits".
var smtKept = map[string][]int{"volta": {0, 0}, "turing": {1, 1, 0}, "ampere": {1, 1}}

// smtDisputed is why Turing's HMMA.884 is another.
const smtDisputed = "disputed, and no results of a Turing GPU are at hand: section 5 contradicts itself, since it has an extra lower bit of Turing and lets Turing discard all shifted bits; section 4.3 and Algorithm 1 have the bit; MMA-Sim 2.1.1 has no extra bit for mma.m8n8k4, and one for mma.m16n8k8, whose machine instruction ptxas makes of Turing's wmma, too"

// smtAlgorithm makes entries of Algorithm 1 of Valpey et al. and of the bits that are kept.
func smtAlgorithm(ctx context.Context, _ *Request) ([]entry, error) {
	var all []entry
	for _, name := range append(smtUnits, [2]string{"turing", "mma.m16n8k8.f32.f16.f16.f32"}) {
		i, err := mma.Lookup(name[0], name[1])
		if err != nil {
			return nil, err
		}
		kept := fmt.Sprint(int(i.Params.Join.Align.F) - int(i.Params.Acc.Frac))
		for n, theirs := range smtKept[i.Arch] {
			section := []string{"section 4.3, Algorithm 1", "section 5", "section 5, two sentences later"}[n]
			all = append(all, same(i.FullName(), section+": bits kept of those that are shifted out", kept, fmt.Sprint(theirs), smtDisputed))
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
	for _, name := range smtUnits {
		sum := experiment{"lines 6 to 8 and section 4.2: 1 + 1 + 2^-10 + 2^-23, normalized to FP32 and rounded to nearest for FP16", [2]string{name[0], strings.ReplaceAll(name[1], "f32", "f16")},
			[]float64{1, 1, 0x1p-10, 0x1p-12}, []float64{1, 1, 1, 0x1p-11}, 0, rounded(fp.FP16, cut32(2+0x1p-10+0x1p-23), fp.RNE)}
		e, err := sum.entry()
		if err != nil {
			return nil, err
		}
		e.Why = "FP32 has lost 2^-23 before a tie; the unit of Xie et al., Table 4, rounds its sum once"
		all = append(all, e)
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
			e := entry{u.name, fmt.Sprintf("error in 2^-%d of the sum of all magnitudes", u.inst().D.Get().FracBits), fmt.Sprintf("at most %v for all inputs, %v on one", a.Proved, a.Refuted), theirs, a.Proved != 0 && a.Proved <= most, "", statement}
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
			count, differ := [2]int{}, [2]int{} // that round to nearest, and other ones
			for _, i := range mma.Of(p.arch) {
				if i.Refuse != "" || i.Formats != formats {
					continue
				}
				of := 0
				if i.Params.Acc.Mode != fp.RNE {
					of = 1
				}
				m, err := sim.New(formats, k, i.Params)
				if err != nil {
					return nil, err
				}
				count[of]++
				for at, d := range dots {
					code := m.Dot(d, nil)
					if len(first) < len(dots) {
						first = append(first, code)
					} else if oracle.Compare(id, oracle.Policy{NaN: oracle.ByClass}, first[at], code) != oracle.Same {
						differ[of]++
					}
				}
			}
			for of, modes := range []string{"to nearest", "of .rz, .rm and .rp"} {
				if count[of] > 0 {
					all = append(all, same(p.arch, fmt.Sprintf("%s: results of %d instructions %s that differ, %d of each; all NaNs are alike", id, count[of], modes, len(dots)), fmt.Sprint(differ[of]), "0", otherModes))
				}
			}
		}
	}
	return all, nil
}

// smtSpecial makes entries of section 4.4 of Valpey et al. about NaNs, infinities and zeros.
func smtSpecial(_ context.Context, u *unit, _ func(string) (*prove.Answer, error)) ([]entry, error) {
	var all []entry
	for _, d := range []string{"f32", "f16"} {
		i, err := mma.Lookup(u.inst().Arch, strings.ReplaceAll(u.inst().Name, "f32", d))
		if err != nil {
			return nil, err
		}
		entries, err := smtSpecials(i)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	return all, nil
}

// coded is the code of a number, an infinity or a NaN.
func coded(f *fp.Format, v float64) uint64 {
	if math.IsInf(v, 0) {
		return f.InfCode(v < 0)
	}
	return f.FromFloat64(v)
}

// smtSpecials makes those of an instruction: of inputs of all generators and every NaN times 1,
// and of the operations that have an infinity or a NaN by IEEE 754.
func smtSpecials(i *mma.Instruction) ([]entry, error) {
	m, err := sim.ForInstruction(i)
	if err != nil {
		return nil, err
	}
	d, nans, unlike, minus := i.D.Get(), []string{}, 0, 0
	dots := gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, 1, 0, &i.Params)
	half, noNaN := i.A.Get(), 0
	for code := range uint64(1 << 16) {
		if half.Decode(code).Class == fp.NaN {
			dot := mma.NewDot(i.Formats, i.K)
			dot.A[0], dot.B[0] = code, half.FromFloat64(1)
			dots = append(dots, dot)
			if d.Decode(m.Dot(dot, nil)).Class != fp.NaN {
				noNaN++
			}
		}
	}
	canonical := d.InfCode(false) | 1<<(d.FracBits-1)
	for _, dot := range dots {
		code := m.Dot(dot, nil)
		if name := mma.FormatCode(i.D, code); d.Decode(code).Class == fp.NaN && !slices.Contains(nans, name) {
			nans = append(nans, name)
			if code&(canonical|d.SignBit()) != canonical {
				unlike++
			}
		}
		if code == d.SignBit() {
			minus++
		}
	}
	inf, nan := math.Inf(1), math.NaN()
	of := func(a, b []float64, c float64) float64 {
		dot := mma.NewDot(i.Formats, i.K)
		for k := range a {
			dot.A[k], dot.B[k] = coded(i.A.Get(), a[k]), coded(i.B.Get(), b[k])
		}
		dot.C = coded(i.C.Get(), c)
		return d.Float64(m.Dot(dot, nil))
	}
	all := []entry{
		{i.FullName(), "codes of NaNs", strings.Join(nans, ", "), "one, of sign 0, all exponent bits and the most significant bit of the mantissa set", len(nans) == 1 && unlike == 0,
			"the other bits, of which the paper says nothing, are set as well, as Xie et al., section 4, have them: 0x7FFFFFFF, and 0x7FFF of FP16", statement},
		same(i.FullName(), "results of -0", fmt.Sprint(minus), "0", ""),
		same(i.FullName(), "every NaN times 1: results that are no NaN", fmt.Sprint(noNaN), "0", ""),
		same(i.FullName(), "the product of infinities of different signs", fmt.Sprint(of([]float64{inf}, []float64{-inf}, 0)), "NaN",
			"by IEEE 754, which the units follow, it is an infinity: of infinities of different signs the sum is a NaN, which Algorithm 1, line 2b, has"),
	}
	overflow := "131008"
	if i.D == fp.FP16 {
		overflow = "+Inf"
	}
	for _, x := range []struct {
		what  string
		a, b  []float64
		c     float64
		wants string
	}{
		{"inf*1 - inf*1", []float64{inf, -inf}, []float64{1, 1}, 0, "NaN"},
		{"inf*1 - inf", []float64{inf}, []float64{1}, -inf, "NaN"},
		{"inf*0", []float64{inf}, []float64{0}, 0, "NaN"},
		{"1*1 + NaN", []float64{1}, []float64{1}, nan, "NaN"},
		{"-inf*2", []float64{-inf}, []float64{2}, 1, "-Inf"},
		{"1*1 + inf", []float64{1}, []float64{1}, inf, "+Inf"},
		{"65504*2", []float64{65504}, []float64{2}, 0, overflow},
	} {
		all = append(all, same(i.FullName(), x.what+", by IEEE 754", fmt.Sprint(of(x.a, x.b, x.c)), x.wants, ""))
	}
	return all, nil
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
		q := *r
		q.Count = max(q.Count, 500) // fewer draws have none on which Markidis et al. are worse on Ampere
		m, err := refinementOf(ctx, &u, &q)
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
			entry{u.name, "Ootomo and Yokota are more accurate in general", fmt.Sprintf("mean errors %s and %s", m.Ootomo, m.Markidis), "more accurate in general", m.Ootomo < m.Markidis, "by their mean errors", statement},
			says(u.name, "Ootomo and Yokota are more often the better ones", fmt.Sprintf("of %d dot products, better on %d, worse on %d", m.N, m.MarkidisWorse, m.OotomoWorse), "more accurate in general",
				m.MarkidisWorse > m.OotomoWorse, "on this unit either is the worse one about as often, and the seed decides; the mean errors tell them apart"))
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
		{fma.FullName(), "what is rounded", fmt.Sprintf("each sum of %d product and the accumulator, and that with c, which is added last, %s", fma.Params.L, fma.Params.Acc.Mode), "properties quite different from those of tensor cores",
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
