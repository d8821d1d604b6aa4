package study

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"os"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove"
)

// What Fasi et al. say beside their experiments: devices, formats, roundings, orders, widths.

var modes754 = []fp.Mode{fp.RNE, fp.RZ, fp.RD, fp.RU}

// rounded rounds a number to a format.
func rounded(id fp.ID, v float64, mode fp.Mode) float64 {
	wide, f := fp.FP64.Get(), id.Get()
	return f.Float64(f.Encode(wide.Dyadic(wide.Decode(math.Float64bits(v))), mode, fp.OverInf))
}

// modesThat lists the rounding modes with a property.
func modesThat(has func(fp.Mode) bool) string {
	var all []string
	for _, mode := range modes754 {
		if has(mode) {
			all = append(all, mode.String())
		}
	}
	return strings.Join(all, ", ")
}

// modesOf lists the modes in which a number is rounded to a result.
func modesOf(id fp.ID, v, result float64) string {
	return modesThat(func(mode fp.Mode) bool { return rounded(id, v, mode) == result })
}

// inOrder adds numbers from the first to the last in binary32; the numbers are such that each sum
// is exact in binary64.
func inOrder(mode fp.Mode, terms ...float64) float64 {
	sum := terms[0]
	for _, x := range terms[1:] {
		sum = rounded(fp.FP32, sum+x, mode)
	}
	return sum
}

// pairsOf lists the formats of the operands, a or all, and of the results that an architecture has.
func pairsOf(arch string, a fp.ID) []string {
	var all []string
	for _, i := range mma.Of(arch) {
		if pair := i.A.String() + "/" + i.D.String(); (a == fp.None || i.A == a) && i.A == i.B && !slices.Contains(all, pair) {
			all = append(all, pair)
		}
	}
	slices.Sort(all)
	return all
}

// fasi1 makes Table 1 of Fasi et al.: the middle one of the three dimensions is the length of the
// dot products, which is that of a step of our models.
func fasi1(context.Context, *Request) ([]entry, error) {
	const clock = "the table's dimensions are those of a tensor core and a clock; Xie et al., Table 4, have steps of 8"
	var all []entry
	for _, p := range []struct {
		device, arch, inst string
		theirs             int
		why                string
	}{
		{"V100, binary16", "volta", "mma.m8n8k4.f32.f16.f16.f32", 4, ""},
		{"T4, binary16", "turing", "mma.m16n8k8.f32.f16.f16.f32", 4, clock},
		{"A100, bfloat16", "ampere", "mma.m16n8k16.f32.bf16.bf16.f32", 8, ""},
		{"A100, binary16", "ampere", "mma.m16n8k16.f32.f16.f16.f32", 8, ""},
		{"A100, TensorFloat-32", "ampere", "mma.m16n8k8.f32.tf32.tf32.f32", 8, "Xie et al., Table 4, and FTTN, Table IV, have 4, which NVIDIA's 4 x 8 x 4 has as its last dimension"},
		{"A100, binary64", "ampere", "mma.m8n8k4.f64.f64.f64.f64", 2, "a chain of operations of one product each: section 3.3, and Xie et al., section 4.1.2"},
		{"Arm v8.6-A, bfloat16", "arm", "bfmmla.ebf0", 4, "four products of the instruction are two steps of two: BFDOT of the Arm manual"},
	} {
		i, err := mma.Lookup(p.arch, p.inst)
		if err != nil {
			return nil, err
		}
		all = append(all, same(p.device+": "+i.FullName(), "products of a step", fmt.Sprint(max(1, i.Params.L)), fmt.Sprint(p.theirs), p.why))
	}
	for _, p := range [][2]string{{"V100", "volta"}, {"T4", "turing"}, {"A100", "ampere"}} {
		all = append(all, same("equation (1)", p[0]+": results of binary16 operands", strings.Join(pairsOf(p[1], fp.FP16), ", "), "fp16/fp16, fp16/fp32", ""))
	}
	return append(all,
		same("section 3.3", "A100: operands and results", strings.Join(pairsOf("ampere", fp.None), ", "), "bf16/fp32, fp16/fp32, fp64/fp64, tf32/fp32", "and results in binary16, which section 1 has of all three devices, integers and conversions"),
		integerModes("volta", ""), integerModes("turing", "s4, s8, u4, u8"), integerModes("ampere", "s4, s8, u4, u8")), nil
}

// integerModes is the entry of the integers of 4 and 8 bits of an architecture.
func integerModes(arch, theirs string) entry {
	var ours []string
	for _, i := range mma.Of(arch) {
		if i.A.Get().Integer() && i.A.Get().CodeBits() > 1 && !slices.Contains(ours, i.A.String()) {
			ours = append(ours, i.A.String())
		}
	}
	slices.Sort(ours)
	return same("sections 3.2 and 4", arch+": integer operands", strings.Join(ours, ", "), theirs, "")
}

// fasiIntroduction makes entries of section 1 of Fasi et al.
func fasiIntroduction(context.Context, *Request) ([]entry, error) {
	asymmetric, least, most := 0, 64, 0
	for _, id := range []fp.ID{fp.FP16, fp.BF16, fp.TF32, fp.FP32, fp.FP64} {
		if f := id.Get(); f.Emin() != 1-f.Emax() {
			asymmetric++
		}
	}
	for m := uint64(1); m < 1<<fp.FP16.Get().FracBits; m++ {
		least, most = min(least, bits.Len64(m)), max(most, bits.Len64(m))
	}
	keep := func(device, arch, mode, why string) entry {
		keep, all := 0, 0
		for _, i := range mma.Of(arch) {
			if i.A == fp.BF16 && i.B == fp.BF16 && strings.HasSuffix(i.Name, mode) {
				if all++; i.Params.In.Sub == mma.KeepSub {
					keep++
				}
			}
		}
		return same(device, fmt.Sprintf("of %d instructions with bfloat16 operands, those that keep subnormals", all), fmt.Sprint(keep), "0", why)
	}
	tf32, single, half, bf16 := fp.TF32.Get(), fp.FP32.Get(), fp.FP16.Get(), fp.BF16.Get()
	// The smallest subnormal, the smallest normal and the largest number of binary16, and those that
	// section 1 defines as m * 2^(e-p).
	p := int(half.FracBits) + 1
	defined := func(m uint64, e int32) string { return Number(math.Ldexp(float64(m), int(e)-p)).exactly() }
	ends := [][2]string{
		{Number(half.Float64(1)).exactly(), defined(1, half.Emin())},
		{Number(half.Float64(1 << half.FracBits)).exactly(), defined(1<<(p-1), half.Emin())},
		{Number(half.Float64(half.MaxFinite())).exactly(), defined(1<<p-1, half.Emax())},
	}
	chip := func(name string) string {
		a, ok := mma.FindArch(name)
		if !ok {
			return "none"
		}
		return a.Name
	}
	var all []entry
	for n, what := range []string{"smallest subnormal", "smallest normal", "largest"} {
		all = append(all, same("binary16", what+" number as (-1)^s * m * 2^(e-p)", ends[n][0], ends[n][1], "the factor has to be 2^(e-p+1): Table 3 has 2^-24 and 2^-14 for the smallest numbers"))
	}
	tf32From, err := ptxVersion("mma_m16n8k8_f32_tf32_tf32_f32")
	if err != nil {
		return nil, err
	}
	modes, err := os.ReadFile(ptxTestdata + "half.tsv")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(modes)) {
		if op, taken, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			all = append(all, same("CUDA cores", "rounding modes of "+op+".f16 that ptxas takes, of rn, rz, rm and rp", taken, "rn", ""))
		}
	}
	return append(all, []entry{
		same("TensorFloat-32", "the first PTX version with mma of TF32, and its CUDA", tf32From, "7.0: CUDA 11", ""),
		same("five formats of Table 3", "e_min is not 1 - e_max", fmt.Sprint(asymmetric), "0", ""),
		same("binary16", "bits of the significands of subnormal numbers", fmt.Sprintf("%d to %d", least, most), "1 to 10", ""),
		same("bfloat16", "bits of the significand and of the exponent", fmt.Sprint(bf16.FracBits+1, bf16.ExpBits), "8 8", ""),
		keep("x86", "x86", "", ""), keep("Arm v8.6-A", "arm", ".ebf0", ""),
		keep("A100", "ampere", "", "bfloat16 without subnormals is Intel's definition: A100 keeps them, as the paper finds in section 3.3"),
		same("TensorFloat-32", "bits", fmt.Sprint(1+tf32.ExpBits+tf32.FracBits), "19", ""),
		same("TensorFloat-32", "exponents as binary32, significand as binary16", fmt.Sprint(tf32.Emin() == single.Emin() && tf32.Emax() == single.Emax(), tf32.FracBits == half.FracBits), "true true", ""),
		same("GPUs", "tensor cores of P100 (sm_60), GeForce 20 (sm_75), GeForce 30 (sm_86)", strings.Join([]string{chip("sm_60"), chip("sm_75"), chip("sm_86")}, ", "), "none, turing, ampere", ""),
	}...), nil
}

// ptxTestdata is where package ptx keeps what it has made.
const ptxTestdata = "../../devices/internal/nvidia/ptx/testdata/"

// ptxVersion returns the PTX version of a kernel of package ptx, which takes the lowest one, and
// the CUDA that brought it.
func ptxVersion(kernel string) (string, error) {
	text, err := os.ReadFile(ptxTestdata + kernel + ".ptx")
	if err != nil {
		return "", err
	}
	_, version, _ := strings.Cut(string(text), ".version ")
	version, _, _ = strings.Cut(version, "\n")
	return version + ": CUDA " + map[string]string{"6.4": "10.1", "7.0": "11"}[version], nil
}

// fasiAccumulation makes entries of what section 1 of Fasi et al. quotes of the PTX manual.
func fasiAccumulation(ctx context.Context, r *Request) ([]entry, error) {
	var all []entry
	for _, p := range []struct {
		theirs string
		most   float64 // what the additions of a step lose: less than a unit each, to nearest half of one
		units  [][2]string
	}{
		{"at least single precision", 4.001, [][2]string{smtUnits[0]}},
		{"at least single precision", 8.001, [][2]string{fasiT4}},
		{"at least half precision", 2.001, [][2]string{fasiHalf}},
		{"at least half precision", 4.001, [][2]string{{"turing", "mma.m16n8k8.f16.f16.f16.f16"}, {"ampere", "mma.m16n8k8.f16.f16.f16.f16"}}},
	} {
		some, err := errorsOf(p.theirs, p.most, "", p.units...)(ctx, r)
		if err != nil {
			return nil, err
		}
		for n := range some {
			some[n].Why = fmt.Sprintf("additions of that precision lose up to %.0f", p.most)
		}
		all = append(all, some...)
	}
	for _, x := range []experiment{
		{"1 + (-1 + 2^-24), which an addition of binary32 does exactly", smtUnits[0], []float64{1}, []float64{1}, 0x1p-24 - 1, 0x1p-24},
		{"2^-24 * 2^15 + (-2^-9 + 2^-33), which an addition of binary32 does exactly", fasiT4, []float64{0x1p-24}, []float64{0x1p15}, 0x1p-33 - 0x1p-9, 0x1p-33},
	} {
		e, err := x.entry()
		if err != nil {
			return nil, err
		}
		e.Why = "c is cut at the largest exponent of all terms, as large as that of the product, before it is added: the precision is that of the sum of magnitudes, not of the result"
		all = append(all, e)
	}
	return all, nil
}

// fasiFigure1 makes Figure 1 of Fasi et al.: where numbers between two neighbours go.
func fasiFigure1(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, p := range []struct {
		what   string
		x      float64
		theirs string
	}{
		{"a: negative, beyond the middle", -1.75, "rne, rd"},
		{"b: positive, beyond the middle", 1.75, "rne, ru"},
		{"c: negative, before the middle", -1.25, "rd"},
		{"d: positive, before the middle", 1.25, "ru"},
	} {
		away := modesThat(func(mode fp.Mode) bool {
			return math.Abs(rounded(fp.FP32, math.Ldexp(p.x, -149), mode)) == 0x1p-148
		})
		all = append(all, same(p.what, "modes that go to the neighbour with the larger magnitude", away, p.theirs, ""))
	}
	return all, nil
}

// fasiSteps makes entries of what section 3.1 of Fasi et al. says of numbers and of binary32 and
// binary16 arithmetic, beside which the experiments stand.
func fasiSteps(context.Context, *Request) ([]entry, error) {
	const tiny, p = 0x1p-24, 1 - 0x1p-11
	half := fp.FP16.Get()
	lowest, highest, odd := math.MaxInt, math.MinInt, 0
	for code := range uint64(1) << 16 {
		if v := half.Float64(code); v != 0 && !math.IsNaN(v) && !math.IsInf(v, 0) {
			e := max(math.Ilogb(v), int(half.Emin()))
			lowest, highest = min(lowest, 2*e), max(highest, 2*e)
			if _, frac := math.Modf(v * 0x1p24); frac != 0 {
				odd++
			}
		}
	}
	var early []string
	for place := range 5 {
		terms := slices.Repeat([]float64{tiny}, 5)
		terms[place] = 1
		if inOrder(fp.RZ, terms...) > 1 {
			early = append(early, fmt.Sprint(place+1))
		}
	}
	exact := func(v float64) string { return Number(v).exactly() }
	smallest := func(mode fp.Mode) string { // the smallest power of two that counts beside 2
		x := 1.0
		for rounded(fp.FP32, 2+x/2, mode) > 2 {
			x /= 2
		}
		return exact(x)
	}
	ones := []float64{1, 1, 1, 1}
	onVolta := func(n int, b, c float64) (float64, error) {
		x := experiment{unit: smtUnits[0], a: ones[:n], b: slices.Repeat([]float64{b}, n), c: c}
		_, v, err := x.run(nil)
		return v, err
	}
	cancelled, err := onVolta(1, 1, tiny-1)
	if err != nil {
		return nil, err
	}
	carried, err := onVolta(4, tiny, 1-tiny)
	if err != nil {
		return nil, err
	}
	flushes := experiment{unit: [2]string{"cdna2", "v_mfma_f32_16x16x16f16"}, a: ones[:1], b: []float64{3 * tiny}}
	_, alone, err := flushes.run(nil)
	if err != nil {
		return nil, err
	}
	flushes.a, flushes.b = ones[:2], []float64{3 * tiny, 2}
	flushing, beside, err := flushes.run(nil)
	if err != nil {
		return nil, err
	}
	var standard []string
	for _, mode := range fp.Modes() {
		if mode != fp.RTO {
			standard = append(standard, mode.String())
		}
	}
	word := uint64(0)
	for _, x := range []float64{1.875, 1, 1.5, 1.75, 1.875} {
		word += uint64(x * 0x1p23)
	}
	return []entry{
		same("binary16", "3.1.1: bits for the exponent of a product, e(a) + e(b)", fmt.Sprint(bits.Len(uint(highest-lowest))), "6", ""),
		same("binary16", "3.1.1: numbers that are no multiple of 2^-24, so that sums of products could be below 2^-48 and subnormal in binary32", fmt.Sprint(odd), "0", ""),
		says(flushing.FullName(), "3.1.1: a result of 2 indicates support of subnormals: 2^-23 + 2^-24 beside 2, and alone", exact(beside)+", "+exact(alone), "support of subnormals", beside != 2 || alone != 0,
			"this unit flushes subnormal operands and gives 2 as well"),
		same("binary16, RNE", "3.1.1: 2 + 2^-23 + 2^-24 on CUDA cores", exact(rounded(fp.FP16, 2+3*tiny, fp.RNE)), exact(2+0x1p-22),
			"printed is the sum of binary32; for binary16, of which the paper has it that CUDA cores only round to nearest, 2 is the nearest number: a result of 2 does not exclude them"),
		same("IEEE 754-2019, section 4.3", "3.1.3: rounding modes", strings.Join(standard, ", "), "rne, rz, rd, ru", "roundTiesToAway is the fifth, which the standard does not require of binary formats"),
		same("exactly", "3.1.4: c = 1 - 2^-24 and the addends of (3), all of them 2^-24, before 1 + 2^-23 is left", exact(1-tiny+4*tiny), exact(1-tiny+3*tiny), "(3) has four addends of 2^-24, and printed are three: 1 + 3 * 2^-24 is cut to 1 + 2^-23"),
		same("binary32", "3.1.1 and 3.1.3: modes with 2 + 2^-23 + 2^-24 = 2", modesOf(fp.FP32, 2+3*tiny, 2), "rz, rd", ""),
		same("binary32", "3.1.1 and 3.1.3: modes with 2 + 2^-23 + 2^-24 = 2 + 2^-22", modesOf(fp.FP32, 2+3*tiny, 2+0x1p-22), "rne, ru", ""),
		same("binary32", "3.1.3: modes with -2 - 2^-23 - 2^-24 = -2", modesOf(fp.FP32, -2-3*tiny, -2), "rz, ru", ""),
		same("binary32", "3.1.3: the smallest power of two y with RZ(2 + y) > 2", smallest(fp.RZ), exact(0x1p-22), ""),
		same("binary16", "3.1.3: modes with 2^-25 + 2^-26 = 2^-24", modesOf(fp.FP16, 3*tiny/4, tiny), "rne, ru", ""),
		same("binary16", "3.1.3: modes with 2^-25 + 2^-26 = 0", modesOf(fp.FP16, 3*tiny/4, 0), "rz, rd", ""),
		same("exactly", "3.1.2: (1 - 2^-11)^2", exact(p*p), exact(1-0x1p-10+0x1p-22), ""),
		same("binary16", "3.1.2: modes with (1 - 2^-11)^2 = 1 - 2^-10", modesOf(fp.FP16, p*p, 1-0x1p-10), "rne, rz, rd", ""),
		same("binary16", "3.1.2: modes with (1 - 2^-11)^2 = 1 - 2^-11", modesOf(fp.FP16, p*p, p), "ru", ""),
		same("exactly", "3.1.2: (1 - 2^-11) * 2^-11", exact(p*0x1p-11), exact(0x1p-11-0x1p-22), ""),
		same("exactly", "3.1.2: 1 and four times 2^-24", exact(1+4*tiny), exact(1+0x1p-22), ""),
		same("binary32, RNE and RZ", "3.1.2: 1 and four times 2^-24, in order", exact(inOrder(fp.RNE, 1, tiny, tiny, tiny, tiny))+" "+exact(inOrder(fp.RZ, 1, tiny, tiny, tiny, tiny)), "1 1", ""),
		{"binary32, RZ", "3.1.2: places of 1 in a chain with four times 2^-24 whose sum is above 1", strings.Join(early, ", "), "all that leave 2^-24 + 2^-24 before it", slices.Equal(early, []string{"3", "4", "5"}), "", statement},
		same("V100", "3.1.4: relative error of 1 + (-1 + 2^-24)", exact((cancelled-tiny)/tiny), "1", ""),
		same("binary32, RZ", "3.1.4: 1 - 2^-24 and four times 2^-24, if every sum is normalized", exact(inOrder(fp.RZ, 1-tiny, tiny, tiny, tiny, tiny)), "1", ""),
		same("binary32, RZ", "3.1.4: 1 + 2^-22 + 2^-23, three times 1, then 2^-23, if every sum is normalized", exact(inOrder(fp.RZ, 1+0x1p-22+0x1p-23, 1, 1, 1, 0x1p-23)), "4", ""),
		same("k addends", "3.1.4: bits for the carries of 5", fmt.Sprint(bits.Len(5-1)), "3", ""),
		same("{3.23}", "3.1.4: 15/8 + 1 + 3/2 + 7/4 + 15/8 without a third bit for carries", exact(float64(word&(1<<26-1))*0x1p-23), "0", ""),
		same("V100", "section 4, 2.: 1 - 2^-24 and four times 2^-24 by additions in binary32 with RZ, the largest first", exact(carried), exact(inOrder(fp.RZ, 1-tiny, tiny, tiny, tiny, tiny)),
			"partial sums are not normalized: section 4, 5."),
		same("V100", "section 4, 2.: 1 + (-1 + 2^-24) by an addition in binary32 with RZ", exact(cancelled), exact(inOrder(fp.RZ, 1, tiny-1)),
			"a term is cut before it is added, without guard digits: section 3.1.4"),
	}, nil
}

// fasiSubtraction makes entries of the experiment of section 3.1.4 of Fasi et al. about subtraction:
// V100's sum, and what an adder gives that normalizes its sums and has no guard digit either, in
// all orders.
func fasiSubtraction(context.Context, *Request) ([]entry, error) {
	volta, err := mma.Lookup(smtUnits[0][0], smtUnits[0][1])
	if err != nil {
		return nil, err
	}
	params := volta.Params
	params.L = 1 // a sum is normalized after each term
	formats := mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	m, err := sim.New(formats, 2, params)
	if err != nil {
		return nil, err
	}
	const tiny, c = 0x1p-24, 0x1p-24 - 1
	f := fp.FP32.Get()
	var all []entry
	var largest []string
	differs := true // from V100, in all orders that start from the largest summand
	for _, p := range []struct {
		order  string
		terms  [3]float64
		theirs float64
	}{
		{"(1 + c) - 2^-24", [3]float64{1, c, -tiny}, 0x1p-23 - 0x1p-24},
		{"(-2^-24 + 1) + c", [3]float64{1, -tiny, c}, 0x1p-23},
		{"(c - 2^-24) + 1", [3]float64{c, -tiny, 1}, 0},
	} {
		d := mma.NewDot(formats, 2)
		d.C = f.FromFloat64(p.terms[0])
		for k := range d.A {
			d.A[k], d.B[k] = f.FromFloat64(p.terms[k+1]), f.FromFloat64(1)
		}
		v := f.Float64(m.Dot(d, nil))
		all = append(all, same("normalized sums without guard digits", "c = -1 + 2^-24: "+p.order, Number(v).exactly(), Number(p.theirs).exactly(), ""))
		if p.terms[0] == 1 {
			largest, differs = append(largest, Number(v).exactly()), differs && v != 0x1p-23
		}
	}
	orders := strings.Join(largest, ", ")
	return append(all,
		same("normalized sums with guard digits", "c = -1 + 2^-24: (1 + c) - 2^-24", Number(inOrder(fp.RZ, 1, c, -tiny)).exactly(), "0", ""),
		same("normalized sums without guard digits", "c = -1 + 2^-24, 1 and -2^-24 in the orders that start from 1, the largest: the result if the partial sums are normalized", orders, "0",
			"0 takes guard digits, or an order that does not start from the largest; the paper's own explanation has both of these results"),
		says("normalized sums without guard digits", "we can conclude that the result of the subtraction is not normalized, if summands are accumulated on the largest in a fixed order", orders, "none is V100's "+Number(0x1p-23).exactly(), differs,
			"(1 - 2^-24) + c is a fixed order that starts from the largest, and a normalized sum gives the same as V100: the experiment shows that guard digits are missing")), nil
}

// fasiTruncation makes entries of sections 3.1.3, 3.1.4 and 4 of Fasi et al.: whether additions round
// towards zero, whatever the signs, and a third bit for carries, which takes products in [2, 4).
func fasiTruncation(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, unit := range [][2]string{smtUnits[0], fasiT4, fasiA100, {"ampere", "mma.m16n8k16.f32.bf16.bf16.f32"}, {"ampere", "mma.m16n8k8.f32.tf32.tf32.f32"}} {
		x := experiment{"3.1.3 and 4: 1 - 2^-30 rounded towards zero", unit, []float64{-0x1p-15}, []float64{0x1p-15}, 1, rounded(fp.FP32, 1-0x1p-30, fp.RZ)}
		e, err := x.entry()
		if err != nil {
			return nil, err
		}
		e.Why = "each term is cut before it is added: to round a difference towards zero does take guard digits. Valpey et al., section 4.2, has more cases"
		all = append(all, e)
	}
	for _, unit := range [][2]string{smtUnits[0], fasiT4} {
		carried := 0
		for place := range 4 {
			x := experiment{unit: unit, a: []float64{1.75, 1.75, 1.75, 1.75}, b: []float64{1.75, 1.75, 1.75, 1.75}, c: 1 + 7*0x1p-23}
			x.a[place], x.b[place] = 1, 0x1p-23
			_, v, err := x.run(nil)
			if err != nil {
				return nil, err
			}
			x.b[place] = 0
			_, without, err := x.run(nil)
			if err != nil {
				return nil, err
			}
			if v == 10.1875+0x1p-20 && without == 10.1875 {
				carried++
			}
		}
		all = append(all, same(strings.Join(unit[:], "/"), "3.1.4: inputs that show the third bit for carries: c = 1 + 7 * 2^-23, three times 7/4 * 7/4, and 2^-23 in each place, where the sum is exact, 10.1875 + 2^-20", fmt.Sprintf("%d of 4", carried), "no combination of inputs",
			"products may lie in [2, 4), and 2^-23 is one whose last bit counts"))
	}
	return all, nil
}

// fasiSimilar makes entries of section 3.1.4 of Fasi et al.: other architectures without
// normalization of partial sums are most likely not monotone. The inputs are those of fasiTF32
// with terms of all sizes: 9/4 as 3/2 * 3/2 or, with a larger exponent, as 2 * 9/8, and small
// terms, of which the larger exponent cuts more.
func fasiSimilar(context.Context, *Request) ([]entry, error) {
	larger := func(i *mma.Instruction) (bool, error) { // 9/4 with the smaller exponent gives more
		m, err := sim.ForInstruction(i)
		if err != nil {
			return false, err
		}
		a, d := i.A.Get(), mma.NewDot(i.Formats, i.K)
		for n := range 8 * 40 {
			size, sign := n/8, float64(1-n%2*2)
			other := sign * []float64{1, 3, 7, 24}[n/2%4] // so that the sums lie on both sides of a result
			d.C = i.C.Get().FromFloat64(math.Ldexp(other, -size))
			for k := range i.Params.Step(i.K) {
				d.A[k], d.B[k] = a.FromFloat64(sign*math.Ldexp(1, -size/2)), a.FromFloat64(math.Ldexp(1, size/2-size))
			}
			d.A[1] = a.FromFloat64(math.Ldexp(other, -size/2))
			nine := func(x, y float64) float64 {
				d.A[0], d.B[0] = a.FromFloat64(x), a.FromFloat64(y)
				return i.D.Get().Float64(m.Dot(d, nil))
			}
			if nine(1.5, 1.5) > nine(2, 1.125) {
				return true, nil
			}
		}
		return false, nil
	}
	all, not := map[string]int{}, map[string]int{}
	var order []string
	for _, i := range mma.Catalog() {
		if i.Refuse != "" || i.A != i.B || i.A != fp.FP16 && i.A != fp.BF16 || i.C != fp.FP32 || i.D != fp.FP32 || i.Params.Step(i.K) < 4 || i.Params.Stage0 != (mma.Stage{}) && i.Params.Stage0.Sum != mma.Fused {
			continue // of the last ones the sum of each two is normalized
		}
		found, err := larger(&i)
		if err != nil {
			return nil, err
		}
		if all[i.Arch]++; all[i.Arch] == 1 {
			order = append(order, i.Arch)
		}
		if found {
			not[i.Arch]++
		}
	}
	const exact = "CDNA1's sums are exact and rounded once, which is monotone; so are correctly rounded sums such as those of Tao et al. (2013), whom the paper names"
	var entries []entry
	for _, arch := range order {
		entries = append(entries, same(arch, "3.1.4: instructions of FP16 and BF16 with sums of four and more terms, not normalized, that are not monotone", fmt.Sprintf("%d of %d", not[arch], all[arch]), fmt.Sprintf("%d of %d", all[arch], all[arch]), exact))
	}
	return entries, nil
}

// fasiWidths makes entries of the internal significand of Fasi et al., and of its order.
func fasiWidths(ctx context.Context, _ *Request) ([]entry, error) {
	const why = "products lie in [1, 4) and are not normalized, which takes a bit more than the paper's sums of numbers below 2"
	const eight = why + "; a step has eight products, and not four"
	orders := map[[2]any]*prove.Answer{}
	var all []entry
	for _, p := range []struct {
		unit        [2]string
		theirs, why string
	}{
		{smtUnits[0], "27: {4.23}", why},
		{fasiT4, "28: {4.24}", eight},
		{[2]string{"ampere", "mma.m16n8k8.f32.f16.f16.f32"}, "28: {4.24}", eight}, // of one step, as the next two
		{[2]string{"ampere", "mma.m16n8k8.f32.bf16.bf16.f32"}, "28: {4.24}", eight},
		{[2]string{"ampere", "mma.m16n8k4.f32.tf32.tf32.f32"}, "28: {4.24}", why},
	} {
		u, err := simulatedUnit(p.unit[0], p.unit[1])
		if err != nil {
			return nil, err
		}
		ask := func(property string) (*prove.Answer, error) {
			some, err := prove.PropertiesNamed(property)
			if err != nil {
				return nil, err
			}
			return prove.Ask(ctx, "sim:"+p.unit[0], u.Unit, some[0], prove.Options{})
		}
		adder, err := ask("adder")
		if err != nil {
			return nil, err
		}
		f := int(u.inst().Params.Join.Align.F)
		all = append(all, same(u.name, "bits of the internal significand that some sum takes, and that are enough", fmt.Sprintf("%d: {%d.%d}", adder.Bits, adder.Bits-f, f), p.theirs, p.why))
		arithmetic := [2]any{u.inst().Formats, u.inst().Params}
		order, ok := orders[arithmetic] // that of A100 in FP16 is that of T4
		if !ok {
			if order, err = ask("order"); err != nil {
				return nil, err
			}
			orders[arithmetic] = order
		}
		all = append(all, same(u.name, "the order of the remaining summands changes no result", string(order.Verdict), string(prove.Holds), ""))
	}
	return all, nil
}

// fasiAlignment makes entries of section 3.1.4, 3), of Fasi et al. and of section 4, 4.: whether terms
// are cut at the exponent of the largest value. With L bits, terms of 2^-L count at an exponent of 0.
// A product of 9/4 has that as 3/2 * 3/2; one with the smallest subnormal operand has 1, however
// small it is, and the largest value is c = 1.
func fasiAlignment(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, unit := range [][2]string{smtUnits[0], fasiT4, fasiA100, {"ampere", "mma.m16n8k16.f32.bf16.bf16.f32"}, {"ampere", "mma.m16n8k8.f32.tf32.tf32.f32"}} {
		i, err := mma.Lookup(unit[0], unit[1])
		if err != nil {
			return nil, err
		}
		printed, bits := i.Params, int(i.Params.Join.Align.F)
		printed.Prod.Exp = mma.Normalised
		m, err := sim.New(i.Formats, i.K, printed)
		if err != nil {
			return nil, err
		}
		a, tiny, rest := i.A.Get(), 0x1p-12, math.Ldexp(1, 12-bits)
		subnormal, large := math.Ldexp(1, int(a.Emin())-int(a.FracBits)), math.Ldexp(1, 1-int(a.Emin()))
		for _, x := range []experiment{
			{fmt.Sprintf("3.1.4, 3): addends are shifted relative to the exponent of the largest value: 3/2 * 3/2 and four times 2^-%d", bits), unit,
				[]float64{1.5, tiny, tiny, tiny}, []float64{1.5, rest, rest, rest}, tiny * rest, 0},
			{fmt.Sprintf("3.1.2 and section 4, 4.: the summands are accumulated starting with the largest one: c = 1, %v as a product with a subnormal operand, and twice 2^-%d", Number(subnormal*large).exactly(), bits), unit,
				[]float64{subnormal, tiny, tiny}, []float64{large, rest, rest}, 1, 0},
		} {
			x.theirs = i.D.Get().Float64(m.Dot(x.dot(i), nil))
			e, err := x.entry()
			if err != nil {
				return nil, err
			}
			e.Why = "terms are cut at the largest exponent, which of a product is the sum of its operands' exponents: less than that of its value if its significand is in [2, 4), and more if an operand is subnormal"
			all = append(all, e)
		}
	}
	return all, nil
}

// fasiAgain makes entries of sections 3.1 to 3.3 of Fasi et al.: the experiments of V100 on the
// instruction that the paper calls, and on other devices and formats, where the operands have
// their numbers.
func fasiAgain(context.Context, *Request) ([]entry, error) {
	differ := func(of, unit, like [2]string) (names []string, count int, err error) {
		for _, x := range fasiSection3() {
			if x.unit != of {
				continue
			}
			y := x
			x.unit, y.unit = unit, like
			i, v, err := x.run(nil)
			if err != nil {
				return nil, 0, err
			}
			_, w, err := y.run(nil)
			if err != nil {
				return nil, 0, err
			}
			if slices.ContainsFunc(slices.Concat(x.a, x.b), func(v float64) bool { return i.A.Get().Float64(i.A.Get().FromFloat64(v)) != v }) {
				continue
			}
			if count++; v != w {
				names = append(names, x.what)
			}
		}
		return names, count, nil
	}
	var all []entry
	for _, p := range []struct {
		section        string
		of, unit, like [2]string
	}{
		{"3.1", smtUnits[0], [2]string{"volta", "wmma.m16n16k16.f32.f16.f16.f32"}, smtUnits[0]},
		{"3.1", fasiHalf, [2]string{"volta", "wmma.m16n16k16.f16.f16.f16.f16"}, fasiHalf},
		{"3.2", fasiHalf, [2]string{"turing", "wmma.m16n16k16.f16.f16.f16.f16"}, fasiHalf},
		{"3.2", fasiHalf, [2]string{"turing", "mma.m16n8k8.f16.f16.f16.f16"}, fasiHalf},
		{"3.3", fasiHalf, [2]string{"ampere", "mma.m16n8k16.f16.f16.f16.f16"}, fasiHalf},
		{"3.3", smtUnits[0], fasiA100, fasiT4},
		{"3.3", smtUnits[0], [2]string{"ampere", "mma.m16n8k16.f32.bf16.bf16.f32"}, fasiT4},
		{"3.3", smtUnits[0], [2]string{"ampere", "mma.m16n8k8.f32.tf32.tf32.f32"}, fasiT4},
	} {
		names, count, err := differ(p.of, p.unit, p.like)
		if err != nil {
			return nil, err
		}
		all = append(all, same(strings.Join(p.unit[:], "/"), fmt.Sprintf("%s: results of the %d experiments of V100 with these numbers that differ from those of %s", p.section, count, strings.Join(p.like[:], "/")), fmt.Sprint(len(names)), "0", ""))
	}
	code, err := machineCode()
	if err != nil {
		return nil, err
	}
	for _, p := range []struct{ kernel, theirs string }{
		{"volta/wmma.m16n16k16.f32.f16.f16.f32", "HMMA.884"},
		{"volta/mma.m8n8k4.f32.f16.f16.f32", "HMMA.884"},
		{"turing/wmma.m16n16k16.f32.f16.f16.f32", "HMMA.1688"},
		{"turing/mma.m16n8k8.f32.f16.f16.f32", "HMMA.1688"},
	} {
		var shapes []string
		for _, w := range strings.Split(code[p.kernel], ", ") {
			name := strings.Join(strings.SplitN(w, ".", 3)[:2], ".")
			if !slices.Contains(shapes, name) {
				shapes = append(shapes, name)
			}
		}
		all = append(all, same(p.kernel, "3.1: machine instructions", strings.Join(shapes, ", "), p.theirs, ""))
	}
	direct, err := ptxVersion("mma_m8n8k4_f32_f16_f16_f32")
	if err != nil {
		return nil, err
	}
	all = append(all, same("V100", "3.1: the lowest interface of CUDA to tensor cores, and its first PTX version", "mma.m8n8k4 of PTX, "+direct, "wmma::mma_sync", "PTX's instruction is below wmma and is of the CUDA that the paper uses on V100; both are the same machine instructions"))
	names, count, err := differ(smtUnits[0], fasiT4, smtUnits[0])
	if err != nil {
		return nil, err
	}
	bf16, tf32 := fp.BF16.Get(), fp.TF32.Get()
	other := 0
	for code := uint64(1); code < 1<<bf16.FracBits; code++ {
		if v := bf16.Float64(code); float64(float32(v)) != v || math.Abs(v) >= 0x1p-126 {
			other++
		}
	}
	subnormals := func(f *fp.Format) int { return 2 * (1<<f.FracBits - 1) }
	return append(all,
		entry{strings.Join(fasiT4[:], "/"), fmt.Sprintf("3.2: of the %d experiments of V100, those with another result", count), fmt.Sprintf("%d: %s", len(names), strings.Join(names, "; ")), "some of the results were different", len(names) > 0, "", statement},
		same("bfloat16", "3.3: subnormals that are none of binary32", fmt.Sprint(other), "0", ""),
		entry{"TensorFloat-32", "3.3: subnormals, and those of bfloat16", fmt.Sprint(subnormals(tf32), subnormals(bf16)), "more, by three bits of the significand", subnormals(tf32) > subnormals(bf16) && tf32.FracBits-bf16.FracBits == 3, "", statement}), nil
}

// fasiFP64 makes the entry of section 3.3 of Fasi et al. about binary64: a chain of operations of
// IEEE 754, on inputs of all generators.
func fasiFP64(context.Context, *Request) ([]entry, error) {
	i, err := mma.Lookup("ampere", "mma.m8n8k4.f64.f64.f64.f64")
	if err != nil {
		return nil, err
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		return nil, err
	}
	count, fused, apart := 0, 0, 0
	for _, d := range gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, 1, 0, &i.Params) {
		ours, sum := i.D.Get().Float64(m.Dot(d, nil)), i.C.Get().Float64(d.C)
		for k := range d.A {
			product := i.A.Get().Float64(d.A[k]) * i.B.Get().Float64(d.B[k])
			sum += product
		}
		if chain := fmaChain(i, d); !math.IsNaN(chain) {
			count++
			if ours != chain {
				fused++
			}
			if ours != sum {
				apart++
			}
		}
	}
	return []entry{
		same(i.FullName(), fmt.Sprintf("3.3: normalized and rounded to nearest after each addition: results that differ from a chain of fused operations of IEEE 754, of %d that are numbers", count), fmt.Sprint(fused), "0", ""),
		{i.FullName(), "3.3: results that differ from a chain of multiplications and additions", fmt.Sprint(apart), "there would be no advantage in holding products exactly", false, "products are held exactly, in fused operations, and that changes these results", ""},
	}, nil
}

// fasiConversion makes the entry of section 3.1.3 of Fasi et al. about results in binary16: whether
// they can be conversions of those in binary32.
func fasiConversion(context.Context, *Request) ([]entry, error) {
	x := experiment{"", fasiHalf, []float64{1.5, 1.75, 0x1p-9, 0x1p-12}, []float64{1.5, 1, 1, 0x1p-11}, 0, 0}
	i, direct, err := x.run(nil)
	if err != nil {
		return nil, err
	}
	x.unit = smtUnits[0]
	_, single, err := x.run(nil)
	if err != nil {
		return nil, err
	}
	return []entry{same(i.FullName(), "3.1.3: 9/4 + 7/4 + 2^-9 + 2^-23, and a conversion of the binary32 result", Number(direct).exactly(), Number(rounded(fp.FP16, single, fp.RNE)).exactly(),
		"the conversion that the paper supposes has lost 2^-23 before a tie; the unit of Xie et al., Table 4, rounds its sum once")}, nil
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

// fasiT4 and fasiA100 are instructions of section 3.2 and 3.3 of Fasi et al., fasiHalf is V100's
// with results in binary16.
var fasiT4, fasiA100, fasiHalf = [2]string{"turing", "mma.m16n8k8.f32.f16.f16.f32"}, smtUnits[2], [2]string{"volta", "mma.m8n8k4.f16.f16.f16.f16"}

// fasiSection3 are the experiments in the text of section 3 of Fasi et al.
func fasiSection3() []experiment {
	volta, half, bf16 := smtUnits[0], fasiHalf, [2]string{"ampere", "mma.m16n8k16.f32.bf16.bf16.f32"}
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
		{"3.1.1: 2^-48 beside the largest subnormal c", volta, []float64{tiny}, []float64{tiny}, 0x1p-126 - 0x1p-149, 0x1p-48},
		{"3.1.4: 15/8 + 1 + 3/2 + 7/4 + 15/8", volta, ones, []float64{1, 1.5, 1.75, 1.875}, 1.875, 8},
		{"3.1.4: c = 1 - 2^-24 and four times 2^-24", volta, ones, []float64{tiny, tiny, tiny, tiny}, 1 - tiny, 1 + 0x1p-23},
		{"3.1.4: c = 1 and four times 2^-24", volta, ones, []float64{tiny, tiny, tiny, tiny}, 1, 1},
		{"3.1.4: c = -1 + 2^-24 and four times -2^-24", volta, ones, []float64{-tiny, -tiny, -tiny, -tiny}, tiny - 1, -1 - 0x1p-23},
		{"3.1.4: c = -1 and four times -2^-24", volta, ones, []float64{-tiny, -tiny, -tiny, -tiny}, -1, -1},
		{"3.1.4: c = 1 + 2^-22 + 2^-23 and four times 1", volta, ones, ones, 1 + 0x1p-22 + 0x1p-23, 5},
		{"3.2: 1 + 2^-25 - 1: a second bit is lost", fasiT4, []float64{1, 0.5}, []float64{1, tiny}, -1, 0},
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
	return experiments
}

// fasiExperiments makes entries of them.
func fasiExperiments(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, x := range fasiSection3() {
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
	var monotone []entry // in none of the cases
	for _, p := range []struct {
		unit [2]string
		b    []float64
		what string
	}{
		{fasiT4, []float64{1, 1, 1, 3}, "2^-25, 2^-25, 2^-25 and 3 * 2^-25"},
		{fasiT4, []float64{1, 1, 1, 1, 1, 1, 1, 1}, "eight times 2^-25"},
		{fasiA100, []float64{1, 1, 1, 3}, "2^-25, 2^-25, 2^-25 and 3 * 2^-25"},
		{[2]string{"ampere", "mma.m16n8k8.f32.tf32.tf32.f32"}, []float64{1, 1, 1, 3}, "2^-25, 2^-25, 2^-25 and 3 * 2^-25"},
	} {
		x := experiment{unit: p.unit, a: slices.Repeat([]float64{0x1p-12}, len(p.b)), c: 1 - 0x1p-24}
		for _, v := range p.b {
			x.b = append(x.b, v*0x1p-13)
		}
		i, lower, err := x.run(nil)
		if err != nil {
			return nil, err
		}
		x.c = 1
		_, upper, err := x.run(nil)
		if err != nil {
			return nil, err
		}
		monotone = append(monotone, says(i.FullName(), "3.2 and 3.3: not monotone with other constants: c = 1 - 2^-24 and c = 1, with "+p.what,
			Number(lower).exactly()+", "+Number(upper).exactly(), "the first is larger", lower > upper, ""))
	}
	fused := experiment{"", [2]string{"ampere", "mma.m8n8k4.f64.f64.f64.f64"}, []float64{1 + 0x1p-52}, []float64{1 + 0x1p-52}, -1 - 0x1p-51, 0}
	i, v, err := fused.run(nil)
	if err != nil {
		return nil, err
	}
	return append(monotone, []entry{
		same("binary16", "3.1.1: bits of a product's significand", fmt.Sprint(bits.Len(2047*2047)), "22", ""),
		same("binary16", "3.1.1: numbers that are subnormal in binary32", fmt.Sprint(small), "0", ""),
		same("binary16", "3.1.1: the smallest nonzero product", Number(least).exactly(), Number(0x1p-48).exactly(), ""),
		same("binary32", "3.1.1: 2^-48 + x > 2^-48 for x = 2^-72, and for the next number", fmt.Sprint(above(0x1p-48, 0x1p-72), above(0x1p-48, next(0x1p-72))), "false true", ""),
		same("binary32", "3.1.3: 2 + x > 2 for x = 2^-23, and for the next number", fmt.Sprint(above(2, 0x1p-23), above(2, next(0x1p-23))), "false true", ""),
		same("15/8 + 1 + 3/2 + 7/4 + 15/8", "3.1.4: additions that carry", fmt.Sprintf("%d of 4", carries), "4 of 4", "35/8 + 7/4 stays below 8"),
		{i.FullName(), "3.3: (1 + 2^-52)^2 - (1 + 2^-51)", Number(v).exactly(), "as IEEE 754 operations: 2^-104 if fused, else 0", v == 0x1p-104 || v == 0, "", statement},
	}...), nil
}

// fasiRoundings makes entries of section 3.1.2 of Fasi et al.: how many roundings a sum has, and which
// modes of binary16 give what an experiment gives.
func fasiRoundings(context.Context, *Request) ([]entry, error) {
	const p = 1 - 0x1p-11
	five := experiment{"", smtUnits[0], []float64{p, p, p, p}, []float64{p / 4, p / 4, p / 4, p / 4}, 1.5 + 0x1p-23, 0}
	var t sim.Trace
	i, _, err := five.run(&t)
	if err != nil {
		return nil, err
	}
	value := func(d fp.Dyadic) float64 { return fp.FP64.Get().Float64(fp.FP64.Get().Encode(d, fp.RNE, fp.OverInf)) }
	last, inexact := t.Last(), 0
	for _, x := range last.Terms {
		if x.IsCut && value(x.Cut) != value(x.Value) {
			inexact++
		}
	}
	if value(last.Sum.Value) != i.D.Get().Float64(t.Result) {
		inexact++
	}
	exact := modesThat(func(mode fp.Mode) bool {
		half := func(v float64) float64 { return rounded(fp.FP16, v, mode) }
		return half(half(p*p)+half(p*0x1p-11)) == 1-0x1p-10+0x1p-11
	})
	return []entry{
		same(i.FullName(), "inexact roundings of 3/2 + 2^-23 and four times (1 - 2^-11)^2 / 4", fmt.Sprint(inexact), "up to 4", "four terms are cut, and the sum is rounded, too, which section 3.1.4 finds"),
		same("binary16 accumulator", "(1 - 2^-11)^2 + (1 - 2^-11) * 2^-11: modes that give the exact sum", exact, "none", "the first product rounds to 1 - 2^-10, and 1 - 2^-11 - 2^-22 to the exact sum: the experiment does not exclude this mode"),
	}, nil
}
