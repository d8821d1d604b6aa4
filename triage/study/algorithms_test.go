package study

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The algorithms of Xie et al., line by line, with exact integers.

// grid is the weight of 1 in all integers: below the products of all operands.
const grid = -600

// summand is a number with its exponent in the algorithms. The paper does not say what that of
// a zero is: here a zero product has none, and c = 0 has that of our catalogue (orZero).
type summand struct {
	v *big.Int
	e int
}

const (
	printedF  = 24 // of Table 7
	printedF2 = 31
	noneE     = -1 << 20
)

// summandOf returns a finite number in units of the grid, and its exponent.
func summandOf(id fp.ID, code uint64) summand {
	f := id.Get()
	n := f.Decode(code)
	v := new(big.Int).SetUint64(n.Sig)
	e := int(f.Emin())
	if n.Sig != 0 {
		e = max(e, int(n.Exp)-int(f.FracBits)+v.BitLen()-1)
	}
	v.Lsh(v, uint(int(n.Exp)-int(f.FracBits)-grid))
	if n.Neg {
		v.Neg(v)
	}
	return summand{v, e}
}

// orZero gives a zero c its exponent.
func (s summand) orZero(i *mma.Instruction) summand {
	if s.v.Sign() == 0 {
		s.e = noneE
		if floor := int(i.Params.Join.Align.Floor); floor != 0 {
			s.e = floor
		}
	}
	return s
}

// times is an exact product.
func (s summand) times(o summand) summand {
	v := new(big.Int).Mul(s.v, o.v)
	if v.Sign() == 0 {
		return summand{v, noneE}
	}
	return summand{v.Rsh(v, -grid), s.e + o.e}
}

// cut rounds to a multiple of 2^q: toward zero, or down.
func (s summand) cut(q int, down bool) *big.Int {
	if q <= grid {
		return s.v
	}
	unit := new(big.Int).Lsh(big.NewInt(1), uint(q-grid))
	n := new(big.Int)
	if down {
		n.Div(s.v, unit) // Euclid's division rounds down where the divisor is positive
	} else {
		n.Quo(s.v, unit)
	}
	return n.Mul(n, unit)
}

// truncatedSum is step 2 of Algorithms 7 to 11: terms are cut at f bits below the largest exponent.
func truncatedSum(terms []summand, f int) summand {
	t := summand{new(big.Int), noneE}
	for _, p := range terms {
		t.e = max(t.e, p.e)
	}
	for _, p := range terms {
		t.v.Add(t.v, p.cut(t.e-f, false))
	}
	return t
}

// withC is step 3 of Algorithm 10 and step 4 of Algorithm 11, which drops a small c.
func withC(t, c summand, drop bool) summand {
	e := max(t.e, c.e)
	s := new(big.Int).Set(t.cut(e-printedF2, true))
	if !drop || c.e >= e-printedF-1 {
		s.Add(s, c.cut(e-printedF, true))
	}
	return summand{s, e}
}

func algorithm10(products []summand, c summand) summand {
	return withC(truncatedSum(products, printedF), c, false)
}

func algorithm11(products []summand, c summand) summand {
	var halves [2][]summand
	for k, p := range products {
		halves[k%2] = append(halves[k%2], p)
	}
	even, odd := truncatedSum(halves[0], printedF), truncatedSum(halves[1], printedF)
	e := max(even.e, odd.e)
	t := summand{new(big.Int).Add(even.cut(e-printedF, true), odd.cut(e-printedF, true)), e}
	return withC(t, c, true)
}

// cdna3Steps are CDNA3's instructions of one step.
var cdna3Steps = []struct {
	name, inst string
	sum        func(products []summand, c summand) summand
}{
	{"Algorithm 10", "v_mfma_f32_32x32x4_xf32", algorithm10},
	{"Algorithm 10", "v_mfma_f32_32x32x8_f16", algorithm10},
	{"Algorithm 10", "v_mfma_f32_32x32x8_bf16", algorithm10},
	{"Algorithm 11", "v_mfma_f32_32x32x16_fp8_fp8", algorithm11},
	{"Algorithm 11", "v_mfma_f32_32x32x16_bf8_bf8", algorithm11},
}

// algorithms makes entries of Algorithms 10 and 11 and CDNA3's instructions of one step: their
// results on an input that tells our later rule apart, and on finite inputs of all generators; and
// how far the sums are from the exact ones, of which Table 9 has a bound.
func algorithms(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, p := range cdna3Steps {
		// The sum is 2^-19 above a tie of FP32, which is kept beside c, but not beside the total.
		tie := experiment{"", [2]string{"cdna3", p.inst}, []float64{0x1p-5, 0x1p-10}, []float64{0x1p-5, 0x1p-9}, 0x1p13 - 0x1p-11, 0}
		i, ours, err := tie.run(nil)
		if err != nil {
			return nil, err
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			return nil, err
		}
		finite, differ, worst := 0, 0, 0.0
		for round := range 3 {
			dots := gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, 1, round, &i.Params)
			if round == 0 {
				dots = append(dots, tie.dot(i))
			}
			for _, d := range dots {
				products, c, ok := summandsOf(i, d)
				if !ok {
					continue
				}
				finite++
				s := p.sum(products, c)
				if i.D.Get().Float64(m.Dot(d, nil)) != float64(s.float32()) {
					differ++
				}
				off := new(big.Int).Sub(s.v, c.v)
				for _, x := range products {
					off.Sub(off, x.v)
				}
				f, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(off), grid-s.e+printedF).Float64()
				worst = max(worst, math.Abs(f))
			}
		}
		products, c, _ := summandsOf(i, tie.dot(i))
		theirs := p.sum(products, c).float32()
		all = append(all,
			same(i.FullName(), p.name+": 2^13 - 2^-11 + 2^-10 + 2^-19", Number(ours).exactly(), Number(theirs).exactly(), laterRule),
			same(i.FullName(), fmt.Sprintf("results that differ from %s, of %d, that one among them", p.name, finite), fmt.Sprint(differ), "0", laterRule),
			entry{i.FullName(), "Table 9, fused sum of " + p.name + ": the largest error in 2^(E-24)", fmt.Sprintf("%.3f", worst), fmt.Sprintf("at most %d", i.K+1), worst <= float64(i.K+1), "", statement})
	}
	return all, nil
}

// float32 is the conversion of both algorithms.
func (s summand) float32() float32 {
	f, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(s.v), grid).Float32()
	return f
}

// summandsOf returns the products and c; ok is false if one is not finite: a product of 2^128 is
// infinite.
func summandsOf(i *mma.Instruction, d *mma.Dot) (products []summand, c summand, ok bool) {
	finite := func(id fp.ID, code uint64) bool {
		class := id.Get().Decode(code).Class
		return class != fp.Inf && class != fp.NaN
	}
	for k := range d.A {
		if !finite(i.A, d.A[k]) || !finite(i.B, d.B[k]) {
			return nil, c, false
		}
		p := summandOf(i.A, d.A[k]).times(summandOf(i.B, d.B[k]))
		if p.v.BitLen() > 128-grid {
			return nil, c, false
		}
		products = append(products, p)
	}
	if i.C != fp.None {
		c, ok = summandOf(i.C, d.C), finite(i.C, d.C)
	} else {
		c, ok = summand{new(big.Int), noneE}, true
	}
	return products, c.orZero(i), ok
}

// groupSizes makes entries of G in Table 5 of Xie et al. Group 0 and c cancel and leave a unit of
// 2^-10; two products of 2^-11 give 2^-10 only where they are in one group, in which sums are
// exact.
func groupSizes(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, arch := range []string{"blackwell", "rtx-blackwell"} {
		var seen []fp.ID
		for _, i := range mma.Of(arch) {
			if i.Refuse != "" || i.A != fp.E2M1 || i.B != fp.E2M1 || i.K != 64 || i.Scale == fp.None || slices.Contains(seen, i.Scale) {
				continue
			}
			seen = append(seen, i.Scale)
			m, err := sim.ForInstruction(&i)
			if err != nil {
				return nil, err
			}
			g := 1
			for other := int(i.Block) + 1; other < i.K; other++ {
				if v := i.D.Get().Float64(m.Dot(pairBeside(&i, other), nil)); v == 0x1p-10 {
					g++
				} else if v != 0 {
					return nil, fmt.Errorf("%s: %v is neither 0 nor 2^-10", i.FullName(), v)
				}
			}
			all = append(all, same(i.FullName(), "G", fmt.Sprint(g), "16", ""))
		}
	}
	return all, nil
}

// pairBeside has products that sum to 2^25 in the first 16 places, c = -2^25, and products of
// 2^-11 at the first place of the second block and at another one.
func pairBeside(i *mma.Instruction, other int) *mma.Dot {
	d := mma.NewDot(i.Formats, i.K)
	code := func(v float64) uint64 { return i.A.Get().FromFloat64(v) }
	for k := range 14 {
		d.A[k], d.B[k] = code(6), code(6) // 14*36 and 2*4 are 2^9
	}
	d.A[14], d.B[14] = code(2), code(4)
	for _, k := range []int{int(i.Block), other} {
		d.A[k], d.B[k] = code(0.5), code(0.5)
	}
	scale := i.Scale.Get().FromFloat64
	for n := range d.SA {
		d.SA[n], d.SB[n] = scale(0x1p-6), scale(0x1p-3)
	}
	d.SA[0], d.SB[0] = scale(0x1p8), scale(0x1p8)
	d.C = i.C.Get().FromFloat64(-0x1p25)
	return d
}

// cure makes entries of section 6.3 of Xie et al.: whether CDNA3's instructions are symmetric
// where C is 0.
func cure(ctx context.Context, r *Request) ([]entry, error) {
	var all []entry
	for _, p := range []struct{ inst, why string }{
		{"v_mfma_f32_32x32x8_f16", ""},
		{"v_mfma_f32_16x16x16_f16", "the second of its two steps adds the sum of the first one, by rounding down"},
		{"v_mfma_f32_32x32x16_fp8_fp8", "the sums of even and odd products are rounded down, too: Algorithm 11, step 3"},
	} {
		i, err := mma.Lookup("cdna3", p.inst)
		if err != nil {
			return nil, err
		}
		found, err := asymmetric(ctx, i, r.Seed, true)
		if err != nil {
			return nil, err
		}
		all = append(all, same(i.FullName(), "with c = 0 some -a, b do not give -d", agrees(found).String(), agrees(false).String(), p.why))
	}
	for _, id := range fp8 {
		lost := 0
		for code := range uint64(1) << 8 {
			if v := id.Get().Float64(code); !math.IsNaN(v) && !math.IsInf(v, 0) && fp.FP16.Get().Float64(fp.FP16.Get().FromFloat64(v)) != v {
				lost++
			}
		}
		all = append(all, same(id.String(), "numbers that are none of FP16, whose instructions can replace those of FP8", fmt.Sprint(lost), "0", ""))
	}
	return all, nil
}

// conversion is a function of Table 2: to so many fraction bits, to nearest or toward zero.
type conversion struct {
	frac, emin int
	nearest    bool
}

var conversions = map[string]conversion{
	"RZ-FP32": {23, -126, false}, "RZ-E8M13": {13, -126, false}, "RNE-FP32": {23, -126, true}, "RNE-FP16": {10, -14, true}, "RNE-FP64": {52, -1022, true},
}

func (r conversion) of(s summand) float64 {
	q := max(s.v.BitLen()-1+grid, r.emin) - r.frac
	v := new(big.Int).Set(s.cut(q, false))
	if rest := new(big.Int).Sub(s.v, v); r.nearest {
		// The double of what is lost against a unit; a tie goes to the even multiple.
		unit := new(big.Int).Lsh(big.NewInt(1), uint(q-grid))
		if c := rest.Lsh(rest, 1).CmpAbs(unit); c > 0 || c == 0 && v.Bit(q-grid) == 1 {
			if s.v.Sign() < 0 {
				unit.Neg(unit)
			}
			v.Add(v, unit)
		}
	}
	f, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(v), grid).Float64()
	return f
}

// printedUnit is a line of Tables 3 and 4, 5 or 6 with an algorithm.
type printedUnit struct {
	algorithms string
	archs      []string
	inputs     []fp.ID
	d          fp.ID
	scaled     bool
	l, f       int // f = 0: exact
	rho        string
	explained  int    // results that differ,
	why        string // because of this
}

var fp864 = []fp.ID{fp.E4M3, fp.E5M2, fp.E3M2, fp.E2M3, fp.E2M1}

var printedUnits = []printedUnit{
	{"1, 2", []string{"cdna2"}, []fp.ID{fp.FP16, fp.BF16}, fp.FP32, false, 1, 0, "RNE-FP32", 1, "the sign of a zero: our models make +0 of operands of -0, too; Algorithm 2 says so of subnormals"},
	{"3, 4", append([]string{"cdna2", "cdna3"}, withTensorCores...), fp64, fp.FP64, false, 1, 0, "RNE-FP64", 0, ""},
	{"3, 4", []string{"cdna1", "cdna2", "cdna3"}, []fp.ID{fp.FP32}, fp.FP32, false, 1, 0, "RNE-FP32", 0, ""},
	{"5, 6", []string{"cdna1"}, []fp.ID{fp.BF16}, fp.FP32, false, 2, 0, "RNE-FP32", 0, ""},
	{"5, 6", []string{"cdna1"}, []fp.ID{fp.FP16}, fp.FP32, false, 4, 0, "RNE-FP32", 0, ""},
	{"5, 7", []string{"volta"}, []fp.ID{fp.FP16}, fp.FP32, false, 4, 23, "RZ-FP32", 0, ""},
	{"5, 7", []string{"volta"}, []fp.ID{fp.FP16}, fp.FP16, false, 4, 23, "RNE-FP16", 0, ""},
	{"5, 7", []string{"turing", "ampere", "ada"}, []fp.ID{fp.FP16, fp.BF16}, fp.FP32, false, 8, 24, "RZ-FP32", 0, ""},
	{"5, 7", []string{"turing", "ampere", "ada"}, []fp.ID{fp.FP16}, fp.FP16, false, 8, 24, "RNE-FP16", 0, ""},
	{"5, 7", []string{"ampere", "ada"}, []fp.ID{fp.TF32}, fp.FP32, false, 4, 24, "RZ-FP32", 0, ""},
	{"5, 7", []string{"ada"}, fp8, fp.FP32, false, 16, 13, "RZ-E8M13", 0, ""},
	{"5, 7", []string{"ada"}, fp8, fp.FP16, false, 16, 13, "RNE-FP16", 0, ""},
	{"5, 7", []string{"hopper", "blackwell", "rtx-blackwell"}, []fp.ID{fp.FP16, fp.BF16}, fp.FP32, false, 16, 25, "RZ-FP32", 0, ""},
	{"5, 7", []string{"hopper", "blackwell", "rtx-blackwell"}, []fp.ID{fp.FP16}, fp.FP16, false, 16, 25, "RNE-FP16", 0, ""},
	{"5, 7", []string{"hopper", "blackwell", "rtx-blackwell"}, []fp.ID{fp.TF32}, fp.FP32, false, 8, 25, "RZ-FP32", 0, ""},
	{"5, 7", []string{"hopper"}, fp8, fp.FP32, false, 32, 13, "RZ-E8M13", 0, ""},
	{"5, 7", []string{"hopper"}, fp8, fp.FP16, false, 32, 13, "RNE-FP16", 0, ""},
	{"5, 7", []string{"blackwell", "rtx-blackwell"}, fp864, fp.FP32, false, 32, 25, "RZ-FP32", 0, ""},
	{"5, 7", []string{"blackwell", "rtx-blackwell"}, fp864, fp.FP16, false, 32, 25, "RNE-FP16", 0, ""},
	{"5, 8", []string{"blackwell", "rtx-blackwell"}, fp864, fp.FP32, true, 32, 25, "RZ-FP32", 0, ""},
	{"5, 9", []string{"blackwell", "rtx-blackwell"}, []fp.ID{fp.E2M1}, fp.FP32, true, 64, 35, "RZ-FP32", 15, "Algorithm 9 gives a group of zero products the exponents of its scales, so that it can cut other groups; our models give it none"},
}

// step is one operation of l products and c; the scales are those of the whole dot product.
func (p *printedUnit) step(products []summand, c summand) float64 {
	terms := append(slices.Clone(products), c)
	if p.f == 0 {
		var s summand
		s.v = new(big.Int)
		for _, x := range terms {
			s.v.Add(s.v, x.v)
		}
		return conversions[p.rho].of(s)
	}
	return conversions[p.rho].of(truncatedSum(terms, p.f))
}

// scales multiplies products by the scales of their blocks: of Algorithm 8 where each is scaled,
// of Algorithm 9 where the exact sums of 16 are, whose exponents are those of the scales.
func (p *printedUnit) scales(i *mma.Instruction, d *mma.Dot, products []summand) []summand {
	const g = 16
	block := func(k int) summand {
		n := k / int(i.Block)
		return summandOf(i.Scale, d.SA[n]).times(summandOf(i.Scale, d.SB[n]))
	}
	var all []summand
	if p.l < 64 {
		for k, x := range products {
			all = append(all, x.times(block(k)))
		}
		return all
	}
	for k := 0; k < len(products); k += g {
		sum := summand{new(big.Int), 0}
		for _, x := range products[k : k+g] {
			sum.v.Add(sum.v, x.v)
		}
		scale := block(k)
		all = append(all, summand{sum.times(scale).v, scale.e}) // also where the sum is 0
	}
	return all
}

// literally makes entries of Algorithms 1 to 9: how many results of the instructions of a line
// differ, on finite inputs of all generators that give finite results.
func literally(context.Context, *Request) ([]entry, error) {
	var all []entry
	specials := map[string]*specialResults{}
	for _, p := range printedUnits {
		for _, arch := range p.archs {
			if p.f > 0 && specials[arch] == nil {
				specials[arch] = &specialResults{}
			}
			seen := map[string]bool{}
			units, count, differ := 0, 0, 0
			for _, i := range mma.Of(arch) {
				if !p.has(&i) || seen[arithmeticKey(&i)] {
					continue
				}
				seen[arithmeticKey(&i)] = true
				m, err := sim.ForInstruction(&i)
				if err != nil {
					return nil, err
				}
				units++
				for _, d := range gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, 1, 0, &i.Params) {
					code := m.Dot(d, nil)
					if p.f > 0 {
						specials[arch].add(&i, d, code)
					}
					ours := i.D.Get().Float64(code)
					theirs, ok := p.dot(&i, d)
					if !ok || math.IsInf(ours, 0) || math.IsNaN(ours) {
						continue
					}
					count++
					// Floats say which zero results, integers do not.
					if ours != theirs || (p.d == fp.FP64 || p.algorithms == "1, 2") && math.Signbit(ours) != math.Signbit(theirs) {
						differ++
					}
				}
			}
			if units > 0 {
				name := "Algorithms " + p.algorithms
				if p.l > 1 {
					name += fmt.Sprintf(", L=%d", p.l)
				}
				if p.f > 0 {
					name += fmt.Sprintf(", F=%d", p.f)
				}
				why := ""
				if differ == p.explained {
					why = p.why
				}
				all = append(all, same(arch, fmt.Sprintf("%s, %s: results that differ, of %d of %d programs", name, p.rho, count, units), fmt.Sprint(differ), "0", why))
			}
		}
	}
	for _, arch := range slices.Sorted(maps.Keys(specials)) {
		all = append(all, specials[arch].entries(arch)...)
	}
	return all, nil
}

// specialResults are the results of section 4.2 of the instructions of an architecture.
type specialResults struct {
	count, differ int
	nans          []string
}

func (s *specialResults) add(i *mma.Instruction, d *mma.Dot, code uint64) {
	if name := mma.FormatCode(i.D, code); i.D.Get().Decode(code).Class == fp.NaN && !slices.Contains(s.nans, name) {
		s.nans = append(s.nans, name)
	}
	theirs := special(i, d)
	if theirs == 0 {
		return
	}
	s.count++
	if ours := i.D.Get().Float64(code); ours != theirs && !(math.IsNaN(ours) && math.IsNaN(theirs)) {
		s.differ++
	}
}

func (s *specialResults) entries(arch string) []entry {
	slices.Sort(s.nans)
	theirs := []string{"7fff", "7fffffff"}
	return []entry{
		same(arch, "section 4.2: codes of NaNs in FP16 and FP32", strings.Join(s.nans, ", "), strings.Join(theirs, ", "), ""),
		same(arch, fmt.Sprintf("section 4.2: results with infinities or NaNs that differ, of %d", s.count), fmt.Sprint(s.differ), "0", ""),
	}
}

// special is the infinity or NaN of a sum with such operands by section 4.2; 0: it has none.
func special(i *mma.Instruction, d *mma.Dot) float64 {
	sum := 0.0
	add := func(x float64) {
		if math.IsInf(x, 0) || math.IsNaN(x) {
			sum += x
		}
	}
	for k := range d.A {
		a, b := i.A.Get().Float64(d.A[k]), i.B.Get().Float64(d.B[k])
		x := a * b
		if math.IsInf(x, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
			continue // beyond FP64, in which we compute
		}
		if i.Scale != fp.None {
			n := k / int(i.Block)
			x *= i.Scale.Get().Float64(d.SA[n]) * i.Scale.Get().Float64(d.SB[n])
		}
		add(x)
	}
	if i.C != fp.None {
		add(i.C.Get().Float64(d.C))
	}
	return sum
}

// has reports whether a line is about an instruction: not one that the compiler makes of others.
func (p *printedUnit) has(i *mma.Instruction) bool {
	group := i.A == fp.E2M1 && i.K == 64
	return i.Refuse == "" && i.A == i.B && slices.Contains(p.inputs, i.A) && i.D == p.d && (i.Scale != fp.None) == p.scaled && group == (p.l == 64) &&
		i.Params.In.Widen == fp.None && (i.D != fp.FP64 || i.Params.Acc.Mode == fp.RNE) && (i.Arch == "volta" || i.A != fp.FP16 || !strings.Contains(i.Name, "m8n8k4")) && !strings.HasPrefix(i.Name, "wmma")
}

// fmaChain is Algorithm 4 of FP64.
func fmaChain(i *mma.Instruction, d *mma.Dot) float64 {
	v := i.C.Get().Float64(d.C)
	for k := range d.A {
		v = math.FMA(i.A.Get().Float64(d.A[k]), i.B.Get().Float64(d.B[k]), v)
	}
	return v
}

// ftzAddMul is Algorithm 2, with P of Table 6.
func ftzAddMul(i *mma.Instruction, d *mma.Dot) float64 {
	p := 4
	if i.A == fp.BF16 && !strings.HasSuffix(i.Name, "_1k") {
		p = 2
	}
	flushed := func(id fp.ID, code uint64) float32 {
		v := id.Get().Float64(code)
		if v != 0 && math.Abs(v) < math.Ldexp(1, int(id.Get().Emin())) {
			v = 0 // also of negative subnormals
		}
		return float32(v)
	}
	ftz := func(z float32) float32 {
		if math.Abs(float64(z)) < 0x1p-126 {
			z *= 0
		}
		return z
	}
	v := flushed(i.C, d.C)
	for k := 0; k < len(d.A); k += p {
		var x [4]float32
		for l := range p {
			x[l] = ftz(float32(flushed(i.A, d.A[k+l]) * flushed(i.B, d.B[k+l])))
		}
		sum := ftz(x[0] + x[1])
		if p == 4 {
			sum = ftz(sum + ftz(x[2]+x[3]))
		}
		v = ftz(v + sum)
	}
	return float64(v)
}

// dot is Algorithm 2, 4 or 5; ok is false if an operand or a result is not finite.
func (p *printedUnit) dot(i *mma.Instruction, d *mma.Dot) (v float64, ok bool) {
	switch {
	case p.algorithms == "1, 2":
		v = ftzAddMul(i, d)
		return v, !math.IsInf(v, 0) && !math.IsNaN(v)
	case p.d == fp.FP64:
		v = fmaChain(i, d)
		return v, !math.IsInf(v, 0) && !math.IsNaN(v)
	}
	products, c, ok := summandsOf(i, d)
	if !ok {
		return 0, false
	}
	if i.Scale != fp.None {
		for n := range d.SA {
			if i.Scale.Get().Decode(d.SA[n]).Class == fp.NaN || i.Scale.Get().Decode(d.SB[n]).Class == fp.NaN {
				return 0, false
			}
		}
		products = p.scales(i, d, products)
	}
	l := min(len(products), p.l)
	for k := 0; k < len(products); k += l {
		v = p.step(products[k:k+l], c)
		if math.Abs(v) > i.D.Get().Float64(i.D.Get().MaxFinite()) {
			return 0, false
		}
		c = summandOf(i.D, i.D.Get().FromFloat64(v)).orZero(i)
	}
	return v, true
}
