package study

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove"
)

// What Valpey et al. say beside their tables.

// says is an entry of a statement without a number; why is the reason if it does not hold.
func says(row, what, ours, theirs string, holds bool, why string) entry {
	if holds {
		why = ""
	}
	return entry{row, what, ours, theirs, holds, why, statement}
}

// assemblerCode has the arithmetic that NVIDIA's assembler makes of instructions, ARCHITECTURE/NAME,
// and the matrix instructions and conversions, if there are others than those: each with how often it
// occurs. A test of the kernels compares the file with the assembler's code.
func assemblerCode() (map[string][2]string, error) {
	text, err := os.ReadFile("../../devices/internal/nvidia/ptx/testdata/sass.tsv")
	if err != nil {
		return nil, err
	}
	code := map[string][2]string{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(f) == 3 {
			code[f[0]] = [2]string{f[1], f[2]}
		}
	}
	return code, nil
}

// machineCode has the matrix instructions and conversions of assemblerCode or, where there are none,
// the arithmetic.
func machineCode() (map[string]string, error) {
	both, err := assemblerCode()
	code := map[string]string{}
	for name, c := range both {
		if code[name] = c[1]; c[1] == "-" {
			code[name] = c[0]
		}
	}
	return code, err
}

// assembled is an entry about the machine code of an instruction, whose mnemonics without numbers
// are expected to be theirs.
func assembled(code map[string]string, name, what, theirs, why string) entry {
	var words []string
	for _, w := range strings.Split(code[name], ", ") {
		mnemonic, _, _ := strings.Cut(w, " ")
		words = append(words, mnemonic)
	}
	return same(name, what, strings.Join(words, ", "), theirs, why)
}

// smtFormats makes entries of the formats of section 3.1.
func smtFormats(context.Context, *Request) ([]entry, error) {
	return formatFacts([]string{"sign bits", "exponent bits", "mantissa bits", "bias"}, func(f *fp.Format) []int {
		return []int{1, int(f.ExpBits), int(f.FracBits), int(f.Bias)}
	}, []printedFormat{{fp.FP16, []int{1, 5, 10, 15}}, {fp.FP32, []int{1, 8, 23, 127}}}, nil)
}

// smtEquation makes the entry of equation 1, whose indices belong to another product.
func smtEquation(_ context.Context, r *Request) ([]entry, error) {
	const n = 4
	var a, b [n][n]int
	rng := rand.New(rand.NewPCG(r.Seed, 1))
	for i := range n {
		for j := range n {
			a[i][j], b[i][j] = 1+rng.IntN(100), 1+rng.IntN(100)
		}
	}
	of, printed := 0, 0
	for i := range n {
		for j := range n {
			product, equation := 0, 0
			for k := range n {
				product += a[i][k] * b[k][j]
				if i+k < n && j+k < n {
					equation += a[i+k][0] * b[0][j+k]
				}
			}
			of++
			if product == equation {
				printed++
			}
		}
	}
	return []entry{same("4x4 integers", "elements of D = A*B that equation 1 gives", fmt.Sprint(printed), fmt.Sprint(of),
		"its indices are those of a column of A and of a row of B, and C is missing; the text around it has a row of A, a column of B and C")}, nil
}

// smtInstruction makes entries of what section 3.1 says of HMMA.
func smtInstruction(context.Context, *Request) ([]entry, error) {
	code, err := machineCode()
	if err != nil {
		return nil, err
	}
	full, err := assemblerCode()
	if err != nil {
		return nil, err
	}
	products, err := multiplications()
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, p := range [][2]string{{"volta/mma.m8n8k4.f32.f16.f16.f32", "HMMA.884"}, {"volta/wmma.m16n16k16.f32.f16.f16.f32", "HMMA.884"},
		{"turing/mma.m8n8k4.f32.f16.f16.f32", "HMMA.884"}, {"turing/wmma.m16n16k16.f32.f16.f16.f32", "HMMA.884"},
		{"ampere/mma.m16n8k8.f32.f16.f16.f32", "HMMA.16816"}, {"ampere/mma.m16n8k16.f32.f16.f16.f32", "HMMA.16816"}, {"ampere/wmma.m16n16k16.f32.f16.f16.f32", "HMMA.16816"}} {
		all = append(all, says(p[0], "machine instructions", code[p[0]], p[1], strings.HasPrefix(code[p[0]], p[1]), "HMMA.1688 is what wmma on Turing, as in Sun et al., section 2.2, and mma.m16n8k8 on Turing and Ampere are made of: of Turing's instructions only mma.m8n8k4 is made of HMMA.884, and Ampere has both HMMA.1688 and HMMA.16816"))
	}
	for _, name := range []string{"ampere/mma.m8n8k4.f32.f16.f16.f32", "ampere/mma.m8n8k4.f16.f16.f16.f16"} {
		all = append(all, same(name, "HMMA", orNone(beginning(code[name], "HMMA")), "none", ""),
			same(name, "arithmetic that is no FMA", orNone(append(beginning(full[name][0], "FADD"), beginning(full[name][0], "FMUL")...)), "none",
				"the paper has a sequence of FMA: FFMA sums the products, of FP16 results two by two after an FMUL, and FADD adds these sums and c"))
	}
	all = append(all, same("volta/mma.m8n8k4.f32.f16.f16.f32", "matrix multiplications of an instruction and warp", fmt.Sprint(products), "1: all threads cooperate",
		"each of the four groups of eight threads (quad pairs) has its own: D is 8x8, and the warp has 32 times the registers of D that PTX lists"))
	for n, name := range smtUnits {
		i, err := mma.Lookup(name[0], name[1])
		if err != nil {
			return nil, err
		}
		all = append(all, same(i.FullName(), "products of a step", fmt.Sprint(i.Params.L), []string{"4", "4", "8"}[n], ""),
			same(i.FullName(), "A and B of the machine instruction", fmt.Sprintf("%sx%d and %dx%s", i.M, i.K, i.K, i.N), []string{"4x4", "4x4", "8x8"}[n],
				"its name has m, n and k; the paper's number is that of the products of a step"))
	}
	const larger = "HMMA.1688, of which ptxas makes Turing's wmma and mma.m16n8k8, sums eight products and c in a step, 9 terms: Xie et al., Table 4"
	step, err := mma.Lookup(fasiT4[0], fasiT4[1])
	if err != nil {
		return nil, err
	}
	fifth, err := (&experiment{"5-term accumulator: 2^28 - 2^28, and 1 as the fifth product", fasiT4, []float64{0x1p14, -0x1p14, 0, 0, 1}, []float64{0x1p14, 0x1p14, 0, 0, 1}, 0, 1}).entry()
	if err != nil {
		return nil, err
	}
	fifth.Why = larger
	all = append(all, same(step.FullName(), "products of a step", fmt.Sprint(step.Params.L), "4", larger), fifth)
	for n, arch := range []string{"volta", "turing", "ampere"} {
		var of, others []string
		shape, _, _ := strings.Cut(smtUnits[n][1], ".f32")
		for _, i := range mma.Of(arch) {
			if strings.HasPrefix(i.Name, shape+".") && i.A == fp.FP16 {
				of = append(of, fmt.Sprintf("%s with %s", i.D, i.C))
			}
		}
		for name := range code {
			if strings.HasPrefix(name, arch+"/") && (strings.Contains(name, "bf16") || strings.Contains(name, "tf32")) {
				others = append(others, beginning(code[name], "HMMA")...)
			}
		}
		slices.Sort(of)
		slices.Sort(others)
		all = append(all, same(arch+"/"+shape, "D with C", strings.Join(of, ", "), "fp16 with fp16, fp16 with fp32, fp32 with fp16, fp32 with fp32",
			"PTX has no others of this shape; of wmma with D and C of two formats, which it has, ptxas 12.9 makes HMMA with FP32 results and conversions (F2F on sm_70 and sm_75, F2FP on sm_80)"),
			same(arch, "HMMA whose A and B are not F16, of the instructions that are assembled", orNone(slices.Compact(others)), "none",
				"the paper has always F16: Ampere's HMMA is also for BF16 and TF32, the latter of which the paper itself names in the next sentence"))
	}
	for _, p := range []struct{ arch, before, theirs, missing string }{{"turing", "volta", "s4, s8, u4, u8", "1-bit integers"}, {"ampere", "turing", "fp64, tf32", "BF16"}} {
		var fresh []string
		for _, i := range mma.Of(p.arch) {
			if name := i.A.String(); strings.Contains(i.Name, "mma") && has(p.arch, i.A) && !has(p.before, i.A) && !slices.Contains(fresh, name) {
				fresh = append(fresh, name)
			}
		}
		slices.Sort(fresh)
		all = append(all, same(p.arch, "formats of A that "+p.before+" has not", strings.Join(fresh, ", "), p.theirs, "the paper's list lacks "+p.missing))
	}
	return all, nil
}

// beginning are the mnemonics of a list of machine instructions and their numbers that begin with a
// word.
func beginning(list, word string) []string {
	var all []string
	for _, w := range strings.Split(list, ", ") {
		if mnemonic, _, _ := strings.Cut(w, " "); strings.HasPrefix(mnemonic, word) {
			all = append(all, mnemonic)
		}
	}
	return all
}

// orNone lists words.
func orNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

// multiplications is how many matrix multiplications a warp's mma.m8n8k4 makes: PTX lists the
// registers of D that a thread has, each of one element.
func multiplications() (int, error) {
	text, err := os.ReadFile("../../devices/internal/nvidia/ptx/testdata/mma_m8n8k4_f32_f16_f16_f32.ptx")
	if err != nil {
		return 0, err
	}
	_, list, _ := strings.Cut(string(text), "mma.sync.aligned.m8n8k4")
	_, list, _ = strings.Cut(list, "{")
	list, _, _ = strings.Cut(list, "}")
	return 32 * len(strings.Split(list, ",")) / (8 * 8), nil
}

// has reports whether an architecture has an instruction with a format of A.
func has(arch string, id fp.ID) bool {
	for _, i := range mma.Of(arch) {
		if i.A == id && i.Refuse == "" && strings.Contains(i.Name, "mma") {
			return true
		}
	}
	return false
}

// smtProperty1 makes entries of Property 1: a sum of two products that FP16 does not have is an
// FP16 number, and a sum of rounded products is another one.
func smtProperty1(context.Context, *Request) ([]entry, error) {
	const ab, cd = 1025 * 0x1p-10, 1023 * 0x1p-10 // (1 + 2^-10)^2 - (1 + 2^-10) * (1 - 2^-10)
	half := fp.FP16.Get()
	round := func(v float64) float64 { return half.Float64(half.FromFloat64(v)) }
	var all []entry
	for _, u := range smtUnits {
		e, err := (&experiment{"a*b + c*d, a = b = d = 1 + 2^-10, c = 2^-10 - 1", [2]string{u[0], strings.ReplaceAll(u[1], "f32", "f16")}, []float64{ab, -cd}, []float64{ab, ab}, 0, ab*ab - cd*ab}).entry()
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	rounded := round(round(ab*ab) - round(cd*ab))
	return append(all, says("binary16", "the same with products in FP16", Number(rounded).exactly(), "another", rounded != ab*ab-cd*ab && round(ab*ab) != ab*ab && round(cd*ab) != cd*ab, "")), nil
}

// smtTruncation makes entries of section 4.2: where cutting each term differs from rounding towards zero.
func smtTruncation(_ context.Context, r *Request) ([]entry, error) {
	negative := cut32(-(2 - 0x1p-40))
	all := []entry{
		says("-(2 - 2^-40)", "rounded towards zero", Number(negative).exactly(), "not greater than the true result", negative <= -(2-0x1p-40), "of magnitudes only, as the section says before: towards zero is upwards if the result is negative"),
		same("2 - 2^-40", "rounded towards zero", Number(cut32(2-0x1p-40)).exactly(), Number(2-0x1p-23).exactly(), ""),
		same("2 - 2^-40", "rounded to nearest, as if it were the units' result", Number(float32(2-0x1p-40)).exactly(), "2", ""),
		same("2 - 2^-40", "bits by which 2^-40 is shifted", fmt.Sprint(math.Ilogb(2)-math.Ilogb(0x1p-40)), "41", ""),
	}
	for _, name := range smtUnits {
		least := 1
		for _, x := range []float64{1, 1.5} {
			for ; ; least++ {
				x := experiment{unit: name, a: []float64{x}, b: []float64{x}, c: -math.Ldexp(1, math.Ilogb(x*x)-least)}
				if _, v, err := x.run(nil); err != nil {
					return nil, err
				} else if v == x.a[0]*x.b[0] {
					break
				}
			}
		}
		all = append(all, same(strings.Join(name[:], "/"), "difference of exponents from which on a subtraction from 1 * 1 and 3/2 * 3/2 is that of 0", fmt.Sprint(least), "24",
			"printed is \"greater than the number of bits in the mantissa (23 in this case)\"; a product of 9/4 is aligned at an exponent of 0, so that one bit more counts, and Ampere keeps one of those that are shifted out, as section 4.3 says"))
	}
	for _, name := range smtUnits {
		i, err := mma.Lookup(name[0], name[1])
		if err != nil {
			return nil, err
		}
		exact := i.Params
		exact.Join.Align, exact.Acc.Mode = mma.Align{}, fp.RZ
		for _, p := range []struct {
			what, theirs, why   string
			k                   int
			opposite, subnormal bool
			differ              bool
		}{
			{"a product of normal numbers and c of the same sign", onlySubtraction, "", 1, false, false, false},
			{"a product and c of opposite signs", "not always towards zero", "", 1, true, false, true},
			{"two products and c of the same sign", onlySubtraction, "each term is cut before it is added: what two lose can make a unit in the last place", 2, false, false, false},
			{"a product with a subnormal a and c of the same sign", onlySubtraction, "a product is aligned at the exponent of its operands, and that of a subnormal one is 2^-14: less of c is left", 1, false, true, false},
		} {
			wrong, err := apart(i, p.k, p.opposite, p.subnormal, exact, r)
			if err != nil {
				return nil, err
			}
			all = append(all, says(i.FullName(), p.what+": not rounded towards zero", fmt.Sprintf("%d of %d", wrong, r.Count), p.theirs, (wrong > 0) == p.differ, p.why))
		}
	}
	return all, nil
}

const onlySubtraction = "towards zero: the difference only manifests in effective subtraction"

// apart counts the random inputs on which an instruction and a program differ: k products of one
// sign, and a c of the same or the opposite sign whose exponent is near.
func apart(i *mma.Instruction, k int, opposite, subnormal bool, other mma.Params, r *Request) (wrong int, err error) {
	m, err := sim.New(i.Formats, k, i.Params)
	if err != nil {
		return 0, err
	}
	n, err := sim.New(i.Formats, k, other)
	if err != nil {
		return 0, err
	}
	rng := rand.New(rand.NewPCG(r.Seed, 42))
	a, b, c := i.A.Get(), i.B.Get(), i.C.Get()
	for range r.Count {
		d := mma.NewDot(i.Formats, k)
		least := 0.0
		for at := range k {
			d.A[at] = a.FromFloat64(math.Ldexp(1+rng.Float64(), rng.IntN(6)))
			if subnormal {
				d.A[at] = 1 + rng.Uint64N(1<<a.FracBits-1)
			}
			d.B[at] = b.FromFloat64(math.Ldexp(1+rng.Float64(), rng.IntN(6)))
			least = a.Float64(d.A[at]) * b.Float64(d.B[at])
		}
		d.C = c.FromFloat64(math.Ldexp((1+rng.Float64())*least, rng.IntN(40)-20))
		if opposite {
			d.C |= c.SignBit()
		}
		if m.Dot(d, nil) != n.Dot(d, nil) {
			wrong++
		}
	}
	return wrong, nil
}

// smtListing2 makes entries of Listing 1.2 and of what section 4.2 says of it: no instruction comes
// between those of the matrix and the store, thus no conversion.
func smtListing2(context.Context, *Request) ([]entry, error) {
	code, err := machineCode()
	if err != nil {
		return nil, err
	}
	all := []entry{assembled(code, "volta/mma.m8n8k4.f16.f16.f16.f16", "matrix instructions and conversions", "HMMMA.884.F16.F16.STEP0, HMMMA.884.F16.F16.STEP1", "a misprint: HMMMA is no instruction")}
	for _, name := range []string{"volta/mma.m8n8k4.f16.f16.f16.f16", "turing/mma.m8n8k4.f16.f16.f16.f16", "turing/mma.m16n8k8.f16.f16.f16.f16", "ampere/mma.m16n8k16.f16.f16.f16.f16"} {
		all = append(all, same(name, "conversions to FP16", orNone(beginning(code[name], "F2F")), "none", ""))
	}
	return all, nil
}

// smtTimes makes entries of what the text says of Table 4's times.
func smtTimes(context.Context, *Request) ([]entry, error) {
	// Inputs, as section 5 counts them, and seconds of Z3 and cvc5.
	times := []struct {
		query   string
		inputs  int
		seconds [2]float64
	}{
		{"Exact Multiplication", 2, [2]float64{0.55, 0.027}}, {"Exact Addition in FP16", 2, [2]float64{27.59, 0.12}},
		{"Rounding of Final Result", 2, [2]float64{0.52, 0.008}}, {"Rounding of Accumulator", 2, [2]float64{0.34, 0.017}},
		{"Accumulation Order", 3, [2]float64{9.87, 0.25}}, {"Normalization", 3, [2]float64{9.63, 0.25}},
		{"Subnormal FP16 Inputs", 2, [2]float64{0.117, 0.016}}, {"Subnormal FP16 Outputs", 2, [2]float64{0.682, 0.024}},
		{"3 Carry Bits", 9, [2]float64{410.25, 72.793}},
	}
	var all []entry
	for n, solver := range []string{"Z3", "cvc5"} {
		below, order := 0, ""
		for _, x := range times {
			if x.seconds[n] < 1 {
				below++
			}
			for _, y := range times {
				if x.inputs < y.inputs && x.seconds[n] > y.seconds[n] {
					order = fmt.Sprintf("%s, %d inputs, takes %v s; %s, %d, %v s", x.query, x.inputs, x.seconds[n], y.query, y.inputs, y.seconds[n])
				}
			}
		}
		if order == "" {
			order = "yes"
		}
		all = append(all,
			says(solver, "queries answered in less than a second", fmt.Sprintf("%d of %d", below, len(times)+1), "in many cases", 2*below > len(times)+1, "half of them; 4 Carry Bits has no answer"),
			same(solver, "the more inputs, the longer", order, "yes", "the addition has four inputs if those of FP16 are counted, and takes longer than those of three in FP32"))
	}
	minutes := times[len(times)-1].seconds[1] / 60
	all = append(all, says("cvc5", "3 Carry Bits: minutes", fmt.Sprintf("%.2f", minutes), "just over one", minutes > 1 && minutes < 1.5, ""))
	for n, arch := range []string{"volta", "turing", "ampere"} {
		i, err := mma.Lookup(arch, smtUnits[n][1])
		if err != nil {
			return nil, err
		}
		all = append(all, same(i.FullName(), "inputs of a query about carries", fmt.Sprint(2*int(i.Params.L)+1), []string{"9", "9", "17"}[n], ""))
	}
	const least, largest = 0x1p-24 * 0x1p-24, 65504. * 65504
	return append(all, same("binary16", "section 5: bits of a product of significands, of FP32's 24", fmt.Sprint(bits.Len(2047*2047)), "22", ""),
		says("binary16", "section 5: the smallest and the largest product", fmt.Sprintf("%s and %s", Number(least).exactly(), Number(largest).exactly()), "always representable in FP32", least >= 0x1p-126 && float64(float32(largest)) == largest, "")), nil
}

// smtWidths makes entries of the sum's bits in Algorithm 1, whose products lie in [1, 2): those of
// the sum of the largest terms of one exponent, as many as an input takes, and as many as the
// terms could take if they were all ones.
func smtWidths(context.Context, *Request) ([]entry, error) {
	var all []entry
	for n, name := range smtUnits {
		i, err := mma.Lookup(name[0], name[1])
		if err != nil {
			return nil, err
		}
		printed, l := i.Params, int(i.Params.L)
		printed.Prod.Exp = mma.Normalised
		m, err := sim.New(i.Formats, l, printed)
		if err != nil {
			return nil, err
		}
		x := experiment{a: slices.Repeat([]float64{2047 * 0x1p-10}, l), b: slices.Repeat([]float64{2047 * 0x1p-11}, l), c: 2 - 0x1p-23}
		narrow := *i
		narrow.K = l
		var t sim.Trace
		m.Dot(x.dot(&narrow), &t)
		s, f := t.Last(), int32(printed.Join.Align.F)
		needed := bits.Len64(s.Sum.Value.Lo << (s.Sum.Value.Q - (s.E - f)))
		enough := bits.Len64(uint64(l+1) * (1<<(f+1) - 1))
		carry := []int{3, 3, 4}[n]
		row := i.FullName() + ", products in [1, 2)"
		all = append(all,
			same(row, "Algorithm 1, line 5: bits of the sum", fmt.Sprintf("%d, at most %d", needed, enough), []string{"27, at most 27", "28, at most 28", "29, at most 29"}[n], smtDisputed),
			same(row, "section 4.3: carries, those that are needed and those that are enough", fmt.Sprintf("%d, %d", needed-1-int(f), enough-1-int(f)), fmt.Sprintf("%d, %d", carry, carry), ""))
	}
	return all, nil
}

// smtMethods makes entries of the equations of section 6 and of a normalized sum.
func smtMethods(_ context.Context, r *Request) ([]entry, error) {
	rng := rand.New(rand.NewPCG(r.Seed, 6))
	half := fp.FP16.Get()
	wrong := [2]int{}
	for range r.Count {
		split := func() (whole, high, rest float64) {
			whole = float64(float32(math.Ldexp(1+rng.Float64(), rng.IntN(30)-15)))
			high = half.Float64(half.FromFloat64(whole))
			return whole, high, whole - high
		}
		a, ah, ar := split()
		b, bh, br := split()
		mul := func(x, y, scale float64) *big.Float {
			p := new(big.Float).SetPrec(500).Mul(big.NewFloat(x), big.NewFloat(y))
			return p.Quo(p, big.NewFloat(scale))
		}
		sum := func(s1, s2 float64) *big.Float { // residuals scaled by s1
			v := mul(ar*s1, br*s1, s2)
			v.Add(v, mul(ah, br*s1, s1))
			v.Add(v, mul(ar*s1, bh, s1))
			return v.Add(v, mul(ah, bh, 1))
		}
		for n, v := range []*big.Float{sum(1, 1), sum(0x1p11, 0x1p22)} {
			if v.Cmp(mul(a, b, 1)) != 0 {
				wrong[n]++
			}
		}
	}
	all := []entry{
		same("Markidis et al.", "products of FP32 that the sum of four does not give, in exact arithmetic", fmt.Sprint(wrong[0]), "0", ""),
		same("Ootomo and Yokota", "the same with residuals scaled by 2^11", fmt.Sprint(wrong[1]), "0", ""),
	}
	v := 1 - 0x1p-24
	for range 4 {
		v = cut32(v + 0x1p-24)
	}
	all = append(all, same("a sum that is normalized after each addition", "1 - 2^-24 and four times 2^-24", Number(v).exactly(), "1", ""),
		same("outside of the unit", "Table 5, step 6 (c): 1 + 2^-24 in FP32", Number(float32(1)+0x1p-24).exactly(), "1", ""))
	lowest, highest := math.MaxInt, math.MinInt
	for _, v := range append(slices.Concat(smtCounterexample.a, smtCounterexample.b), smtCounterexample.c) {
		lowest, highest = min(lowest, math.Ilogb(v)), max(highest, math.Ilogb(v))
	}
	all = append(all, says("Table 5", "exponents of the inputs, which are restricted", fmt.Sprintf("%d to %d", lowest, highest), "-15 to 14", lowest >= -15 && highest <= 14, "c is 2^-24: only A and B can have been restricted"))
	for _, name := range smtUnits {
		x := experiment{unit: name, a: smtCounterexample.a, b: smtCounterexample.b}
		var t sim.Trace
		i, _, err := x.run(&t)
		if err != nil {
			return nil, err
		}
		s := t.Sums[0]
		all = append(all, same(i.FullName()+smtRepaired, "Table 5, step 1: the largest exponent", fmt.Sprint(s.E), "-1", ""),
			same(i.FullName()+smtRepaired, "Table 5, step 5: the sum of four before it is normalized", Number(math.Ldexp(float64(s.Sum.Value.Lo), int(s.Sum.Value.Q))).exactly(), Number(1+0x1p-24).exactly(), "the bit that this unit keeps of those that are shifted out is part of the sum; its result is the same"))
	}
	return all, nil
}

// smtContributors makes entries of section 6: what the parts of Ootomo and Yokota's method do, between
// the method of Markidis et al. and theirs, of sums of many instructions with operands in (-1, 1).
func smtContributors(_ context.Context, r *Request) ([]entry, error) {
	const steps = 64
	count := max(1, r.Count/10)
	var all []entry
	for _, name := range smtUnits {
		i, err := mma.Lookup(name[0], name[1])
		if err != nil {
			return nil, err
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			return nil, err
		}
		product := func(a, b []float64, c float32) float32 {
			x := experiment{a: a, b: b, c: float64(c)}
			return float32(i.D.Get().Float64(m.Dot(x.dot(i), nil)))
		}
		half, rng := i.A.Get(), rand.New(rand.NewPCG(r.Seed, 7))
		draw := func() (whole, high, rest, scaled []float64) {
			for range i.K {
				v := float64(float32(2*rng.Float64() - 1))
				h := half.Float64(half.FromFloat64(v))
				whole, high, rest, scaled = append(whole, v), append(high, h), append(rest, v-h), append(scaled, (v-h)*0x1p11)
			}
			return whole, high, rest, scaled
		}
		better, errs := 0, [3]float64{} // by accumulation outside, and by scaling as well
		for range count {
			var inside, outside, scaled float32
			exact := 0.0
			for range steps {
				a, ah, ar, as := draw()
				b, bh, br, bs := draw()
				for k := range a {
					exact += a[k] * b[k]
				}
				inside = product(ah, bh, product(ar, bh, product(ah, br, product(ar, br, inside))))
				largest := product(ah, bh, 0)
				outside += (product(ar, br, 0) + (product(ar, bh, 0) + product(ah, br, 0))) + largest
				scaled += (product(as, bs, 0)*0x1p-22 + (product(as, bh, 0)+product(ah, bs, 0))*0x1p-11) + largest
			}
			var e [3]float64
			for k, v := range []float32{inside, outside, scaled} {
				e[k] = math.Abs(float64(v) - exact)
				errs[k] += e[k] / float64(count)
			}
			if e[1] < e[0] {
				better++
			}
		}
		of := fmt.Sprintf("sums of %d instructions, operands in (-1, 1)", steps)
		means := fmt.Sprintf("mean errors %.3g, %.3g and %.3g", errs[0], errs[1], errs[2])
		all = append(all,
			says(i.FullName(), of+": better with accumulation outside, without scaling, than Markidis et al.", fmt.Sprintf("%d of %d", better, count), "can improve the accuracy in many cases", 2*better > count, "in less than half of them"),
			says(i.FullName(), of+": Markidis et al., with accumulation outside, with scaling as well", means, "rounding towards zero is one of the main contributors to the error", errs[1] < errs[0]/2, "accumulation outside takes away less than half of the error"))
	}
	return all, nil
}

// smtSubnormalProduct makes the entry of a query of section 4.4.
func smtSubnormalProduct(context.Context, *Request) ([]entry, error) {
	half := fp.FP16.Get()
	largest := half.Float64(1<<half.FracBits - 1)
	return []entry{
		says("binary16", "the largest product of two subnormal numbers", Number(largest*largest).exactly(), "normal in FP16: from 2^-14 on", largest*largest >= 0x1p-14, "it is below 2^-28; in FP32 it is normal, and a subnormal number times a normal one can be in FP16"),
		says("binary16", "the smallest product of two normal numbers", Number(0x1p-14*0x1p-14).exactly(), "subnormal: below 2^-14", 0x1p-14*0x1p-14 < 0x1p-14, ""),
		says("binary16", "the smallest product other than 0", Number(0x1p-24*0x1p-24).exactly(), "normal in FP32: subnormal FP32 outputs need a subnormal C", 0x1p-24*0x1p-24 >= 0x1p-126, ""),
	}, nil
}

// smtOtherFormats makes entries of section 7: the same questions about other formats.
func smtOtherFormats(ctx context.Context, _ *Request) ([]entry, error) {
	some, err := prove.PropertiesNamed("adder")
	if err != nil {
		return nil, err
	}
	var fp8 []string
	for _, i := range mma.Of("hopper") {
		if name := i.A.String(); i.A.Get().CodeBits() == 8 && i.D == fp.FP32 && !slices.Contains(fp8, name) {
			fp8 = append(fp8, name)
		}
	}
	all := []entry{
		same("tf32", "bits of exponent and mantissa", fmt.Sprintf("%d, %d", fp.TF32.Get().ExpBits, fp.TF32.Get().FracBits), "8, 10", ""),
		same("hopper", "FP8 formats", fmt.Sprint(len(fp8)), "2", ""),
	}
	for _, name := range [][2]string{{"ampere", "mma.m16n8k8.f32.tf32.tf32.f32"}, {"hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"}, {"hopper", "wgmma.m64n8k32.f32.e5m2.e5m2"}} {
		u, err := simulatedUnit(name[0], name[1])
		if err != nil {
			return nil, err
		}
		a, err := prove.Ask(ctx, "sim:"+name[0], u.Unit, some[0], prove.Options{})
		if err != nil {
			return nil, err
		}
		all = append(all, says(u.name, "the question about carry bits", a.Statement, "can be asked of TF32 and FP8", a.Verdict == prove.Holds, ""))
	}
	return all, nil
}

// cut32 rounds a number towards zero to FP32.
func cut32(v float64) float64 {
	single, double := fp.FP32.Get(), fp.FP64.Get()
	return single.Float64(single.Encode(double.Dyadic(double.Decode(math.Float64bits(v))), fp.RZ, fp.OverInf))
}

// smtProperty4 makes the entry of Property 4, which is about positive numbers: two products whose
// sum has a bit more than FP32, and a c of the size of that bit.
func smtProperty4(i *mma.Instruction) (entry, error) {
	x := experiment{unit: [2]string{i.Arch, i.Name}, a: []float64{2 - 0x1p-10, 1 + 0x1p-10}, b: []float64{1, (1 + 0x1p-10) * 0x1p-3}, c: 0x1p-23}
	_, v, err := x.run(nil)
	normalized := cut32(cut32(x.a[0]*x.b[0]+x.a[1]*x.b[1]) + x.c)
	return says(i.FullName(), "Normalization, Property 4: an input of positive operands", Number(v).exactly(),
		fmt.Sprintf("not %s, as with sums that are normalized", Number(normalized).exactly()), v != normalized, ""), err
}
