package study

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// What sections 3.2 and 4 to 6 of Xie et al. say beside their tables: machine instructions, special
// values, the steps of Table 8, and errors that are measured.

// mnemonics are the machine instructions of a kernel of machineCode, without modifiers but SF.
func mnemonics(code string) []string {
	var all []string
	for _, w := range strings.Split(code, ", ") {
		name, modifiers, _ := strings.Cut(w, ".")
		if strings.HasPrefix(modifiers, "SF.") {
			name += ".SF"
		}
		if name, _, _ = strings.Cut(name, " "); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// xieMachine makes the SASS column of Table 3 of Xie et al., of the kernels of machineCode, and the
// chips of section 3.2.
func xieMachine(context.Context, *Request) ([]entry, error) {
	code, err := machineCode()
	if err != nil {
		return nil, err
	}
	kind := func(i *mma.Instruction) string {
		switch narrow := i.A.Get().CodeBits() < 8 || i.B.Get().CodeBits() < 8; {
		case i.A == fp.FP64:
			return "FP64"
		case i.A.Width() > 1:
			return "TF32/BF16/FP16"
		case i.Scale != fp.None && operation(i) == "gst-fdpa":
			return "MXFP4/NVFP4"
		case i.Scale != fp.None:
			return "MXFP8/6/4"
		case narrow:
			return "FP6/FP4"
		}
		return "FP8"
	}
	names := map[string][]string{}
	count := map[string]int{}
	var others []string
	for _, i := range xieGPUs() {
		c, ok := code[i.FullName()]
		if !ok {
			continue
		}
		for _, name := range mnemonics(c) {
			if i.D == fp.FP16 && !slices.Contains([]string{"HMMA", "HGMMA", "UTCHMMA", "QMMA", "QGMMA"}, name) && !slices.Contains(others, name) {
				others = append(others, name)
			}
		}
		k := kind(&i)
		count[k]++
		for _, name := range mnemonics(c) {
			if !slices.Contains(names[k], name) {
				names[k] = append(names[k], name)
			}
		}
	}
	var all []entry
	for _, p := range []struct{ inputs, theirs string }{
		{"FP64", "DMMA"},
		{"TF32/BF16/FP16", "HMMA, HGMMA, UTCHMMA"},
		{"FP8", "QMMA, QGMMA, UTCQMMA"},
		{"FP6/FP4", "QMMA, UTCQMMA"},
		{"MXFP8/6/4", "QMMA.SF, UTCQMMA"},
		{"MXFP4/NVFP4", "OMMA.SF, UTCOMMA"},
	} {
		all = append(all, same(p.inputs, fmt.Sprintf("SASS instructions of %d kernels", count[p.inputs]), ordered(strings.Join(names[p.inputs], ", ")), ordered(p.theirs), ""))
	}
	all = append(all, same("FP16 output", "6.2.3: SASS instructions of the kernels other than HMMA, HGMMA, UTCHMMA, QMMA and QGMMA", ordered(strings.Join(others, ", ")), "none", "the text leaves UTCQMMA out: Table 4 has FP16 results of FP8/6/4 on Blackwell"))
	var chips []string
	for _, p := range printed8 {
		a, _ := mma.FindArch(p.arch)
		chips = append(chips, a.Name+" "+strings.ReplaceAll(a.Chip, "_", ""))
	}
	return append(all, same("section 3.2", "architectures", strings.Join(chips, ", "),
		"volta sm70, turing sm75, ampere sm80, ada sm89, hopper sm90, blackwell sm100, rtx-blackwell sm120, cdna1 gfx908, cdna2 gfx90a, cdna3 gfx942", "")), nil
}

// xieScales makes entries of section 4.1.3 of Xie et al. about scales and groups.
func xieScales(context.Context, *Request) ([]entry, error) {
	notOne, negative := 0, 0
	for code := range uint64(1) << 8 {
		if n := fp.E8M0.Get().Decode(code); n.Class == fp.Finite && bits.OnesCount64(n.Sig) != 1 {
			notOne++
		}
		if v := fp.UE4M3.Get().Float64(code); v < 0 {
			negative++
		}
	}
	var groups []string
	for _, name := range []string{"tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"} {
		i, err := mma.Lookup("blackwell", name)
		if err != nil {
			return nil, err
		}
		groups = append(groups, fmt.Sprintf("%d and %d", i.Params.Stage0.Group, i.Block))
	}
	var alike []string
	for _, p := range []struct{ format, hopper, blackwell string }{
		{"TF32", "mma.m16n8k8.f32.tf32.tf32.f32", "mma.m16n8k8.f32.tf32.tf32.f32"},
		{"BF16", "mma.m16n8k16.f32.bf16.bf16.f32", "mma.m16n8k16.f32.bf16.bf16.f32"},
		{"FP16", "mma.m16n8k16.f32.f16.f16.f32", "mma.m16n8k16.f32.f16.f16.f32"},
		{"FP8", "wgmma.m64n8k32.f32.e4m3.e4m3", "tcgen05.m128n8k32.kind::f8f6f4.f32.e4m3.e4m3"},
	} {
		h, err := mma.Lookup("hopper", p.hopper)
		if err != nil {
			return nil, err
		}
		b, err := mma.Lookup("blackwell", p.blackwell)
		if err != nil {
			return nil, err
		}
		if h.Params.L == b.Params.L && h.Params.Join.Align.F == b.Params.Join.Align.F {
			alike = append(alike, p.format)
		}
	}
	var similar []string
	for _, p := range []struct{ format, ampere, cdna3 string }{
		{"TF32", "mma.m16n8k8.f32.tf32.tf32.f32", "v_mfma_f32_16x16x8_xf32"},
		{"BF16", "mma.m16n8k16.f32.bf16.bf16.f32", "v_mfma_f32_16x16x16_bf16"},
		{"FP16", "mma.m16n8k16.f32.f16.f16.f32", "v_mfma_f32_16x16x16_f16"},
	} {
		a, err := mma.Lookup("ampere", p.ampere)
		if err != nil {
			return nil, err
		}
		c, err := mma.Lookup("cdna3", p.cdna3)
		if err != nil {
			return nil, err
		}
		if a.Params.L == c.Params.L && a.Params.Join.Align.F == c.Params.Stage0.Align.F {
			similar = append(similar, p.format)
		}
	}
	return []entry{
		same("E8M0", "4.1.3: numbers whose significand is not 1", fmt.Sprint(notOne), "0", ""),
		same("UE4M3", "4.1.3: negative numbers", fmt.Sprint(negative), "0", ""),
		same("GST-FDPA", "4.1.3: G and K_block of MXFP4, and of NVFP4: not equal or equal", strings.Join(groups, ", "), "16 and 32, 16 and 16", ""),
		says("Blackwell", "4.3.1: of TF32, BF16, FP16 and FP8, those with the L_max and F of Hopper", strings.Join(alike, ", "), "most formats", len(alike) == 3, ""),
		says("CDNA3", "4.3.2: of TF32, BF16 and FP16, those with the L_max and F of Ampere", strings.Join(similar, ", "), "similar to Ampere", len(similar) == 3, ""),
	}, nil
}

// xieSpecial makes entries of section 4.2 of Xie et al.: results with infinities or NaNs of AMD's
// instructions and of FP64, and products and sums beyond the range of FP32.
func xieSpecial(context.Context, *Request) ([]entry, error) {
	count, differ := map[string]int{}, map[string]int{}
	seen := map[string]bool{}
	gpus := xieGPUs()
	for n := range gpus {
		i := &gpus[n]
		if !strings.HasPrefix(i.Arch, "cdna") && i.A != fp.FP64 || i.Params.Acc.Mode != fp.RNE || seen[i.Arch+arithmeticKey(i)] {
			continue
		}
		seen[i.Arch+arithmeticKey(i)] = true
		m, err := sim.ForInstruction(i)
		if err != nil {
			return nil, err
		}
		row := i.Arch + " " + operation(i)
		for _, d := range gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, 1, 0, &i.Params) {
			theirs := special(i, d)
			if theirs == 0 || overflows(i, d) {
				continue
			}
			count[row]++
			if ours := i.D.Get().Float64(m.Dot(d, nil)); ours != theirs && !(math.IsNaN(ours) && math.IsNaN(theirs)) {
				differ[row]++
			}
		}
	}
	var all []entry
	for _, row := range slices.Sorted(maps.Keys(count)) {
		all = append(all, same(row, fmt.Sprintf("results with infinities or NaNs that differ, of %d, without those of TR-FDPA with finite products of 2^128 and above", count[row]), fmt.Sprint(differ[row]), "0", ""))
	}
	tr, t, e := [2]string{"cdna3", "v_mfma_f32_32x32x8_bf16"}, [2]string{"hopper", "mma.m16n8k16.f32.bf16.bf16.f32"}, [2]string{"cdna1", "v_mfma_f32_32x32x4bf16"}
	sixteen := func(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }
	for _, p := range []struct {
		what   string
		unit   [2]string
		a, b   []float64
		theirs float64
	}{
		{"2^128 - 2^128: a product of 2^128 is infinite", tr, []float64{0x1p64, 0x1p64}, []float64{0x1p64, -0x1p64}, math.NaN()},
		{"2^127 - 2^127", tr, []float64{0x1p64, 0x1p64}, []float64{0x1p63, -0x1p63}, 0},
		{"2^127 + 2^127 - 2^127: sums do not overflow", tr, sixteen(0x1p64, 3), []float64{0x1p63, 0x1p63, -0x1p63}, 0x1p127},
		{"2^128 - 2^128: other products do not overflow", t, []float64{0x1p64, 0x1p64}, []float64{0x1p64, -0x1p64}, 0},
		{"2^128 - 2^128: a product of 2^128 is infinite", [2]string{"cdna3", "v_mfma_f32_32x32x4_xf32"}, []float64{0x1p64, 0x1p64}, []float64{0x1p64, -0x1p64}, math.NaN()},
		{"2^128 - 2^128: other products do not overflow", [2]string{"hopper", "mma.m16n8k8.f32.tf32.tf32.f32"}, []float64{0x1p64, 0x1p64}, []float64{0x1p64, -0x1p64}, 0},
		{"2^128 - 2^128: other products do not overflow", e, []float64{0x1p64, 0x1p64}, []float64{0x1p64, -0x1p64}, 0},
		{"16 times 2^-150: products do not underflow", t, sixteen(0x1p-75, 16), sixteen(0x1p-75, 16), 0x1p-146},
		{"8 times 2^-150: products do not underflow", tr, sixteen(0x1p-75, 8), sixteen(0x1p-75, 8), 0x1p-147},
		{"twice 2^-150: products do not underflow", e, sixteen(0x1p-75, 2), sixteen(0x1p-75, 2), 0x1p-149},
	} {
		x := experiment{unit: p.unit, a: p.a, b: p.b}
		_, v, err := x.run(nil)
		if err != nil {
			return nil, err
		}
		all = append(all, same(strings.Join(p.unit[:], "/"), p.what, fmt.Sprint(v), fmt.Sprint(p.theirs), ""))
	}
	return all, nil
}

// overflows reports whether a finite product of TR-FDPA overflows, which section 4.2 has as its only
// exception.
func overflows(i *mma.Instruction, d *mma.Dot) bool {
	for k := range d.A {
		a, b := i.A.Get().Float64(d.A[k]), i.B.Get().Float64(d.B[k])
		if operation(i) == "tr-fdpa" && math.Abs(a*b) >= 0x1p128 && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
			return true
		}
	}
	return false
}

// xieTable8 makes entries of section 5 of Xie et al.: the steps that lead to Table 8, and how many
// results it has.
func xieTable8(context.Context, *Request) ([]entry, error) {
	var results []float64
	for _, p := range printed8 {
		for _, i := range mma.Of(p.arch) {
			d := equation10Dot(&i)
			if i.Refuse != "" || kindOf(&i) == "" || d == nil {
				continue
			}
			m, err := sim.ForInstruction(&i)
			if err != nil {
				return nil, err
			}
			if v := i.D.Get().Float64(m.Dot(d, nil)); !slices.Contains(results, v) && !math.IsNaN(v) && !math.IsInf(v, 0) {
				results = append(results, v)
			}
		}
	}
	slices.Sort(results)
	all := []entry{same("Table 8", "different results", fmt.Sprint(results), "[-1 -0.875 -0.75 -0.5 -0.375 0]", "")}
	for _, p := range []struct {
		what, unit string
		terms      []float64 // c and the products
		theirs     float64
	}{
		{"(-2^23 - 0.5) + (-0.25 - 0.125)", "cdna2/v_mfma_f32_32x32x4f16", []float64{0, -0x1p23, -0.5, -0.25, -0.125}, -0x1p23},
		{"the same, _1k", "cdna2/v_mfma_f32_32x32x4bf16_1k", []float64{0, -0x1p23, -0.5, -0.25, -0.125}, -0x1p23},
		{"2^23 + (-2^23 - 0.5)", "cdna2/v_mfma_f32_16x16x8bf16", []float64{0x1p23, -0x1p23, -0.5}, 0},
		{"0 + (-0.25 - 0.125)", "cdna2/v_mfma_f32_16x16x8bf16", []float64{0, -0.25, -0.125}, -0.375},
		{"the fused sum is -2^23 - 0.5: with c = 2^22, which leaves its last bit", "cdna3/v_mfma_f32_32x32x8_f16", []float64{0x1p22, -0x1p23, -0.5, -0.25, -0.125}, -0x1p22 - 0.5},
		{"the same", "cdna3/v_mfma_f32_32x32x4_xf32", []float64{0x1p22, -0x1p23, -0.5, -0.25, -0.125}, -0x1p22 - 0.5},
		{"even products: -2^23 - 0.25 is -2^23, with c = 2^23", "cdna3/v_mfma_f32_32x32x16_bf8_bf8", []float64{0x1p23, -0x1p23, 0, -0.25}, 0},
		{"odd products: -0.5 - 0.125", "cdna3/v_mfma_f32_32x32x16_bf8_bf8", []float64{0, 0, -0.5, 0, -0.125}, -0.625},
		{"the sum of both is -2^23 - 1: with c = 2^22", "cdna3/v_mfma_f32_32x32x16_bf8_bf8", []float64{0x1p22, -0x1p23, -0.5, -0.25, -0.125}, -0x1p22 - 1},
	} {
		arch, inst, _ := strings.Cut(p.unit, "/")
		x := experiment{unit: [2]string{arch, inst}, c: p.terms[0]}
		for _, v := range p.terms[1:] {
			if v == -0x1p23 {
				x.a, x.b = append(x.a, -0x1p13), append(x.b, 0x1p10)
			} else {
				x.a, x.b = append(x.a, v), append(x.b, 1)
			}
		}
		_, v, err := x.run(nil)
		if err != nil {
			return nil, err
		}
		all = append(all, same(p.unit, p.what, fmt.Sprint(v), fmt.Sprint(p.theirs), ""))
	}
	return all, nil
}

// xieBounds makes entries of Table 9 of Xie et al. as measured: how far results of the units are from
// exact, on one operation of each line of Tables 3 to 6, as a part of the bounds that are printed.
func xieBounds(context.Context, *Request) ([]entry, error) {
	var all []entry
	for n := range printedUnits {
		p := &printedUnits[n]
		for _, i := range mma.Of(p.archs[0]) {
			if !p.has(&i) || i.K < p.l {
				continue
			}
			m, err := sim.ForInstruction(&i)
			if err != nil {
				return nil, err
			}
			count, worst := 0, 0.0
			for _, d := range gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, 1, 0, &i.Params) {
				for k := p.l; k < i.K; k++ {
					d.A[k], d.B[k] = 0, 0
				}
				if part, ok := p.partOfBound(&i, d, i.D.Get().Float64(m.Dot(d, nil))); ok {
					count, worst = count+1, max(worst, part)
				}
			}
			all = append(all, entry{i.FullName(), fmt.Sprintf("Algorithms %s: largest error of %d results as a part of the bound", p.algorithms, count), fmt.Sprintf("%.3f", worst), "at most 1", worst <= 1 && count > 0, "", statement})
			break // one instruction has the program of a line
		}
	}
	flushed := experiment{unit: [2]string{"cdna2", "v_mfma_f32_32x32x4bf16_1k"}, a: []float64{(2 - 0x1p-7) * 0x1p-64}, b: []float64{0x1p-63}}
	_, v, err := flushed.run(nil)
	if err != nil {
		return nil, err
	}
	lost := flushed.a[0]*flushed.b[0] - v
	all = append(all, entry{strings.Join(flushed.unit[:], "/"), "output FTZ: error of the largest subnormal product", Number(lost).exactly(), "at most 2^-126", lost > 0 && lost <= 0x1p-126, "", statement})
	return all, nil
}

// partOfBound is the error of the result v of one operation as a part of its bound in Table 9. ok is
// false where the bound does not apply: it is about finite numbers, and of FTZ-AddMul, whose input
// FTZ has an entry with the bounds, about normal ones.
func (p *printedUnit) partOfBound(i *mma.Instruction, d *mma.Dot, v float64) (part float64, ok bool) {
	value := func(id fp.ID, code uint64) *big.Float {
		x := id.Get().Float64(code)
		if n := id.Get().Decode(code); math.IsInf(x, 0) || math.IsNaN(x) || p.algorithms == "1, 2" && x != 0 && math.Abs(x) < math.Ldexp(1, int(id.Get().Emin())) || n.Class == fp.NaN {
			ok, x = false, 0
		}
		return new(big.Float).SetPrec(8000).SetFloat64(x)
	}
	ulp := func(v float64, c conversion) float64 {
		return math.Ldexp(1, max(math.Ilogb(v), c.emin)-c.frac)
	}
	ok = true
	off, product := value(i.C, d.C), 0.0
	for k := range min(len(d.A), p.l) {
		x := value(i.A, d.A[k])
		x.Mul(x, value(i.B, d.B[k]))
		if i.Scale != fp.None {
			n := k / int(i.Block)
			x.Mul(x, value(i.Scale, d.SA[n])).Mul(x, value(i.Scale, d.SB[n]))
		}
		product, _ = x.Float64()
		off.Add(off, x)
	}
	if math.IsInf(v, 0) || math.IsNaN(v) || math.Abs(v) == i.D.Get().Float64(i.D.Get().MaxFinite()) || !ok {
		return 0, false
	}
	r := conversions[p.rho]
	bound := ulp(v, r)
	if r.nearest {
		bound /= 2
	}
	switch {
	case p.algorithms == "1, 2": // a product and a sum
		bound += ulp(product, r)/2 + 2*0x1p-126
	case p.f > 0:
		products, c, finite := summandsOf(i, d)
		if !finite {
			return 0, false
		}
		if i.Scale != fp.None {
			products = p.scales(i, d, products)
		}
		bound += float64(p.l+1) * math.Ldexp(1, truncatedSum(append(products, c), p.f).e-p.f)
	}
	if bound == 0 {
		return 0, false // half of the smallest number of FP64 is none
	}
	part, _ = off.Sub(off, new(big.Float).SetFloat64(v)).Quo(off, new(big.Float).SetPrec(8000).SetFloat64(bound)).Float64()
	return math.Abs(part), true
}

// meanError is the mean magnitude of the errors of a unit on dot products of other formats,
// whose numbers it has, in units of the sums of magnitudes.
func meanError(ctx context.Context, unit [2]string, rd *reader, dots []*mma.Dot) (errs []float64, mean float64, err error) {
	u, err := simulatedUnit(unit[0], unit[1])
	if err != nil {
		return nil, 0, err
	}
	i := u.inst()
	var own []*mma.Dot
	for _, d := range dots {
		o := mma.NewDot(i.Formats, len(d.A))
		for k := range d.A {
			o.A[k], o.B[k] = i.A.Get().FromFloat64(rd.a.value(d.A[k])), i.B.Get().FromFloat64(rd.b.value(d.B[k]))
		}
		o.C = i.C.Get().FromFloat64(rd.c.value(d.C))
		own = append(own, o)
	}
	codes, err := u.run(ctx, mma.BatchOf(i.Formats, len(dots[0].A), own))
	if err != nil {
		return nil, 0, err
	}
	for n, d := range dots {
		exact, magnitude := rd.sum(d, len(d.A))
		x := math.Abs(exact.minus(i.D.Get().Float64(codes[n]))) / magnitude
		errs, mean = append(errs, x), mean+x/float64(len(dots))
	}
	return errs, mean, nil
}

// hopperFP8 is Hopper's instruction of FP8.
var hopperFP8 = [2]string{"hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"}

// xieCures makes entries of section 6.3 of Xie et al.: results in FP32 instead of FP16, other
// instructions instead of those of FP8, and where CDNA3's bias occurs and how C = 0 mends it.
func xieCures(ctx context.Context, r *Request) ([]entry, error) {
	rng := rand.New(rand.NewPCG(r.Seed, 63))
	drawn := func(unit [2]string, k, n int) (*reader, []*mma.Dot, error) {
		i, err := mma.Lookup(unit[0], unit[1])
		if err != nil {
			return nil, nil, err
		}
		rd := newReader(i.Formats)
		var dots []*mma.Dot
		for range n {
			dots = append(dots, rd.dot(k, standardNormal, standardNormal, rng))
		}
		return rd, dots, nil
	}
	const n = 256
	var all []entry
	for _, arch := range []string{"volta", "turing", "ampere", "ada", "hopper", "blackwell", "rtx-blackwell"} {
		shape := map[string]string{"volta": "mma.m8n8k4", "turing": "mma.m16n8k8"}[arch]
		if shape == "" {
			shape = "mma.m16n8k16"
		}
		half := [2]string{arch, shape + ".f16.f16.f16.f16"}
		rd, dots, err := drawn(half, 16, n)
		if err != nil {
			return nil, err
		}
		short, shortMean, err := meanError(ctx, half, rd, dots)
		if err != nil {
			return nil, err
		}
		long, longMean, err := meanError(ctx, [2]string{arch, shape + ".f32.f16.f16.f32"}, rd, dots)
		if err != nil {
			return nil, err
		}
		closer := 0
		for n := range short {
			if short[n] < long[n] {
				closer++
			}
		}
		all = append(all, entry{arch, fmt.Sprintf("FP32 results instead of FP16: mean errors of normally distributed numbers, and how many of %d results in FP16 are closer", n),
			fmt.Sprintf("%s and %s, %d", Number(longMean), Number(shortMean), closer), "better accuracy", longMean < shortMean, "", statement})
	}
	for _, p := range []struct {
		what        string
		eight, unit [2]string
	}{
		{"FP16 instructions instead of FP8", hopperFP8, [2]string{"hopper", "mma.m16n8k16.f32.f16.f16.f32"}},
		{"FP16 instructions instead of FP8", [2]string{"ada", "mma.m16n8k32.f32.e4m3.e4m3.f32"}, [2]string{"ada", "mma.m16n8k16.f32.f16.f16.f32"}},
		{"Blackwell's FP8 instead of Hopper's", hopperFP8, [2]string{"blackwell", "tcgen05.m128n8k32.kind::f8f6f4.f32.e4m3.e4m3"}},
		{"RTX Blackwell's FP8 instead of Hopper's", hopperFP8, [2]string{"rtx-blackwell", "mma.m16n8k32.kind::f8f6f4.f32.e4m3.e4m3.f32"}},
	} {
		rd, dots, err := drawn(p.eight, 32, n)
		if err != nil {
			return nil, err
		}
		_, eightMean, err := meanError(ctx, p.eight, rd, dots)
		if err != nil {
			return nil, err
		}
		_, mean, err := meanError(ctx, p.unit, rd, dots)
		if err != nil {
			return nil, err
		}
		all = append(all, entry{strings.Join(p.unit[:], "/"), p.what + ": mean errors of E4M3 numbers", fmt.Sprintf("%s and %s", Number(mean), Number(eightMean)), "full precision, that of FP32: below 2^-23", mean < 0x1p-23 && eightMean > 0x1p-23, "", statement})
	}
	bias, err := xieBias(ctx, r)
	return append(all, bias...), err
}

// xieBias makes the entries of section 6.3 about the bias of CDNA3: z is that of bias.
func xieBias(ctx context.Context, r *Request) ([]entry, error) {
	i, err := mma.Lookup("cdna3", "v_mfma_f32_32x32x8_f16")
	if err != nil {
		return nil, err
	}
	u, err := simulated.Open(i)
	if err != nil {
		return nil, err
	}
	rd, cdna3 := newReader(i.Formats), &unit{Unit: u, name: i.FullName()}
	scaled := func(by float64) distribution {
		return distribution{"", func(rng *rand.Rand) float64 { return by * rng.NormFloat64() }}
	}
	signed := func(sign float64) distribution {
		return distribution{"", func(rng *rand.Rand) float64 { return math.Copysign(rng.NormFloat64(), sign) }}
	}
	const n = 1 << 12
	measure := func(ab, c distribution, outside bool) (moments, error) {
		rng := rand.New(rand.NewPCG(r.Seed, 64))
		var dots []*mma.Dot
		var exact []sum2
		var cs []float64
		for range n {
			d := rd.dot(i.K, ab, c, rng)
			sum, _ := rd.sum(d, i.K)
			exact, cs = append(exact, sum), append(cs, rd.c.value(d.C))
			if outside {
				d.C = 0
			}
			dots = append(dots, d)
		}
		codes, err := cdna3.run(ctx, mma.BatchOf(i.Formats, i.K, dots))
		if err != nil {
			return moments{}, err
		}
		var errs []float64
		for x := range dots {
			v := rd.d.value(codes[x])
			if outside {
				v = float64(float32(v) + float32(cs[x]))
			}
			errs = append(errs, exact[x].minus(v))
		}
		return momentsOf(errs, errs), nil
	}
	const inferred = "none, which is not printed: it follows if bias only occurs as described"
	const positive = "what is below the last bit of c is cut by either mode: only of a negative c the two differ"
	var all []entry
	for _, p := range []struct {
		what    string
		ab, c   distribution
		outside bool
		theirs  string
		biased  bool
		why     string
	}{
		{"a, b of 1000 N(0,1), c negative", scaled(1000), signed(-1), false, "bias", true, ""},
		{"a, b of 1000 N(0,1), c positive", scaled(1000), signed(1), false, inferred, false, positive},
		{"a, b of N(0,1) / 16, c negative", scaled(1. / 16), signed(-1), false, inferred, false, ""},
		{"a, b of 1000 N(0,1), c of 2^26 N(0,1), negative", scaled(1000), distribution{"", func(rng *rand.Rand) float64 { return -0x1p26 * math.Abs(rng.NormFloat64()) }}, false, inferred, false, ""},
		{"a, b of 1000 N(0,1), c negative, added in FP32 outside", scaled(1000), signed(-1), true, "mended", false, ""},
	} {
		m, err := measure(p.ab, p.c, p.outside)
		if err != nil {
			return nil, err
		}
		e := entry{i.FullName(), "D - exact with " + p.what, fmt.Sprintf("mean %s, z %s", m.Mean, m.Z), p.theirs, (m.Z < -5) == p.biased, "", statement}
		if !e.Equal {
			e.Why = p.why
		}
		all = append(all, e)
	}
	return all, nil
}

// xieEncodings makes entries of section 6.4 of Xie et al.: what cutting low bits does to integers
// in three encodings.
func xieEncodings(context.Context, *Request) ([]entry, error) {
	const cut = 3
	var all []entry
	for _, p := range []struct {
		name, theirs string
		shorten      func(v int) int
	}{
		{"two's complement", "asymmetric", func(v int) int { return v >> cut }},
		{"ones' complement", "symmetric", func(v int) int {
			if v < 0 {
				return -^(^-v >> cut) // the bits of the magnitude are inverted
			}
			return v >> cut
		}},
		{"sign and magnitude", "symmetric", func(v int) int {
			if v < 0 {
				return -(-v >> cut)
			}
			return v >> cut
		}},
	} {
		ours := "symmetric"
		for v := range 128 {
			if p.shorten(-v) != -p.shorten(v) {
				ours = "asymmetric"
			}
		}
		all = append(all, same(p.name, "integers of 8 bits without their last three", ours, p.theirs, ""))
	}
	return all, nil
}
