package study

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

// What Xie et al. claim in single sentences and cells, and experiments for one parameter each.

// xieF2 makes the entries of F_2 of Table 7: how far below the exponent E of c the products still
// decide a tie of FP32, on the units and by Algorithms 10 and 11. The total is in three binades: only
// in the lowest one nothing but the cut of the sum of the products is seen.
func xieF2(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, p := range cdna3Steps {
		i, err := mma.Lookup("cdna3", p.inst)
		if err != nil {
			return nil, err
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			return nil, err
		}
		for _, t := range []struct {
			total string
			c     float64
			terms []float64 // that leave a tie
			e     int
		}{
			{"below 2^E", 0x1p13, []float64{-0x1p4, 0x1p-12}, 13},
			{"from 2^E to 2^(E+1)", 0x1p12, []float64{0x1p-12}, 12},
			{"above 2^(E+1)", 0x1p13 - 0x1p-11, []float64{0x1p-10}, 12},
		} {
			results := func(terms ...float64) (ours, theirs float64, ok bool) {
				x := experiment{c: t.c}
				ok = true
				for _, v := range append(slices.Clone(t.terms), terms...) {
					_, e := math.Frexp(v)
					a, b := math.Ldexp(v, -e/2), math.Ldexp(1, e/2)
					ok = ok && i.A.Get().Float64(i.A.Get().FromFloat64(a)) == a && i.B.Get().Float64(i.B.Get().FromFloat64(b)) == b
					x.a, x.b = append(x.a, a), append(x.b, b)
				}
				d := x.dot(i)
				products, c, _ := summandsOf(i, d)
				return i.D.Get().Float64(m.Dot(d, nil)), float64(p.sum(products, c).float32()), ok
			}
			ours0, theirs0, _ := results()
			ours, theirs := 0, 0
			for n := 26; n < 40; n++ {
				v, w, ok := results(math.Ldexp(1, t.e-n))
				if !ok {
					break // the formats have no such product
				}
				if v != ours0 {
					ours = n
				}
				if w != theirs0 {
					theirs = n
				}
			}
			all = append(all, same(i.FullName(), "F_2: last bit of the products below E that counts, with a total "+t.total, fmt.Sprint(ours), fmt.Sprint(theirs), laterRule))
		}
	}
	return all, nil
}

// xieNarrow makes the entries of Table 4 of FP6 and FP4 with FP16 results that package probe does not
// ask. Beside c = 2^11, whose unit is 2, the products of FP4 show how the sum is rounded. No product is
// so small that it is cut, but c is, beside two that cancel.
func xieNarrow(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, unit := range [][2]string{
		{"blackwell", "tcgen05.m128n8k32.kind::f8f6f4.f16.e2m1.e2m1"},
		{"rtx-blackwell", "mma.m16n8k32.kind::f8f6f4.f16.e2m1.e2m1.f16"},
	} {
		var results []float64
		sums := []float64{0.75, 1, 1.25, -0.75, -1, -1.25, 3, -3}
		for _, s := range sums {
			c := math.Copysign(2048, s)
			x := experiment{"", unit, []float64{s, math.Copysign(0.5, s)}, []float64{1, 0}, c, 0}
			if math.Abs(s)*2 != math.Trunc(math.Abs(s)*2) { // the other product is a quarter
				x.a[0], x.b[1] = math.Copysign(math.Floor(math.Abs(s)*2)/2, s), 0.5
			}
			_, v, err := x.run(nil)
			if err != nil {
				return nil, err
			}
			results = append(results, v)
		}
		modes := modesThat(func(mode fp.Mode) bool {
			for n, s := range sums {
				if rounded(fp.FP16, math.Copysign(2048, s)+s, mode) != results[n] {
					return false
				}
			}
			return true
		})
		all = append(all, same(strings.Join(unit[:], "/"), "rho: modes in which 2048 and small sums are rounded to FP16", modes, "rne", ""))
		// Were the products of two steps, the first sum would be rounded to 2^11.
		i, err := mma.Lookup(unit[0], unit[1])
		if err != nil {
			return nil, err
		}
		alone := 0
		for k := range i.K {
			x := experiment{unit: unit, a: make([]float64, i.K), b: slices.Repeat([]float64{1}, i.K), c: 2048}
			x.a[0], x.a[k] = 1, 1
			_, v, err := x.run(nil)
			if err != nil {
				return nil, err
			}
			if k > 0 && v == 2048 {
				alone++
			}
		}
		all = append(all, same(i.FullName(), "L: products that are not summed with the first one before c = 2048 is rounded", fmt.Sprint(alone), fmt.Sprint(i.K-32), ""))
	}
	for _, arch := range []string{"blackwell", "rtx-blackwell"} {
		for _, format := range []fp.ID{fp.E3M2, fp.E2M3, fp.E2M1} {
			inst := fmt.Sprintf("tcgen05.m128n8k32.kind::f8f6f4.f16.%[1]s.%[1]s", format)
			if arch == "rtx-blackwell" {
				inst = fmt.Sprintf("mma.m16n8k32.kind::f8f6f4.f16.%[1]s.%[1]s.f16", format)
			}
			large := format.Get().Float64(format.Get().MaxFinite())
			kept := 0
			for n := 0; n <= 24; n++ { // 2^-24 is the smallest number of FP16
				c := math.Ldexp(1, -n)
				_, v, err := (&experiment{"", [2]string{arch, inst}, []float64{large, -large}, []float64{large, large}, c, 0}).run(nil)
				if err != nil {
					return nil, err
				}
				if v != c {
					break
				}
				kept = n + 2*math.Ilogb(large)
			}
			all = append(all, same(arch+"/"+inst, "F: last bit of c that is kept beside the largest products", fmt.Sprint(kept), "25", ""))
		}
	}
	return all, nil
}

// xieTypes makes entries of section 4.3.1, and of Algorithm 9 against the text and the instructions.
func xieTypes(context.Context, *Request) ([]entry, error) {
	models := map[string][]string{}
	gpus := xieGPUs()
	longer, numbers := 0, []string{}
	for n := range gpus {
		i := &gpus[n]
		if strings.HasPrefix(i.Arch, "cdna") {
			continue
		}
		types := fmt.Sprintf("%s %s", i.A, i.B)
		if i.Scale != fp.None {
			types += " " + i.Scale.String()
		}
		op := operation(i)
		if !slices.Contains(models[types], op) {
			models[types] = append(models[types], op)
		}
		if op == "gst-fdpa" {
			if i.K != int(i.Params.L) {
				longer++
			}
			if s := fmt.Sprintf("%d for K_block = %d", i.Formats.Blocks(int(i.Params.L)), i.Block); !slices.Contains(numbers, s) {
				numbers = append(numbers, s)
			}
		}
	}
	var several []string
	for types, ops := range models {
		if len(ops) > 1 {
			slices.Sort(ops)
			several = append(several, types+": "+strings.Join(ops, " and "))
		}
	}
	slices.Sort(several)
	slices.Sort(numbers)
	return []entry{
		same("tensor cores", "4.3.1: types of A and B, and of scales, with more than one model", strings.Join(several, "; "), "none", "the data types do not determine the model: kind mxf8f6f4 takes FP4 with E8M0, too, as Table 3 has it of MXFP8/6/4"),
		same("GST-FDPA", "Algorithm 9: scales of a", strings.Join(numbers, ", "), "3 for K_block = 32, 5 for K_block = 16", "a misprint: alpha_0 to alpha_(L/K_block) are one too many; the operands of section 4.1.3 have 2L/K_block scales"),
		same("GST-FDPA", "4.1.3: instructions of another K than L, whose K/G results the text adds and Algorithm 9 L/G", fmt.Sprint(longer), "0", ""),
	}, nil
}

// xieAbsent makes the entries of the cells of Table 8 that are N/A.
func xieAbsent(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, p := range printed8 {
		for _, cell := range []struct {
			name   string
			inputs []fp.ID
			absent bool
		}{
			{"TF32/BF16", []fp.ID{fp.TF32, fp.XF32, fp.BF16}, p.tf32bf16 == nil},
			{"FP8", []fp.ID{fp.E4M3, fp.E5M2, fp.E4M3FNUZ, fp.E5M2FNUZ}, p.fp8 == nil},
		} {
			if !cell.absent {
				continue
			}
			count := 0
			for _, i := range xieGPUs() {
				if i.Arch == p.arch && slices.Contains(cell.inputs, i.A) {
					count++
				}
			}
			all = append(all, same(p.arch, cell.name+": instructions", fmt.Sprint(count), "0", ""))
		}
	}
	return all, nil
}

// xieEmulated makes entries of FP8 mma on Hopper and Blackwell, which Tables 3, 4, 8 and 10 would
// count as FP8 instructions.
func xieEmulated(ctx context.Context, _ *Request) ([]entry, error) {
	code, err := machineCode()
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, p := range []struct {
		arch, machine, f string
		result           float64
	}{
		{"hopper", "QGMMA", "13", 0},
		{"blackwell", "UTCQMMA", "25", -0.75},
	} {
		why := "the row is about " + p.machine + ": ptxas makes HMMA of mma of FP8 on Hopper, and our models have it of Blackwell, too: products of FP16 numbers are summed in two halves, and c is added last"
		unit := [2]string{p.arch, "mma.m16n8k32.f32.e5m2.e5m2.f32"}
		name := strings.Join(unit[:], "/")
		if c := code[strings.ReplaceAll(name, "e5m2", "e4m3")]; c != "" {
			matrix := slices.DeleteFunc(mnemonics(c), func(word string) bool { return !strings.HasSuffix(word, "MMA") })
			all = append(all, same(strings.ReplaceAll(name, "e5m2", "e4m3"), "Table 3: machine instruction", strings.Join(matrix, ", "), p.machine, why))
		}
		answers, err := answersOf(ctx, name)
		if err != nil {
			return nil, err
		}
		_, v, err := (&experiment{"", unit, []float64{-0x1p13, -0.5, -0.25, -0.125}, []float64{0x1p10, 1, 1, 1}, 0x1p23, 0}).run(nil)
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name, "Tables 4 and 10: F", answers["3 F"], p.f, answers["3 F"] == p.f, why, ""},
			entry{name, "Table 8", fmt.Sprint(v), fmt.Sprint(p.result), v == p.result, why, ""})
	}
	return all, nil
}

// xieScaled makes entries of section 4.2 about the operations whose products have scales, or cannot
// overflow.
func xieScaled(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, name := range []string{"tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.ue8m0", "tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"} {
		i, err := mma.Lookup("blackwell", name)
		if err != nil {
			return nil, err
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			return nil, err
		}
		d, last := mma.NewDot(i.Formats, i.K), i.K-1 // of another group than 0 in GST-FDPA
		one := i.A.Get().FromFloat64(1)
		d.A[0], d.B[0], d.A[last], d.B[last] = one, one, i.A.Get().FromFloat64(-1), one
		for n := range d.SA {
			d.SA[n], d.SB[n] = i.Scale.Get().FromFloat64(0x1p64), i.Scale.Get().FromFloat64(0x1p64)
		}
		all = append(all, same(i.FullName(), "2^128 - 2^128: other products do not overflow", fmt.Sprint(i.D.Get().Float64(m.Dot(d, nil))), "0", ""))
	}
	for _, id := range []fp.ID{fp.E4M3FNUZ, fp.E5M2FNUZ} {
		v := id.Get().Float64(id.Get().MaxFinite())
		all = append(all, says("cdna3, GTR-FDPA", id.String()+": the largest product, which cannot overflow", Number(v*v).exactly(), "below 2^128", v*v < 0x1p128, ""))
	}
	return all, nil
}

// xieAccumulated makes entries of section 6.2.4: the bias of CDNA3 in chains of executions, on the
// numbers of Figure 3, and where the sum stays small: of numbers of N(0, 1), and in every second
// execution products of Figure 3 that cancel.
func xieAccumulated(ctx context.Context, r *Request) ([]entry, error) {
	i, err := mma.Lookup("cdna3", "v_mfma_f32_32x32x8_f16")
	if err != nil {
		return nil, err
	}
	truncating := *i
	for _, mode := range []*fp.Mode{&truncating.Params.Join.Align.Mode, &truncating.Params.Join.CMode, &truncating.Params.Join.Post.Mode} {
		*mode = fp.RZ
	}
	const n, most = 1 << 11, 32
	rd := newReader(i.Formats)
	thousand := distribution{"", func(rng *rand.Rand) float64 { return 1000 * rng.NormFloat64() }}
	draw := func(cancelling bool) (dots []*mma.Dot) {
		rng := rand.New(rand.NewPCG(r.Seed, 624))
		for range n {
			d := rd.dot(most*i.K, thousand, standardNormal, rng)
			for at := 0; cancelling && at < len(d.A); at += 2 * i.K {
				small := rd.dot(i.K, standardNormal, standardNormal, rng)
				copy(d.A[at:], small.A)
				copy(d.B[at:], small.B)
				for k := at + i.K; k < at+2*i.K; k += 2 {
					d.A[k+1], d.B[k+1] = d.A[k]^i.A.Get().SignBit(), d.B[k]
				}
			}
			dots = append(dots, d)
		}
		return dots
	}
	var all []entry
	for _, v := range []struct {
		name       string
		inst       *mma.Instruction
		cancelling bool
		theirs     string
		grows      bool
		why        string
	}{
		{"numbers of Figure 3, rounding down", i, false, "bias can accumulate over successive iterations", true,
			"not seen of these numbers: after the first execution c is about as large as the products, so that little of it is cut"},
		{"sums that stay small, rounding down", i, true, "bias can accumulate over successive iterations", true, ""},
		{"sums that stay small, truncating", &truncating, true, "none of an instruction that truncates, as in Figure 3", false, ""},
	} {
		u, err := simulated.Open(v.inst)
		if err != nil {
			return nil, err
		}
		dots := draw(v.cancelling)
		var ours []string
		var means []moments
		for steps := 2; steps <= most; steps *= 4 {
			k := steps * i.K
			in := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: k, Tiles: n})
			for x, d := range dots {
				in.Set(x, &mma.Dot{A: d.A[:k], B: d.B[:k], C: d.C})
			}
			codes, err := (&unit{Unit: u, name: v.name}).run(ctx, in)
			if err != nil {
				return nil, err
			}
			var errs []float64
			for x, d := range dots {
				exact, _ := rd.sum(d, k)
				errs = append(errs, exact.minus(rd.d.value(codes[x])))
			}
			m := momentsOf(errs, errs)
			ours, means = append(ours, fmt.Sprintf("%d: %s, z %s", steps, m.Mean, m.Z)), append(means, m)
		}
		first, last := means[0], means[len(means)-1]
		holds := math.Abs(float64(last.Z)) < 4
		if v.grows {
			holds = last.Z < -5 && last.Mean < 4*first.Mean
		}
		all = append(all, says(i.FullName()+": "+v.name, "mean of D - exact after executions", strings.Join(ours, "; "), v.theirs, holds, v.why))
	}
	return all, nil
}

// xiePromoted makes the entry of section 2.2 about Hopper's FP8: long sums, in the tensor core alone,
// and with what a few executions give added in FP32.
func xiePromoted(ctx context.Context, r *Request) ([]entry, error) {
	i, err := mma.Lookup(hopperFP8[0], hopperFP8[1])
	if err != nil {
		return nil, err
	}
	u, err := simulatedUnit(hopperFP8[0], hopperFP8[1])
	if err != nil {
		return nil, err
	}
	const n, k, part = 64, 4096, 128
	rd, rng := newReader(i.Formats), rand.New(rand.NewPCG(r.Seed, 22))
	var dots []*mma.Dot
	for range n {
		d := rd.dot(k, standardNormal, standardNormal, rng)
		d.C = 0
		dots = append(dots, d)
	}
	sums := make([]float32, n)
	for at := 0; at < k; at += part {
		in := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: part, Tiles: n})
		for x, d := range dots {
			in.Set(x, &mma.Dot{A: d.A[at : at+part], B: d.B[at : at+part]})
		}
		codes, err := u.run(ctx, in)
		if err != nil {
			return nil, err
		}
		for x := range sums {
			sums[x] += float32(rd.d.value(codes[x]))
		}
	}
	codes, err := u.run(ctx, mma.BatchOf(i.Formats, k, dots))
	if err != nil {
		return nil, err
	}
	alone, promoted := 0.0, 0.0
	for x, d := range dots {
		exact, magnitude := rd.sum(d, k)
		alone += math.Abs(exact.minus(rd.d.value(codes[x]))) / magnitude / n
		promoted += math.Abs(exact.minus(float64(sums[x]))) / magnitude / n
	}
	return []entry{says(u.name, fmt.Sprintf("2.2: mean errors of %d products, alone and with every %d added in FP32, as parts of the sum of magnitudes", k, part), fmt.Sprintf("%s and %s", Number(alone), Number(promoted)),
		"additional FP32 accumulation is required", promoted < alone, "")}, nil
}

// xieInputs makes entries of step 4: of models with one parameter changed, how many the three
// kinds of random inputs tell from the unit.
func xieInputs(_ context.Context, r *Request) ([]entry, error) {
	const n = 256
	models, found, units := 0, [3]int{}, [][2]string{
		smtUnits[0], fasiA100, hopperFP8, {"cdna1", "v_mfma_f32_32x32x4f16"}, {"cdna2", "v_mfma_f32_32x32x4bf16_1k"}, {"cdna3", "v_mfma_f32_32x32x8_bf16"},
	}
	for _, name := range units {
		i, err := mma.Lookup(name[0], name[1])
		if err != nil {
			return nil, err
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			return nil, err
		}
		rd, rng := newReader(i.Formats), rand.New(rand.NewPCG(r.Seed, 314))
		code := func(id fp.ID, v float64) uint64 { return id.Get().FromFloat64(v) }
		width := func(id fp.ID) uint64 { return 1<<id.Get().CodeBits() - 1 }
		kinds := []func() *mma.Dot{
			func() *mma.Dot { return rd.dot(i.K, standardNormal, standardNormal, rng) },
			func() *mma.Dot { // the sum of all is about c's last places
				d := rd.dot(i.K, standardNormal, standardNormal, rng)
				for k := 0; k+1 < i.K; k += 2 {
					d.A[k+1], d.B[k+1] = d.A[k]^i.A.Get().SignBit(), d.B[k]
				}
				d.C = code(i.C, rng.NormFloat64()*0x1p-20)
				return d
			},
			func() *mma.Dot {
				d := mma.NewDot(i.Formats, i.K)
				for k := range d.A {
					d.A[k], d.B[k] = rng.Uint64()&width(i.A), rng.Uint64()&width(i.B)
				}
				d.C = rng.Uint64() & width(i.C)
				return d
			},
		}
		changed := change.Programs(change.SpaceOf(i).Mutants(&i.Params, change.Adjacent))
		models += len(changed)
		for kind, draw := range kinds {
			var dots []*mma.Dot
			for range n {
				dots = append(dots, draw())
			}
			for _, p := range changed {
				other, err := sim.New(i.Formats, i.K, p)
				if err != nil {
					return nil, err
				}
				if slices.ContainsFunc(dots, func(d *mma.Dot) bool { return m.Dot(d, nil) != other.Dot(d, nil) }) {
					found[kind]++
				}
			}
		}
	}
	return []entry{says(fmt.Sprintf("%d units", len(units)), fmt.Sprintf("of %d changed models, those found with %d inputs of the normal distribution, that cancel, and of random bits", models, n),
		fmt.Sprintf("%d, %d, %d", found[0], found[1], found[2]), "random bits are the most helpful type", found[2] > max(found[0], found[1]), "")}, nil
}
